//! The rows that `--by` asks for.

use std::cell::RefCell;
use std::io;
use std::num::NonZeroUsize;

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
use crate::common::tool::Tool;
use crate::common::words::wrong;

impl Args {
    pub(super) fn table(
        &self,
        tool: &Tool,
        out: &mut Out,
        profile: &Profile<'_>,
        remarks: &Remarks,
        by: By,
    ) -> Result<io::Result<()>, Error> {
        let Profile { graph, execution } = *profile;
        let selection = &self.selection(by);
        let run = || execution.ok_or_else(|| wrong(format!("--by {} needs an execution profile", by.name())));
        Ok(match by {
            By::Category => self.rows(tool, out, remarks, by, categories(graph, selection)),
            By::Tile => self.rows(tool, out, remarks, by, tiles(graph, selection, 3)),
            By::Vertex => self.rows(tool, out, remarks, by, vertex_types(graph, execution, selection)),
            By::ComputeSet => self.rows(tool, out, remarks, by, compute_sets(graph, execution, selection)),
            By::Program => self.rows(tool, out, remarks, by, program_tree(graph, execution, selection)),
            By::Exchange => self.rows(tool, out, remarks, by, exchanges(graph, execution, selection)),
            By::Step => self.rows(tool, out, remarks, by, steps(run()?, selection)),
            By::Layer => self.rows(tool, out, remarks, by, layers(run()?, self.depth.map_or(1, NonZeroUsize::get), selection)),
        })
    }

    fn selection(&self, by: By) -> Selection<'_> {
        let sort = match self.sort.unwrap_or(Order::Size) {
            Order::Size => Sort::Largest,
            Order::Number => Sort::Number,
            Order::Name => Sort::Name,
            Order::Code => Sort::Code,
        };
        // One more tells that there are more.
        let limit = self.limit(by).map(|limit| limit.saturating_add(1));
        let all = limit.map_or_else(Selection::default, Selection::largest);
        all.named(self.name.as_deref()).numbered(self.numbers.clone()).sorted(sort)
    }

    /// So many rows are shown at most.
    fn limit(&self, by: By) -> Option<usize> {
        const OF_TEXT: usize = 20;
        // A small report can have a tree without end.
        const OF_TREE: usize = 1_000_000;
        let limit = match (self.format, by) {
            (Form::Text, _) => Some(OF_TEXT),
            (_, By::Program) => Some(OF_TREE),
            _ => None,
        };
        self.top.map(NonZeroUsize::get).or(limit)
    }

    /// Writes rows, and whether there are more. There may be very many: only text needs all that it shows.
    fn rows<R: TableRow>(
        &self,
        tool: &Tool,
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
            #[serde(serialize_with = "first")]
            rows: (&'r RefCell<I>, usize),
            #[serde(serialize_with = "more")]
            more: &'r RefCell<I>,
        }
        #[derive(Serialize)]
        struct InFileRow<'r, R> {
            #[serde(flatten)]
            file: &'r InFile,
            #[serde(flatten)]
            row: R,
        }
        #[derive(Serialize)]
        struct Last<'r> {
            #[serde(flatten)]
            head: Head<'r>,
            more: bool,
        }
        let limit = self.limit(by).unwrap_or(usize::MAX);
        let mut rows = rows.into_iter();
        let head = self.head(remarks);
        match self.format {
            Form::Csv => {
                csv::<R>(out, rows.by_ref().take(limit))?;
                if self.top.is_none() && rows.next().is_some() {
                    tool.say(&format!("these are the first {limit} rows: --top N shows more"));
                }
                Ok(())
            }
            Form::Json => {
                let rows = &RefCell::new(rows);
                json_document(out, &Document { head, by: by.name(), rows: (rows, limit), more: rows })
            }
            Form::Ndjson => {
                let file = &InFile::from(self.graph());
                rows.by_ref().take(limit).try_for_each(|row| json_line(out, by.name(), &InFileRow { file, row }))?;
                json_line(out, "file", &Last { head, more: rows.next().is_some() })
            }
            // Other formats are for findings.
            Form::Text | Form::Sarif | Form::GitHub | Form::JUnit | Form::Html => {
                let first: Vec<_> = rows.by_ref().take(limit).collect();
                let is_selected = self.name.is_some() || self.numbers.is_some();
                match rows.next() {
                    None if first.is_empty() && is_selected => out.put("no row is as asked for").end_line(),
                    None if first.is_empty() => out.put(&format!("the report has nothing for --by {}", by.name())).end_line(),
                    None => R::write(&first, out),
                    Some(_) => {
                        R::write(&first, out)?;
                        out.put("... and more, which --top shows").end_line()
                    }
                }
            }
        }
    }
}

/// The first rows as a list. They can be written once.
fn first<S: Serializer>(
    (rows, limit): &(&RefCell<impl Iterator<Item: Serialize>>, usize),
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(rows.borrow_mut().by_ref().take(*limit))
}

/// Whether there are more rows, once the first ones were written.
fn more<S: Serializer>(rows: &RefCell<impl Iterator<Item: Serialize>>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bool(rows.borrow_mut().next().is_some())
}
