use std::fmt;

use super::loader::Loader;
use super::severity::Severity;

/// A rule: something that can be wrong with a file, and how to fix it.
///
/// ```
/// let rule = popef::check::Rule::by_id("PE101").expect("there is one");
/// println!("{} ({}): {}\n\n{}\n\n{}", rule.id, rule.severity, rule.title, rule.meaning, rule.fix);
/// ```
#[non_exhaustive]
pub struct Rule {
    /// `PE` and three digits. An id is never used again for another rule.
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
}

impl Rule {
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
