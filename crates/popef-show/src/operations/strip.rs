//! What was left out.

use std::io;

use popef::types::BlobType;
use popef_ops::Stripped;

use super::and_more;
use crate::{Column, Kind, Out, Table, counted, size, type_word};

/// Writes what was left out as text. Nothing was written in a dry run.
pub fn write_stripped(out: &mut Out, stripped: &Stripped, dry_run: bool) -> io::Result<()> {
    let Stripped { dropped, dropped_prefix, kept, size_before, size_after, .. } = stripped;
    let (heading, would_be) = if dry_run { ("WOULD DROP", "would be ") } else { ("DROPPED", "") };
    if !dropped.is_empty() {
        let mut table =
            Table::new([Column::left(heading, Kind::Type), Column::left("NAME", Kind::Name), Column::right("SIZE")]);
        for item in &dropped.first {
            table.row([&shown_type(item.blob_type), &item.name.to_string(), &size(item.size)]);
        }
        table.write(out)?;
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
