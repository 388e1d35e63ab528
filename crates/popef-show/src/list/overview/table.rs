use std::io;

use popef::Blob;
use popef::types::BlobType;

use super::holds::Holds;
use crate::output::color::Kind;
use crate::output::color::Kind::{Group, Name, Number, Plain, Type};
use crate::output::out::Out;
use crate::output::shown::Shown;
use crate::output::units;
use crate::output::width::width;
use crate::report::file::type_word;
use crate::report::file::{FileReport, blob_name};

/// One line per blob. All lines are computed before the first is written, because the columns have to fit.
pub(super) struct Table {
    /// Three cells per row: type, what it holds, size. Names stay in the file's index, because they can take the most memory.
    cells: Shown<'static>,
    pub(super) rows: Vec<Row>,
    pub(super) columns: Columns,
}

/// A blob's line.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub(super) blob: u32,
    /// Whether there are lines under it.
    pub(super) has_details: bool,
}

impl Table {
    pub(super) fn of(report: &FileReport<'_>) -> Self {
        let mut table = Table { cells: Shown::default(), rows: Vec::new(), columns: Columns::headings() };
        report.blobs().for_each(|blob| table.add(&blob, report));
        table
    }

    fn add<'f>(&mut self, blob: &Blob<'f>, report: &FileReport<'f>) {
        let holds = Holds::of(blob, report);
        // A file has no more blobs.
        let number = u32::try_from(blob.index()).unwrap_or(u32::MAX);
        self.rows.push(Row { blob: number, has_details: holds.has_details(report.options) });
        let Table { cells, columns, .. } = self;
        columns.index = columns.index.max(digits(blob.index()));
        columns.offset = columns.offset.max(digits(blob.offset()));
        columns.name = columns.name.max(width(&Shown::escaped(&blob_name(blob))));
        let start = cells.len();
        columns.kind = columns.kind.max(add_kind(cells, blob.blob_type()).end_line(start));
        let start = cells.len();
        holds.write(cells);
        columns.holds = columns.holds.max(cells.end_line(start));
        let start = cells.len();
        columns.size = columns.size.max(cells.push(units::size(blob.size())).end_line(start));
    }

    /// The texts of all rows, for [`line`](Table::line).
    pub(super) fn cells(&self) -> impl Iterator<Item = Shown<'_>> {
        self.cells.lines()
    }

    pub(super) fn headings(&self, out: &mut Out) -> io::Result<()> {
        let Columns { index, kind, name, holds, size, offset, .. } = self.columns;
        let mut heading = Shown::default();
        heading.push_spaces(index + 1).push("#");
        for (text, column) in [("TYPE", kind), ("NAME", name), ("HOLDS", holds)] {
            heading.push_spaces(2).push(text).push_spaces(column.saturating_sub(text.len()));
        }
        for (text, column) in [("SIZE", size), ("OFFSET", offset)] {
            heading.push_spaces(2 + column.saturating_sub(text.len())).push(text);
        }
        out.put_as(Group, heading).end_line()
    }

    /// Writes the line of a blob, whose cells are the next ones.
    pub(super) fn line<'t>(
        &self,
        out: &mut Out,
        blob: &Blob<'_>,
        cells: &mut impl Iterator<Item = Shown<'t>>,
    ) -> io::Result<()> {
        let mut next = || cells.next().unwrap_or_default();
        let name = blob_name(blob);
        number(out, self.columns.index, blob.index());
        left(out, self.columns.kind, Plain, &next());
        left(out, self.columns.name, Name, &self.fitted(&Shown::escaped(&name), self.columns.name));
        left(out, self.columns.holds, Type, &self.fitted(&next(), self.columns.holds));
        let size = next();
        out.spaces(2 + self.columns.size.saturating_sub(width(&size))).put_as(Number, size);
        number(out, self.columns.offset, blob.offset());
        out.end_line()
    }

    fn fitted<'t>(&self, text: &'t Shown<'_>, column: usize) -> Shown<'t> {
        if self.columns.shortened { text.shortened(column) } else { text.by_ref() }
    }
}

/// A cell with text, and the gap before it.
fn left(out: &mut Out, column: usize, kind: Kind, text: &Shown<'_>) {
    out.spaces(2).put_as(kind, text).spaces(column.saturating_sub(width(text)));
}

/// A cell with a number, and the gap before it.
fn number(out: &mut Out, column: usize, number: impl itoa::Integer) {
    out.spaces(2).number_in(column, number);
}

/// Adds a blob's type in a word.
fn add_kind<'c>(cells: &'c mut Shown<'static>, blob_type: BlobType) -> &'c mut Shown<'static> {
    match type_word(blob_type) {
        Some(word) => cells.push(word),
        None => cells.push("type ").push(blob_type.number()),
    }
}

/// The width of each column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Columns {
    pub(super) index: usize,
    pub(super) kind: usize,
    pub(super) name: usize,
    pub(super) holds: usize,
    pub(super) size: usize,
    pub(super) offset: usize,
    /// Whether wider texts are shortened. Otherwise they make their line longer.
    pub(super) shortened: bool,
}

/// The minimum width of a name. A shorter one says nothing, so the line becomes too long instead.
const LEAST: usize = 8;
/// The maximum width to which names are padded, so that one long name does not make all lines long.
const MOST: usize = 200;
/// Two spaces before each of six columns.
const GAPS: usize = 12;

impl Columns {
    pub(super) fn headings() -> Self {
        Columns { index: 1, kind: 4, name: 4, holds: 5, size: 4, offset: 6, shortened: false }
    }

    /// Narrows the wider of the two wide columns, so that the lines fit into a terminal if there is one.
    pub(super) fn narrow(&mut self, screen: Option<usize>) {
        let Some(screen) = screen else {
            self.name = self.name.min(MOST);
            self.holds = self.holds.min(MOST);
            return;
        };
        self.shortened = true;
        let fixed = self.index + self.kind + self.size + self.offset + GAPS;
        let room = screen.saturating_sub(fixed);
        if self.name + self.holds > room {
            let half = (room / 2).max(LEAST);
            self.holds = self.holds.min(half.max(room.saturating_sub(self.name)));
            self.name = self.name.min(half.max(room.saturating_sub(self.holds)));
        }
    }
}

/// How many columns a number takes.
pub(super) fn digits(number: impl itoa::Integer) -> usize {
    itoa::Buffer::new().format(number).len()
}
