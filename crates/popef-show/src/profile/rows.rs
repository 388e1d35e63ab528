//! The rows of a table, of which there may be very many.

use std::cell::RefCell;
use std::io;

use popef::seam::List;
use popef_ops::InFile;
use poplar_inspect::profile::{
    Selection, categories, compute_sets, exchanges, layers, program_tree, steps, tiles, vertex_types,
};
use serde::Serialize;

use super::{Profile, ProfileFormat, ProfileHead};
use crate::output::json::{Lazy, item_in, object};
use crate::output::table::{TableRow, write_csv, write_table};
use crate::{Network, Out, json_document, json_item};
use popef::seam::named;

named! {
    /// The kind of rows of a table.
    pub enum ProfileTable {
        /// A category of memory.
        Category = "category",
        /// A tile.
        Tile = "tile",
        /// A type of vertices.
        Vertex = "vertex",
        /// A compute set.
        ComputeSet = "computeset",
        /// A program, in the tree of those that run it.
        Program = "program",
        /// An exchange.
        Exchange = "exchange",
        /// A step of an execution.
        Step = "step",
        /// The steps of an execution whose names begin alike.
        Layer = "layer",
    }
}

impl ProfileTable {
    /// Whether its rows need an execution.
    pub fn needs_execution(self) -> bool {
        matches!(self, ProfileTable::Step | ProfileTable::Layer)
    }
}

/// The rows of a table to show, and how.
#[derive(Debug)]
pub struct TableRequest<'r> {
    /// The files.
    pub head: ProfileHead<'r>,
    /// The file that lines of JSON name.
    pub file: InFile,
    /// The format.
    pub format: ProfileFormat,
    /// The table.
    pub table: ProfileTable,
    /// The selection of rows, one more than `limit`, which shows whether there are more.
    pub selection: Selection<'r>,
    /// Whether the selection is by names or numbers.
    pub is_selected: bool,
    /// The number of parts of a name that make a layer.
    pub depth: usize,
    /// The maximum number of rows.
    pub limit: usize,
    /// The maximum number of bytes of JSON. A small report can have a tree without end, with a long name in each row.
    pub room: u64,
    /// The cost that is written at the end of documents.
    pub network: Network,
}

/// The outcome of writing a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableWritten {
    /// All rows, or the output says that there are more.
    All,
    /// The first rows, and the output cannot say that there are more.
    First,
    /// Nothing, because no row is selected.
    Nothing,
}

impl TableRequest<'_> {
    /// Writes the table, unless a selection by names or numbers has no rows.
    pub fn write(self, out: &mut Out, profile: Profile<'_>) -> io::Result<TableWritten> {
        let Profile { graph, execution } = profile;
        let selection = self.selection.clone();
        let selection = &selection;
        match self.table {
            ProfileTable::Category => self.rows(out, categories(graph, selection)),
            ProfileTable::Tile => self.rows(out, tiles(graph, selection, 3)),
            ProfileTable::Vertex => self.rows(out, vertex_types(graph, execution, selection)),
            ProfileTable::ComputeSet => self.rows(out, compute_sets(graph, execution, selection)),
            ProfileTable::Program => self.rows(out, program_tree(graph, execution, selection)),
            ProfileTable::Exchange => self.rows(out, exchanges(graph, execution, selection)),
            ProfileTable::Step => self.rows(out, execution.into_iter().flat_map(|run| steps(run, selection))),
            ProfileTable::Layer => {
                let depth = self.depth;
                self.rows(out, execution.into_iter().flat_map(|run| layers(run, depth, selection)))
            }
        }
    }

    /// Writes rows. There may be very many: only text keeps its rows in memory.
    fn rows<R: TableRow>(self, out: &mut Out, rows: impl IntoIterator<Item = R>) -> io::Result<TableWritten> {
        let TableRequest { head, file, format, table, is_selected, limit, room, network, .. } = self;
        let by = table.as_str();
        let mut rows = rows.into_iter().peekable();
        if is_selected && rows.peek().is_none() {
            return Ok(TableWritten::Nothing);
        }
        let mut rows = First { rows, left: limit, room };
        match format {
            ProfileFormat::Csv => {
                write_csv::<R>(out, rows.by_ref())?;
                return Ok(if rows.has_more() { TableWritten::First } else { TableWritten::All });
            }
            ProfileFormat::Json => {
                let rows = RefCell::new(rows);
                let document = object! {
                    #[serde(flatten)]
                    head,
                    by,
                    // The rows can be written only once.
                    rows: List(|| std::iter::from_fn(|| rows.borrow_mut().next())),
                    more: Lazy(|| rows.borrow_mut().has_more()),
                };
                json_document(out, &document, network)?;
            }
            ProfileFormat::Ndjson => {
                rows.by_ref().try_for_each(|row| item_in(out, by, &file, &row))?;
                json_item(out, "file", &object! { #[serde(flatten)] head, more: rows.has_more() })?;
            }
            // Other formats are for findings.
            _ => write_text(out, rows, by)?,
        }
        Ok(TableWritten::All)
    }
}

fn write_text<R: TableRow>(
    out: &mut Out,
    mut rows: First<impl Iterator<Item = R>>,
    by: &'static str,
) -> io::Result<()> {
    let first: Vec<_> = rows.by_ref().collect();
    if rows.has_more() {
        write_table(out, &first)?;
        return out.put("... and more, which --top shows").end_line();
    }
    if !first.is_empty() {
        return write_table(out, &first);
    }
    out.put("the report has nothing for --by ").put(by).end_line()
}

/// The first rows, up to a number of rows and of bytes of JSON.
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
    /// Whether there are more rows, once the first ones were taken.
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
