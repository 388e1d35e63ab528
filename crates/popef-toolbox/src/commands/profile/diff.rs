//! `popef profile diff`.

use std::path::PathBuf;
use std::process::ExitCode;

use popef_cli::end::{FAILED, NO, unwritten, wrong};
use popef_cli::format::NETWORK;
use popef_cli::tool::Tool;
use popef_ops::Error;
use popef_show::profile::{ProfileDiffReport, ProfileFormat, ProfileHead};
use poplar_inspect::profile::{DiffSubject, DiffTolerance, ProfileVerdict, profile_diff};

use super::input::{self, Keep};
use crate::common::values::{named, path, tolerance};

/// Compare two profiling reports
///
/// Memory is compared by category, tile and vertex type, cycles by the names of compute sets and of steps and by the kinds of exchanges,
/// and programs by their types. Several of one name are summed up. Facts that only one report has are not compared, and the output says so.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  popef profile diff before.graph.json after.graph.json
  popef profile diff a.graph.json b.graph.json --executions a.execution.json b.execution.json
  popef profile diff -q before.json after.json --by tile --rtol 0.05 || echo 'a tile changed by more than 5 %'")]
pub(super) struct Args {
    /// The first report; `-` is standard input
    #[arg(value_name = "A", value_parser = path())]
    a: PathBuf,
    /// The second report; `-` is standard input
    #[arg(value_name = "B", value_parser = path())]
    b: PathBuf,
    /// The execution profiles of both, if they are files of their own
    #[arg(long, value_names = ["A", "B"], num_args = 2, value_parser = path(), help_heading = "Comparison")]
    executions: Vec<PathBuf>,
    /// Compare only this: category, tile, vertex, computeset, exchange, program or step; can be given several times
    #[arg(long, value_name = "WHAT", value_parser = named(By::ALL.iter().copied(), |by| by.as_str()), hide_possible_values = true, help_heading = "Comparison")]
    by: Vec<By>,
    /// Numbers are the same if |a - b| <= ATOL + RTOL * |b|
    #[arg(long, value_name = "ATOL", default_value = "0", hide_default_value = true, allow_negative_numbers = true, value_parser = tolerance, help_heading = "Comparison")]
    atol: f64,
    /// See --atol
    #[arg(long, value_name = "RTOL", default_value = "0", hide_default_value = true, allow_negative_numbers = true, value_parser = tolerance, help_heading = "Comparison")]
    rtol: f64,
    /// Print nothing
    #[arg(short, long, help_heading = "Output")]
    quiet: bool,
    /// Format of the report: text; json, one document; ndjson, lines of JSON; csv, a table
    // The same as that of `popef profile`, which clap also takes for this one: with other words, and without what there is not.
    #[arg(
        long,
        value_name = "FORMAT",
        value_parser = named(FORMS, |form| form.as_str()),
        default_value = "text",
        hide_default_value = true,
        hide_possible_values = true,
        help_heading = "Output"
    )]
    format: ProfileFormat,
    /// As text, show at most N differences of each kind
    #[arg(long, value_name = "N", value_parser = popef_cli::values::top, default_value_t = 20, help_heading = "Output")]
    top: usize,
}

const FORMS: [ProfileFormat; 4] = [ProfileFormat::Text, ProfileFormat::Json, ProfileFormat::Ndjson, ProfileFormat::Csv];

popef::seam::named! {
    /// What can be compared alone.
    enum By {
        Category = "category",
        Tile = "tile",
        Vertex = "vertex",
        ComputeSet = "computeset",
        Exchange = "exchange",
        Program = "program",
        Step = "step",
    }
}

impl By {
    fn subjects(self) -> &'static [DiffSubject] {
        match self {
            By::Category => &[DiffSubject::Category],
            By::Tile => &[DiffSubject::Memory, DiffSubject::Tile],
            By::Vertex => &[DiffSubject::VertexType],
            By::ComputeSet => &[DiffSubject::ComputeSet],
            By::Exchange => &[DiffSubject::Exchange],
            By::Program => &[DiffSubject::Program],
            By::Step => &[DiffSubject::Step],
        }
    }
}

impl Args {
    pub(super) fn run(&self, tool: &Tool) -> Result<ExitCode, Error> {
        if !FORMS.contains(&self.format) {
            return Err(wrong("popef profile diff has the formats text, json, ndjson and csv"));
        }
        let mut files = [&self.a, &self.b].into_iter().chain(&self.executions);
        if files.by_ref().filter(|path| path.as_os_str() == "-").count() > 1 {
            return Err(wrong("standard input (-) can be read only once"));
        }
        let [executed_a, executed_b] = [0, 1].map(|nth| self.executions.get(nth).map(PathBuf::as_path));
        let (a, b) = (input::read(&self.a, executed_a, Keep::Sums)?.report, input::read(&self.b, executed_b, Keep::Sums)?.report);
        let subjects: Vec<_> = self.by.iter().flat_map(|by| by.subjects()).copied().collect();
        let subjects = if subjects.is_empty() { &DiffSubject::ALL } else { subjects.as_slice() };
        let diff = profile_diff(&a, &b, subjects, DiffTolerance { absolute: self.atol, relative: self.rtol });
        let status = match diff.verdict {
            ProfileVerdict::Same => 0,
            ProfileVerdict::Different => NO,
            ProfileVerdict::NotComparable => FAILED,
        };
        let mut out = tool.out();
        if !self.quiet {
            let head_a = ProfileHead::new(&self.a, executed_a, &a.remarks);
            let head_b = ProfileHead::new(&self.b, executed_b, &b.remarks);
            let report = ProfileDiffReport::new((head_a, &a), (head_b, &b), &diff);
            report.write(&mut out, self.format, self.top, NETWORK).map_err(unwritten)?;
        }
        out.send().map_err(unwritten)?;
        Ok(ExitCode::from(status))
    }
}
