//! What was merged.

use std::io;

use popef_ops::{LeftOut, Listed, Merged, MergedInput};

use super::and_more;
use crate::output::table::Table;
use crate::{Kind, Out, counted, size, type_name};

/// Writes what was merged as text. Nothing was written in a dry run.
pub fn write_merged(out: &mut Out, merged: &Merged, dry_run: bool) -> io::Result<()> {
    let Merged { size: bytes, blobs, inputs, duplicates, replaced, .. } = merged;
    out.put(if dry_run { "would write " } else { "" });
    out.put(&counted(*blobs, "blob", "blobs")).put(", ").put(&size(*bytes)).put(" together").end_line()?;
    Table::of(inputs)
        .column("File", Kind::Name, |input| path(input))
        .number("Blobs", |input| input.blobs)
        .number("Size", |input| size(input.bytes))
        .write(out)?;
    let [written, left_out, kept] = if dry_run {
        ["would be written", "would be left out", "would be kept"]
    } else {
        ["written", "left out", "was kept"]
    };
    let once = format!("{written} once: another blob has the same type, name and content");
    show_left_out(out, inputs, duplicates, &once)?;
    let other = format!("{left_out}: another blob with the same type and name {kept}");
    show_left_out(out, inputs, replaced, &other)
}

fn show_left_out(out: &mut Out, inputs: &[MergedInput], left: &Listed<LeftOut>, what: &str) -> io::Result<()> {
    if left.is_empty() {
        return Ok(());
    }
    let count = counted(left.count, "blob", "blobs");
    out.end_line()?;
    out.put(&format!("{count}, {}, {what}", size(left.bytes))).end_line()?;
    let name_of = |input: usize| inputs.get(input).map(path).unwrap_or_default();
    Table::of(&left.first)
        .column("Type", Kind::Type, |left| type_name(left.item.blob_type))
        .column("Name", Kind::Name, |left| &left.item.name)
        .number("Size", |left| size(left.item.size))
        .column("In", Kind::Plain, |left| name_of(left.input))
        .column("Kept from", Kind::Plain, |left| name_of(left.kept.input))
        .write(out)?;
    and_more(out, left.more())
}

fn path(input: &MergedInput) -> String {
    input.path.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string)
}
