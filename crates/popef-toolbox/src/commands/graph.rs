//! `popef graph`.

mod diff;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Subcommand;
use clap::builder::TypedValueParser;
use popef_cli::end::{unwritten, wrong};
use popef_cli::format::{Format, NETWORK};
use popef_cli::common::{Common, Place};
use popef_cli::to_file::Forms;
use popef_cli::tool::Tool;
use popef_ops::{Code, Error, did_you_mean};
use popef_show::Out;
use popef_show::graph::{GraphFormat, GraphOptions, GraphReport, GraphSections, OpsReport};
use poplar_graph::{Graph, Ir, IrDump, NoteKind, Order};

use super::{Command, profile};
use crate::common::json_file::{Damage, open, refused};
use crate::common::page::{MADE_BY, title};
use crate::common::values::{named, path};

/// Show how the graphs of a program call each other
///
/// Reads an IR dump of PopART: what PopART writes into the folder that POPART_IR_DUMP names, or the text that Session._serializeIr
/// returns. Shows which graph calls which and how often, the ops by type and place, and the parameters by size. A dump does not
/// say everything: docs/GRAPHS.md tells what.
#[derive(Debug, clap::Args)]
#[command(
    arg_required_else_help = true,
    disable_help_subcommand = true,
    subcommand_negates_reqs = true,
    override_usage = "popef graph [OPTIONS] <FILE>\n       popef graph diff [OPTIONS] <A> <B>",
    after_help = "\
Examples:
  popef graph ir.json                                    # calls, ops, parameters
  popef graph ir.json --format dot | dot -Tsvg -o ir.svg # the calls as a picture
  popef graph ir.json --graph 'layer_fn_subgraph(0)'     # the ops of a graph
  popef graph ir.json -o ir.html                         # one page without scripts
  popef graph diff before.json after.json                # exit status 1 if they differ"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: Option<What>,
    /// The dump to read; `-` is standard input
    #[arg(value_name = "FILE", value_parser = path(), required = true)]
    file: Option<PathBuf>,
    #[command(flatten)]
    sections: Sections,
    /// Show the ops of this graph instead, as text or as a picture
    #[arg(long, value_name = "NAME", help_heading = "Selection")]
    graph: Option<String>,
    /// The ops are in the order in which they run: the dump is from Session._serializeIr
    ///
    /// POPART_IR_DUMP writes ops by their numbers, and a dump does not say which of both wrote it.
    #[arg(long, help_heading = "Selection")]
    scheduled: bool,
    /// The file is a profiling report of Poplar: show how its functions, loops and choices call each other
    #[arg(long, conflicts_with = "scheduled", help_heading = "Selection")]
    profile: bool,
    /// Show at most N rows of each table
    #[arg(long, value_name = "N", value_parser = popef_cli::values::top, default_value_t = 20, help_heading = "Output")]
    top: usize,
    /// Format of the report: text; json, one document; ndjson, lines of JSON; dot or mermaid, a picture of the calls; html, one page
    #[arg(
        long,
        global = true,
        value_name = "FORMAT",
        value_parser = form(GraphFormat::ALL.iter().copied()),
        hide_possible_values = true,
        help_heading = "Output"
    )]
    format: Option<GraphFormat>,
    /// Write to this file; `-` is standard output
    ///
    /// Without --format, its name says the format: .html, .json, .ndjson, .dot, .mmd or .txt. Other names get a page.
    #[arg(short, long, value_name = "NEW", value_parser = path(), help_heading = "Output")]
    output: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long, requires = "output", help_heading = "Output")]
    force: bool,
}

#[derive(Debug, Subcommand)]
enum What {
    Diff(diff::Args),
}

/// The parts of the text and of the page. Without any of them, all are shown.
#[derive(Clone, Copy, Debug, clap::Args)]
#[command(next_help_heading = "Selection")]
pub(super) struct Sections {
    /// Show which graph calls which, and how often
    #[arg(long)]
    calls: bool,
    /// Show the ops by type, IPU, pipeline stage and phase
    #[arg(long)]
    ops: bool,
    /// Show the parameters by size
    #[arg(long)]
    parameters: bool,
    /// Show when the code of graphs is on the tiles, if ops load it from Streaming Memory
    #[arg(long)]
    code: bool,
}

impl From<Sections> for GraphSections {
    fn from(Sections { calls, ops, parameters, code }: Sections) -> Self {
        GraphSections { calls, ops, parameters, code }
    }
}

/// The formats of the output, and when each is the default.
const FORMS: Forms<'static, GraphFormat> =
    Forms { command: "popef graph", all: GraphFormat::ALL, name: GraphFormat::as_str, of_file: GraphFormat::Html, of_report: GraphFormat::Text };

