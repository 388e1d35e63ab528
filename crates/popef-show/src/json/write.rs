use std::io;

use serde::Serialize;
use serde_json::Serializer;

use super::safe::Safe;
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
