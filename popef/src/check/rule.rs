use std::fmt;

use super::loader::Loader;
use super::severity::Severity;

/// Something that can be wrong with a file, and what to do about it.
///
/// ```
/// let rule = popef::check::Rule::by_id("PE101").expect("there is one");
/// println!("{} ({}): {}\n\n{}\n\n{}", rule.id, rule.severity, rule.title, rule.meaning, rule.mend);
/// ```
#[non_exhaustive]
pub struct Rule {
    /// `PE` and three digits. It never becomes that of another rule.
    pub id: &'static str,
    /// How bad it is, unless a policy says otherwise.
    pub severity: Severity,
    /// What is wrong, in a few words.
    pub title: &'static str,
    /// What goes wrong for the person who loads the file.
    pub meaning: &'static str,
    /// What to do about it.
    pub mend: &'static str,
    pub(super) when: When,
}

/// In which checks a rule takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    Always,
    Deep,
    Loader(Loader),
    Policy,
}

impl Rule {
    /// When it takes part in a check, if not always.
    pub fn condition(&self) -> Option<&'static str> {
        match self.when {
            When::Always => None,
            When::Deep => Some("only in deep checks"),
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
