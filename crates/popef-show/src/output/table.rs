//! Tables as text and CSV, the lists of fields that pages use too, and the lines around tables in text.

use std::borrow::{Borrow, Cow};
use std::io;
use std::ops::Range;

use serde::Serialize;

use super::code::Csv;
use super::color::Kind;
use super::out::Out;
use super::shown::{Show, Shown};
use super::units::size;
use super::width::width;

/// A table: its rows, and columns that compute a cell from each row. Columns are as wide as their widest cell.
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
    heading: &'static str,
    /// Numbers are on the right.
    kind: Kind,
    cell: Box<dyn Fn(&R) -> Shown<'static> + 't>,
}

/// The number of spaces between two columns.
const GAP: usize = 2;

/// The maximum width to which cells are padded, so that one long name does not make all lines long.
const MOST: usize = 200;

impl<'t, I: Iterator> Table<'t, I> {
    /// A table of these rows.
    pub(crate) fn of(rows: impl IntoIterator<IntoIter = I>) -> Self {
        Table { rows: rows.into_iter(), columns: Vec::new() }
    }

    /// Adds a column. Text that is not [`Shown`] yet is escaped here.
    pub(crate) fn column<'c, T: Into<Shown<'c>>>(
        mut self,
        heading: &'static str,
        kind: Kind,
        cell: impl Fn(&I::Item) -> T + 't,
    ) -> Self {
        self.columns.push(Column { heading, kind, cell: Box::new(move |row| cell(row).into().into_owned()) });
        self
    }

    /// Adds a column of numbers.
    pub(crate) fn number<'c, T: Into<Shown<'c>>>(
        self,
        heading: &'static str,
        cell: impl Fn(&I::Item) -> T + 't,
    ) -> Self {
        self.column(heading, Kind::Number, cell)
    }

    /// Writes the headings and all rows.
    pub(crate) fn write(self, out: &mut Out) -> io::Result<()> {
        self.write_first(out, usize::MAX)
    }

    /// Writes the headings and the first rows, and says how many more there are.
    pub(crate) fn write_first(mut self, out: &mut Out, most: usize) -> io::Result<()> {
        let mut cells = Shown::default();
        let mut add = |cell: Shown<'_>| {
            let start = cells.len();
            cells.push(cell).end_line(start).min(MOST)
        };
        let mut widths: Vec<_> = self.columns.iter().map(|it| add(it.heading.to_uppercase().into())).collect();
        for row in self.rows.by_ref().take(most) {
            for (column, widest) in self.columns.iter().zip(&mut widths) {
                *widest = add((column.cell)(&row)).max(*widest);
            }
        }
        let mut cells = cells.lines().enumerate().peekable();
        while cells.peek().is_some() {
            let mut spaces = 0;
            for ((column, widest), (nth, cell)) in self.columns.iter().zip(&widths).zip(&mut cells) {
                let room = widest.saturating_sub(width(&cell));
                let (before, after) = if column.kind == Kind::Number { (room, 0) } else { (0, room) };
                spaces += before;
                // No line ends with spaces.
                if !cell.is_empty() {
                    let kind = if nth < widths.len() { Kind::Group } else { column.kind };
                    out.spaces(spaces).put_as(kind, cell);
                    spaces = 0;
                }
                spaces += after + GAP;
            }
            out.end_line()?;
        }
        and_more(out, self.rows.count())
    }
}

/// A row of a table.
pub(crate) trait TableRow: Serialize {
    /// Its fields, in the order of CSV.
    fn fields() -> Vec<Field<Self>>
    where
        Self: Sized;
}

/// A field of a row: its key in JSON and CSV, and its column in text and on pages.
pub(crate) struct Field<R> {
    /// Empty if neither JSON nor CSV has it.
    pub(crate) key: &'static str,
    pub(crate) column: Option<FieldColumn<R>>,
    /// Text has fields of a lower turn first.
    turn: u8,
    /// Whether only pages have it.
    is_of_page: bool,
}

/// How a field is shown.
pub(crate) struct FieldColumn<R> {
    /// The heading, as pages have it. Text has it in capitals.
    pub(crate) heading: &'static str,
    /// The colour in text. Numbers are on the right.
    kind: Kind,
    pub(crate) value: fn(&R) -> Cell,
}

