//! What the files hold, in figures.

use popef::Blob;

use crate::output::units;
use crate::report::file::FileReport;

/// The kinds of blobs, in the order of the format's numbers; the last is for all unknown ones.
pub(super) const KINDS: [(&str, &str); 6] = [
    ("executable", "executables"),
    ("metadata", "metadata"),
    ("tensor", "tensors"),
    ("feed", "feeds"),
    ("opaque", "opaque blobs"),
    ("unknown", "blobs of unknown types"),
];

/// The place of a blob's kind in [`KINDS`].
pub(super) fn kind_of(blob: &Blob<'_>) -> usize {
    usize::from(blob.blob_type().number()).min(KINDS.len() - 1)
}

/// The blobs of all files.
#[derive(Default)]
pub(super) struct Sums {
    /// The bytes of all files.
    pub(super) size: u64,
    pub(super) blobs: usize,
    /// By kind.
    pub(super) kinds: [Count; KINDS.len()],
    /// Bytes that belong to no blob: before the first, or after damage.
    pub(super) others: u64,
}

#[derive(Clone, Copy, Default)]
pub(super) struct Count {
    pub(super) blobs: usize,
    pub(super) bytes: u64,
}

impl Sums {
    pub(super) fn of(reports: &[FileReport<'_>]) -> Self {
        let mut sums = Sums::default();
        for file in reports.iter().filter_map(|report| report.input.file) {
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

    /// The kinds that there are, with their places in [`KINDS`].
    pub(super) fn present(&self) -> impl Iterator<Item = (usize, Count)> {
        self.kinds.iter().copied().enumerate().filter(|(_, count)| count.blobs > 0)
    }
}

impl Count {
    /// `3 tensors`.
    pub(super) fn words(self, kind: usize) -> String {
        let (one, many) = KINDS.get(kind).copied().unwrap_or_default();
        units::many(self.blobs, one, many)
    }
}
