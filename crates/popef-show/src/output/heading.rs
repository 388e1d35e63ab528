use popef::types::Text;

use super::color::Kind::{Group, Name};
use super::out::Out;

/// What PopEF files are called in headings.
pub(crate) const POPEF_FILE: &str = "PopEF file";

/// Begins the part of a file: `PopEF file: model.popef`.
pub(crate) fn heading<'o>(out: &'o mut Out, what: &str, path: &Text<'_>) -> &'o mut Out {
    out.put_as(Group, &format!("{what}:")).put(" ").text(Name, path)
}
