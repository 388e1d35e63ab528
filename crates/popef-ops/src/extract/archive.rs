//! Files with several arrays. The arrays are visited several times, so that none needs to be kept.

use popef::{Blob, TensorInfo};

use super::files::{Files, NewFile};
use super::plan::{Plan, whole};
use super::{Arrays, index::Form};
use crate::error::Error;
use crate::formats::{Said, ZipWriter, npy_header, write_safetensors_header};
use crate::listed::name_of;
use crate::verify::Told;

/// An array of an archive.
struct Member<'f> {
    blob: Blob<'f>,
    key: String,
    info: TensorInfo,
    len: u64,
}

/// The arrays of one archive: all tensors or all feeds, or both.
#[derive(Clone, Copy)]
pub(super) struct Members<'p, 'f> {
    plan: &'p Plan<'f>,
    are_feeds: bool,
}

/// Writes the archives of a plan.
pub(super) fn write(plan: &Plan<'_>, files: &Files<'_>) -> Result<(), Error> {
    let form = match plan.arrays() {
        Arrays::Npz => Form::Npz,
        Arrays::Safetensors => Form::Safetensors,
        Arrays::Npy | Arrays::Raw => return Ok(()),
    };
    for are_feeds in [false, true] {
        let members = Members { plan, are_feeds };
        let Some(first) = members.all().next() else { continue };
        let Some(archive) = plan.archive_of(&first.blob) else { continue };
        files.file(archive, |file| match form {
            Form::Npz => members.write_npz(file),
            _ => members.write_safetensors(file),
        })?;
    }
    Ok(())
}

impl<'p, 'f> Members<'p, 'f> {
    /// The members of a plan with one archive.
    pub(super) fn of_all(plan: &'p Plan<'f>) -> Self {
        Members { plan, are_feeds: false }
    }

    /// In the order of the file.
    fn all(self) -> impl Iterator<Item = Member<'f>> {
        self.blobs().filter_map(move |blob| self.member(blob))
    }

    fn blobs(self) -> impl Iterator<Item = Blob<'f>> {
        let Members { plan, are_feeds } = self;
        plan.blobs().filter(move |blob| blob.as_data().is_some_and(|data| plan.is_feed(&data) == are_feeds))
    }

    fn member(self, blob: Blob<'f>) -> Option<Member<'f>> {
        self.plan.archive_of(&blob)?;
        let (info, len) = whole(&blob.as_data()?)?;
        Some(Member { key: self.plan.stem(&blob), blob, info, len })
    }

    /// Elements of the largest types come first, so that all are aligned.
    fn aligned(self) -> impl Iterator<Item = Member<'f>> {
        let size = |blob: &Blob<'_>| blob.as_data().and_then(|data| data.data_type().size());
        [8, 4, 2, 1].into_iter().flat_map(move |wanted| {
            let blobs = self.blobs().filter(move |blob| size(blob) == Some(wanted));
            blobs.filter_map(move |blob| self.member(blob))
        })
    }

    pub(super) fn write_npz(self, file: &mut NewFile<'_>) -> Result<(), Error> {
        if file.is_trial() {
            return Ok(());
        }
        let progress = file.progress();
        let mut zip = ZipWriter::new(file)?;
        for Member { blob, key, info, len } in self.all() {
            let header = npy_header(&info).unwrap_or_default();
            let from = blob.data().range(0..len)?.reader();
            zip.entry(&format!("{key}.npy"), &header, len, &mut Told { from, progress })?;
        }
        zip.finish()
    }

    /// What the header says of an array. Where there is an index, that says the rest.
    fn written(self, Member { blob, key, info, .. }: Member<'_>) -> (String, TensorInfo, Said) {
        let mut said = Said::default();
        if self.plan.is_together() {
            said.is_feed = blob.as_feed().is_some();
            said.name = Some(name_of(&blob).into_owned()).filter(|name| *name != key.as_str());
        }
        (key, info, said)
    }

    pub(super) fn write_safetensors(self, file: &mut NewFile<'_>) -> Result<(), Error> {
        write_safetensors_header(&|| self.aligned().map(|member| self.written(member)), file)?;
        self.aligned().try_for_each(|Member { blob, len, .. }| file.data(&blob.data().range(0..len)?))
    }
}
