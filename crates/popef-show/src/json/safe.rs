use std::io::{self, Write};

use popef::types::is_hidden;
use serde_json::ser::Formatter;

use crate::output::escape::is_plain;

/// Compact JSON that is safe to show on a terminal. JSON itself allows most control characters and all direction overrides in a
/// text; here they are escaped. A parser gets the same text.
pub(super) struct Safe;

impl Formatter for Safe {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        // Keys and most names are short and plain.
        if is_plain(fragment.as_bytes()) {
            return writer.write_all(fragment.as_bytes());
        }
        let mut rest = fragment;
        while let Some((at, letter)) = rest.char_indices().find(|&(_, letter)| is_hidden(letter)) {
            let (before, from) = rest.split_at(at);
            writer.write_all(before.as_bytes())?;
            for unit in letter.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
            rest = from.get(letter.len_utf8()..).unwrap_or_default();
        }
        writer.write_all(rest.as_bytes())
    }
}
