use std::io::{self, Write};

use popef::types::is_hidden;
use serde_json::ser::Formatter;

use crate::output::escape::is_plain;

/// Compact JSON that is safe to show on a terminal. JSON itself allows most control characters and all direction overrides in a
/// text; here they are escaped, as is a `#` behind another one, which may begin a command to a runner of CI. A parser gets the same
/// text.
pub(super) struct Safe;

impl Formatter for Safe {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        write_safe(writer, fragment)
    }
}

/// Writes a part of a text in JSON, or a whole line of JSON.
pub(super) fn write_safe<W: ?Sized + Write>(writer: &mut W, text: &str) -> io::Result<()> {
    // Keys and most names are short and plain.
    if is_plain(text.as_bytes()) {
        return writer.write_all(text.as_bytes());
    }
    let mut before = ' ';
    let mut is_odd = |letter| {
        let last = std::mem::replace(&mut before, letter);
        is_hidden(letter) || (letter == '#' && last == '#')
    };
    let mut rest = text;
    while let Some((at, letter)) = rest.char_indices().find(|&(_, letter)| is_odd(letter)) {
        let (before, from) = rest.split_at(at);
        writer.write_all(before.as_bytes())?;
        for unit in letter.encode_utf16(&mut [0; 2]) {
            write!(writer, "\\u{unit:04x}")?;
        }
        rest = from.get(letter.len_utf8()..).unwrap_or_default();
    }
    writer.write_all(rest.as_bytes())
}
