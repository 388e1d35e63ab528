//! Whether what is packed fits together.

use std::mem;
use std::sync::Arc;

use popef::File;
use popef::check::{CheckOptions, check};

use super::compose::{Composed, Piece};
use super::seal::Seal;
use super::too_large;
use crate::error::{Code, Error};
use crate::listed::name_of;
use crate::work::len_of;

/// The rules of the checks that say whether data fits its shape, and its shape the anchor.
const RULES: [&str; 5] = ["PE301", "PE302", "PE305", "PE306", "PE309"];
/// As many bytes of headers are checked at a time, or a quarter of those of the models, if that is more: the models are checked
/// with each batch, so that small batches would take time with the square of the number of blobs.
const BATCH: u64 = 4 << 20;
/// As many problems are kept.
const MOST: usize = 1000;

/// The header of a model, and the length of its data.
type Head = (Arc<Vec<u8>>, u64);

/// Compares tensors and feeds with their anchors, many at a time.
#[derive(Debug)]
pub(super) struct Checks {
    /// Executables and metadata, which each batch has.
    models: Vec<Head>,
    /// Whether the metadata are as they were extracted. Then what is wrong with them was so before.
    are_same: bool,
    /// The headers of a batch, one after the other.
    heads: Vec<u8>,
    /// Where each ends, and the length of its data.
    batch: Vec<(usize, u64)>,
    /// How many bytes of headers a batch has.
    full: u64,
    /// How many batches were checked.
    batches: u64,
    pub(super) problems: Vec<String>,
    pub(super) count: u64,
}

impl Checks {
    pub(super) fn new(models: Vec<Head>, are_same: bool) -> Self {
        Self::with_batch(BATCH, models, are_same)
    }

    fn with_batch(batch: u64, models: Vec<Head>, are_same: bool) -> Self {
        let full = models.iter().map(|(head, _)| len_of(head)).fold(0, u64::saturating_add);
        let full = (full / 4).max(batch);
        Checks {
            models,
            are_same,
            heads: Vec::new(),
            batch: Vec::new(),
            full,
            batches: 0,
            problems: Vec::new(),
            count: 0,
        }
    }

    /// Adds a tensor or feed. Those that are as they were extracted count only with other metadata.
    pub(super) fn add(&mut self, head: &[u8], len: u64, is_same: bool) -> Result<(), Error> {
        if is_same && self.are_same {
            return Ok(());
        }
        self.heads.extend_from_slice(head);
        self.batch.push((self.heads.len(), len));
        if len_of(&self.heads) >= self.full { self.run() } else { Ok(()) }
    }

    pub(super) fn finish(&mut self) -> Result<(), Error> {
        let is_needed = !self.batch.is_empty() || (self.batches == 0 && !self.are_same);
        if is_needed { self.run() } else { Ok(()) }
    }

    fn run(&mut self) -> Result<(), Error> {
        let mut file = Composed::default();
        let models = self.models.iter().map(|(head, len)| (Piece::bytes(head.clone()), *len));
        let (heads, mut start) = (Arc::new(mem::take(&mut self.heads)), 0);
        let batch = self.batch.drain(..).map(|(end, len)| {
            let range = mem::replace(&mut start, end)..end;
            (Piece::Bytes(heads.clone(), range), len)
        });
        for (head, len) in models.chain(batch) {
            [head, Piece::Zeros(len)].into_iter().try_for_each(|piece| file.push(piece)).ok_or_else(too_large)?;
        }
        let file = file.open(0)?;
        let report = check([&file], &CheckOptions::new());
        let of_models = self.batches == 0 && !self.are_same;
        self.batches = self.batches.saturating_add(1);
        for finding in report.findings.into_iter().filter(|finding| RULES.contains(&finding.rule.id)) {
            let is_of_model = finding.blob.is_none_or(|blob| blob < self.models.len());
            if is_of_model && !of_models {
                continue;
            }
            self.count = self.count.saturating_add(1);
            if self.problems.len() < MOST {
                self.problems.push(finding.message);
            }
        }
        Ok(())
    }
}

/// Fails if the file that was written does not have the blobs of which this is the seal.
pub(super) fn is_whole(written: &File, seal: &Seal) -> Result<(), Error> {
    let mut found = seal.same();
    for blob in written.blobs() {
        let head = blob.head_bytes().read()?;
        found.add_blob(blob.blob_type(), &name_of(&blob), &blob.version(), &head);
        found.add_number(blob.size());
    }
    match found == *seal {
        true => Ok(()),
        false => {
            Err(Error::new(Code::NotVerified, "the new file does not read back as it was written; it was discarded"))
        }
    }
}

#[cfg(test)]
mod tests {
    use popef::types::{Metadata, OpaqueInfo, Text};

    use super::*;

    #[test]
    fn a_batch_is_at_least_a_quarter_of_the_models_that_are_checked_with_it() {
        let head = |info: popef::types::InfoRef<'_>| popef::write::head(&Text::default(), info, 0).unwrap();
        let opaque = head((&OpaqueInfo { name: "n".repeat(1000).into(), ..OpaqueInfo::default() }).into());
        for (len, batches) in [(1, 3), (12_000, 3), (24_000, 2), (80_000, 1)] {
            let metadata = Metadata { executable: "e".repeat(len).into(), ..Metadata::default() };
            let mut checks = Checks::with_batch(4000, vec![(Arc::new(head((&metadata).into())), 0)], true);
            (0..12).try_for_each(|_| checks.add(&opaque, 0, false)).unwrap();
            checks.finish().unwrap();
            assert_eq!(checks.batches, batches, "{len}");
        }
    }
}
