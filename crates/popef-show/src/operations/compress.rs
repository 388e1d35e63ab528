//! What was compressed or decompressed.

use std::io;

use popef::write::Packing;
use popef_ops::{CompressionOutcome, FilePath, OutputPath, Recompressed, RecompressedExecutable};

use super::and_more;
use crate::output::table::Table;
use crate::{Kind, Out, size};

/// What was done with the executables of files, as text.
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
    /// Writes what became of a file: a line, and a table of the first of its executables.
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
        out.put(&format!(": {}", self.summary(done))).end_line()?;
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

    fn summary(self, done: &Recompressed) -> String {
        let nothing = if self.dry_run { "nothing would change" } else { "nothing changed" };
        if done.chosen == 0 {
            let chosen = if self.is_chosen { " chosen" } else { "" };
            return format!("no executables{chosen}; {nothing}");
        }
        if done.changed == 0 {
            return nothing.to_owned();
        }
        let [before, after] = [done.size_before, done.size_after].map(size);
        let becomes = if self.dry_run { "would become" } else { "->" };
        format!("{before} {becomes} {after}, {}", percent(done.size_after, done.size_before))
    }

    /// The format of an executable now, and why it did not change.
    fn now(self, one: &RecompressedExecutable) -> String {
        let format = match one.now {
            Some(compression) => compression.as_str(),
            None if one.outcome == CompressionOutcome::AlreadyCompressed => "an unknown format",
            None => "not compressed",
        };
        match one.outcome {
            CompressionOutcome::Compressed => self.packing.map_or_else(String::new, |packing| packing.to_string()),
            CompressionOutcome::WouldGrow => format!("{format}: would not become smaller"),
            CompressionOutcome::AlreadyCompressed => format!("{format} already"),
            CompressionOutcome::NotCompressed => "not compressed before either".to_owned(),
            _ => format.to_owned(),
        }
    }
}

/// A size as a part of another one in percent, rounded down to a tenth, or as a multiple.
fn percent(part: u64, whole: u64) -> String {
    let tenths = u128::from(part) * 1000 / u128::from(whole.max(1));
    match tenths {
        ..10_000 => format!("{}.{} %", tenths / 10, tenths % 10),
        _ => format!("{} x", tenths / 1000),
    }
}
