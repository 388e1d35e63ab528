//! The overview: what a file holds in a few figures, then one line per blob.

pub(crate) mod holds;
mod summary;
mod table;

use std::io;

use popef::Blob;
use popef::read::Value;
use popef::types::Diagnostic;

use super::ListRenderer;
use super::payload;
use super::pieces::{self, Lines};
use crate::failure::Failures;
use crate::output::Screen;
use crate::output::color::Kind;
use crate::output::out::Out;
use crate::output::shown::Shown;
use crate::output::{POPEF_FILE, heading};
use crate::report::file::FileReport;
use crate::report::payload::PayloadView;
use crate::report::tensor::TensorView;
use crate::report::values::Values;
use holds::Holds;
use summary::{Phrase, Summary, write_phrases};
use table::Table;

pub(super) struct Overview {
    /// `None` if the output does not go to a terminal: then nothing is shortened.
    screen: Option<Screen>,
    full_names: bool,
}

impl Overview {
    pub(super) fn new(screen: Option<Screen>, full_names: bool) -> Self {
        Overview { screen, full_names }
    }

    fn width(&self) -> Option<usize> {
        self.screen.map(|screen| screen.width)
    }

    /// Writes the table, and says how many rows it has.
    fn table(&self, out: &mut Out, report: &FileReport<'_>, failures: &mut Failures) -> io::Result<usize> {
        let mut table = Table::of(report);
        if table.rows.is_empty() {
            return Ok(0);
        }
        table.columns.narrow(self.width().filter(|_| !self.full_names));
        table.headings(out)?;
        let indent = table.columns.index + 4;
        let mut details = Details { out, report, failures, indent, width: self.width() };
        let mut cells = table.cells();
        for row in &table.rows {
            let number = usize::try_from(row.blob).unwrap_or(usize::MAX);
            let Some(blob) = report.input.file.and_then(|file| file.blob(number)) else { continue };
            table.line(details.out, &blob, &mut cells)?;
            if row.has_details {
                details.of(&blob)?;
            }
        }
        Ok(table.rows.len())
    }
}

impl ListRenderer for Overview {
    fn file(&self, out: &mut Out, report: &FileReport<'_>, failures: &mut Failures) -> io::Result<()> {
        if report.input.index > 0 {
            out.end_line()?;
        }
        heading(out, POPEF_FILE, &report.path()).end_line()?;
        let summary = Summary::of(report);
        summary.write(out, self.width())?;
        payload::write_before(out, report, failures)?;
        let rows = self.table(out, report, failures)?;
        // The heading has scrolled off the screen, so it is repeated where it can be seen.
        if self.screen.is_some_and(|screen| rows + 4 > screen.height) {
            out.put_as(Kind::Group, "End of file:").put(" ").text(Kind::Name, &report.path()).end_line()?;
            summary.write(out, self.width())?;
        }
        Ok(())
    }
}

/// Writes the lines under a blob's line.
struct Details<'a, 'f> {
    out: &'a mut Out,
    report: &'a FileReport<'f>,
    failures: &'a mut Failures,
    indent: usize,
    width: Option<usize>,
}

impl<'f> Details<'_, 'f> {
    fn of(&mut self, blob: &Blob<'f>) -> io::Result<()> {
        match Holds::of(blob, self.report) {
            Holds::Executable(executable) => match self.report.inside(&executable) {
                Some(Ok(inside)) => {
                    self.out.spaces(self.indent);
                    pieces::poplar(self.out, inside.poplar_header.as_ref());
                    self.out.end_line()
                }
                Some(Err(failure)) => self.failure(&failure),
                None => Ok(()),
            },
            Holds::Metadata(view) => view.failures().try_for_each(|failure| self.failure(failure)),
            Holds::Tensor(mut view, _) => {
                self.values(&mut view)?;
                view.failure.iter().try_for_each(|failure| self.failure(failure))
            }
            Holds::Opaque(_, payload) => payload.map_or(Ok(()), |payload| self.payload(&payload)),
            Holds::Unknown => Ok(()),
        }
    }

    fn payload(&mut self, view: &PayloadView<'_>) -> io::Result<()> {
        payload::write(self.out, self.indent, view)?;
        view.failure().into_iter().for_each(|failure| self.failures.push(failure));
        Ok(())
    }

    /// The first elements and the statistics of a tensor.
    fn values(&mut self, view: &mut TensorView<'_>) -> io::Result<()> {
        let Some(values) = view.values(self.report.options) else { return Ok(()) };
        let which = pieces::of_which(view.num_tensors);
        let start = self.indent + which.len();
        self.out.spaces(self.indent).put(which);
        pieces::first(self.out, &values, Lines { start, end: self.width.unwrap_or(usize::MAX) })?;
        self.out.end_line()?;
        view.failure = view.failure.take().or(values.late_failure().cloned().map(Box::new));
        write_phrases(self.out, self.indent, &statistics(&values), self.width)
    }

    fn failure(&mut self, failure: &Diagnostic) -> io::Result<()> {
        self.failures.push(failure);
        self.out.spaces(self.indent).put("error: ").put(Shown::message(&failure.message)).end_line()
    }
}

/// The statistics of a tensor's values, in the overview's words.
fn statistics(values: &Values<'_>) -> Vec<Phrase> {
    let elements = if values.count() == 1 { " element" } else { " elements" };
    let Some(stats) = &values.stats else {
        return vec![Phrase::new("", values.count(), shown!("{} whose bits have no known meaning", elements))];
    };
    let mut phrases = vec![Phrase::new("", values.count(), elements)];
    if stats.finite > 0 && stats.finite < values.count() {
        phrases.push(Phrase::new("", stats.finite, " finite:"));
    }
    let found = |before, value: Option<Value>| Some(Phrase::new(before, value?, ""));
    phrases.extend(found("min ", stats.min));
    phrases.extend(found("max ", stats.max));
    phrases.extend(found("mean ", stats.mean.map(Value::F64)));
    phrases.push(Phrase::new("", stats.nan, " NaN"));
    phrases.push(Phrase::new("", stats.infinite, " infinite"));
    phrases.push(Phrase::new("", stats.zeros, if stats.zeros == 1 { " zero" } else { " zeros" }));
    phrases
}
