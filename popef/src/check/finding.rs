use std::fmt;

use super::rule::Rule;
use super::severity::Severity;
use crate::error::Location;
use crate::types::Text;

/// Something that a rule found in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Finding {
    /// The rule; what the finding means and how to mend it is there.
    pub rule: &'static Rule,
    /// The rule's severity, or what the policy made of it.
    pub severity: Severity,
    /// Which of the files given, counted from 0.
    pub file: usize,
    /// The blob's number in the file, if it is about one.
    pub blob: Option<usize>,
    /// The byte of the file, if it is about one.
    pub offset: Option<u64>,
    /// The names it is about, as they are in the file; of very many, the first.
    pub names: Vec<Text<'static>>,
    /// What is wrong, with the figures, in one line without control characters.
    pub message: String,
}

/// `error PE101: blob 1, byte 1648: ...`
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: ", self.severity, self.rule.id)?;
        let Finding { blob, offset, message, .. } = self;
        write!(f, "{}{message}", Location { blob: *blob, offset: *offset })
    }
}

/// Something that was not looked at, and why: it must not pass for fine.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Skipped {
    /// Which of the files given, counted from 0; none if it is about all of them.
    pub file: Option<usize>,
    /// What was not looked at.
    pub what: String,
    /// Why not.
    pub why: String,
    /// Whether that was not for the caller to choose: a file that could not be read, or changed meanwhile.
    pub failed: bool,
}

/// `not checked: ...: ...`
impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not checked: {}: {}", self.what, self.why)
    }
}

/// What a check found, and what it did not look at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Report {
    /// By file, then blob, then rule.
    pub findings: Vec<Finding>,
    /// What was not looked at.
    pub skipped: Vec<Skipped>,
}

impl Report {
    /// The worst severity found; none if nothing was.
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.severity).max()
    }

    /// How many findings there are of a severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.severity == severity).count()
    }

    /// Whether nothing is worse than a note, or than a warning if warnings are allowed.
    pub fn passes(&self, warnings_allowed: bool) -> bool {
        let highest = if warnings_allowed { Severity::Warning } else { Severity::Note };
        self.worst().is_none_or(|worst| worst <= highest)
    }

    /// Whether everything that was asked for could be looked at.
    pub fn is_complete(&self) -> bool {
        !self.skipped.iter().any(|skipped| skipped.failed)
    }

    /// The findings of one of the files.
    pub fn of_file(&self, file: usize) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(move |finding| finding.file == file)
    }

    pub(super) fn sort(&mut self) {
        self.findings.sort_by_key(|f| (f.file, f.blob, f.rule.id, f.offset));
        self.skipped.sort_by_key(|skipped| skipped.file);
    }
}
