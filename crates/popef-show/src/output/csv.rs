//! CSV (RFC 4180) with a heading.

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
            Some(Value::String(text)) if is_formula(text) => field(out, &format!("'{text}")),
            Some(Value::String(text)) => field(out, text),
            Some(value) => field(out, &value.to_string()),
        }
    }
    out.end_line()
}

/// Whether a spreadsheet would compute a text. It shows one behind an apostrophe as it is.
fn is_formula(text: &str) -> bool {
    text.trim_start().starts_with(['=', '+', '-', '@'])
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
