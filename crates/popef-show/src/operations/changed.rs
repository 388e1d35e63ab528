//! The reports of merge, split, strip, compress, decompress, set and recover as text.

use std::io;
use std::path::Path;

use popef::types::{BlobType, Diagnostic};
use popef::write::Packing;
use popef_ops::recover::{Lost, Recovered};
use popef_ops::set::{FieldChange, Plan};
use popef_ops::{
    CompressionOutcome, FilePath, LeftOut, Listed, Merged, MergedInput, OutputPath, Recompressed,
    RecompressedExecutable, Split, Stripped,
};
use serde_json::Value;

use crate::output::table::{Table, and_more};
use crate::{Kind, Out, Show, Shown, counted, size, type_name, type_word};

/// Writes the report of a merge as text. A dry run has written nothing.
pub fn write_merged(out: &mut Out, merged: &Merged, dry_run: bool) -> io::Result<()> {
    let Merged { size: bytes, blobs, inputs, duplicates, replaced, .. } = merged;
    out.put(if dry_run { "would write " } else { "" });
    out.put(counted(*blobs, "blob", "blobs")).put(", ").put(size(*bytes)).put(" together").end_line()?;
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
    let once = shown!("{} once: another blob has the same type, name and content", written);
    show_left_out(out, inputs, duplicates, once)?;
    let other = shown!("{}: another blob with the same type and name {}", left_out, kept);
    show_left_out(out, inputs, replaced, other)
}

fn show_left_out(out: &mut Out, inputs: &[MergedInput], left: &Listed<LeftOut>, what: impl Show) -> io::Result<()> {
    if left.is_empty() {
        return Ok(());
    }
    let count = counted(left.count, "blob", "blobs");
    out.end_line()?;
    out.put(shown!("{}, {}, {}", count, size(left.bytes), what)).end_line()?;
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

fn path(input: &MergedInput) -> Shown<'static> {
    input.path.as_ref().map_or_else(|| Shown::own("-"), |path| Shown::from(path).into_owned())
}

/// Writes the report of a split as text. A dry run has written nothing.
pub fn write_split(out: &mut Out, split: &Split, dry_run: bool) -> io::Result<()> {
    if split.parts.is_empty() {
        return out.put("the file has no blobs, so there are no parts").end_line();
    }
    if dry_run {
        out.put(shown!("would write {}:", counted(split.parts.len(), "part", "parts"))).end_line()?;
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
    out.put(shown!("{}, {}, in several parts, because several models use them", blobs, size(*bytes))).end_line()?;
    Table::of(first)
        .column("Type", Kind::Type, |item| type_name(item.blob_type))
        .column("Name", Kind::Name, |item| &item.name)
        .number("Size", |item| size(item.size))
        .write(out)?;
    and_more(out, split.shared.more())
}

/// Writes the report of a strip as text. A dry run has written nothing.
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
        out.put(shown!("{} before PopEF {}dropped", size(*dropped_prefix), would_be)).end_line()?;
    }
    let blobs = |count: u64| counted(count, "blob", "blobs");
    let sizes = shown!("{} -> {}", size(*size_before), size(*size_after));
    out.put(shown!("{} {}dropped, {} kept: {}", blobs(dropped.count), would_be, blobs(*kept), sizes)).end_line()
}

fn shown_type(blob_type: BlobType) -> Shown<'static> {
    type_word(blob_type).map_or_else(|| shown!("type {}", blob_type.number()), Shown::own)
}

/// The report of changed executables as text.
#[derive(Clone, Copy, Debug)]
pub struct RecompressedText {
    /// How they were compressed. `None` if they were decompressed.
    pub packing: Option<Packing>,
    /// Whether only some were chosen.
    pub is_chosen: bool,
    /// Nothing was written.
    pub dry_run: bool,
}

impl RecompressedText {
    /// Writes a file: a line, and a table of the first of its executables.
    pub fn write(
        self,
        out: &mut Out,
        path: &FilePath,
        output: Option<&OutputPath>,
        done: &Recompressed,
        executables: &[RecompressedExecutable],
    ) -> io::Result<()> {
        out.text(Kind::Name, path.text());
        if let Some(output) = output.filter(|output| output.text() != path.text()) {
            out.put(" -> ").text(Kind::Name, output.text());
        }
        out.put(shown!(": {}", self.summary(done))).end_line()?;
        if executables.is_empty() {
            return Ok(());
        }
        Table::of(executables)
            .column("Executable", Kind::Name, |one| &one.name)
            .number("Before", |one| size(one.size_before))
            .number("After", |one| size(one.size_after))
            .number("Ratio", |one| percent(one.size_after, one.size_before))
            .column(if self.dry_run { "Then" } else { "Now" }, Kind::Plain, |one| self.now(one))
            .write(out)?;
        and_more(out, done.chosen.saturating_sub(executables.len() as u64))
    }

