//! `popef decompress`.

use std::process::ExitCode;

use popef_ops::Error;

use super::Command;
use crate::common::filter::Filter;
use crate::common::format::FormatArgs;
use crate::common::input::Inputs;
use crate::common::output::EachArgs;
use crate::common::repack::Repack;
use crate::common::tool::Tool;

/// Decompress the executables in files
///
/// zlib, gzip, zstd and LZ4 are known. Everything else in a file stays as it is. Before a new file appears, its executables are
/// compared with the unpacked old ones.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
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
        let repack = Repack {
            packing: None,
            again: false,
            threads: 0,
            inputs: &self.inputs,
            filter: &self.filter,
            output: &self.output,
            format: self.format.format,
        };
        repack.run(tool)
    }
}
