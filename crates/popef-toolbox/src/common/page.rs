//! The words on all pages about their origin.

use std::path::Path;

use popef_open::is_stdin;
use popef_show::Shown;

/// The program that makes a page, and its version.
pub(crate) const MADE_BY: &str = concat!("popef ", env!("CARGO_PKG_VERSION"));

/// The heading of a page about a file: its name.
pub(crate) fn title(path: &Path) -> Shown<'_> {
    if is_stdin(path) {
        return Shown::own("Standard input");
    }
    Shown::escaped(path.file_name().unwrap_or_default().as_encoded_bytes())
}
