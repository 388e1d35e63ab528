use std::fmt;

use super::rule::Rule;
use super::severity::Severity;
use popef::error::Location;
use popef::types::Text;

/// Something that a rule found in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Finding {
    /// The rule, which says what the finding means and how to fix it.
    pub rule: &'static Rule,
    /// The severity of the rule, or the one that the policy sets.
    pub severity: Severity,
    /// The file, by its position among the files that were given, from 0.
    pub file: usize,
    /// The blob's number in the file, if the finding is about a blob.
    pub blob: Option<usize>,
    /// The byte in the file, if the finding is about a place.
    pub offset: Option<u64>,
    /// The names that the finding is about, as they are in the file; at most the first 100.
    pub names: Vec<Text<'static>>,
    /// What is wrong, with the figures, in one line without control characters.
    pub message: String,
}

impl Finding {
    /// Makes a finding about the whole first file. `message` is one line without control characters.
    pub fn new(rule: &'static Rule, severity: Severity, message: String) -> Self {
        Finding { rule, severity, file: 0, blob: None, offset: None, names: Vec::new(), message }
    }
}

/// `error PE101: blob 1, byte 1648: ...`
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: ", self.severity, self.rule.id)?;
        let Finding { blob, offset, message, .. } = self;
        write!(f, "{}{message}", Location { blob: *blob, offset: *offset })
    }
}

/// Something that was not checked, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Skipped {
    /// The file, by its position among the files that were given, from 0. `None` if it is about all of them.
    pub file: Option<usize>,
    /// What was not checked.
    pub what: String,
    /// Why not.
    pub why: String,
    /// Whether it was asked for and could not be done, and not left out because of an option or the format: a file could not be
    /// read, or changed meanwhile, or a stream did not keep its data.
    pub failed: bool,
    /// Whether the reason is that the file came from a stream, and that its data was not kept.
    pub not_kept: bool,
    /// Whether the rules of safety (`PE5..`, and `no-pickles` of a policy) would have read this. It may then hide a
    /// danger, and the report does not [pass](Report::passes).
    pub safety: bool,
}

impl Skipped {
    /// Something that was not checked, in all files.
    pub fn new(what: String, why: String, failed: bool) -> Self {
        Skipped { file: None, what, why, failed, not_kept: false, safety: false }
    }

    /// The same, in one of the files.
    #[must_use]
    pub fn in_file(self, file: Option<usize>) -> Self {
        Skipped { file, ..self }
    }

    /// The same, where the rules of safety look, or not.
    #[must_use]
    pub fn of_safety(self, safety: bool) -> Self {
        Skipped { safety, ..self }
    }
}

/// `not checked: ...: ...`
impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not checked: {}: {}", self.what, self.why)
    }
}

/// Findings of a rule that are only counted, because there are too many in one file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Unlisted {
    /// The rule.
    pub rule: &'static Rule,
    /// The severity that they all have.
    pub severity: Severity,
    /// The file, by its position among the files that were given, from 0.
    pub file: usize,
    /// The number of findings that are not listed.
    pub count: u64,
}

impl Unlisted {
    /// Makes a count of further findings of a rule in the first file.
    pub fn new(rule: &'static Rule, severity: Severity, count: u64) -> Self {
        Unlisted { rule, severity, file: 0, count }
    }

    /// The same, in one of the files.
    #[must_use]
    pub fn in_file(self, file: usize) -> Self {
        Unlisted { file, ..self }
    }
}

/// What a check found, and what it did not check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Report {
    /// Sorted by file, then blob, then rule.
    pub findings: Vec<Finding>,
    /// Findings that are counted but not listed. `skipped` mentions them too.
    pub unlisted: Vec<Unlisted>,
    /// What was not checked.
    pub skipped: Vec<Skipped>,
    /// The files with a pickle that is not safe to unpickle, by their position among the files that were given, from 0, in
    /// order: loading it does more than build values, or that is not known. This does not depend on the severities of
    /// rules, but on the imports that a policy knows.
    pub unsafe_pickles: Vec<usize>,
    /// Files that are the same as an earlier one, by their position among the files that were given, from 0. They are
    /// checked once, and nothing in the report is about the later positions.
    pub repeated: Vec<usize>,
}

impl Report {
    /// Returns the worst severity, or `None` if there are no findings.
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.severity).max()
    }

    /// Counts the findings of a severity, also those that are not listed.
    pub fn count(&self, severity: Severity) -> usize {
        let listed = self.findings.iter().filter(|finding| finding.severity == severity).count();
        let unlisted = self.unlisted.iter().filter(|unlisted| unlisted.severity == severity);
        unlisted.fold(listed, |sum, unlisted| sum.saturating_add(usize::try_from(unlisted.count).unwrap_or(usize::MAX)))
    }

    /// Returns whether nothing is worse than a note, or than a warning if warnings are allowed, and whether the rules of safety
    /// could [look everywhere](Self::is_safety_checked). So a file from [`File::from_stream`](popef::File::from_stream) with an
    /// opaque blob, which may be a dangerous pickle, does not pass: its data was not kept.
    pub fn passes(&self, warnings_allowed: bool) -> bool {
        let highest = if warnings_allowed { Severity::Warning } else { Severity::Note };
        self.is_safety_checked() && self.worst().is_none_or(|worst| worst <= highest)
    }

    /// Returns whether nothing [failed](Skipped::failed). If something did, there may be more to find.
    ///
    /// A file whose data was [not kept](popef::File::from_stream) is incomplete if it has an opaque blob, and in a deep
    /// check also if it has other data. If only the first bytes of its executables were not seen, `skipped` says so
    /// with [`not_kept`](Skipped::not_kept), and the file still counts as complete.
    pub fn is_complete(&self) -> bool {
        !self.skipped.iter().any(|skipped| skipped.failed)
    }

    /// Returns whether the rules of safety could look everywhere. If not, a dangerous pickle may be in the part that
    /// they could not read.
    pub fn is_safety_checked(&self) -> bool {
        !self.skipped.iter().any(|skipped| skipped.safety)
    }

    /// Iterates over the findings in one of the files.
    pub fn of_file(&self, file: usize) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(move |finding| finding.file == file)
    }

    /// Sorts everything into the order that the fields promise.
    pub fn sort(&mut self) {
        self.findings.sort_by_key(|f| (f.file, f.blob, f.rule.id, f.offset));
        self.unlisted.sort_by_key(|unlisted| (unlisted.file, unlisted.rule.id));
        self.skipped.sort_by_key(|skipped| skipped.file);
    }
}
