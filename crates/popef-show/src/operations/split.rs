//! What was split.

use std::io;

use popef_ops::{Listed, Split};

use super::and_more;
use crate::output::table::Table;
use crate::{Kind, Out, counted, size, type_name};

/// Writes what was split as text. Nothing was written in a dry run.
pub fn write_split(out: &mut Out, split: &Split, dry_run: bool) -> io::Result<()> {
    if split.parts.is_empty() {
        return out.put("the file has no blobs, so there are no parts").end_line();
    }
    if dry_run {
        out.put(&format!("would write {}:", counted(split.parts.len(), "part", "parts"))).end_line()?;
    }
    show_parts(out, split)?;
    show_shared(out, split)
}

fn show_parts(out: &mut Out, split: &Split) -> io::Result<()> {
    Table::of(&split.parts)
        .column("File", Kind::Name, |part| &part.path)
        .number("Blobs", |part| part.blobs)
        .number("Size", |part| size(part.size))
        .column("", Kind::Warning, |part| if part.too_large { "larger: one blob cannot be split" } else { "" })
        .write(out)
}

fn show_shared(out: &mut Out, split: &Split) -> io::Result<()> {
    let Listed { count, bytes, first, .. } = &split.shared;
    if first.is_empty() {
        return Ok(());
    }
    out.end_line()?;
    let blobs = counted(*count, "blob", "blobs");
    out.put(&format!("{blobs}, {}, in several parts, because several models use them", size(*bytes))).end_line()?;
    Table::of(first)
        .column("Type", Kind::Type, |item| type_name(item.blob_type))
        .column("Name", Kind::Name, |item| &item.name)
        .number("Size", |item| size(item.size))
        .write(out)?;
    and_more(out, split.shared.more())
}