/// The content of a cell.
#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "graphs"), expect(dead_code, reason = "only graphs have amounts and branches"))]
pub(crate) enum Cell {
    Bytes(u64),
    /// How many there are.
    Count(u64),
    /// A number that names something.
    Number(u64),
    Share(f64),
    /// Text has it as a fraction, a page in percent.
    Balance(f64),
    /// A text in a column of numbers: `any number`.
    Amount(Shown<'static>),
    Text(Shown<'static>),
    Name(Shown<'static>),
    /// A name in a tree, and how deep it is.
    Branch(u64, Shown<'static>),
    /// Names with their bytes.
    Parts(Vec<(Shown<'static>, u64)>),
    None,
}

impl Cell {
    pub(crate) fn bytes(value: Option<u64>) -> Self {
        value.map_or(Cell::None, Cell::Bytes)
    }

    pub(crate) fn count(value: Option<impl Into<u64>>) -> Self {
        value.map_or(Cell::None, |value| Cell::Count(value.into()))
    }

    pub(crate) fn number(value: Option<impl Into<u64>>) -> Self {
        value.map_or(Cell::None, |value| Cell::Number(value.into()))
    }

    pub(crate) fn balance(value: Option<f64>) -> Self {
        value.map_or(Cell::None, Cell::Balance)
    }

    /// Text that is not [`Shown`] yet is escaped.
    pub(crate) fn text<'t>(value: impl Into<Shown<'t>>) -> Self {
        Cell::Text(value.into().into_owned())
    }

    pub(crate) fn name(value: Option<&str>) -> Self {
        value.map_or(Cell::None, |value| Cell::Name(Shown::escaped(value).into_owned()))
    }

    pub(crate) fn shown(&self) -> Shown<'static> {
        match self {
            Cell::Bytes(bytes) => size(*bytes),
            Cell::Count(number) | Cell::Number(number) => shown!("{}", number),
            Cell::Share(share) => percent(*share),
            Cell::Balance(balance) => shown!("{:.2}", balance),
            Cell::Amount(text) | Cell::Text(text) | Cell::Name(text) | Cell::Branch(_, text) => text.clone(),
            Cell::Parts(parts) => {
                Shown::joined(parts.iter().map(|(name, bytes)| shown!("{} {}", name, size(*bytes))), ", ")
            }
            Cell::None => Shown::default(),
        }
    }
}

pub(crate) fn percent(share: f64) -> Shown<'static> {
    shown!("{:.1} %", share * 100.0)
}

impl<R> Field<R> {
    /// A field that only JSON and CSV have.
    pub(crate) fn data(key: &'static str) -> Self {
        Field { key, column: None, turn: 0, is_of_page: false }
    }

    /// A field of numbers, on the right.
    pub(crate) fn number(key: &'static str, heading: &'static str, value: fn(&R) -> Cell) -> Self {
        Self::words(key, heading, Kind::Number, value)
    }

    /// A field of words, on the left.
    pub(crate) fn words(key: &'static str, heading: &'static str, kind: Kind, value: fn(&R) -> Cell) -> Self {
        Field { column: Some(FieldColumn { heading, kind, value }), ..Self::data(key) }
    }

    /// Moves the field in text after all fields of a lower turn.
    pub(crate) fn turn(self, turn: u8) -> Self {
        Field { turn, ..self }
    }

    /// Makes the field one that only pages have.
    pub(crate) fn of_page(self) -> Self {
        Field { is_of_page: true, ..self }
    }
}

/// Writes rows as text.
pub(crate) fn write_table<R: TableRow>(out: &mut Out, rows: &[R]) -> io::Result<()> {
    let mut fields = R::fields();
    fields.retain(|field| !field.is_of_page);
    fields.sort_by_key(|field| field.turn);
    let mut table = Table::of(rows);
    for FieldColumn { heading, kind, value } in fields.into_iter().filter_map(|field| field.column) {
        table = table.column(heading, kind, move |row| value(row).shown());
    }
    table.write(out)
}

/// Writes rows as CSV with a heading.
pub(crate) fn write_csv<R: TableRow>(out: &mut Out, rows: impl IntoIterator<Item: Borrow<R>>) -> io::Result<()> {
    write_csv_heading::<R>(out)?;
    write_csv_rows(out, rows)
}

/// Writes the heading of CSV (RFC 4180).
pub(crate) fn write_csv_heading<R: TableRow>(out: &mut Out) -> io::Result<()> {
    out.put(Shown::joined(keys::<R>(), ",")).end_line()
}

pub(crate) fn write_csv_rows<R: TableRow>(out: &mut Out, rows: impl IntoIterator<Item: Borrow<R>>) -> io::Result<()> {
    let keys = keys::<R>();
    rows.into_iter().try_for_each(|row| write_csv_row(out, &keys, row.borrow()))
}

/// The keys of CSV.
pub(crate) fn keys<R: TableRow>() -> Vec<&'static str> {
    R::fields()
        .into_iter()
        .filter(|field| !field.is_of_page)
        .map(|field| field.key)
        .filter(|key| !key.is_empty())
        .collect()
}

/// Writes a row of CSV: the values of an object under these keys. Lists are JSON.
fn write_csv_row(out: &mut Out, keys: &[&str], row: &impl Serialize) -> io::Result<()> {
    use serde_json::Value;

    let row = serde_json::to_value(row)?;
    for (nth, key) in keys.iter().enumerate() {
        out.put(if nth == 0 { "" } else { "," });
        match row.get(key) {
            None | Some(Value::Null) => {}
            Some(Value::String(text)) => _ = out.code::<Csv>(not_computed(text)),
            // Numbers may be negative: only text is kept from being a formula.
            Some(value @ Value::Number(_)) => _ = out.code::<Csv>(Shown::from(value.to_string())),
            Some(value) => _ = out.code::<Csv>(not_computed(&value.to_string())),
        }
    }
    out.end_line()
}

/// A text that a spreadsheet shows unchanged, with an apostrophe before anything that it would compute. Many spreadsheets also
/// begin a field after a semicolon, even in the middle of quotes.
fn not_computed(text: &str) -> Shown<'_> {
    if !text.split(';').any(is_formula) {
        return Shown::escaped(text);
    }
    let shown = |part| if is_formula(part) { format!("'{part}") } else { part.to_owned() };
    text.split(';').map(shown).collect::<Vec<_>>().join(";").into()
}

/// Whether a spreadsheet would compute a text. Some take the wide letters of East Asia for the usual ones.
fn is_formula(text: &str) -> bool {
    let begins = ['=', '+', '-', '@', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}', '\u{2212}'];
    text.starts_with(['\t', '\r', '\n'])
        || text.trim_start_matches(|c: char| c == '"' || c.is_whitespace()).starts_with(begins)
}

/// A shape as on command lines: `784x10`.
pub(crate) fn shape(shape: &[u64]) -> Shown<'static> {
    if shape.is_empty() { Shown::own("scalar") } else { Shown::joined(shape, "x") }
}

