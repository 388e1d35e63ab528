//! Tables whose columns are listed once: text, CSV and pages take theirs from the same list.
//!
//! The keys are those of the row's JSON, which the row writes itself.

use std::borrow::Borrow;
use std::io;

use serde::Serialize;

use super::color::Kind;
use super::csv;
use super::out::Out;
use super::table::Table;
use super::units::size;

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
    pub(crate) column: Option<Shown<R>>,
    /// Text has fields of a lower turn first.
    turn: u8,
    /// Whether only pages have it.
    is_of_page: bool,
}

/// How a field is shown.
pub(crate) struct Shown<R> {
    /// The heading, as pages have it. Text has it in capitals.
    pub(crate) heading: &'static str,
    /// The colour in text. Numbers are on the right.
    kind: Kind,
    pub(crate) value: fn(&R) -> Value,
}

/// What stands in a cell.
pub(crate) enum Value {
    Bytes(u64),
    /// How many there are.
    Count(u64),
    /// The number by which something is called.
    Number(u64),
    Share(f64),
    /// Text has it as a fraction, a page in percent.
    Balance(f64),
    /// A text that may come from a file.
    Text(String),
    Name(String),
    /// Names with their bytes.
    Parts(Vec<(String, u64)>),
    None,
}

impl Value {
    pub(crate) fn bytes(value: Option<u64>) -> Self {
        value.map_or(Value::None, Value::Bytes)
    }

    pub(crate) fn count(value: Option<impl Into<u64>>) -> Self {
        value.map_or(Value::None, |value| Value::Count(value.into()))
    }

    pub(crate) fn number(value: Option<impl Into<u64>>) -> Self {
        value.map_or(Value::None, |value| Value::Number(value.into()))
    }

    pub(crate) fn balance(value: Option<f64>) -> Self {
        value.map_or(Value::None, Value::Balance)
    }

    pub(crate) fn text(value: impl Into<String>) -> Self {
        Value::Text(value.into())
    }

    pub(crate) fn name(value: Option<&str>) -> Self {
        value.map_or(Value::None, |value| Value::Name(value.to_owned()))
    }

    fn shown(self) -> String {
        match self {
            Value::Bytes(bytes) => size(bytes),
            Value::Count(number) | Value::Number(number) => number.to_string(),
            Value::Share(share) => percent(share),
            Value::Balance(balance) => format!("{balance:.2}"),
            Value::Text(text) | Value::Name(text) => text,
            Value::Parts(parts) => {
                let parts: Vec<_> = parts.iter().map(|(name, bytes)| format!("{name} {}", size(*bytes))).collect();
                parts.join(", ")
            }
            Value::None => String::new(),
        }
    }
}

/// A share in percent.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

impl<R> Field<R> {
    /// One that only JSON and CSV have.
    pub(crate) fn data(key: &'static str) -> Self {
        Field { key, column: None, turn: 0, is_of_page: false }
    }

    /// One of numbers, on the right.
    pub(crate) fn number(key: &'static str, heading: &'static str, value: fn(&R) -> Value) -> Self {
        Self::words(key, heading, Kind::Number, value)
    }

    /// One of words, on the left.
    pub(crate) fn words(key: &'static str, heading: &'static str, kind: Kind, value: fn(&R) -> Value) -> Self {
        Field { column: Some(Shown { heading, kind, value }), ..Self::data(key) }
    }

    /// The same, in text behind all fields of a lower turn.
    pub(crate) fn turn(self, turn: u8) -> Self {
        Field { turn, ..self }
    }

    /// The same, only for pages.
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
    for Shown { heading, kind, value } in fields.into_iter().filter_map(|field| field.column) {
        table = table.column(heading, kind, move |row| value(row).shown());
    }
    table.write(out)
}

/// Writes rows as CSV with a heading.
pub(crate) fn write_csv<R: TableRow>(out: &mut Out, rows: impl IntoIterator<Item: Borrow<R>>) -> io::Result<()> {
    let keys = keys::<R>();
    csv::heading(out, &keys)?;
    rows.into_iter().try_for_each(|row| csv::row(out, &keys, row.borrow()))
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
