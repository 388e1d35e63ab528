//! The overview: what a file holds in a few figures, then one line a blob.

mod phrase;
mod row;
mod summary;
mod width;

use std::io;

use popef::read::Value;
use popef::types::Text;

use super::color::Kind::{self, Group, Name, Number, Plain, Type};
use super::{Out, Renderer, values};
use crate::report::{Failures, FileReport, TensorView, Values};
use phrase::Phrase;
use row::Row;
use summary::Summary;
use width::{Columns, shorten, width};

/// How large the terminal is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Screen {
    pub(crate) width: usize,
    pub(crate) height: usize,
}

pub(crate) struct Overview {
    /// None if the output does not go to a terminal: then nothing is shortened.
    screen: Option<Screen>,
}

impl Overview {
    pub(crate) fn new(screen: Option<Screen>) -> Self {
        Overview { screen }
    }

    fn width(&self) -> Option<usize> {
        self.screen.map(|screen| screen.width)
    }

    fn table(&self, out: &mut Out, report: &FileReport<'_>, failures: &mut Failures) -> io::Result<usize> {
        let mut columns = Columns::headings();
        let mut rows = 0;
        for blob in report.blobs() {
            columns.fit(&Row::of(&blob, report));
            rows += 1;
        }
        if rows == 0 {
            return Ok(0);
        }
        columns.narrow(self.width());
        headings(out, &columns)?;
        for blob in report.blobs() {
            let mut row = Row::of(&blob, report);
            line(out, &columns, &row)?;
            if let Some(inside) = row.look_inside(&blob, report) {
                out.put(&indent(&columns));
                values::poplar(out, inside.poplar_header.as_ref());
                out.end_line()?;
            }
            if let Some(tensor) = &mut row.tensor {
                self.values(out, &columns, tensor, report)?;
            }
            for failure in row.failures() {
                out.put(&indent(&columns)).put("error: ").put(failure.message()).end_line()?;
                failures.push(failure);
            }
        }
        Ok(rows)
    }

    /// The first elements and the figures of a tensor, under its line.
    fn values(
        &self,
        out: &mut Out,
        columns: &Columns,
        view: &mut TensorView<'_>,
        report: &FileReport<'_>,
    ) -> io::Result<()> {
        let Some(values) = view.values(report.options) else { return Ok(()) };
        let indent = indent(columns);
        let which = values::of_which(view.num_tensors);
        let room = self.width().map(|width| width.saturating_sub(indent.len() + which.len()));
        out.put(&indent).put(which);
        values::first_within(out, &values, room)?;
        out.end_line()?;
        view.failure = view.failure.take().or(values.late_failure().cloned());
        phrase::write(out, &indent, &figures(&values), self.width())
    }
}

impl Renderer for Overview {
    fn file(&self, out: &mut Out, report: &FileReport<'_>, failures: &mut Failures) -> io::Result<()> {
        if report.index > 0 {
            out.end_line()?;
        }
        let path = Text::from(report.path.as_os_str().as_encoded_bytes());
        out.put_as(Group, "PopEF file:").put(" ").text(Name, &path).end_line()?;
        let summary = Summary::of(report);
        summary.write(out, self.width())?;
        let rows = self.table(out, report, failures)?;
        // What scrolled off the screen is said again where it can be seen.
        if self.screen.is_some_and(|screen| rows + 4 > screen.height) {
            out.put_as(Group, "PopEF file:").put(" ").text(Name, &path).end_line()?;
            summary.write(out, self.width())?;
        }
        Ok(())
    }
}

/// What is known of a tensor's values, in the overview's words.
fn figures(values: &Values<'_>) -> Vec<Phrase> {
    let Some(stats) = &values.stats else {
        return vec![Phrase::new("", &values.count(), " elements whose bits have no known meaning")];
    };
    let mut figures =
        vec![Phrase::new("", &values.count(), if values.count() == 1 { " element" } else { " elements" })];
    let found = |before, value: Option<Value>| Some(Phrase::new(before, &value?, ""));
    figures.extend(found("min ", stats.min));
    figures.extend(found("max ", stats.max));
    figures.extend(found("mean ", stats.mean.map(Value::F64)));
    figures.push(Phrase::new("", &stats.nan, " NaN"));
    figures.push(Phrase::new("", &stats.infinite, " infinite"));
    figures.push(Phrase::new("", &stats.zeros, if stats.zeros == 1 { " zero" } else { " zeros" }));
    figures
}

fn indent(columns: &Columns) -> String {
    " ".repeat(columns.index + 4)
}

fn headings(out: &mut Out, columns: &Columns) -> io::Result<()> {
    let Columns { index, kind, name, holds, size, offset } = *columns;
    let heading = format!(
        "  {:>index$}  {:<kind$}  {:<name$}  {:<holds$}  {:>size$}  {:>offset$}",
        "#", "TYPE", "NAME", "HOLDS", "SIZE", "OFFSET"
    );
    out.put_as(Group, &heading).end_line()
}

fn line(out: &mut Out, columns: &Columns, row: &Row<'_>) -> io::Result<()> {
    let (name, holds) = (shorten(&row.name, columns.name), shorten(&row.holds, columns.holds));
    right(out, columns.index, itoa::Buffer::new().format(row.index));
    left(out, columns.kind, Plain, &row.kind);
    left(out, columns.name, Name, &name);
    left(out, columns.holds, Type, &holds);
    right(out, columns.size, &row.size);
    right(out, columns.offset, itoa::Buffer::new().format(row.offset));
    out.end_line()
}

/// A cell with text, and the gap before it.
fn left(out: &mut Out, column: usize, kind: Kind, text: &str) {
    out.spaces(2).put_as(kind, text).spaces(column.saturating_sub(width(text)));
}

/// A cell with a number, and the gap before it.
fn right(out: &mut Out, column: usize, number: &str) {
    out.spaces(2 + column.saturating_sub(width(number))).put_as(Number, number);
}
