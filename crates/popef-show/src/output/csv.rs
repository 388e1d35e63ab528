//! CSV (RFC 4180) with a heading.

use std::borrow::Cow;
use std::io;

use super::escape::escape;
use super::out::Out;
use serde::Serialize;
use serde_json::Value;

/// Writes the heading.
pub fn heading(out: &mut Out, keys: &[&str]) -> io::Result<()> {
    out.put(&keys.join(",")).end_line()
}

/// Writes a row: what an object has under these keys. Lists are JSON.
pub fn row(out: &mut Out, keys: &[&str], row: &impl Serialize) -> io::Result<()> {
    let row = serde_json::to_value(row)?;
    for (nth, key) in keys.iter().enumerate() {
        out.put(if nth == 0 { "" } else { "," });
        match row.get(key) {
            None | Some(Value::Null) => {}
            Some(Value::String(text)) => field(out, &not_computed(text)),
            Some(value @ Value::Number(_)) => field(out, &value.to_string()),
            Some(value) => field(out, &not_computed(&value.to_string())),
        }
    }
    out.end_line()
}

/// A text that a spreadsheet shows as it is, because an apostrophe stands before what it would compute. Many spreadsheets also
/// begin a field behind a semicolon, even in the middle of quotes.
fn not_computed(text: &str) -> Cow<'_, str> {
    if !text.split(';').any(is_formula) {
        return Cow::Borrowed(text);
    }
    let shown = |part| if is_formula(part) { format!("'{part}") } else { part.to_owned() };
    Cow::Owned(text.split(';').map(shown).collect::<Vec<_>>().join(";"))
}

/// Whether a spreadsheet would compute a text. Some take the wide letters of East Asia for the usual ones.
fn is_formula(text: &str) -> bool {
    let begins = ['=', '+', '-', '@', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}', '\u{2212}'];
    text.starts_with(['\t', '\r', '\n'])
        || text.trim_start_matches(|c: char| c == '"' || c.is_whitespace()).starts_with(begins)
}

/// Control characters are escaped as in all output, so that no field has a line feed.
fn field(out: &mut Out, text: &str) {
    let text = escape(text);
    if text.contains([',', '"']) {
        out.put("\"").put(&text.replace('"', "\"\"")).put("\"");
    } else {
        out.put(&text);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::row;
    use crate::Out;

    #[test]
    fn no_field_is_a_formula() {
        for (given, shown) in [
            ("conv/1", "conv/1"),
            ("a-b=c", "a-b=c"),
            ("=1", "'=1"),
            (" @x", "' @x"),
            ("\u{ff1d}1", "'\u{ff1d}1"),
            ("\u{ff0b}1", "'\u{ff0b}1"),
            ("\u{ff0d}1", "'\u{ff0d}1"),
            ("\u{ff20}x", "'\u{ff20}x"),
            ("a;=1;b; +2", "a;'=1;b;' +2"),
            ("a;\"=1", "\"a;'\"\"=1\""),
            ("\tx", "'\\tx"),
            ("\r=1", "'\\r=1"),
        ] {
            let mut out = Out::in_memory(false);
            row(&mut out, &["name", "cycles"], &json!({"name": given, "cycles": -5})).unwrap();
            assert_eq!(String::from_utf8(out.into_bytes()).unwrap(), format!("{shown},-5\n"));
        }
        let mut out = Out::in_memory(false);
        row(&mut out, &["tiles"], &json!({"tiles": ["a;=1"]})).unwrap();
        assert_eq!(String::from_utf8(out.into_bytes()).unwrap(), "\"[\"\"a;'=1\"\"]\"\n");
    }
}
