//! Tables in text reports.

use std::io;

use super::color::Kind;
use super::escape::escape;
use super::out::Out;
use super::width::width;
use super::words::more;

/// A table: its rows, and columns that say what each row has in them. Columns are as wide as their widest cell.
///
/// ```text
/// TYPE        NAME   SIZE
/// executable  model  62.2 KiB
/// ```
pub(crate) struct Table<'t, I: Iterator> {
    rows: I,
    columns: Vec<Column<'t, I::Item>>,
}

struct Column<'t, R> {
    /// It is shown in capitals.
    heading: &'t str,
    /// Numbers are on the right.
    kind: Kind,
    cell: Box<dyn Fn(&R) -> String + 't>,
}

/// So many spaces are between two columns.
const GAP: usize = 2;

/// Cells are not padded to more than this, so that one long name does not make all lines long.
const MOST: usize = 200;

impl<'t, I: Iterator> Table<'t, I> {
    /// A table of these rows.
    pub(crate) fn of(rows: impl IntoIterator<IntoIter = I>) -> Self {
        Table { rows: rows.into_iter(), columns: Vec::new() }
    }

    /// Adds a column. Its texts may come from files: they are escaped here.
    pub(crate) fn column<T: ToString>(
        mut self,
        heading: &'t str,
        kind: Kind,
        cell: impl Fn(&I::Item) -> T + 't,
    ) -> Self {
        self.columns.push(Column { heading, kind, cell: Box::new(move |row| cell(row).to_string()) });
        self
    }

    /// Adds a column of numbers.
    pub(crate) fn number<T: ToString>(self, heading: &'t str, cell: impl Fn(&I::Item) -> T + 't) -> Self {
        self.column(heading, Kind::Number, cell)
    }

    /// Writes the headings and all rows.
    pub(crate) fn write(self, out: &mut Out) -> io::Result<()> {
        self.write_first(out, usize::MAX)
    }

    /// Writes the headings and the first rows, and says how many more there are.
    pub(crate) fn write_first(mut self, out: &mut Out, most: usize) -> io::Result<()> {
        let headings: Vec<_> = self.columns.iter().map(|column| column.heading.to_uppercase()).collect();
        let mut widths: Vec<_> = headings.iter().map(|heading| width(heading)).collect();
        // Escaped. A line feed, which no escaped text has, ends each.
        let mut cells = String::new();
        for row in self.rows.by_ref().take(most) {
            for (column, widest) in self.columns.iter().zip(&mut widths) {
                let cell = (column.cell)(&row);
                let cell = escape(&cell);
                *widest = width(&cell).max(*widest).min(MOST);
                cells.push_str(&cell);
                cells.push('\n');
            }
        }
        let is_number = |column: &Column<'_, _>| column.kind == Kind::Number;
        let sides = || self.columns.iter().map(is_number).zip(widths.iter().copied());
        write_line(out, sides().zip(headings.iter().map(|heading| (Kind::Group, &**heading))))?;
        let mut cells = cells.split_terminator('\n').peekable();
        while cells.peek().is_some() {
            let row = self.columns.iter().map(|column| (column.kind, cells.next().unwrap_or_default()));
            write_line(out, sides().zip(row))?;
        }
        more(out, self.rows.count(), 0)
    }
}

/// Writes a line, without spaces at its end. Each cell has its column before it: whether it is on the right, and the width.
fn write_line<'c>(out: &mut Out, cells: impl Iterator<Item = ((bool, usize), (Kind, &'c str))>) -> io::Result<()> {
    let mut spaces = 0;
    for ((is_number, widest), (kind, text)) in cells {
        let room = widest.saturating_sub(width(text));
        let (before, after) = if is_number { (room, 0) } else { (0, room) };
        spaces += before;
        if !text.is_empty() {
            out.spaces(spaces).put_as(kind, text);
            spaces = 0;
        }
        spaces += after + GAP;
    }
    out.end_line()
}

#[cfg(test)]
mod tests {
    use super::Table;
    use crate::{Kind, Out};

    fn shown(colors: bool, rows: &[[&str; 3]], most: usize) -> String {
        let mut out = Out::in_memory(colors);
        let table = Table::of(rows).column("Type", Kind::Plain, |row| row[0]).column("Name", Kind::Name, |row| row[1]);
        table.number("Size", |row| row[2]).write_first(&mut out, most).unwrap();
        String::from_utf8(out.into_bytes()).unwrap()
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [["executable", "重み", "1.0 KiB"], ["feed", "", "12 B"], ["a long type, not shown", "", ""]];
        let text = shown(false, &rows, 2);
        let expected =
            "TYPE        NAME     SIZE\nexecutable  重み  1.0 KiB\nfeed                 12 B\n... and 1 more\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn no_name_breaks_a_line_or_colours_it() {
        let text = shown(false, &[["tensor", "a\nb\u{1b}[31m", "1 B"]], 1);
        assert_eq!(text, "TYPE    NAME            SIZE\ntensor  a\\nb\\u{1b}[31m   1 B\n");
        let colored = shown(true, &[["tensor", "a\u{1b}", "1 B"]], 1);
        assert!(colored.contains("\u{1b}[38;5;28ma\\u{1b}\u{1b}[0m"), "{colored:?}");
    }
}
