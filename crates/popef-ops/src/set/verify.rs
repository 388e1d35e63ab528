//! Reads a written file back.

use popef::{Blob, File};

use super::edit::{Added, Edit, NewData, NewInfo};
use super::place::{is_same, same_elements};
use super::plan::Plan;
use crate::error::{Code, Error};
use crate::progress::Progress;
use crate::verify::{has_same_head, wrong};

/// A written file, and its expected content.
pub(super) struct Verify<'v> {
    pub(super) plan: &'v Plan<'v>,
    pub(super) progress: &'v dyn Progress,
}

impl Verify<'_> {
    /// Fails if the written file is not the old one with the changes. The data that the system copied is not compared.
    pub(super) fn check(&self, written: &File) -> Result<(), Error> {
        let Plan { file, edits, added, .. } = self.plan;
        let len = file.len().saturating_add(added.len());
        if written.len() != len || written.prefix().len() != file.prefix().len() {
            let message = "the new file does not have as many blobs as were written; it was discarded";
            return Err(Error::new(Code::NotVerified, message));
        }
        let none = Edit::default();
        for (old, new) in file.blobs().zip(written.blobs()) {
            let index = old.index();
            let is_copy = self.plan.data_of(index).is_none() && self.plan.version_of(index).is_none();
            let is_right = match edits.get(&index) {
                None if is_copy => has_same_head(&old, &new)?,
                edit => self.is_changed(&old, edit.unwrap_or(&none), &new)?,
            };
            if !is_right {
                return Err(wrong(&old));
            }
        }
        for (Added { info, weights }, new) in added.iter().zip(written.blobs().skip(file.len())) {
            let is_right = new.as_tensor().is_some_and(|tensor| tensor.info() == *info);
            if !is_right || !is_same(&self.plan.weights.get(*weights)?, &new, self.progress)? {
                return Err(wrong(&new));
            }
        }
        Ok(())
    }

    fn is_changed(&self, old: &Blob<'_>, edit: &Edit, new: &Blob<'_>) -> Result<bool, Error> {
        let name = edit.name.as_ref().map(|name| name.by_ref()).or_else(|| old.name());
        let version = self.plan.version_of(old.index());
        let version = version.map_or_else(|| old.version(), |version| version.by_ref());
        let heads = new.blob_type() == old.blob_type() && new.version() == version && new.name() == name;
        if !heads || new.data().len() != self.plan.new_data_len(old) || !has_info(old, edit, new)? {
            return Ok(false);
        }
        match self.plan.data_of(old.index()).map(NewData::weights) {
            None => Ok(true),
            Some(Some(weights)) => is_same(&self.plan.weights.get(weights)?, new, self.progress),
            Some(None) => same_elements(old, new, self.progress),
        }
    }
}

fn has_info(old: &Blob<'_>, edit: &Edit, new: &Blob<'_>) -> Result<bool, Error> {
    Ok(match &edit.info {
        Some(NewInfo::Metadata(wanted, _)) => match new.as_metadata() {
            Some(metadata) => metadata.is(wanted)?,
            None => false,
        },
        Some(NewInfo::Opaque(wanted)) => new.as_opaque().is_some_and(|opaque| opaque.executable() == wanted.executable),
        None if edit.name.is_none() => old.info_bytes().read()? == new.info_bytes().read()?,
        None => true,
    })
}
