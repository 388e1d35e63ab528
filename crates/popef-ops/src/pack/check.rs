//! Whether the packed blobs fit together.

use std::mem;
use std::sync::Arc;

use popef::File;
use popef_check::{CheckOptions, Severity, check};

use super::compose::{Composed, Piece};
use super::seal::Seal;
use super::too_large;
use crate::error::{Code, Error};
use crate::findings::NewFinding;
use crate::listed::name_of;
use crate::work::len_of;

/// The rules of the checks that say whether data fits its shape, and its shape the anchor.
const RULES: [&str; 5] = ["PE301", "PE302", "PE305", "PE306", "PE309"];
/// The check's rules about data that is valid but hardly intended.
const WARNINGS: [&str; 4] = ["PE108", "PE109", "PE307", "PE308"];
/// The rule that compares feeds with each other.
const BETWEEN_FEEDS: &str = "PE310";
/// The number of header bytes in a batch, unless a quarter of the models' headers is more: the models are checked with
/// each batch, so that small batches would take time with the square of the number of blobs.
const BATCH: u64 = 4 << 20;
/// Maximum number of problems, and of warnings, that are kept.
const MOST: usize = 1000;

/// Whether a finding in the written file is reported: each error is. The warnings of these rules were reported already, where something
/// had changed.
pub(super) fn is_news(finding: &NewFinding) -> bool {
    let mut of_parts = RULES.iter().chain(&WARNINGS).chain([&BETWEEN_FEEDS]);
    finding.severity == Severity::Error || of_parts.all(|rule| *rule != finding.rule)
}

/// The header of a model, and the length of its data.
type Head = (Arc<Vec<u8>>, u64);

/// The headers of tensors and feeds. There may be very many, so they are kept one after the other.
#[derive(Debug, Default)]
struct Heads {
    bytes: Vec<u8>,
    /// Where each header ends, and the length of its data.
    ends: Vec<(usize, u64)>,
}

impl Heads {
    fn add(&mut self, head: &[u8], len: u64) {
        self.bytes.extend_from_slice(head);
        self.ends.push((self.bytes.len(), len));
    }

    fn len(&self) -> u64 {
        len_of(&self.bytes)
    }
}

/// The findings: their number, and the first ones in words.
#[derive(Debug, Default)]
pub(super) struct Messages {
    pub(super) first: Vec<String>,
    pub(super) count: u64,
}

impl Messages {
    fn add(&mut self, message: String) {
        self.count = self.count.saturating_add(1);
        if self.first.len() < MOST {
            self.first.push(message);
        }
    }
}

/// Compares tensors and feeds with their anchors, in batches.
#[derive(Debug)]
pub(super) struct Checks {
    /// Executables and metadata, which are in each batch.
    models: Vec<Head>,
    /// Whether the metadata are as they were extracted. Then their problems existed before.
    are_same: bool,
    batch: Heads,
    /// How many bytes of headers a batch has.
    full: u64,
    /// How many batches were checked.
    batches: u64,
    feeds: Feeds,
    pub(super) problems: Messages,
    pub(super) warnings: Messages,
}

/// All feeds. They are compared with each other if one of them or metadata is new or changed.
#[derive(Debug, Default)]
struct Feeds {
    heads: Heads,
    is_changed: bool,
}

impl Feeds {
    /// Adds a feed. Feeds beyond the size of a batch are not compared.
    fn add(&mut self, head: &[u8], len: u64, is_same: bool) {
        self.is_changed |= !is_same;
        if self.heads.len().saturating_add(len_of(head)) <= BATCH {
            self.heads.add(head, len);
        }
    }
}

impl Checks {
    pub(super) fn new(models: Vec<Head>, are_same: bool) -> Self {
        Self::with_batch(BATCH, models, are_same)
    }

    fn with_batch(batch: u64, models: Vec<Head>, are_same: bool) -> Self {
        let full = models.iter().map(|(head, _)| len_of(head)).fold(0, u64::saturating_add);
        Checks {
            models,
            are_same,
            batch: Heads::default(),
            full: (full / 4).max(batch),
            batches: 0,
            feeds: Feeds::default(),
            problems: Messages::default(),
            warnings: Messages::default(),
        }
    }

    /// Adds a tensor or feed. One that is unchanged since extraction counts only with other metadata.
    pub(super) fn add(&mut self, head: &[u8], len: u64, is_same: bool, is_feed: bool) -> Result<(), Error> {
        if is_feed {
            self.feeds.add(head, len, is_same && self.are_same);
        }
        if is_same && self.are_same {
            return Ok(());
        }
        self.batch.add(head, len);
        if self.batch.len() >= self.full { self.run() } else { Ok(()) }
    }

    pub(super) fn finish(&mut self) -> Result<(), Error> {
        let is_needed = !self.batch.ends.is_empty() || (self.batches == 0 && !self.are_same);
        if is_needed {
            self.run()?;
        }
        self.compare_feeds()
    }

    fn compare_feeds(&mut self) -> Result<(), Error> {
        let feeds = mem::take(&mut self.feeds);
        if feeds.is_changed && feeds.heads.ends.len() > 1 && !self.models.is_empty() {
            let report = check([&composed(&self.models, feeds.heads)?], &CheckOptions::new());
            let findings = report.findings.into_iter().filter(|finding| finding.rule.id == BETWEEN_FEEDS);
            findings.for_each(|finding| self.warnings.add(finding.message));
        }
        Ok(())
    }

    fn run(&mut self) -> Result<(), Error> {
        let file = composed(&self.models, mem::take(&mut self.batch))?;
        let report = check([&file], &CheckOptions::new());
        let of_models = self.batches == 0 && !self.are_same;
        self.batches = self.batches.saturating_add(1);
        for finding in report.findings {
            let messages = match finding.rule.id {
                id if RULES.contains(&id) => &mut self.problems,
                id if WARNINGS.contains(&id) => &mut self.warnings,
                _ => continue,
            };
            let is_of_model = finding.blob.is_none_or(|blob| blob < self.models.len());
            if is_of_model && !of_models {
                continue;
            }
            messages.add(finding.message);
        }
        Ok(())
    }
}

/// A file of blobs with these headers.
fn composed(models: &[Head], heads: Heads) -> Result<File, Error> {
    let models = models.iter().map(|(head, len)| (Piece::bytes(head.clone()), *len));
    let (bytes, mut start) = (Arc::new(heads.bytes), 0);
    let heads = heads.ends.into_iter().map(|(end, len)| {
        let range = mem::replace(&mut start, end)..end;
        (Piece::Bytes(bytes.clone(), range), len)
    });
    let mut file = Composed::default();
    for (head, len) in models.chain(heads) {
        [head, Piece::Zeros(len)].into_iter().try_for_each(|piece| file.push(piece)).ok_or_else(too_large)?;
    }
    file.open(0)
}

/// Fails if the written file does not have the blobs that this seal describes.
pub(super) fn is_whole(written: &File, seal: &Seal) -> Result<(), Error> {
    let mut found = seal.same();
    for blob in written.blobs() {
        let head = blob.head_bytes().read()?;
        found.add_blob(blob.blob_type(), &name_of(&blob), &blob.version(), &head);
        found.add_number(blob.size());
    }
    if found == *seal {
        Ok(())
    } else {
        Err(Error::new(Code::NotVerified, "the new file does not read back as it was written; it was discarded"))
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
            (0..12).try_for_each(|_| checks.add(&opaque, 0, false, false)).unwrap();
            checks.finish().unwrap();
            assert_eq!(checks.batches, batches, "{len}");
        }
    }
}
