//! The rows that `--by` asks for.

use std::io;

use popef_ops::{Error, InFile};
use popef_show::Out;
use poplar_inspect::profile::{
    Remarks, Selection, Sort, categories, compute_sets, exchanges, layers, program_tree, steps, tiles, vertex_types,
};
use serde::Serialize;

use super::args::{Args, By, Form, Order};
use super::tables::{TableRow, csv};
use super::{Head, Profile};
use crate::common::format::{json_document, json_line};
use crate::common::words::wrong;

impl Args {
    pub(super) fn table(&self, out: &mut Out, profile: &Profile<'_>, remarks: &Remarks, by: By) -> Result<io::Result<()>, Error> {
        let Profile { graph, execution } = *profile;
        let selection = &self.selection();
        let run = || execution.ok_or_else(|| wrong(format!("--by {} needs an execution profile", by.name())));
        Ok(match by {
            By::Category => self.rows(out, remarks, by, &categories(graph, selection)),
            By::Tile if self.name.is_some() => return Err(wrong("tiles have no names: leave out --name")),
            By::Tile => self.rows(out, remarks, by, &tiles(graph, selection, 3)),
            By::Vertex => self.rows(out, remarks, by, &vertex_types(graph, execution, selection)),
            By::ComputeSet => self.rows(out, remarks, by, &compute_sets(graph, execution, selection)),
            By::Program => {
                let limit = selection.limit.unwrap_or(usize::MAX);
                self.rows(out, remarks, by, &program_tree(graph, execution, self.name.as_deref(), limit))
            }
            By::Exchange => self.rows(out, remarks, by, &exchanges(graph, execution, selection)),
            By::Step => self.rows(out, remarks, by, &steps(run()?, selection)),
            By::Layer => self.rows(out, remarks, by, &layers(run()?, self.depth, selection)),
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
        all.named(self.name.as_deref()).sorted(sort)
    }

    /// So many rows are shown as text.
    fn shown(&self) -> usize {
        const ROWS: usize = 20;
        self.top.unwrap_or(ROWS)
    }

    fn rows<R: TableRow>(&self, out: &mut Out, remarks: &Remarks, by: By, rows: &[R]) -> io::Result<()> {
        #[derive(Serialize)]
        struct Document<'r, R> {
            #[serde(flatten)]
            head: Head<'r>,
            by: &'static str,
            rows: &'r [R],
        }
        #[derive(Serialize)]
        struct InFileRow<'r, R> {
            #[serde(flatten)]
            file: &'r InFile,
            #[serde(flatten)]
            row: &'r R,
        }
        match self.format {
            Form::Csv => csv(out, rows),
            // Other formats are for findings.
            Form::Text | Form::Sarif | Form::GitHub | Form::JUnit | Form::Html => {
                R::write(rows.get(..self.shown()).unwrap_or(rows), out)?;
                if rows.len() > self.shown() { out.put("... and more, which --top shows").end_line() } else { Ok(()) }
            }
            Form::Json => json_document(out, &Document { head: self.head(remarks), by: by.name(), rows }),
            Form::Ndjson => {
                let file = &InFile::from(self.graph());
                rows.iter().try_for_each(|row| json_line(out, by.name(), &InFileRow { file, row }))?;
                json_line(out, "file", &self.head(remarks))
            }
        }
    }
}
