//! `popef profile`.

mod bars;
pub(in crate::commands) mod input;
mod summary;
mod tables;

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::builder::TypedValueParser;
use popef_ops::{Error, FilePath, InFile};
use popef_show::Out;
use poplar_inspect::profile::{
    Bucket, Consistency, ExecutionProfile, Facts, GraphProfile, Remarks, Selection, Sort, categories, compute_sets,
    consistency, exchanges, facts, histogram, items_per_second, layers, program_tree, steps, tiles, vertex_types,
};
use serde::Serialize;

use super::Command;
use crate::common::end::unwritten;
use crate::common::format::{json_document, json_line};
use crate::common::tool::Tool;
use crate::common::values::{named, path};
use crate::common::words::wrong;
use tables::{TableRow, csv};

/// Show why a model is slow or does not fit
///
/// Reads Poplar's profiling reports (SDK 2.1 and earlier): the graph profile, and the execution profile if there is one, or one
/// file with both. They may be JSON or CBOR, and compressed with gzip. No whole report of Poplar is public, so this was
/// tested with synthetic ones: docs/PROFILE.md tells what that means.
#[derive(Debug, clap::Args)]
#[command(
    arg_required_else_help = true,
    after_help = "\
Examples:
  popef profile graph.json                               # memory, and what it is used for
  popef profile graph.json execution.json                # time too
  popef profile graph.json --by tile --top 5             # the fullest tiles, and what is on them
  popef profile graph.json execution.json --by step --name conv
  popef profile graph.json --format json | jq .facts.memory.overMemory
  popef profile graph.json execution.json --by step --format csv > steps.csv"
)]
pub(crate) struct Args {
    /// The graph profile, or a report with both halves; `-` is standard input
    #[arg(value_name = "GRAPH", value_parser = path())]
    graph: PathBuf,
    /// The execution profile
    #[arg(value_name = "EXECUTION", value_parser = path())]
    execution: Option<PathBuf>,
    /// Show a table instead: category, tile, vertex, computeset, program, exchange, step or layer
    ///
    /// The tables of steps and of layers need an execution. A layer is all steps whose names begin alike.
    #[arg(long, value_name = "WHAT", value_parser = named(By::ALL, |by| by.name()), hide_possible_values = true, help_heading = "Selection")]
    by: Option<By>,
    /// Show only rows of the table whose name contains TEXT
    #[arg(long, value_name = "TEXT", requires = "by", help_heading = "Selection")]
    name: Option<String>,
    /// So many parts of a name, between slashes, make a layer
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Selection")]
    depth: usize,
    /// Order of the table: size (bytes or cycles), number or name; programs are always in their order
    #[arg(long, value_name = "ORDER", value_parser = sort(), default_value = "size", hide_possible_values = true, help_heading = "Output")]
    sort: Order,
    /// Show at most N rows; as text 20 and otherwise all
    #[arg(long, value_name = "N", help_heading = "Output")]
    top: Option<usize>,
    /// An execution works on N items: show how many it does in a second
    #[arg(long, value_name = "N", help_heading = "Output")]
    items: Option<u64>,
    /// Format: text; json, one document; ndjson, lines of JSON; csv, a table
    #[arg(
        long,
        value_name = "FORMAT",
        value_parser = named(Form::ALL, |form| form.name()),
        default_value = "text",
        hide_default_value = true,
        hide_possible_values = true,
        help_heading = "Output"
    )]
    format: Form,
}

/// What a table has a row for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Category,
    Tile,
    Vertex,
    ComputeSet,
    Program,
    Exchange,
    Step,
    Layer,
}

impl By {
    const ALL: [By; 8] =
        [By::Category, By::Tile, By::Vertex, By::ComputeSet, By::Program, By::Exchange, By::Step, By::Layer];

    fn name(self) -> &'static str {
        match self {
            By::Category => "category",
            By::Tile => "tile",
            By::Vertex => "vertex",
            By::ComputeSet => "computeset",
            By::Program => "program",
            By::Exchange => "exchange",
            By::Step => "step",
            By::Layer => "layer",
        }
    }
}

/// The order of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Size,
    Number,
    Name,
}

fn sort() -> impl TypedValueParser<Value = Order> {
    named([Order::Size, Order::Number, Order::Name], |order| match order {
        Order::Size => "size",
        Order::Number => "number",
        Order::Name => "name",
    })
}

