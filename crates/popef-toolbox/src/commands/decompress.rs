//! `popef decompress`.

use std::process::ExitCode;

use popef_cli::filter::Filter;
use popef_cli::format::FormatArgs;
use popef_cli::input::Inputs;
use popef_cli::output::EachArgs;
use popef_cli::common::Common;
use popef_cli::tool::Tool;
use popef_ops::Error;

use super::Command;
use crate::common::compression::{To, Work};

/// Decompress the executables in files
///
/// zlib, gzip, zstd and LZ4 are known. Everything else in a file stays as it is. The new file is read back and compared with
/// the unpacked old executables before it appears.
#[derive(Debug, clap::Args)]
#[command(override_usage = "popef decompress [OPTIONS] -o <NEW> <FILE>\n       popef decompress [OPTIONS] --output-dir <DIR> <FILE>...\n       popef decompress [OPTIONS] --in-place <FILE>...", after_help = "\
Examples:
  popef decompress small.popef -o model.popef
  popef decompress --in-place cache/*.popef
  popef decompress --filter resnet small.popef -o - | popef ls -")]
pub(crate) struct Args {
    #[command(flatten)]
    inputs: Inputs,
    #[command(flatten)]
    filter: Filter,
    #[command(flatten)]
    output: EachArgs,
    #[command(flatten)]
    format: FormatArgs,
}

impl Command for Args {
    fn run(&self, tool: &Tool) -> Result<ExitCode, Error> {
        let work = Work {
            to: To::Plain,
            inputs: &self.inputs,
            filter: &self.filter,
            output: &self.output,
            format: self.format.format,
        };
        work.run(tool)
    }

    fn common(&self) -> Common<'_> {
        self.output.common().format(self.format.format)
    }
}
