//! `popef diff`.

use std::path::PathBuf;
use std::process::ExitCode;

use popef::{Blob, File};
use popef_cli::end::{FAILED, NO, unwritten};
use popef_cli::filter::Filter;
use popef_cli::format::{FormatArgs, NETWORK};
use popef_cli::input::open_whole;
use popef_cli::common::Common;
use popef_cli::tool::Tool;
use popef_open::begin;
use popef_ops::diff::{BlobDiff, DiffOptions, DiffSummary, Tolerance, Verdict, diff};
use popef_ops::{Code, Error};
use popef_show::operations::{DiffExtent, DiffRenderer};

use super::Command;
use crate::common::values::{path, tolerance};

const AFTER: &str = "Examples:
  popef diff cached.popef fresh.popef
  popef diff --rtol 1e-3 --type tensor before.popef after.popef
  popef diff -q a.popef b.popef && echo same";

/// Compare two files by meaning
///
/// Blobs are paired by type and name; several of one name by their order. Metadata is compared field by field, tensors and
/// feeds by value, executables by their unpacked bytes, other blobs by their bytes. Order, versions, compression, and
/// bytes after tensors do not count, except with --exact.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Args {
    /// The first file; `-` is standard input
    #[arg(value_name = "A", value_parser = path())]
    a: PathBuf,
    /// The second file; `-` is standard input
    #[arg(value_name = "B", value_parser = path())]
    b: PathBuf,
    #[command(flatten)]
    filter: Filter,
    /// Elements are the same if |a - b| <= ATOL + RTOL * |b|
    #[arg(long, value_name = "ATOL", default_value = "0", hide_default_value = true, allow_negative_numbers = true, value_parser = tolerance, help_heading = "Comparison")]
    atol: f64,
    /// See --atol
    #[arg(long, value_name = "RTOL", default_value = "0", hide_default_value = true, allow_negative_numbers = true, value_parser = tolerance, help_heading = "Comparison")]
    rtol: f64,
    /// Any NaN is the same as any other, and not only as one with the same bits
    #[arg(long, help_heading = "Comparison")]
    equal_nan: bool,
    /// Also compare order, versions, compression and every byte: the same then means the same bytes
    #[arg(long, help_heading = "Comparison")]
    exact: bool,
    /// Print nothing; stop at the first difference
    #[arg(short, long, help_heading = "Output")]
    quiet: bool,
    /// Print one line for each blob that differs
    #[arg(long, help_heading = "Output")]
    brief: bool,
    /// Print all differences, however many there are
    #[arg(long, help_heading = "Output")]
    all: bool,
    #[command(flatten)]
    format: FormatArgs,
}

impl Command for Args {
    fn run(&self, tool: &Tool) -> Result<ExitCode, Error> {
        if [&self.a, &self.b].iter().all(|path| path.as_os_str() == "-") {
            return Err(Error::new(Code::WrongArguments, "standard input (-) can be read only once"));
        }
        begin(&[self.a.clone(), self.b.clone()]);
        let (a, b) = (open_whole(tool, &self.a)?, open_whole(tool, &self.b)?);
        Ok(ExitCode::from(status(&self.compare(tool, &a, &b)?)))
    }

    fn common(&self) -> Common<'_> {
        Common::NONE.format(self.format.format)
    }
}

/// The exit status.
fn status(summary: &DiffSummary) -> u8 {
    match summary.verdict {
        Verdict::Same => 0,
        Verdict::Different => NO,
        _ => FAILED,
    }
}

impl Args {
    /// Compares the files, and writes the report.
    fn compare(&self, tool: &Tool, a: &File, b: &File) -> Result<DiffSummary, Error> {
        self.filter.check([a, b], &[&self.a, &self.b])?;
        let watch = tool.progress("comparing");
        let tolerance = Tolerance { atol: self.atol, rtol: self.rtol, equal_nan: self.equal_nan };
        let select = |blob: &Blob<'_>| self.filter.takes(blob);
        let options = DiffOptions { tolerance, exact: self.exact, stop_early: self.quiet, select: &select };
        let run = |each: &mut dyn FnMut(BlobDiff) -> Result<(), Error>| diff(a, b, &options, &watch, each);
        if self.quiet {
            return run(&mut |_| Ok(()));
        }
        let mut out = tool.out();
        let extent = DiffExtent { brief: self.brief, all: self.all };
        let (of_a, of_b) = ((&*self.a, a), (&*self.b, b));
        let mut renderer =
            DiffRenderer::begin(&mut out, of_a, of_b, self.format.format, extent, NETWORK).map_err(unwritten)?;
        let summary = run(&mut |blob| renderer.blob(&blob).map_err(unwritten))?;
        renderer.end(&summary).map_err(unwritten)?;
        drop(watch);
        out.send().map_err(unwritten)?;
        Ok(summary)
    }
}
