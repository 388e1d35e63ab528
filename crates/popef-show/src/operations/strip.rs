//! What was left out.

use std::io;

use popef::types::BlobType;
use popef_ops::Stripped;

use super::and_more;
use crate::output::table::Table;
use crate::{Kind, Out, counted, size, type_word};

/// Writes what was left out as text. Nothing was written in a dry run.
pub fn write_stripped(out: &mut Out, stripped: &Stripped, dry_run: bool) -> io::Result<()> {
    let Stripped { dropped, dropped_prefix, kept, size_before, size_after, .. } = stripped;
    let (heading, would_be) = if dry_run { ("Would drop", "would be ") } else { ("Dropped", "") };
    if !dropped.is_empty() {
        Table::of(&dropped.first)
            .column(heading, Kind::Type, |item| shown_type(item.blob_type))
            .column("Name", Kind::Name, |item| &item.name)
            .number("Size", |item| size(item.size))
            .write(out)?;
        and_more(out, dropped.more())?;
    }
    if *dropped_prefix > 0 {
        out.put(&format!("{} before PopEF {would_be}dropped", size(*dropped_prefix))).end_line()?;
    }
    let blobs = |count: u64| counted(count, "blob", "blobs");
    let sizes = format!("{} -> {}", size(*size_before), size(*size_after));
    out.put(&format!("{} {would_be}dropped, {} kept: {sizes}", blobs(dropped.count), blobs(*kept))).end_line()
}

fn shown_type(blob_type: BlobType) -> String {
    type_word(blob_type).map_or_else(|| format!("type {}", blob_type.number()), str::to_owned)
}
