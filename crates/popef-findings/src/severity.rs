use popef::seam::named;

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing, and normal in many files.
    Note,
    /// Most likely not intended.
    Warning,
    /// It will fail, or its effect is unknown.
    Error,
}

named!(Severity, "a severity": Note = "note", Warning = "warning", Error = "error");
