//! The options and code that `popef ls` and `popef dump` share.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use popef::types::BlobType;
use popef_cli::commands::Listing;
use popef_cli::end::refused;
use popef_cli::filter::{Types, type_named};
use popef_cli::format::Format;
use popef_cli::groups::{Narrow, Parts, Sources};
use popef_cli::tool::Tool;
use popef_cli::values::{named, path};
use popef_ops::{Code, Error};
use popef_show::ListFormat;

/// Files to list, how much of them, and how.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Files to read; `-` is standard input
    #[arg(value_name = "FILE", value_parser = path(), required_unless_present = "files_from", help_heading = None::<&'static str>)]
    files: Vec<PathBuf>,
    #[command(flatten, next_help_heading = "Selection and order")]
    types: Types,
    #[command(flatten)]
    narrow: Narrow,
    #[command(flatten, next_help_heading = "Selection and order")]
    sources: Sources,
    /// Format of the report
    ///
    /// text: for people; json: one document; ndjson: one line per blob.
    #[arg(
        long,
        value_name = "FORMAT",
        value_parser = named(ListFormat::ALL.iter().copied(), |format| format.as_str()),
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
    pub(crate) fn format(&self) -> Option<Format> {
        Format::named(self.format.as_str())
    }

    pub(crate) fn run(&self, tool: &Tool, parts: &Parts, full_names: bool) -> Result<ExitCode, Error> {
        if let Some(wrong) = self.contradiction().or_else(|| self.type_meant(parts)) {
            return Err(Error::new(Code::WrongArguments, wrong));
        }
        let ListArgs { files, types: Types { types }, narrow, sources, format, verbose } = self;
        let (format, verbose) = (*format, *verbose);
        let listing = Listing { files, sources, parts, types, narrow, format, full_names, verbose };
        listing.run(tool.program(), &mut tool.out_while_read()).map_err(refused)
    }

    /// The error if an option would have no effect.
    fn contradiction(&self) -> Option<String> {
        let has_values = self.types.take(BlobType::DataTensor) || self.types.take(BlobType::DataFeed);
        (self.narrow.values.is_some() && !has_values)
            .then(|| "--values shows elements of tensors and feeds: it needs --type tensor or feed".to_owned())
    }

    /// Advice if a missing file has the name of a type: the option -t of popef-dump takes no value.
    fn type_meant(&self, parts: &Parts) -> Option<String> {
        let name = self.files.first().filter(|_| parts.tensors)?.to_str()?;
        (type_named(name).is_some() && !Path::new(name).exists())
            .then(|| format!("there is no file {name}; did you mean --type {name}?"))
    }
}
