//! Tables in text reports.

use std::borrow::Cow;
use std::io;

use super::color::Kind;
use super::escape::escape;
use super::out::Out;
use super::width::width;

/// A table with headings. Columns are as wide as their widest cell.
///
/// ```text
/// TYPE        NAME   SIZE
/// executable  model  62.2 KiB
/// ```
#[derive(Debug)]
pub struct Table<const N: usize>(Cells);

/// The same with any number of columns.
#[derive(Debug)]
pub(crate) struct Cells {
    columns: Vec<Column>,
    /// The cells of all rows, escaped. A line feed, which no escaped text has, ends each.
    cells: String,
}

/// A column: its heading, its side and its colour.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    heading: &'static str,
    kind: Kind,
    right: bool,
    is_capital: bool,
    width: usize,
}

/// So many spaces are between two columns.
const GAP: usize = 2;

/// Cells are not padded to more than this, so that one long name does not make all lines long.
const MOST: usize = 200;

impl Column {
    /// A column of texts.
    pub fn left(heading: &'static str, kind: Kind) -> Self {
        Column { heading, kind, right: false, is_capital: false, width: width(heading) }
    }

    /// A column of numbers.
    pub fn right(heading: &'static str) -> Self {
        Column { heading, kind: Kind::Number, right: true, is_capital: false, width: width(heading) }
    }
}

impl Column {
    /// The same with its heading in capitals.
    #[cfg(feature = "reports")]
    pub(crate) fn in_capitals(self) -> Self {
        Column { is_capital: true, ..self }
    }

    fn heading(&self) -> Cow<'static, str> {
        if self.is_capital { self.heading.to_uppercase().into() } else { self.heading.into() }
    }
}

impl<const N: usize> Table<N> {
    /// A table without rows.
    pub fn new(columns: [Column; N]) -> Self {
        Table(Cells::new(columns.into()))
    }

    /// Adds a row. Its texts may come from files: they are escaped here.
    pub fn row(&mut self, cells: [&str; N]) {
        self.0.row(cells);
    }

    /// Writes the headings and all rows.
    pub fn write(&self, out: &mut Out) -> io::Result<()> {
        self.0.write(out)
    }
}

impl Cells {
    pub(crate) fn new(columns: Vec<Column>) -> Self {
        Cells { columns, cells: String::new() }
    }

    /// Adds a row, which has a cell for each column.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item: AsRef<str>>) {
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            let cell = escape(cell.as_ref());
            column.width = column.width.max(width(&cell)).min(MOST);
            self.cells.push_str(&cell);
            self.cells.push('\n');
        }
    }

    pub(crate) fn write(&self, out: &mut Out) -> io::Result<()> {
        let headings: Vec<_> = self.columns.iter().map(Column::heading).collect();
        self.line(out, headings.iter().map(|heading| (Kind::Group, &**heading)))?;
        let mut cells = self.cells.split_terminator('\n').peekable();
        while cells.peek().is_some() {
            let row = self.columns.iter().map(|column| (column.kind, cells.next().unwrap_or_default()));
            self.line(out, row)?;
        }
        Ok(())
    }

    /// Writes a line, without spaces at its end.
    fn line<'t>(&self, out: &mut Out, cells: impl Iterator<Item = (Kind, &'t str)>) -> io::Result<()> {
        let mut spaces = 0;
        for (column, (kind, text)) in self.columns.iter().zip(cells) {
            let room = column.width.saturating_sub(width(text));
            let (before, after) = if column.right { (room, 0) } else { (0, room) };
            spaces += before;
            if !text.is_empty() {
                out.spaces(spaces).put_as(kind, text);
                spaces = 0;
            }
            spaces += after + GAP;
        }
        out.end_line()
    }
}

#[cfg(test)]
mod tests {
    use super::{Column, Table};
    use crate::{Kind, Out};

    fn shown(colors: bool, rows: &[[&str; 3]]) -> String {
        let columns = [Column::left("TYPE", Kind::Plain), Column::left("NAME", Kind::Name), Column::right("SIZE")];
        let mut table = Table::new(columns);
        rows.iter().for_each(|row| table.row(*row));
        let mut out = Out::in_memory(colors);
        table.write(&mut out).unwrap();
        String::from_utf8(out.into_bytes()).unwrap()
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let text = shown(false, &[["executable", "重み", "1.0 KiB"], ["feed", "", "12 B"]]);
        assert_eq!(text, "TYPE        NAME     SIZE\nexecutable  重み  1.0 KiB\nfeed                 12 B\n");
    }

    #[test]
    fn no_name_breaks_a_line_or_colours_it() {
        let text = shown(false, &[["tensor", "a\nb\u{1b}[31m", "1 B"]]);
        assert_eq!(text, "TYPE    NAME            SIZE\ntensor  a\\nb\\u{1b}[31m   1 B\n");
        let colored = shown(true, &[["tensor", "a\u{1b}", "1 B"]]);
        assert!(colored.contains("\u{1b}[38;5;28ma\\u{1b}\u{1b}[0m"), "{colored:?}");
    }
}