/// A name of at most `most` bytes, with its middle left out if it is longer. A short file can have one name in very many rows.
pub(crate) fn brief(name: &str, most: usize) -> Cow<'_, str> {
    if name.len() <= most {
        return Cow::Borrowed(name);
    }
    // Letters have several bytes.
    let boundary = |mut places: Range<usize>| places.find(|at| name.is_char_boundary(*at)).unwrap_or(name.len());
    let front = name.get(..boundary(most / 2..name.len())).unwrap_or_default();
    let back = name.get(boundary(name.len().saturating_sub(most / 2)..name.len())..).unwrap_or_default();
    Cow::Owned(format!("{front}…{back}"))
}

/// Writes a line with a subject and a fact about it.
pub(crate) fn fact(out: &mut Out, about: &'static str, what: impl Show) -> io::Result<()> {
    out.put(shown!("  {:<14}", about)).put_as(Kind::Number, what).end_line()
}

/// An empty line and a heading.
pub(crate) fn heading(out: &mut Out, text: impl Show) -> io::Result<()> {
    out.end_line()?;
    out.put_as(Kind::Group, text).end_line()
}

/// Says how many rows are not shown.
pub(crate) fn more(out: &mut Out, count: usize, shown: usize) -> io::Result<()> {
    and_more(out, count.saturating_sub(shown))
}

/// Says how many more there are, if there are any.
pub(crate) fn and_more<N: Copy + Show + PartialEq + From<u8>>(out: &mut Out, more: N) -> io::Result<()> {
    if more == N::from(0) { Ok(()) } else { out.put(shown!("... and {} more", more)).end_line() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Table, write_csv_row};
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

    #[test]
    fn no_field_is_a_formula() {
        for (given, shown) in [
            ("conv/1", "conv/1"),
            ("a-b=c", "a-b=c"),
            ("=1", "'=1"),
            (" @x", "' @x"),
            ("\u{ff1d}1", "'\u{ff1d}1"),
            ("\u{ff0b}1", "'\u{ff0b}1"),
            ("\u{ff0d}1", "'\u{ff0d}1"),
            ("\u{ff20}x", "'\u{ff20}x"),
            ("a;=1;b; +2", "a;'=1;b;' +2"),
            ("a;\"=1", "\"a;'\"\"=1\""),
            ("\tx", "'\\tx"),
            ("\r=1", "'\\r=1"),
        ] {
            let mut out = Out::in_memory(false);
            write_csv_row(&mut out, &["name", "cycles"], &json!({"name": given, "cycles": -5})).unwrap();
            assert_eq!(String::from_utf8(out.into_bytes()).unwrap(), format!("{shown},-5\n"));
        }
        let mut out = Out::in_memory(false);
        write_csv_row(&mut out, &["tiles"], &json!({"tiles": ["a;=1"]})).unwrap();
        assert_eq!(String::from_utf8(out.into_bytes()).unwrap(), "\"[\"\"a;'=1\"\"]\"\n");
    }
}
