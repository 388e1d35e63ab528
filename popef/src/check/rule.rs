use std::fmt;

use super::loader::Loader;
use super::origin::{Origin, origin_of};
use super::severity::Severity;

/// A rule: something that can be wrong with a file, and how to fix it.
///
/// ```
/// let rule = popef::check::Rule::by_id("PE101").expect("there is one");
/// println!("{} ({}): {}\n\n{}\n\n{}", rule.id, rule.severity, rule.title, rule.meaning, rule.fix);
/// ```
#[non_exhaustive]
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
    pub(super) when: When,
}

/// When a rule applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    Always,
    Deep,
    Inspected,
    Loader(Loader),
    Policy,
    /// A rule of another crate, which says so itself.
    Said(Option<&'static str>),
}

impl Rule {
    /// A rule of another crate, so that what it finds has the same shape, and is shown by the same code. It is not among
    /// [`Rule::all`], and [`check`](super::check()) does not know it. `condition` says when it applies, if not always.
    ///
    /// ```
    /// use popef::check::{Finding, Report, Rule, Severity};
    ///
    /// static RULE: Rule = Rule::new("XY001", Severity::Warning, "a thing", "It is bad.", "Do another.", None);
    ///
    /// let mut report = Report::default();
    /// report.findings.push(Finding::new(&RULE, RULE.severity, "there is a thing".to_owned()));
    /// assert_eq!(report.findings[0].to_string(), "warning XY001: there is a thing");
    /// ```
    pub const fn new(
        id: &'static str,
        severity: Severity,
        title: &'static str,
        meaning: &'static str,
        fix: &'static str,
        condition: Option<&'static str>,
    ) -> Self {
        Rule { id, severity, title, meaning, fix, when: When::Said(condition) }
    }

    /// Returns where the facts are from that the rule judges by. `None` for a rule of another crate.
    pub fn origin(&self) -> Option<Origin> {
        match self.when {
            When::Said(_) => None,
            when => Some(origin_of(self.id, when == When::Policy)),
        }
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
            When::Said(condition) => condition,
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
