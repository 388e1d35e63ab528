//! The figures of all files.

use popef::Blob;

use super::file::FileReport;
use crate::output::shown::Shown;
use crate::output::units;

/// The kinds of blobs, in the order of the format's numbers; the last is for all unknown ones.
pub(crate) const KINDS: [(&str, &str); 6] = [
    ("executable", "executables"),
    ("metadata", "metadata"),
    ("tensor", "tensors"),
    ("feed", "feeds"),
    ("opaque", "opaque blobs"),
    ("unknown", "blobs of unknown types"),
];

/// The words for the kinds in the overview.
pub(crate) const OVERVIEW: [(&str, &str); KINDS.len()] =
    [KINDS[0], KINDS[1], KINDS[2], KINDS[3], ("opaque", "opaques"), ("blob of unknown type", "blobs of unknown types")];

/// The place of a blob's kind in [`KINDS`].
pub(crate) fn kind_of(blob: &Blob<'_>) -> usize {
    usize::from(blob.blob_type().number()).min(KINDS.len() - 1)
}

/// The blobs of all files.
#[derive(Default)]
pub(crate) struct Sums {
    /// The bytes of all files.
    pub(crate) size: u64,
    pub(crate) blobs: usize,
    /// By kind.
    pub(crate) kinds: [Count; KINDS.len()],
    /// The bytes that belong to no blob: before the first one, or after damage.
    pub(crate) others: u64,
}

#[derive(Clone, Copy, Default)]
pub(crate) struct Count {
    pub(crate) blobs: usize,
    pub(crate) bytes: u64,
}

impl Sums {
    pub(crate) fn of<'r, 'f: 'r>(reports: impl IntoIterator<Item = &'r FileReport<'f>>) -> Self {
        let mut sums = Sums::default();
        for file in reports.into_iter().filter_map(|report| report.input.file) {
            sums.size = sums.size.saturating_add(file.size());
            file.blobs().for_each(|blob| sums.add(&blob));
        }
        let in_blobs = sums.kinds.iter().fold(0, |all: u64, count| all.saturating_add(count.bytes));
        sums.others = sums.size.saturating_sub(in_blobs);
        sums
    }

    fn add(&mut self, blob: &Blob<'_>) {
        self.blobs += 1;
        if let Some(count) = self.kinds.get_mut(kind_of(blob)) {
            count.blobs += 1;
            count.bytes = count.bytes.saturating_add(blob.size());
        }
    }

    /// The kinds with blobs, with their places in [`KINDS`].
    pub(crate) fn present(&self) -> impl Iterator<Item = (usize, Count)> {
        self.kinds.iter().copied().enumerate().filter(|(_, count)| count.blobs > 0)
    }
}

impl Count {
    /// `3 tensors`.
    pub(crate) fn words(self, kind: usize) -> Shown<'static> {
        let (one, many) = KINDS.get(kind).copied().unwrap_or_default();
        units::many(self.blobs, one, many)
    }
}
