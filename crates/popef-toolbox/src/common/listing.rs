//! What `popef ls` and `popef dump` share.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use popef_dump_tool::Listing;
use popef_dump_tool::groups::{Narrow, Parts, Sources};
use popef_ops::Error;
use popef_show::ListFormat;

use super::end::refused;
use super::tool::Tool;
use super::values::{named, path};

/// Files to list, how much of them, and how.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Files to read; `-` is standard input
    #[arg(value_name = "FILE", value_parser = path(), required_unless_present = "files_from", help_heading = None::<&'static str>)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    narrow: Narrow,
    #[command(flatten, next_help_heading = "Selection and order")]
    sources: Sources,
    /// Output format
    ///
    /// text: for people; json: one document; ndjson: one line per blob.
    #[arg(
        long,
        value_name = "FORMAT",
        value_parser = named(ListFormat::ALL, |format| format.name()),
        default_value = "text",
        hide_default_value = true,
        help_heading = "Output"
    )]
    format: ListFormat,
    /// Log what is read, and show more of executables and opaque blobs
    ///
    /// The log goes to stderr. Executables are shown with their Poplar headers, by `popef dump` also with their tiles, and
    /// opaque blobs with what a framework wrote into them.
    #[arg(short, long, help_heading = "Output")]
    verbose: bool,
}

impl ListArgs {
    pub(crate) fn run(&self, tool: &Tool, parts: &Parts, full_names: bool) -> Result<ExitCode, Error> {
        let ListArgs { files, narrow, sources, format, verbose } = self;
        let (format, verbose) = (*format, *verbose);
        let listing = Listing { files, sources, parts, narrow, format, full_names, verbose };
        listing.run(tool.program(), &mut tool.out()).map_err(refused)
    }
}
