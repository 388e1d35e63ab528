//! Writes the file with the changes.

use std::io::Read as _;
use std::ops::Range;

use popef::Blob;
use popef::types::InfoRef;
use popef::write::BlobCopy;

use super::Change;
use super::Outcome;
use super::edit::{Added, NewInfo};
use super::place::{elements, elements_len, fits, with_surplus};
use super::plan::Plan;
use super::verify::Verify;
use crate::error::Error;
use crate::findings::{checked, new_findings, refuse};
use crate::output::{Output, Target};
use crate::progress::Progress;
use crate::rights::Most;

impl Plan<'_> {
    /// Writes the file with the changes. Copies everything else unchanged. With `strict`, writes nothing if the
    /// library's checks find something in the new file that they do not find in the old one.
    pub fn write(&self, target: Target<'_>, strict: bool, progress: &dyn Progress) -> Result<Outcome, Error> {
        target.check_sources(self.weights.paths())?;
        let target = checked(strict, target, [self.file])?;
        progress.expect(self.file.size());
        // The new data is read back and compared.
        progress.expect(if target.is_file() { self.new_len() } else { 0 });
        let mut output = Output::begin_with(target, [self.file], self.rights(), progress)?;
        output.prefix_of(self.file)?;
        self.write_blobs(&mut output)?;
        let verify = Verify { plan: self, progress };
        let mut found = None;
        let size = output.finish_checked(|written| {
            verify.check(written)?;
            found = Some(refuse(strict, new_findings(self.file, written))?);
            Ok(())
        })?;
        Ok(Outcome { size: size.size, new_findings: found })
    }

    /// The permissions that all inputs of the new file have.
    fn rights(&self) -> Most {
        let patches = self.wanted.fields.iter().filter_map(|change| match change {
            Change::Merge(_, path) => path.clone(),
            _ => None,
        });
        self.weights.paths().chain(patches).fold(Most::of([self.file]), Most::and_at)
    }

    /// The length of all new data.
    fn new_len(&self) -> u64 {
        let changed = self.data.iter().filter_map(|new| self.file.blob(new.blob())).map(|blob| elements_len(&blob));
        let added = self.added.iter().map(|added| added.info.tensor_info.size_in_bytes().unwrap_or(0));
        changed.chain(added).fold(0, u64::saturating_add)
    }

    /// Blobs whose data stays are copied together.
    fn write_blobs(&self, output: &mut Output<'_>) -> Result<(), Error> {
        let copies =
            |range: Range<usize>| range.filter_map(|index| self.file.blob(index)).map(|blob| self.copy_of(blob));
        let mut copied = 0;
        for new in &self.data {
            let Some(blob) = self.file.blob(new.blob()) else { continue };
            output.copy_all(copies(copied..new.blob()))?;
            let len = self.new_data_len(&blob);
            let Some(weights) = new.weights() else {
                output.resized(self.copy_of(blob), len, &mut elements(&blob)?)?;
                copied = new.blob().saturating_add(1);
                continue;
            };
            let mut refill = || {
                let array = self.weights.get(weights)?;
                // The array may have changed since it was checked.
                fits(blob, &array)?;
                output.resized(self.copy_of(blob), len, &mut with_surplus(&array, &blob)?.take(len))
            };
            refill().map_err(|error| self.weights.in_file(weights, error))?;
            copied = new.blob().saturating_add(1);
        }
        output.copy_all(copies(copied..self.file.len()))?;
        for Added { info, weights } in &self.added {
            let mut add = || output.tensor(info, &mut self.weights.get(*weights)?.reader()?);
            add().map_err(|error| self.weights.in_file(*weights, error))?;
        }
        Ok(())
    }

    fn copy_of<'b>(&'b self, blob: Blob<'b>) -> BlobCopy<'b> {
        let mut copy = BlobCopy::of(&blob);
        if let Some(version) = self.version_of(blob.index()) {
            copy = copy.version(version.by_ref());
        }
        let Some(edit) = self.edits.get(&blob.index()) else { return copy };
        copy = match &edit.info {
            Some(NewInfo::Metadata(metadata, sources)) => copy.info(InfoRef::Metadata(metadata)).sources(sources),
            Some(NewInfo::Opaque(info)) => copy.info(InfoRef::Opaque(info)),
            None => copy,
        };
        if let Some(name) = &edit.name {
            copy = copy.name(name.by_ref());
        }
        copy
    }
}
