//! What was kept and lost of a damaged file.

use std::io;
use std::path::Path;

use popef::error::Location;
use popef_ops::recover::{Damage, Lost, Recovered};

use crate::{Kind, Out, counted, escape_rest, size};

/// Writes what was kept and lost of a file as text. Nothing was written in a dry run.
pub fn write_recovered(out: &mut Out, path: &Path, report: &Recovered, dry_run: bool) -> io::Result<()> {
    let Recovered { kept_blobs, kept_bytes, left_out_blobs, lost, .. } = report;
    let would_be = if dry_run { "would be " } else { "" };
    let left_out = match left_out_blobs {
        0 => String::new(),
        more => format!("; {} not chosen", counted(*more, "blob", "blobs")),
    };
    let kept = format!("{}, {}{left_out}", counted(*kept_blobs, "blob", "blobs"), size(*kept_bytes));
    if report.damage.is_none() {
        let says = match (kept_blobs, left_out_blobs) {
            (0, 0) => "the file has no blobs".to_owned(),
            (_, 0) => format!("the file is whole: {kept}"),
            _ => format!("the file is whole; {would_be}kept: {kept}"),
        };
        return name(out, path).put(&says).end_line();
    }
    lost.first.iter().try_for_each(|lost| show_damage(out, path, &lost.damage))?;
    out.put(&format!("{would_be}kept: {kept}")).end_line()?;
    lost.first.iter().try_for_each(|lost| out.put(&format!("{would_be}lost: {}", words(lost))).end_line())?;
    match lost.more() {
        0 => Ok(()),
        more => out.put(&format!("... and {more} more; {would_be}lost in all: {}", size(lost.bytes))).end_line(),
    }
}

fn name<'o>(out: &'o mut Out, path: &Path) -> &'o mut Out {
    out.text(Kind::Name, &path.to_string_lossy().into_owned().into()).put(": ")
}

fn show_damage(out: &mut Out, path: &Path, damage: &Damage) -> io::Result<()> {
    let Damage { blob, offset, code, message, .. } = damage;
    let place = Location { blob: *blob, offset: *offset };
    let out = name(out, path).put_as(Kind::Error, "damaged");
    out.put(&format!(" at {place}{} [{code}]", escape_rest(message))).end_line()
}

fn words(lost: &Lost) -> String {
    let Lost { start, bytes, is_rest, damage, .. } = lost;
    let what = match damage.blob {
        Some(blob) if !is_rest => format!("which are blob {blob}"),
        _ => "which were not searched for blobs".to_owned(),
    };
    format!("{} from byte {start} on, {what}", size(*bytes))
}
