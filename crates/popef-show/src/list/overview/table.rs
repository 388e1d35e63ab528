use std::borrow::Cow;
use std::io;

use popef::Blob;
use popef::types::BlobType;

use super::holds::Holds;
use crate::output::color::Kind;
use crate::output::color::Kind::{Group, Name, Number, Plain, Type};
use crate::output::escape::escape;
use crate::output::out::Out;
use crate::output::units;
use crate::output::units::{shorten, width};
use crate::report::file::type_word;
use crate::report::file::{FileReport, blob_name};

/// One line per blob. All lines are computed before the first is written, because the columns have to fit.
pub(super) struct Table {
    /// Three cells per row (type, what it holds, size), each ended by a line feed, which no escaped text has. Names stay in
    /// the file's index, because they can take the most memory.
    cells: String,
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

/// The texts of one row.
type Cells<'t> = std::str::Split<'t, char>;

impl Table {
    pub(super) fn of(report: &FileReport<'_>) -> Self {
        let mut table = Table { cells: String::new(), rows: Vec::new(), columns: Columns::headings() };
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
        cell(cells, &mut columns.kind, |text| text.push_str(&kind(blob.blob_type())));
        columns.name = columns.name.max(width(&escape(&blob_name(blob).to_string_lossy())));
        cell(cells, &mut columns.holds, |text| holds.write(text));
        cell(cells, &mut columns.size, |text| text.push_str(&units::size(blob.size())));
    }

    /// The texts of all rows, for [`line`](Table::line).
    pub(super) fn cells(&self) -> Cells<'_> {
        self.cells.split('\n')
    }

    pub(super) fn headings(&self, out: &mut Out) -> io::Result<()> {
        let Columns { index, kind, name, holds, size, offset, .. } = self.columns;
        let heading = format!(
            "  {:>index$}  {:<kind$}  {:<name$}  {:<holds$}  {:>size$}  {:>offset$}",
            "#", "TYPE", "NAME", "HOLDS", "SIZE", "OFFSET"
        );
        out.put_as(Group, &heading).end_line()
    }

    /// Writes the line of a blob, whose cells are the next ones.
    pub(super) fn line(&self, out: &mut Out, blob: &Blob<'_>, cells: &mut Cells<'_>) -> io::Result<()> {
        let mut next = || cells.next().unwrap_or_default();
        right(out, self.columns.index, itoa::Buffer::new().format(blob.index()));
        left(out, self.columns.kind, Plain, next());
        left(
            out,
            self.columns.name,
            Name,
            &self.fitted(&escape(&blob_name(blob).to_string_lossy()), self.columns.name),
        );
        left(out, self.columns.holds, Type, &self.fitted(next(), self.columns.holds));
        right(out, self.columns.size, next());
        right(out, self.columns.offset, itoa::Buffer::new().format(blob.offset()));
        out.end_line()
    }

    fn fitted<'t>(&self, text: &'t str, column: usize) -> Cow<'t, str> {
        if self.columns.shortened { shorten(text, column) } else { Cow::Borrowed(text) }
    }
}

/// Adds a cell, and widens its column to it.
fn cell(cells: &mut String, column: &mut usize, write: impl FnOnce(&mut String)) {
    let start = cells.len();
    write(cells);
    *column = (*column).max(width(cells.get(start..).unwrap_or_default()));
    cells.push('\n');
}

/// A cell with text, and the gap before it.
fn left(out: &mut Out, column: usize, kind: Kind, text: &str) {
    out.spaces(2).put_as(kind, text).spaces(column.saturating_sub(width(text)));
}

/// A cell with a number, and the gap before it.
fn right(out: &mut Out, column: usize, number: &str) {
    out.spaces(2 + column.saturating_sub(width(number))).put_as(Number, number);
}

/// A blob's type in a word.
fn kind(blob_type: BlobType) -> Cow<'static, str> {
    type_word(blob_type).map_or_else(|| format!("type {}", blob_type.number()).into(), Cow::from)
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