    fn summary(self, done: &Recompressed) -> Shown<'static> {
        let nothing = if self.dry_run { "nothing would change" } else { "nothing changed" };
        if done.chosen == 0 {
            let chosen = if self.is_chosen { " chosen" } else { "" };
            return shown!("no executables{}; {}", chosen, nothing);
        }
        if done.changed == 0 {
            return Shown::own(nothing);
        }
        let [before, after] = [done.size_before, done.size_after].map(size);
        let becomes = if self.dry_run { "would become" } else { "->" };
        shown!("{} {} {}, {}", before, becomes, after, percent(done.size_after, done.size_before))
    }

    /// The format of an executable now, and why it did not change.
    fn now(self, one: &RecompressedExecutable) -> Shown<'static> {
        let format = match one.now {
            Some(compression) => compression.as_str(),
            None if one.outcome == CompressionOutcome::AlreadyCompressed => "an unknown format",
            None => "not compressed",
        };
        match one.outcome {
            CompressionOutcome::Compressed => self.packing.map_or_else(Shown::default, Shown::from),
            CompressionOutcome::WouldGrow => shown!("{}: would not become smaller", format),
            CompressionOutcome::AlreadyCompressed => shown!("{} already", format),
            CompressionOutcome::NotCompressed => Shown::own("not compressed before either"),
            _ => Shown::own(format),
        }
    }
}

/// A size as a part of another one in percent, rounded down to a tenth, or as a multiple.
fn percent(part: u64, whole: u64) -> Shown<'static> {
    let tenths = u128::from(part) * 1000 / u128::from(whole.max(1));
    match tenths {
        ..10_000 => shown!("{}.{} %", tenths / 10, tenths % 10),
        _ => shown!("{} x", tenths / 1000),
    }
}

/// The maximum number of blobs that are shown.
const MOST_BLOBS: usize = 1000;

/// Writes the blobs that change, with their fields.
pub fn write_changes(out: &mut Out, plan: &Plan<'_>) -> io::Result<()> {
    for blob in plan.changes().take(MOST_BLOBS) {
        let of = if blob.blob_type == BlobType::Metadata { " of" } else { "" };
        out.put("blob ").number(blob.index).put(", ").put(type_name(blob.blob_type)).put(of).put(" ");
        out.text(Kind::Name, blob.name.text()).end_line()?;
        blob.changes.iter().try_for_each(|change| field(change, out))?;
    }
    match plan.len().saturating_sub(MOST_BLOBS) {
        0 => Ok(()),
        more => out.put(shown!("... and {}", counted(more, "more blob", "more blobs"))).end_line(),
    }
}

fn field(change: &FieldChange, out: &mut Out) -> io::Result<()> {
    // A path is shown as it can be typed. Its backslashes are those of names in quotes.
    out.put("  ").put(Shown::message(&change.field)).put(": ");
    let FieldChange { old, new, .. } = change;
    match (old, new, new.get("from").and_then(Value::as_str)) {
        (_, _, Some(from)) => {
            let bytes = new.get("dataSize").and_then(Value::as_u64).unwrap_or_default();
            out.put_as(Kind::Number, size(bytes)).put(" from ").put_as(Kind::Name, Shown::escaped(from))
        }
        (Value::Null, new, _) => out.put("added ").put_as(Kind::Number, shown(new)),
        (old, Value::Null, _) => out.put("removed ").put_as(Kind::Number, shown(old)),
        (old, new, _) => out.put_as(Kind::Number, shown(old)).put(" -> ").put_as(Kind::Number, shown(new)),
    };
    out.end_line()
}

/// A value as JSON, escaped.
fn shown(value: &Value) -> Shown<'static> {
    value.to_string().into()
}

/// Writes the report of a recovery as text. A dry run has written nothing.
pub fn write_recovered(out: &mut Out, path: &Path, report: &Recovered, dry_run: bool) -> io::Result<()> {
    let Recovered { kept_blobs, kept_bytes, left_out_blobs, lost, .. } = report;
    let would_be = if dry_run { "would be " } else { "" };
    let left_out = match left_out_blobs {
        0 => Shown::default(),
        more => shown!("; {} not chosen", counted(*more, "blob", "blobs")),
    };
    let kept = shown!("{}, {}{}", counted(*kept_blobs, "blob", "blobs"), size(*kept_bytes), left_out);
    if report.damage.is_none() {
        let says = match (kept_blobs, left_out_blobs) {
            (0, 0) => Shown::own("the file has no blobs"),
            (_, 0) => shown!("the file is whole: {}", kept),
            _ => shown!("the file is whole; {}kept: {}", would_be, kept),
        };
        return name(out, path).put(says).end_line();
    }
    lost.first.iter().try_for_each(|lost| show_damage(out, path, &lost.damage))?;
    out.put(shown!("{}kept: {}", would_be, kept)).end_line()?;
    lost.first.iter().try_for_each(|lost| out.put(shown!("{}lost: {}", would_be, words(lost))).end_line())?;
    match lost.more() {
        0 => Ok(()),
        more => out.put(shown!("... and {} more; {}lost in all: {}", more, would_be, size(lost.bytes))).end_line(),
    }
}

fn name<'o>(out: &'o mut Out, path: &Path) -> &'o mut Out {
    out.text(Kind::Name, &path.as_os_str().as_encoded_bytes().into()).put(": ")
}

fn show_damage(out: &mut Out, path: &Path, damage: &Diagnostic) -> io::Result<()> {
    let out = name(out, path).put_as(Kind::Error, "damaged");
    out.put(shown!(" at {} [{}]", Shown::message(&damage.to_string()), Shown::escaped(&*damage.code))).end_line()
}

fn words(lost: &Lost) -> Shown<'static> {
    let Lost { start, bytes, is_rest, damage, .. } = lost;
    let what = match damage.blob {
        Some(blob) if !is_rest => shown!("which are blob {}", blob),
        _ => Shown::own("which were not searched for blobs"),
    };
    shown!("{} from byte {} on, {}", size(*bytes), start, what)
}
