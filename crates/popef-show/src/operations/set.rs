//! What was changed.

use std::io;

use popef::types::BlobType;
use popef_ops::set::{FieldChange, Plan};
use serde_json::Value;

use crate::{Kind, Out, counted, escape, size, type_name};

/// As many blobs are shown.
const MOST_BLOBS: usize = 1000;

/// Writes which fields of which blobs change.
pub fn write_changes(out: &mut Out, plan: &Plan<'_>) -> io::Result<()> {
    for blob in plan.changes().take(MOST_BLOBS) {
        let of = if blob.blob_type == BlobType::Metadata { " of" } else { "" };
        out.put("blob ").number(blob.index).put(", ").put(type_name(blob.blob_type)).put(of).put(" ");
        out.text(Kind::Name, blob.name.text()).end_line()?;
        blob.changes.iter().try_for_each(|change| field(change, out))?;
    }
    match plan.len().saturating_sub(MOST_BLOBS) {
        0 => Ok(()),
        more => out.put(&format!("... and {}", counted(more, "more blob", "more blobs"))).end_line(),
    }
}

fn field(change: &FieldChange, out: &mut Out) -> io::Result<()> {
    out.put("  ").put(&escape(&change.field)).put(": ");
    let FieldChange { old, new, .. } = change;
    match (old, new, new.get("from").and_then(Value::as_str)) {
        (_, _, Some(from)) => {
            let bytes = new.get("dataSize").and_then(Value::as_u64).unwrap_or_default();
            out.put_as(Kind::Number, &size(bytes)).put(" from ").put_as(Kind::Name, &escape(from))
        }
        (Value::Null, new, _) => out.put("added ").put_as(Kind::Number, &shown(new)),
        (old, Value::Null, _) => out.put("removed ").put_as(Kind::Number, &shown(old)),
        (old, new, _) => out.put_as(Kind::Number, &shown(old)).put(" -> ").put_as(Kind::Number, &shown(new)),
    };
    out.end_line()
}

/// A value as JSON, escaped.
fn shown(value: &Value) -> String {
    escape(&value.to_string()).into_owned()
}
