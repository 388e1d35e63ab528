//! The rows that `--by` asks for.

use std::cell::Cell;
use std::io;

use popef_ops::{Error, InFile};
use popef_show::Out;
use poplar_inspect::profile::{
    Remarks, Selection, Sort, categories, compute_sets, exchanges, layers, program_tree, steps, tiles, vertex_types,
};
use serde::{Serialize, Serializer};

use super::args::{Args, By, Order};
use super::form::Form;
use super::tables::{TableRow, csv};
use super::{Head, Profile};
use crate::common::format::{json_document, json_line};
use crate::common::words::wrong;

impl Args {
    pub(super) fn table(&self, out: &mut Out, profile: &Profile<'_>, remarks: &Remarks, by: By) -> Result<io::Result<()>, Error> {
        let Profile { graph, execution } = *profile;
        let selection = &self.selection();
        match by {
            By::Tile if self.name.is_some() => return Err(wrong("tiles have no names: leave out --name")),
            By::Category if self.numbers.is_some() => return Err(wrong("categories have no numbers: leave out --numbers")),
            By::Layer if self.numbers.is_some() => return Err(wrong("layers have no numbers: leave out --numbers")),
            _ => {}
        }
        let run = || execution.ok_or_else(|| wrong(format!("--by {} needs an execution profile", by.name())));
        Ok(match by {
            By::Category => self.rows(out, remarks, by, categories(graph, selection)),
            By::Tile => self.rows(out, remarks, by, tiles(graph, selection, 3)),
            By::Vertex => self.rows(out, remarks, by, vertex_types(graph, execution, selection)),
            By::ComputeSet => self.rows(out, remarks, by, compute_sets(graph, execution, selection)),
            By::Program => self.rows(out, remarks, by, program_tree(graph, execution, selection)),
            By::Exchange => self.rows(out, remarks, by, exchanges(graph, execution, selection)),
            By::Step => self.rows(out, remarks, by, steps(run()?, selection)),
            By::Layer => self.rows(out, remarks, by, layers(run()?, self.depth, selection)),
        })
    }

    fn selection(&self) -> Selection<'_> {
        let sort = match self.sort {
            Order::Size => Sort::Largest,
            Order::Number => Sort::Number,
            Order::Name => Sort::Name,
        };
        // As text, one more tells that there are more.
        let limit = if self.format == Form::Text { Some(self.shown().saturating_add(1)) } else { self.top };
        let all = limit.map_or_else(Selection::default, Selection::largest);
        all.named(self.name.as_deref()).numbered(self.numbers.clone()).sorted(sort)
    }

    /// So many rows are shown as text.
    fn shown(&self) -> usize {
        const ROWS: usize = 20;
        self.top.unwrap_or(ROWS)
    }

    /// Writes rows. There may be very many: only text needs all that it shows.
    fn rows<R: TableRow>(
        &self,
        out: &mut Out,
        remarks: &Remarks,
        by: By,
        rows: impl IntoIterator<Item = R>,
    ) -> io::Result<()> {
        #[derive(Serialize)]
        struct Document<'r, I: Iterator<Item: Serialize>> {
            #[serde(flatten)]
            head: Head<'r>,
            by: &'static str,
            #[serde(serialize_with = "each")]
            rows: Cell<Option<I>>,
        }
        #[derive(Serialize)]
        struct InFileRow<'r, R> {
            #[serde(flatten)]
            file: &'r InFile,
            #[serde(flatten)]
            row: R,
        }
        let mut rows = rows.into_iter();
        match self.format {
            Form::Csv => csv::<R>(out, rows),
            // Other formats are for findings.
            Form::Text | Form::Sarif | Form::GitHub | Form::JUnit | Form::Html => {
                R::write(&rows.by_ref().take(self.shown()).collect::<Vec<_>>(), out)?;
                if rows.next().is_some() { out.put("... and more, which --top shows").end_line() } else { Ok(()) }
            }
            Form::Json => {
                json_document(out, &Document { head: self.head(remarks), by: by.name(), rows: Cell::new(Some(rows)) })
            }
            Form::Ndjson => {
                let file = &InFile::from(self.graph());
                rows.try_for_each(|row| json_line(out, by.name(), &InFileRow { file, row }))?;
                json_line(out, "file", &self.head(remarks))
            }
        }
    }
}

/// The rows as a list. They can be written once.
fn each<S: Serializer>(rows: &Cell<Option<impl Iterator<Item: Serialize>>>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(rows.take().into_iter().flatten())
}
