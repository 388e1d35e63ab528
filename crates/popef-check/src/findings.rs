use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::marks::Marks;
use popef::error::Error;
use popef::model::{Linked, Model};
use popef::read::{Blob, File};
use popef::seam::BlobId;
use popef::types::Text;
use popef_findings::Rule;
use popef_findings::Severity;
use popef_findings::{Finding, Skipped, Unlisted};

/// The most findings of one rule that are kept for a file. More are only counted.
const MOST_OF_A_RULE: u64 = 100;
/// The most names that are kept with a finding.
const MOST_NAMES: usize = 100;

/// What a finding is about.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    /// The number among the files that were opened.
    pub(super) file: usize,
    pub(super) blob: Option<usize>,
    pub(super) offset: Option<u64>,
}

impl Spot {
    pub(super) fn file(file: usize) -> Self {
        Spot { file, blob: None, offset: None }
    }

    pub(super) fn blob(file: usize, blob: &Blob<'_>) -> Self {
        Spot { file, blob: Some(blob.index()), offset: Some(blob.offset()) }
    }

    pub(super) fn data(file: usize, blob: &Blob<'_>) -> Self {
        Spot { offset: Some(blob.data_offset()), ..Spot::blob(file, blob) }
    }

    /// The metadata blob of a model.
    pub(super) fn model(model: &Model) -> Self {
        let Linked { file, blob, .. } = model.metadata_blob();
        Spot::blob(file, blob.blob())
    }

    pub(super) fn of_error(file: usize, error: &Error) -> Self {
        Spot { file, blob: error.blob(), offset: error.offset() }
    }
}

/// Collects the findings of a rule.
pub(super) struct Findings<'n> {
    rule: &'static Rule,
    severity: Severity,
    /// The caller's numbers of the files.
    numbers: &'n [usize],
    findings: Vec<Finding>,
    skipped: Vec<Skipped>,
    /// The number of findings in each file.
    counts: BTreeMap<usize, u64>,
    /// Blobs that have a finding.
    told: Marks,
    no_memory: bool,
}

impl<'n> Findings<'n> {
    pub(super) fn new(rule: &'static Rule, severity: Severity, numbers: &'n [usize]) -> Self {
        let (findings, skipped, counts) = (Vec::new(), Vec::new(), BTreeMap::new());
        Findings { rule, severity, numbers, findings, skipped, counts, told: Marks::default(), no_memory: false }
    }

    pub(super) fn add<'t>(
        &mut self,
        place: Spot,
        names: impl IntoIterator<Item = Text<'t>>,
        message: impl FnOnce() -> String,
    ) {
        let file = self.numbers.get(place.file).copied().unwrap_or(place.file);
        let count = self.counts.entry(file).or_default();
        *count = count.saturating_add(1);
        if *count > MOST_OF_A_RULE {
            return;
        }
        if self.findings.try_reserve(1).is_err() {
            self.no_memory = true;
            return;
        }
        let names = names.into_iter().take(MOST_NAMES).map(Text::try_to_own);
        let names = names.collect::<Result<_, _>>().unwrap_or_else(|_| {
            self.no_memory = true;
            Vec::new()
        });
        let mut finding = Finding::new(self.rule, self.severity, message());
        (finding.file, finding.blob, finding.offset, finding.names) = (file, place.blob, place.offset, names);
        self.findings.push(finding);
    }

    /// Marks that a blob of these files has a finding. Returns whether this is its first.
    pub(super) fn is_first_of(&mut self, files: &[File], id: BlobId) -> bool {
        self.told.mark(files, id).unwrap_or_else(|| {
            self.no_memory = true;
            false
        })
    }

    /// Records what this rule did not check because of the options or the format.
    pub(super) fn skip(&mut self, what: &str, why: &str) {
        let skipped = Skipped::new(what.to_owned(), why.to_owned(), false);
        if !self.skipped.contains(&skipped) {
            self.skipped.push(skipped);
        }
    }

    /// Iterates over items whose key an earlier item has, each with the first item of that key. Items without a key are
    /// skipped.
    pub(super) fn doubled<'m, T, K: Ord, F: Fn(&'m T) -> Option<K>>(
        &mut self,
        items: &'m [T],
        key: F,
    ) -> impl Iterator<Item = (&'m T, &'m T)> + use<'m, T, K, F> {
        let places = doubled_places(items, key).unwrap_or_else(|| {
            self.no_memory = true;
            Vec::new()
        });
        places.into_iter().filter_map(|(later, first)| Some((items.get(index(first))?, items.get(index(later))?)))
    }

    /// Records that there was not enough memory for what the rule compares.
    pub(super) fn no_memory(&mut self) {
        self.no_memory = true;
    }

    /// Returns everything that was found, what is only counted, and everything that was not checked.
    pub(super) fn finish(mut self) -> (Vec<Finding>, Vec<Unlisted>, Vec<Skipped>) {
        let mut unlisted = Vec::new();
        for (file, count) in self.counts {
            if let Some(more @ 1..) = count.checked_sub(MOST_OF_A_RULE) {
                unlisted.push(Unlisted::new(self.rule, self.severity, more).in_file(file));
                let what = format!("{more} more findings of {}", self.rule.id);
                let why = format!("only the first {MOST_OF_A_RULE} of a rule are listed");
                self.skipped.push(Skipped::new(what, why, false).in_file(Some(file)));
            }
        }
        if self.no_memory {
            self.skipped.push(no_memory(format!("all that rule {} compares", self.rule.id)));
        }
        (self.findings, unlisted, self.skipped)
    }
}

/// What a lack of memory left out.
pub(super) fn no_memory(what: String) -> Skipped {
    Skipped::new(what, "there is not enough memory".to_owned(), true)
}

/// Returns the places of items whose key an earlier item has, in order, each with the place of the first. `None` if there
/// is not enough memory.
fn doubled_places<'m, T, K: Ord>(items: &'m [T], key: impl Fn(&'m T) -> Option<K>) -> Option<Vec<(u32, u32)>> {
    let key_at = |place: u32| items.get(index(place)).and_then(&key);
    let mut sorted: Vec<u32> = Vec::new();
    sorted.try_reserve_exact(items.len()).ok()?;
    sorted.extend((0..).take(items.len()));
    sort_places(&mut sorted, &|one, other| key_at(one).cmp(&key_at(other)).then(one.cmp(&other)));
    let mut doubled = Vec::new();
    for same in sorted.chunk_by(|&one, &other| key_at(one) == key_at(other)) {
        let Some((&first, later)) = same.split_first().filter(|(first, _)| key_at(**first).is_some()) else {
            continue;
        };
        doubled.try_reserve(later.len()).ok()?;
        doubled.extend(later.iter().map(|&later| (later, first)));
    }
    doubled.sort_unstable();
    Some(doubled)
}

/// Not generic, because each copy of a sort takes much code.
fn sort_places(places: &mut [u32], order: &dyn Fn(u32, u32) -> Ordering) {
    places.sort_unstable_by(|&one, &other| order(one, other));
}

fn index(place: u32) -> usize {
    usize::try_from(place).unwrap_or(usize::MAX)
}
