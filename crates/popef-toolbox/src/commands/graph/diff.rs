//! `popef graph diff`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use popef_cli::end::{NO, unwritten, wrong};
use popef_cli::format::NETWORK;
use popef_cli::tool::Tool;
use popef_ops::{Code, Error};
use popef_show::graph::{GraphDiffReport, GraphFormat};
use popef_show::{ReportFormat, ReportOptions};
use poplar_graph::{IrDiff, IrDump};

use super::{form, read};
use crate::common::json_file::unread;
use crate::common::values::path;

/// Compare two IR dumps of PopART
///
/// Graphs and tensors are paired by name, ops by all that is known of them. The order of graphs does not count, and that of ops only
/// with --scheduled. A damaged dump is not compared.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  popef graph diff before.json after.json
  popef graph diff before.json after.json --format json | jq '.ops'")]
pub(super) struct Args {
    /// The first dump; `-` is standard input
    #[arg(value_name = "A", value_parser = path())]
    a: PathBuf,
    /// The second dump; `-` is standard input
    #[arg(value_name = "B", value_parser = path())]
    b: PathBuf,
    /// The ops of both are in the order in which they run: the order counts
    #[arg(long, help_heading = "Comparison")]
    scheduled: bool,
    /// Show at most N graphs, and of each at most N ops and N tensors
    #[arg(long, value_name = "N", value_parser = popef_cli::values::top, default_value_t = 20, help_heading = "Output")]
    top: usize,
    /// Format of the report: text; json, one document; ndjson, lines of JSON
    // The same as that of `popef graph`, which clap also takes for this one: with other words, and without pictures.
    #[arg(
        long,
        value_name = "FORMAT",
        value_parser = form([GraphFormat::Text, GraphFormat::Json, GraphFormat::Ndjson]),
        default_value = "text",
        hide_default_value = true,
        hide_possible_values = true,
        help_heading = "Output"
    )]
    format: GraphFormat,
}

impl Args {
    pub(super) fn run(&self, tool: &Tool) -> Result<ExitCode, Error> {
        if [&self.a, &self.b].iter().all(|path| path.as_os_str() == "-") {
            return Err(wrong("standard input (-) can be read only once"));
        }
        let (before, after) = (self.whole(&self.a)?, self.whole(&self.b)?);
        let diff = IrDiff::new(&before.ir, &after.ir);
        let report = GraphDiffReport::new((&self.a, &before), (&self.b, &after), &diff);
        let mut out = tool.out();
        report.write(&mut out, &self.options()?).and_then(|()| out.send()).map_err(unwritten)?;
        Ok(if diff.is_same() { ExitCode::SUCCESS } else { ExitCode::from(NO) })
    }

    fn options(&self) -> Result<ReportOptions, Error> {
        let format = ReportFormat::named(self.format.as_str());
        let format = format.ok_or_else(|| wrong("popef graph diff has the formats text, json and ndjson"))?;
        Ok(ReportOptions { format, top: self.top, network: NETWORK })
    }

    /// Reads a dump, which must not be damaged, because the rest of it is unknown.
    fn whole(&self, path: &Path) -> Result<IrDump, Error> {
        let dump = read(path, self.scheduled)?;
        match &dump.damage {
            Some(damage) => Err(unread(damage, Code::BadGraphFile, path)),
            None => Ok(dump),
        }
    }
}
