//! The command line of `popef profile`.

use std::num::{NonZeroU64, NonZeroUsize};
use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::Subcommand;
use popef_cli::end::wrong;
use popef_cli::values::{number, number_from_one};
use popef_ops::Error;
use popef_show::profile::{ProfileFormat, ProfileTable};

use super::diff;
use crate::common::values::{named, path};

/// Show why a model is slow or does not fit
///
/// Reads Poplar's profiling reports (SDK 2.1 and earlier): the graph profile, and the execution profile if there is one, or one
/// file with both. They may be JSON or CBOR, and compressed with gzip. No whole report of Poplar is public, so this was
/// tested with synthetic ones: docs/PROFILE.md tells what that means.
#[derive(Clone, Debug, clap::Args)]
#[command(
    arg_required_else_help = true,
    disable_help_subcommand = true,
    subcommand_negates_reqs = true,
    override_usage = "popef profile [OPTIONS] <GRAPH> [EXECUTION] [MODEL]\n       popef profile diff [OPTIONS] <A> <B>",
    after_help = "\
Examples:
  popef profile graph.json                               # memory, and what it is used for
  popef profile graph.json execution.json                # time too
  popef profile graph.json model.popef                   # whether it can be that of this model
  popef profile graph.json --by tile --top 5             # the fullest tiles, and what is on them
  popef profile graph.json --by tile --numbers 12,40..44 # only tiles 12 and 40 to 43
  popef profile graph.json execution.json --by step --name conv
  popef profile graph.json --format json | jq .facts.memory.overMemory
  popef profile graph.json execution.json --by step --format csv > steps.csv
  popef profile graph.json execution.json --check  # what is wrong, and what to do
  popef profile graph.json --max-tile 600KiB --format github # for CI: fails if a tile needs more
  popef profile graph.json execution.json --trace steps.json # a timeline for Perfetto
  popef profile graph.json execution.json -o report.html     # one page with pictures
  popef profile diff before.json after.json                  # exit status 1 if they differ"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(super) what: Option<What>,
    /// The graph profile, or a report with both halves; `-` is standard input
    #[arg(value_name = "GRAPH", value_parser = path(), required = true)]
    pub(super) graph: Option<PathBuf>,
    /// The execution profile
    #[arg(value_name = "EXECUTION", value_parser = path())]
    pub(super) execution: Option<PathBuf>,
    /// A PopEF file, to see whether the profile can be of its model; it can stand in the place of EXECUTION
    #[arg(value_name = "MODEL", value_parser = path())]
    pub(super) model: Option<PathBuf>,
    /// Show a table instead: category, tile, vertex, computeset, program, exchange, step or layer
    ///
    /// The tables of steps and of layers need an execution. A layer is all steps whose names begin alike.
    #[arg(long, value_name = "WHAT", value_parser = named(ProfileTable::ALL.iter().copied(), |by| by.as_str()), hide_possible_values = true, help_heading = "Selection")]
    pub(super) by: Option<ProfileTable>,
    /// Show only rows of the table whose name contains TEXT; an exchange has the name of its program, and tiles have none
    #[arg(long, value_name = "TEXT", requires = "by", help_heading = "Selection")]
    pub(super) name: Option<String>,
    /// Show only rows of the table with these numbers, such as 17 or 3,17,40..44; the first tile is 0, and A..B ends before B
    #[arg(long, value_name = "NUMBERS", value_parser = number_or_range, value_delimiter = ',', requires = "by", help_heading = "Selection")]
    pub(super) numbers: Option<Vec<Range<u32>>>,
    /// Number of parts of a name, between slashes, that make a layer [default: 1]
    #[arg(long, value_name = "N", value_parser = number_from_one::<NonZeroUsize>, requires = "by", help_heading = "Selection")]
    pub(super) depth: Option<NonZeroUsize>,
    /// Order of the table: size (bytes or cycles), code (bytes of it), number or name; programs have their own [default: size]
    #[arg(long, value_name = "ORDER", value_parser = named(Order::ALL.iter().copied(), |order| order.as_str()), requires = "by", hide_possible_values = true, help_heading = "Output")]
    pub(super) sort: Option<Order>,
    /// Show at most N rows [default: 20 as text; in other formats all, up to 100 times the bytes of the report]
    #[arg(long, value_name = "N", value_parser = number_from_one::<NonZeroUsize>, requires = "by", help_heading = "Output")]
    pub(super) top: Option<NonZeroUsize>,
    /// Show the items per second of an execution that works on N items
    #[arg(long, value_name = "N", value_parser = number_from_one::<NonZeroU64>, conflicts_with = "by", help_heading = "Output")]
    pub(super) items: Option<NonZeroU64>,
    /// Format of the report: text; json, one document; ndjson, lines of JSON; csv, a table; html, one page; for findings also sarif, github and junit
    #[arg(
        long,
        global = true,
        value_name = "FORMAT",
        value_parser = named(ProfileFormat::ALL.iter().copied(), |form| form.as_str()),
        hide_possible_values = true,
        help_heading = "Output"
    )]
    pub(super) format: Option<ProfileFormat>,
    #[command(flatten)]
    pub(super) findings: FindingsArgs,
    /// Write the steps as a timeline instead, which Perfetto and chrome://tracing open; `-` is standard output
    #[arg(long, value_name = "NEW", value_parser = path(), conflicts_with_all = ["by", "items"], help_heading = "Output")]
    pub(super) trace: Option<PathBuf>,
    /// Only these steps of the timeline, such as 100..200, of which the last is 199
    #[arg(long, value_name = "A..B", value_parser = range, requires = "trace", help_heading = "Selection")]
    pub(super) steps: Option<Range<u32>>,
    /// Write to this file, above all one HTML page with pictures and tables; `-` is standard output
    ///
    /// Without --format, its name says the format: .html, .json, .ndjson, .csv or .txt. Other names get a page, which needs no network.
    #[arg(short, long, value_name = "NEW", value_parser = path(), conflicts_with = "trace", help_heading = "Output")]
    pub(super) output: Option<PathBuf>,
    /// Replace the file or the timeline if it exists
    #[arg(long, help_heading = "Output")]
    pub(super) force: bool,
    /// Only say how large the file or the timeline would be
    #[arg(long, help_heading = "Output")]
    pub(super) dry_run: bool,
}

