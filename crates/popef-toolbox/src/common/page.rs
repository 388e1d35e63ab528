//! The words on all pages about their origin.

use std::path::Path;

use popef::types::Text;
use popef_open::is_stdin;
use popef_show::escape;

/// The program that makes a page, and its version.
pub(crate) const MADE_BY: &str = concat!("popef ", env!("CARGO_PKG_VERSION"));

/// The heading of a page about a file: its name, escaped.
pub(crate) fn title(path: &Path) -> String {
    if is_stdin(path) {
        return "Standard input".to_owned();
    }
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    escape(&Text::from(name).to_string_lossy()).into_owned()
}
