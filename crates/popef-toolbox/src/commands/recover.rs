//! `popef recover`: keeps the whole blobs of a damaged file.

use std::path::PathBuf;
use std::process::ExitCode;

use popef::File;
use popef_cli::end::unwritten;
use popef_cli::filter::Filter;
use popef_cli::format::FormatArgs;
use popef_cli::input::open_damaged;
use popef_cli::output::ChangeArgs;
use popef_cli::common::Common;
use popef_cli::tool::Tool;
use popef_cli::values::path;
use popef_ops::{Error, FilePath, Target};
use popef_ops::recover::{RecoverOptions, Recovered, recover};
use popef_show::operations::write_recovered;
use serde::Serialize;

use super::Command;

/// Keep the whole blobs of a damaged file, in a new file
///
/// These are the blobs before the damage, and those after a blob whose header still says where the next one begins. No other place
/// is searched: bytes that look like a blob may be data. The report says which bytes are lost. The data of blobs is copied, and
/// not checked: `popef check --deep` does that. A file that is not damaged is copied as it is.
#[derive(Debug, clap::Args)]
#[command(override_usage = "popef recover [OPTIONS] -o <NEW> <FILE>\n       popef recover [OPTIONS] --in-place <FILE>", after_help = "\
Examples:
  popef recover --dry-run broken.popef      what would be kept and lost
  popef recover broken.popef -o whole.popef
  popef recover broken.popef --type tensor -o weights.popef
  popef recover --in-place broken.popef")]
pub(crate) struct Args {
    /// File to read; `-` is standard input
    #[arg(value_name = "FILE", value_parser = path())]
    file: PathBuf,
    #[command(flatten)]
    filter: Filter,
    #[command(flatten)]
    output: ChangeArgs,
    #[command(flatten)]
    format: FormatArgs,
}

impl Command for Args {
    fn run(&self, tool: &Tool) -> Result<ExitCode, Error> {
        let file = open_damaged(tool, &self.file)?;
        let report = self.recover(tool, &file).map_err(|error| error.in_file(&self.file))?;
        let report = Document { path: self.file.as_os_str().as_encoded_bytes().into(), report };
        let mut out = tool.report();
        let dry_run = self.output.dry_run;
        let text = |out: &mut _, of: &Document| write_recovered(out, &self.file, &of.report, dry_run);
        self.format.report(&mut out, &report, text).map_err(unwritten)?;
        Ok(ExitCode::SUCCESS)
    }

    fn common(&self) -> Common<'_> {
        Common::of(self.output.place()).format(self.format.format)
    }
}

/// The report as JSON.
#[derive(Serialize)]
struct Document {
    #[serde(flatten)]
    path: FilePath,
    #[serde(flatten)]
    report: Recovered,
}

impl Args {
    fn recover(&self, tool: &Tool, file: &File) -> Result<Recovered, Error> {
        self.check_filter(file)?;
        // A whole file stays as it is.
        let stays = self.output.is_in_place() && file.damage().is_none() && self.filter.is_everything();
        let target = self.output.target(&self.file)?;
        let target = if stays { Target::Nowhere } else { target };
        let options = RecoverOptions { select: &|blob| self.filter.takes(blob) };
        recover(file, target, &options, &tool.progress("copying"))
    }

    /// For a damaged file, it is not yet known which blobs are whole.
    fn check_filter(&self, file: &File) -> Result<(), Error> {
        if file.damage().is_some() { Ok(()) } else { self.filter.check([file], &[&self.file]) }
    }
}
