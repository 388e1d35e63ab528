use std::borrow::Cow;
use std::io;

use popef::Blob;
use popef::types::BlobType;

use super::holds::Holds;
use super::width::{Columns, digits};
use crate::output::color::Kind::{self, Group, Name, Number, Plain, Type};
use crate::output::escape::escape;
use crate::output::out::Out;
use crate::output::units;
use crate::output::width::{shorten, width};
use crate::report::file::{FileReport, link};
use crate::report::type_word::type_word;

/// One line per blob. All lines are worked out before the first is written, because the columns have to fit.
pub(super) struct Table {
    /// Three cells per row (type, what it holds, size), each ended by a line feed, which no escaped text has. Names are in the
    /// file's index, and can be most of what there is.
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
        columns.name = columns.name.max(width(&escape(&link(blob).to_string_lossy())));
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
        left(out, self.columns.name, Name, &self.fitted(&escape(&link(blob).to_string_lossy()), self.columns.name));
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