/// What the output looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Text,
    Json,
    Ndjson,
    Csv,
}

impl Form {
    const ALL: [Form; 4] = [Form::Text, Form::Json, Form::Ndjson, Form::Csv];

    fn name(self) -> &'static str {
        match self {
            Form::Text => "text",
            Form::Json => "json",
            Form::Ndjson => "ndjson",
            Form::Csv => "csv",
        }
    }
}

/// A report, and what was computed of it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Summary<'r> {
    #[serde(flatten)]
    head: Head<'r>,
    facts: Facts<'r>,
    /// Tiles by what they need.
    tile_sizes: Vec<Bucket>,
    consistency: Option<Consistency>,
    items_per_second: Option<f64>,
}

/// The files, and what is odd in them.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Head<'r> {
    #[serde(flatten)]
    path: FilePath,
    execution_path: Option<String>,
    remarks: &'r Remarks,
}

/// A report that has a graph.
struct Profile<'r> {
    graph: &'r GraphProfile,
    execution: Option<&'r ExecutionProfile>,
}

impl Command for Args {
    fn run(&self, tool: &Tool) -> Result<ExitCode, Error> {
        if self.format == Form::Csv && self.by.is_none() {
            return Err(wrong("--format csv needs a table: add --by"));
        }
        let report = input::read(&self.graph, self.execution.as_deref(), self.by.is_none())?;
        let Some(graph) = &report.graph else {
            return Err(wrong("this is an execution profile: give the graph profile before it").in_file(&self.graph));
        };
        let profile = Profile { graph, execution: report.execution.as_ref() };
        let mut out = tool.out();
        match self.by {
            None => self.summary(&mut out, &profile, &report.remarks),
            Some(by) => self.table(&mut out, &profile, &report.remarks, by)?,
        }
        .and_then(|()| out.send())
        .map_err(unwritten)?;
        Ok(ExitCode::SUCCESS)
    }
}

impl Args {
    fn head<'r>(&self, remarks: &'r Remarks) -> Head<'r> {
        let execution_path = self.execution.as_ref().map(|path| path.to_string_lossy().into_owned());
        Head { path: self.graph.as_path().into(), execution_path, remarks }
    }

    fn summary(&self, out: &mut Out, profile: &Profile<'_>, remarks: &Remarks) -> io::Result<()> {
        let Profile { graph, execution } = *profile;
        let summary = Summary {
            head: self.head(remarks),
            facts: facts(graph, execution),
            tile_sizes: histogram(graph, 10),
            consistency: execution.and_then(|execution| consistency(graph, execution)),
            items_per_second: execution
                .zip(self.items)
                .and_then(|(execution, items)| items_per_second(graph, execution, items)),
        };
        match self.format {
            Form::Json => json_document(out, &summary),
            Form::Ndjson => json_line(out, "report", &summary),
            Form::Text | Form::Csv => summary::write(out, graph, &summary),
        }
    }

    fn table(&self, out: &mut Out, profile: &Profile<'_>, remarks: &Remarks, by: By) -> Result<io::Result<()>, Error> {
        let Profile { graph, execution } = *profile;
        let selection = &self.selection();
        let run = || execution.ok_or_else(|| wrong(format!("--by {} needs an execution profile", by.name())));
        Ok(match by {
            By::Category => self.rows(out, remarks, by, &categories(graph, selection)),
            By::Tile => self.rows(out, remarks, by, &tiles(graph, selection, 3)),
            By::Vertex => self.rows(out, remarks, by, &vertex_types(graph, selection)),
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
            Form::Text => {
                R::write(rows.get(..self.shown()).unwrap_or(rows), out)?;
                if rows.len() > self.shown() { out.put("... and more, which --top shows").end_line() } else { Ok(()) }
            }
            Form::Json => json_document(out, &Document { head: self.head(remarks), by: by.name(), rows }),
            Form::Ndjson => {
                let file = &InFile::from(self.graph.as_path());
                rows.iter().try_for_each(|row| json_line(out, by.name(), &InFileRow { file, row }))?;
                json_line(out, "file", &self.head(remarks))
            }
            Form::Csv => csv(out, rows),
        }
    }
}
