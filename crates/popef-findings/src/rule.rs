use std::fmt;

use super::loader::Loader;
use super::severity::Severity;

/// A rule: something that can be wrong with a file, and how to fix it.
///
/// ```
/// use popef_findings::{Rule, Severity};
///
/// let rule = Rule::warning("XY001", "a thing").meaning("It is bad.").fix("Do another.");
/// assert_eq!(rule.severity, Severity::Warning);
/// println!("{} ({}): {}\n\n{}\n\n{}", rule.id, rule.severity, rule.title, rule.meaning, rule.fix);
/// ```
pub struct Rule {
    /// `PE` and three digits, or of another crate two other letters. An id is never used again for another rule.
    pub id: &'static str,
    /// The severity, unless a policy changes it.
    pub severity: Severity,
    /// What is wrong, in a few words.
    pub title: &'static str,
    /// What it means, and what happens when the file is loaded.
    pub meaning: &'static str,
    /// How to fix it.
    pub fix: &'static str,
    /// When it applies.
    pub when: When,
}

/// When a rule applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum When {
    /// In every check.
    Always,
    /// Only if all data is read.
    Deep,
    /// Only if all data is read, and executables are inspected.
    Inspected,
    /// Only in a check for this loader.
    Loader(Loader),
    /// Only with a policy that asks for it.
    Policy,
    /// Under a condition that the rule's own crate states.
    Said(&'static str),
}

/// A rule, and what runs it.
#[derive(Debug)]
pub struct Check<R> {
    /// The rule.
    pub rule: Rule,
    /// What runs it.
    pub run: R,
}

impl Rule {
    const fn new(id: &'static str, severity: Severity, title: &'static str) -> Self {
        Rule { id, severity, title, meaning: "", fix: "", when: When::Always }
    }

    /// Makes a rule for errors. It applies always.
    ///
    /// ```
    /// use popef_findings::{Finding, Report, Rule};
    ///
    /// static RULE: Rule = Rule::error("XY001", "a thing").meaning("It is bad.").fix("Do another.");
    ///
    /// let mut report = Report::default();
    /// report.findings.push(Finding::new(&RULE, RULE.severity, "there is a thing".to_owned()));
    /// assert_eq!(report.findings[0].to_string(), "error XY001: there is a thing");
    /// ```
    pub const fn error(id: &'static str, title: &'static str) -> Self {
        Rule::new(id, Severity::Error, title)
    }

    /// Makes a rule for warnings.
    pub const fn warning(id: &'static str, title: &'static str) -> Self {
        Rule::new(id, Severity::Warning, title)
    }

    /// Makes a rule for notes.
    pub const fn note(id: &'static str, title: &'static str) -> Self {
        Rule::new(id, Severity::Note, title)
    }

    /// Sets what it means.
    #[must_use]
    pub const fn meaning(self, meaning: &'static str) -> Self {
        Rule { meaning, ..self }
    }

    /// Sets how to fix it.
    #[must_use]
    pub const fn fix(self, fix: &'static str) -> Self {
        Rule { fix, ..self }
    }

    /// Sets when it applies.
    #[must_use]
    pub const fn when(self, when: When) -> Self {
        Rule { when, ..self }
    }

    /// Adds what runs it.
    pub const fn run<R>(self, run: R) -> Check<R> {
        Check { rule: self, run }
    }

    /// Returns when the rule applies, if not always.
    pub fn condition(&self) -> Option<&'static str> {
        match self.when {
            When::Always => None,
            When::Deep => Some("only in deep checks"),
            When::Inspected => Some("only in deep checks that look inside executables"),
            When::Loader(Loader::Popart) => Some("only for PopART"),
            When::Loader(Loader::Poptorch) => Some("only for PopTorch"),
            When::Loader(Loader::Tensorflow) => Some("only for TensorFlow"),
            When::Loader(Loader::Triton) => Some("only for Triton and the model runtimes"),
            When::Policy => Some("only with a policy that asks for it"),
            When::Said(condition) => Some(condition),
        }
    }
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rule").field("id", &self.id).field("severity", &self.severity).finish_non_exhaustive()
    }
}

impl PartialEq for Rule {
    fn eq(&self, other: &Rule) -> bool {
        self.id == other.id
    }
}

impl Eq for Rule {}

/// Serialises as its id.
#[cfg(feature = "serde")]
impl serde::Serialize for Rule {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.id)
    }
}
