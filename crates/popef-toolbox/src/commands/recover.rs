//! `popef recover`: what is whole of a damaged file.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use popef::File;
use popef::error::Location;
use popef_ops::{Error, FilePath, Target};
use popef_ops::recover::{Damage, Recovered, recover};
use popef_show::{Kind, Out, counted, escape_rest, size};
use serde::Serialize;

use super::Command;
use crate::common::end::unwritten;
use crate::common::format::FormatArgs;
use crate::common::input::open_damaged;
use crate::common::output::ChangeArgs;
use crate::common::tool::Tool;
use crate::common::values::path;

/// Keep what is whole of a damaged file, in a new file
///
/// These are the blobs before the damage. Blobs after it are not searched for: nothing says where they begin. The data of blobs is
/// copied, and not checked: `popef check --deep` does that. A file that is not damaged is copied as it is.
#[derive(Debug, clap::Args)]
#[command(override_usage = "popef recover [OPTIONS] -o <NEW> <FILE>\n       popef recover [OPTIONS] --in-place <FILE>", after_help = "\
Examples:
  popef recover --dry-run broken.popef      what would be kept and lost
  popef recover broken.popef -o whole.popef
  popef recover --in-place broken.popef")]
pub(crate) struct Args {
    /// File to read; `-` is standard input
    #[arg(value_name = "FILE", value_parser = path())]
    file: PathBuf,
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
        let mut out = tool.report(self.output.is_stdout());
        self.format.report(&mut out, &report, |out, report| self.show(&report.report, out)).map_err(unwritten)?;
        Ok(ExitCode::SUCCESS)
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
        // A whole file stays as it is.
        let stays = self.output.is_in_place() && file.damage().is_none();
        let target = if stays { Target::Nowhere } else { self.output.target(file.path())? };
        recover(file, target, &tool.progress("copying"))
    }

    fn show(&self, report: &Recovered, out: &mut Out) -> io::Result<()> {
        let Recovered { kept_blobs, kept_bytes, lost_bytes, damage, .. } = report;
        let kept = format!("{}, {}", counted(*kept_blobs, "blob", "blobs"), size(*kept_bytes));
        out.text(Kind::Name, &self.file.to_string_lossy().into_owned().into()).put(": ");
        let Some(Damage { blob, offset, code, message, .. }) = damage else {
            return out.put(&format!("the file is whole: {kept}")).end_line();
        };
        let place = Location { blob: *blob, offset: *offset };
        out.put_as(Kind::Error, "damaged").put(&format!(" at {place}{} [{code}]", escape_rest(message))).end_line()?;
        let would_be = if self.output.dry_run { "would be " } else { "" };
        out.put(&format!("{would_be}kept: {kept}")).end_line()?;
        let lost = size(*lost_bytes);
        out.put(&format!("{would_be}lost: {lost} from byte {kept_bytes} on, which were not searched for blobs")).end_line()
    }
}
