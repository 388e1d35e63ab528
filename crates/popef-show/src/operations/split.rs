//! What was split.

use std::io;

use popef_ops::{Listed, Split};

use super::and_more;
use crate::{Column, Kind, Out, Table, counted, size, type_name};

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
    let mut table = Table::new([
        Column::left("FILE", Kind::Name),
        Column::right("BLOBS"),
        Column::right("SIZE"),
        Column::left("", Kind::Warning),
    ]);
    for part in &split.parts {
        let too_large = if part.too_large { "larger: one blob cannot be split" } else { "" };
        table.row([&part.path.to_string(), &part.blobs.to_string(), &size(part.size), too_large]);
    }
    table.write(out)
}

fn show_shared(out: &mut Out, split: &Split) -> io::Result<()> {
    let Listed { count, bytes, first, .. } = &split.shared;
    if first.is_empty() {
        return Ok(());
    }
    out.end_line()?;
    let blobs = counted(*count, "blob", "blobs");
    out.put(&format!("{blobs}, {}, in several parts, because several models use them", size(*bytes))).end_line()?;
    let mut table =
        Table::new([Column::left("TYPE", Kind::Type), Column::left("NAME", Kind::Name), Column::right("SIZE")]);
    for item in first {
        table.row([type_name(item.blob_type), &item.name.to_string(), &size(item.size)]);
    }
    table.write(out)?;
    and_more(out, split.shared.more())
}
