use crate::names::named;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing, and right in many files.
    Note,
    /// Likely not meant.
    Warning,
    /// It will fail, or nobody can say what it will do.
    Error,
}

named!(Severity, "a severity": Note = "note", Warning = "warning", Error = "error");
