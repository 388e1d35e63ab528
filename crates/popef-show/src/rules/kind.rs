use popef_check::Severity;

use crate::output::color::Kind;

/// How a severity is coloured.
pub(crate) fn kind(severity: Severity) -> Kind {
    match severity {
        Severity::Error => Kind::Error,
        Severity::Warning => Kind::Warning,
        Severity::Note => Kind::Note,
    }
}