fn form(forms: impl IntoIterator<Item = GraphFormat>) -> impl TypedValueParser<Value = GraphFormat> {
    named(forms, |form| form.as_str())
}

impl Command for Args {
    fn run(&self, tool: &Tool) -> Result<ExitCode, Error> {
        match (&self.what, &self.file) {
            (Some(What::Diff(_)), None) if self.output.is_some() => Err(wrong("--output is not for diff")),
            (Some(What::Diff(args)), None) => args.run(tool),
            (None, Some(file)) => self.show(tool, file),
            _ => Err(wrong("give either one file, or diff and two files")),
        }
    }

    fn common(&self) -> Common<'_> {
        Common::of(Place { path: self.output.as_deref(), force: self.force, dry_run: false }).format(self.format.and_then(|form| Format::named(form.as_str())))
    }
}

impl Args {
    fn show(&self, tool: &Tool, file: &Path) -> Result<ExitCode, Error> {
        let form = FORMS.chosen(self.format, self.output.as_deref())?;
        if let Some(place) = self.place() {
            // A file that must not be replaced is an error before the work.
            place.begin([file], []).map(drop)?;
        }
        let dump = if self.profile { programs(file)? } else { read(file, self.scheduled)? };
        let damage = Damage::of(dump.damage.as_ref(), Code::BadGraphFile, file);
        let facts = dump.facts();
        let report = GraphReport::new(file, &facts, damage.report());
        match self.place() {
            Some(place) => place.write_report(tool, &[file], form.noun(), |out| self.write_all(out, &report, form))?,
            None => self.write_all(&mut tool.out(), &report, form)?,
        }
        Ok(damage.told(tool))
    }

    fn place(&self) -> Option<Place<'_>> {
        let path = self.output.as_deref()?;
        Some(Place { path: Some(path), force: self.force, dry_run: false })
    }

    fn write_all(&self, out: &mut Out, report: &GraphReport<'_>, form: GraphFormat) -> Result<(), Error> {
        let file = self.file.as_deref().unwrap_or(Path::new("-"));
        match &self.graph {
            Some(name) => {
                let (dump, graph) = (report.dump(), Self::chosen(report.dump(), name, file)?);
                Self::write_ops(out, OpsReport { dump, graph }, form)?;
            }
            None => self.write(out, report, form, file)?,
        }
        out.send().map_err(unwritten)
    }

    fn chosen<'d>(dump: &'d IrDump, name: &str, file: &Path) -> Result<&'d Graph, Error> {
        let graph = dump.ir.find(name).and_then(|id| dump.ir.graph(id));
        graph.ok_or_else(|| {
            let near = did_you_mean(name, dump.ir.graphs().iter().map(|graph| &graph.name));
            let near = if near.is_empty() { "; --calls lists all".to_owned() } else { near };
            wrong(format!("there is no graph {name:?}{near}")).in_file(file)
        })
    }

    fn write(&self, out: &mut Out, report: &GraphReport<'_>, form: GraphFormat, file: &Path) -> Result<(), Error> {
        let kind = if self.profile { "Programs of a profiling report" } else { "IR dump of PopART" };
        let (sections, top, title) = (self.sections.into(), self.top, &title(file));
        let options = GraphOptions { sections, top, network: NETWORK, kind, title, made_by: MADE_BY };
        report.write(out, form, &options).map_err(unwritten)
    }

    fn write_ops(out: &mut Out, report: OpsReport<'_>, form: GraphFormat) -> Result<(), Error> {
        if !OpsReport::has(form) {
            return Err(wrong("--graph has the formats text, dot and mermaid"));
        }
        report.write(out, form).map_err(unwritten)
    }
}

/// Reads a dump. If the user says that ops are in the order of a schedule, they must be. Otherwise analyses would be
/// wrong.
fn read(file: &Path, scheduled: bool) -> Result<IrDump, Error> {
    let order = if scheduled { Order::Schedule } else { Order::Unknown };
    let dump = IrDump::read(open(file)?, order).map_err(|error| refused(&error, Code::BadGraphFile, file))?;
    match dump.note(NoteKind::NoSchedule).filter(|_| scheduled) {
        Some(note) => {
            let message =
                format!("an op uses {:?} before another one makes it: the ops are not in the order of a schedule", note.first);
            Err(wrong(message).in_file(file))
        }
        None => Ok(dump),
    }
}

/// Reads the programs of a profiling report.
fn programs(file: &Path) -> Result<IrDump, Error> {
    let wrong = |message: String| Error::new(Code::BadProfile, message).in_file(file);
    let report = profile::input::read(file, None, profile::input::Keep::Sums)?.report;
    let graph = report.graph.ok_or_else(|| wrong("it has no graph profile, and so no programs".to_owned()))?;
    Ok(Ir::from_profile(&graph).map_err(|error| wrong(error.to_string()))?.into())
}
