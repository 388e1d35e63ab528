//! The rows that `--by` asks for.

use std::cell::RefCell;
use std::io;
use std::num::NonZeroUsize;

use popef_ops::{Error, InFile};
use popef_show::Out;
use poplar_inspect::profile::{
    Selection, Sort, categories, compute_sets, exchanges, layers, program_tree, steps, tiles, vertex_types,
};
use serde::{Serialize, Serializer};

use super::args::{Args, By, Order};
use super::form::Form;
use super::input::Input;
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
        input: &Input,
        by: By,
    ) -> Result<io::Result<()>, Error> {
        let Profile { graph, execution } = *profile;
        let selection = &self.selection();
        let run = || execution.ok_or_else(|| wrong(format!("--by {} needs an execution profile", by.name())));
        Ok(match by {
            By::Category => self.rows(tool, out, input, by, categories(graph, selection)),
            By::Tile => self.rows(tool, out, input, by, tiles(graph, selection, 3)),
            By::Vertex => self.rows(tool, out, input, by, vertex_types(graph, execution, selection)),
            By::ComputeSet => self.rows(tool, out, input, by, compute_sets(graph, execution, selection)),
            By::Program => self.rows(tool, out, input, by, program_tree(graph, execution, selection)),
            By::Exchange => self.rows(tool, out, input, by, exchanges(graph, execution, selection)),
            By::Step => self.rows(tool, out, input, by, steps(run()?, selection)),
            By::Layer => self.rows(tool, out, input, by, layers(run()?, self.depth.map_or(1, NonZeroUsize::get), selection)),
        })
    }

    fn selection(&self) -> Selection<'_> {
        let sort = match self.sort.unwrap_or(Order::Size) {
            Order::Size => Sort::Largest,
            Order::Number => Sort::Number,
            Order::Name => Sort::Name,
            Order::Code => Sort::Code,
        };
        // One more tells that there are more.
        let limit = self.limit().map(|limit| limit.saturating_add(1));
        let all = limit.map_or_else(Selection::default, Selection::largest);
        all.named(self.name.as_deref()).numbered(self.numbers.as_deref()).sorted(sort)
    }

    /// So many rows are shown at most.
    fn limit(&self) -> Option<usize> {
        const OF_TEXT: usize = 20;
        let limit = (self.form() == Form::Text).then_some(OF_TEXT);
        self.top.map(NonZeroUsize::get).or(limit)
    }

    /// So many bytes of JSON the rows have at most, unless the caller says how many rows there may be. A small report can have a tree
    /// without end, and each row of it a long name.
    fn room(&self, input: &Input) -> u64 {
        const MOST: u64 = 1 << 20;
        const MOST_TIMES: u64 = 100;
        let room = MOST.saturating_add(input.unpacked.saturating_mul(MOST_TIMES));
        if self.top.is_some() || self.form() == Form::Text { u64::MAX } else { room }
    }

    /// Writes rows, and whether there are more. There may be very many: only text needs all that it shows.
    fn rows<R: TableRow>(
        &self,
        tool: &Tool,
        out: &mut Out,
        input: &Input,
        by: By,
        rows: impl IntoIterator<Item = R>,
    ) -> io::Result<()> {
        #[derive(Serialize)]
        struct Document<'r, I: Iterator<Item: Serialize>> {
            #[serde(flatten)]
            head: Head<'r>,
            by: &'static str,
            #[serde(serialize_with = "first")]
            rows: &'r RefCell<First<I>>,
            #[serde(serialize_with = "more")]
            more: &'r RefCell<First<I>>,
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
        let limit = self.limit().unwrap_or(usize::MAX);
        let mut rows = First { rows: rows.into_iter(), left: limit, room: self.room(input) };
        let head = self.head(&input.report.remarks);
        match self.form() {
            Form::Csv => {
                csv::<R>(out, rows.by_ref())?;
                if self.top.is_none() && rows.has_more() {
                    tool.say("these are only the first rows: --top N shows more");
                }
                Ok(())
            }
            Form::Json => {
                let rows = &RefCell::new(rows);
                json_document(out, &Document { head, by: by.name(), rows, more: rows })
            }
            Form::Ndjson => {
                let file = &InFile::from(self.graph());
                rows.by_ref().try_for_each(|row| json_line(out, by.name(), &InFileRow { file, row }))?;
                json_line(out, "file", &Last { head, more: rows.has_more() })
            }
            // Other formats are for findings.
            Form::Text | Form::Sarif | Form::GitHub | Form::JUnit | Form::Html => {
                let first: Vec<_> = rows.by_ref().collect();
                let is_selected = self.name.is_some() || self.numbers.is_some();
                match rows.has_more() {
                    false if first.is_empty() && is_selected => out.put("no row is as asked for").end_line(),
                    false if first.is_empty() => out.put(&format!("the report has nothing for --by {}", by.name())).end_line(),
                    false => R::write(&first, out),
                    true => {
                        R::write(&first, out)?;
                        out.put("... and more, which --top shows").end_line()
                    }
                }
            }
        }
    }
}

/// The first rows: so many, and so many bytes of JSON.
struct First<I> {
    rows: I,
    left: usize,
    room: u64,
}

impl<I: Iterator<Item: Serialize>> Iterator for First<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<Self::Item> {
        if self.left == 0 || self.room == 0 {
            return None;
        }
        let row = self.rows.next()?;
        self.left = self.left.saturating_sub(1);
        if self.room < u64::MAX {
            let mut bytes = Count(0);
            // Counting cannot fail.
            let _ = serde_json::to_writer(&mut bytes, &row);
            self.room = self.room.saturating_sub(bytes.0);
        }
        Some(row)
    }
}

impl<I: Iterator> First<I> {
    /// Whether there are more, once the first ones were taken.
    fn has_more(&mut self) -> bool {
        self.rows.next().is_some()
    }
}

/// Counts bytes.
struct Count(u64);

impl io::Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.saturating_add(bytes.len() as u64);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The first rows as a list. They can be written once.
fn first<S: Serializer>(
    rows: &&RefCell<First<impl Iterator<Item: Serialize>>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(rows.borrow_mut().by_ref())
}

/// Whether there are more rows, once the first ones were written.
fn more<S: Serializer>(rows: &RefCell<First<impl Iterator>>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bool(rows.borrow_mut().has_more())
}
