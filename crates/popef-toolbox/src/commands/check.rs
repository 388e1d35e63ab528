//! `popef check`: popef-dump's `--validate`.

use std::path::PathBuf;
use std::process::ExitCode;

use popef_dump_tool::Checking;
use popef_dump_tool::groups::{Checks, Sources};
use popef_ops::Error;
use popef_show::FindingsFormat;

use super::Command;
use crate::common::end::refused;
use crate::common::input::open_to_check;
use crate::common::tool::Tool;
use crate::common::values::{named, path};

/// Check what would fail when a model is loaded
#[derive(Debug, clap::Args)]
#[command(override_usage = "popef check [OPTIONS] <FILE>...", after_help = "\
Examples:
  popef check model.popef weights.popef     two files of one model
  popef check --each -q *.popef             independent models; only what was found
  popef check --deep --for triton model.popef
  popef check --policy team.toml --strict model.popef
  popef check --format sarif model.popef > findings.sarif
  popef explain PE101                       what a finding means

Exit status:
  0  Nothing worse than a warning was found; with --strict, nothing worse than a note.
  1  Something worse was found, such as damage.
  2  Something could not be checked, such as a missing file.")]
pub(crate) struct Args {
    /// Files to read; `-` is standard input
    #[arg(value_name = "FILE", value_parser = path(), required_unless_present_any = ["files_from", "allow_empty"])]
    files: Vec<PathBuf>,
    #[command(flatten)]
    checks: Checks,
    #[command(flatten, next_help_heading = "Selection")]
    sources: Sources,
    /// Output format
    ///
    /// text: for people; json: one document; ndjson: one line per finding; sarif: for code scanners; github: annotations in
    /// GitHub Actions; junit: JUnit XML, for CI systems.
    #[arg(
        long,
        value_name = "FORMAT",
        value_parser = named(FindingsFormat::ALL, |format| format.name()),
        default_value = "text",
        hide_default_value = true,
        help_heading = "Output"
    )]
    format: FindingsFormat,
    /// Print only findings, and what could not be checked
    ///
    /// If nothing was found, print nothing. For --format text and github.
    #[arg(short, long, help_heading = "Output")]
    quiet: bool,
    /// Log what is read, and show what findings mean
    ///
    /// The log goes to stderr.
    #[arg(short, long, help_heading = "Output")]
    verbose: bool,
}

impl Command for Args {
    fn run(&self, tool: &Tool) -> Result<ExitCode, Error> {
        let Args { files, checks, sources, format, quiet, verbose } = self;
        let (format, quiet, verbose) = (*format, *quiet, *verbose);
        let checking = Checking { files, sources, checks, format, quiet, verbose, open: open_to_check };
        checking.run(tool.program(), &mut tool.out()).map_err(refused)
    }
}
