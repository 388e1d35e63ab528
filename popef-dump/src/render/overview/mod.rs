//! The overview: what a file holds in a few figures, then one line a blob.

mod row;
mod summary;
mod width;

use std::io;

use popef::Text;

use super::color::Kind::{Group, Name, Number, Type};
use super::{Out, Renderer, values};
use crate::report::{Failure, Report, TensorView};
use row::Row;
use summary::Summary;
use width::{Columns, pad, shorten};

/// How large the terminal is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Screen {
    pub(crate) width: usize,
    pub(crate) height: usize,
}

pub(crate) struct Overview {
    /// None if the output does not go to a terminal: then nothing is shortened.
    screen: Option<Screen>,
    files: usize,
}

impl Overview {
    pub(crate) fn new(screen: Option<Screen>) -> Self {
        Overview { screen, files: 0 }
    }

    fn table(&self, out: &mut Out, report: &Report<'_>, failures: &mut Vec<Failure>) -> io::Result<usize> {
        let mut columns = Columns::headings();
        let mut rows = 0;
        for blob in report.blobs() {
            columns.fit(&Row::of(&blob, report));
            rows += 1;
        }
        if rows == 0 {
            return Ok(0);
        }
        columns.narrow(self.screen.map(|screen| screen.width));
        headings(out, &columns)?;
        for blob in report.blobs() {
            let mut row = Row::of(&blob, report);
            line(out, &columns, &row)?;
            if let Some(inside) = row.look_inside(&blob, report) {
                out.put(&indent(&columns));
                values::poplar(out, inside.header.as_ref());
                out.end_line()?;
            }
            if let Some(tensor) = &mut row.tensor {
                self.values(out, &columns, tensor, report)?;
            }
            for failure in row.failures() {
                out.put(&indent(&columns)).put("error: ").put(failure.message()).end_line()?;
                failures.push(failure.clone());
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
        report: &Report<'_>,
    ) -> io::Result<()> {
        let Some(values) = view.values(report.options) else { return Ok(()) };
        let indent = indent(columns);
        let room = self.screen.map(|screen| screen.width.saturating_sub(indent.len() + 2));
        out.put(&indent).put(values::of_which(view.num_tensors));
        values::first_within(out, &values, room);
        out.end_line()?;
        out.put(&indent);
        values::stats(out, &values);
        out.end_line()
    }
}

impl Renderer for Overview {
    fn file(&mut self, out: &mut Out, report: &Report<'_>, failures: &mut Vec<Failure>) -> io::Result<()> {
        if self.files > 0 {
            out.end_line()?;
        }
        self.files += 1;
        let path = Text::from(report.path.as_os_str().as_encoded_bytes());
        out.put_as(Group, "PopEF file:").put(" ").text(Name, &path).end_line()?;
        let summary = Summary::of(report);
        summary.write(out)?;
        let rows = self.table(out, report, failures)?;
        // What scrolled off the screen is said again where it can be seen.
        if self.screen.is_some_and(|screen| rows + 4 > screen.height) {
            out.put_as(Group, "PopEF file:").put(" ").text(Name, &path).end_line()?;
            summary.write(out)?;
        }
        Ok(())
    }
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
    out.put("  ").put(&pad(&row.index, columns.index)).put_as(Number, &row.index);
    out.put("  ").put(&row.kind).put(&pad(&row.kind, columns.kind));
    out.put("  ").put_as(Name, &name).put(&pad(&name, columns.name));
    out.put("  ").put_as(Type, &holds).put(&pad(&holds, columns.holds));
    out.put("  ").put(&pad(&row.size, columns.size)).put_as(Number, &row.size);
    out.put("  ").put(&pad(&row.offset, columns.offset)).put_as(Number, &row.offset);
    out.end_line()
}
