use std::io;

use serde::Serialize;
use serde_json::Serializer;

use super::safe::{Safe, write_safe};
use crate::output::out::Out;

/// Writes a value.
pub(crate) fn object(out: &mut Out, value: &impl Serialize) -> io::Result<()> {
    Ok(value.serialize(&mut Serializer::with_formatter(out, Safe))?)
}

/// Writes a value as JSON on a line of its own.
pub fn line(out: &mut Out, value: &impl Serialize) -> io::Result<()> {
    object(out, value)?;
    out.end_line()
}

/// Writes a value as JSON on several lines, with a member or an element on each.
pub fn lines(out: &mut Out, value: &impl Serialize) -> io::Result<()> {
    // Line feeds in texts are escaped, so each one is between tokens.
    for line in serde_json::to_string_pretty(value)?.lines() {
        write_safe(out, line)?;
        out.end_line()?;
    }
    Ok(())
}

/// Writes a further member of an object that is an array, with one element per line.
pub(crate) fn array(out: &mut Out, key: &str, elements: impl Iterator<Item: Serialize>) -> io::Result<()> {
    out.put(",\n\"").put(key).put("\":[");
    let mut separator = "\n";
    for element in elements {
        out.put(separator);
        separator = ",\n";
        object(out, &element)?;
        out.flush_if_full()?;
    }
    out.put(if separator == "\n" { "]" } else { "\n]" });
    Ok(())
}
