use popef::types::Text;

use super::color::Kind::{Group, Name};
use super::out::Out;

/// Begins the part of a file: `PopEF file: model.popef`.
pub(crate) fn heading<'o>(out: &'o mut Out, path: &Text<'_>) -> &'o mut Out {
    out.put_as(Group, "PopEF file:").put(" ").text(Name, path)
}