#[derive(Clone, Debug, Subcommand)]
pub(super) enum What {
    Diff(diff::Args),
}

impl Args {
    /// The first file, which is there unless `what` is given.
    pub(super) fn graph(&self) -> &Path {
        self.graph.as_deref().unwrap_or_else(|| Path::new("-"))
    }

    /// The format, after it was chosen.
    pub(super) fn form(&self) -> ProfileFormat {
        self.format.unwrap_or(ProfileFormat::Text)
    }

    /// Fails if options cannot be combined, or would have no effect.
    pub(super) fn hold_together(&self) -> Result<(), Error> {
        let format = self.form().as_str();
        let is_page = self.form() == ProfileFormat::Html;
        if self.force && self.output.is_none() && self.trace.is_none() {
            return Err(wrong("--force is for --output and --trace"));
        }
        if self.dry_run && self.output.is_none() && self.trace.is_none() {
            return Err(wrong("--dry-run is for --output and --trace"));
        }
        if self.steps.is_some() && self.trace.is_none() {
            return Err(wrong("--steps is for --trace: with --by step, say --numbers"));
        }
        if self.findings.is_check() {
            return self.hold_together_for_findings();
        }
        if is_page && (self.by.is_some() || self.trace.is_some() || self.items.is_some()) {
            return Err(wrong("a page shows everything: leave out --by, --items and --trace, or say another --format"));
        }
        if self.trace.is_some() && self.form() != ProfileFormat::Text {
            return Err(wrong(format!("--trace has a format of its own: leave out --format {format}")));
        }
        if self.model.is_some() && (self.by.is_some() || self.trace.is_some() || is_page) {
            return Err(wrong("a PopEF file has an effect on the summary only: leave it out, or --by, --trace and the page"));
        }
        match self.by {
            _ if !self.form().is_of_summary() => Err(wrong(format!("--format {format} is for findings: add --check"))),
            None if self.form() == ProfileFormat::Csv => Err(wrong("--format csv needs a table: add --by")),
            None => Ok(()),
            Some(by) => self.hold_together_for_table(by),
        }
    }

    fn hold_together_for_findings(&self) -> Result<(), Error> {
        let format = self.form().as_str();
        let others = [
            (self.by.is_some(), "--by"),
            (self.items.is_some(), "--items"),
            (self.trace.is_some(), "--trace"),
            (self.output.is_some(), "--output"),
            (self.model.is_some(), "a PopEF file"),
        ];
        if self.form().of_findings().is_none() {
            return Err(wrong(format!("--format {format} is for tables: findings have no columns")));
        }
        if let Some((_, option)) = others.iter().find(|(is_given, _)| *is_given) {
            return Err(wrong(format!("{option} has no effect on findings: leave it out, or --check and limits")));
        }
        if self.findings.quiet && !matches!(self.form(), ProfileFormat::Text | ProfileFormat::GitHub) {
            return Err(wrong(format!("--quiet is for --format text and github: {format} always has everything")));
        }
        Ok(())
    }

    fn hold_together_for_table(&self, by: ProfileTable) -> Result<(), Error> {
        let has_no = |what: &str, option: &str| Err(wrong(format!("--by {}: these have no {what}: leave out {option}", by.as_str())));
        match (by, self.sort) {
            _ if by != ProfileTable::Layer && self.depth.is_some() => Err(wrong("--depth is for --by layer")),
            (ProfileTable::Tile, _) if self.name.is_some() => has_no("names", "--name"),
            (ProfileTable::Category | ProfileTable::Layer, _) if self.numbers.is_some() => has_no("numbers", "--numbers"),
            (ProfileTable::Program, Some(_)) => has_no("other order than that of the tree", "--sort"),
            (ProfileTable::Tile, Some(Order::Name)) => has_no("names", "--sort name"),
            (ProfileTable::Category | ProfileTable::Layer, Some(Order::Number)) => has_no("numbers", "--sort number"),
            (ProfileTable::Vertex | ProfileTable::Exchange, Some(Order::Code)) => Ok(()),
            (_, Some(Order::Code)) => has_no("code of their own", "--sort code"),
            _ => Ok(()),
        }
    }

    /// The input files.
    pub(super) fn inputs(&self) -> impl Iterator<Item = &Path> {
        self.graph.iter().chain(&self.execution).map(|path| &**path)
    }
}

popef::seam::named! {
    /// The order of a table.
    pub(super) enum Order {
        Size = "size",
        Number = "number",
        Name = "name",
        Code = "code",
    }
}

/// The options for findings.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Findings")]
pub(super) struct FindingsArgs {
    /// Show what the rules find and what to do about it, and fail on errors
    ///
    /// The other options here do this too. `popef explain` lists the rules.
    #[arg(long)]
    pub(super) check: bool,
    /// Fail if a tile needs more memory than SIZE, such as 600KiB
    #[arg(long, value_name = "SIZE", value_parser = popef_cli::values::size)]
    pub(super) max_tile: Option<u64>,
    /// Fail if all tiles together need more than SIZE: what is always live, and the most of the rest on each tile
    #[arg(long, value_name = "SIZE", value_parser = popef_cli::values::size)]
    pub(super) max_total: Option<u64>,
    /// Fail if the execution takes more than N cycles
    #[arg(long, value_name = "N", value_parser = number::<u64>)]
    pub(super) max_cycles: Option<u64>,
    /// Fail if a heavy step has a balance below B, which is from 0 to 1
    #[arg(long, value_name = "B", value_parser = share)]
    pub(super) min_balance: Option<f64>,
    /// Take limits, thresholds and severities of rules from POLICY, a TOML file; `-` is standard input
    ///
    /// Limits on the command line count more.
    #[arg(long, value_name = "POLICY", value_parser = path())]
    pub(super) policy: Option<PathBuf>,
    /// Fail on warnings too
    #[arg(long)]
    pub(super) strict: bool,
    /// Print only findings, and what could not be checked
    #[arg(short, long)]
    pub(super) quiet: bool,
    /// Show what findings mean
    #[arg(short, long)]
    pub(super) verbose: bool,
}

impl FindingsArgs {
    /// Whether findings are shown, and not the summary.
    pub(super) fn is_check(&self) -> bool {
        let has_limit = self.max_tile.or(self.max_total).or(self.max_cycles).is_some() || self.min_balance.is_some();
        self.check || has_limit || self.policy.is_some() || self.strict || self.quiet || self.verbose
    }
}

/// `A..B`, `A..` or `..B`.
fn range(given: &str) -> Result<Range<u32>, String> {
    let wrong = || format!("{given} is not a range such as 100..200, 100.. or ..200");
    let (from, to) = given.split_once("..").ok_or_else(wrong)?;
    let number = |text: &str, default: u32| if text.is_empty() { Ok(default) } else { text.parse().map_err(|_| wrong()) };
    let range = number(from, 0)?..number(to, u32::MAX)?;
    if range.is_empty() { Err(format!("{given} has no number in it")) } else { Ok(range) }
}

/// `N`, which is a range of one number, or a range.
fn number_or_range(given: &str) -> Result<Range<u32>, String> {
    if given.contains("..") {
        return range(given);
    }
    // A range cannot have the largest number, and no report has so many rows.
    let number = given.parse().ok().filter(|number| *number < u32::MAX);
    let wrong = || format!("{given} is neither a number such as 17 nor a range such as 100..200, 100.. or ..200");
    number.map(|number: u32| number..number.saturating_add(1)).ok_or_else(wrong)
}

fn share(text: &str) -> Result<f64, &'static str> {
    text.parse().ok().filter(|share| (0.0..=1.0).contains(share)).ok_or("it must be a number from 0 to 1")
}
