//! `popef compress`.

use std::process::ExitCode;

use popef::write::Packing;
use popef_cli::filter::Filter;
use popef_cli::format::FormatArgs;
use popef_cli::input::Inputs;
use popef_cli::output::EachArgs;
use popef_cli::common::Common;
use popef_cli::tool::Tool;
use popef_ops::Error;

use super::Command;
use crate::common::compression::{To, Work};

/// Compress the executables in files
///
/// Everything else in a file stays as it is. The new file is read back, unpacked and compared with the old executables before
/// it appears. Executables that are compressed already, or would not become smaller, stay as they are.
///
/// It is not known which formats the vendor's library can read. zlib is the most likely one. popef decompress undoes it.
#[derive(Debug, clap::Args)]
#[command(override_usage = "popef compress [OPTIONS] -o <NEW> <FILE>\n       popef compress [OPTIONS] --output-dir <DIR> <FILE>...\n       popef compress [OPTIONS] --in-place <FILE>...", after_help = "\
Examples:
  popef compress model.popef -o small.popef
  popef compress --in-place cache/*.popef
  popef compress --compression zlib:9 --output-dir small *.popef
  popef compress --dry-run model.popef
  popef compress model.popef -o - | ssh host 'cat > model.popef'")]
pub(crate) struct Args {
    #[command(flatten)]
    inputs: Inputs,
    /// Format and level: zlib or gzip, with or without :0 to :9; the default is zlib:6
    #[arg(long, value_name = "FORMAT[:LEVEL]", value_parser = str::parse::<Packing>, default_value_t, hide_default_value = true)]
    compression: Packing,
    /// Also compress executables again that are already compressed
    #[arg(long)]
    recompress: bool,
    /// Compress on N processors, at most 8; 0 is all of them
    #[arg(long, value_name = "N", value_parser = popef_cli::values::number::<usize>, default_value_t = 0, hide_default_value = true)]
    threads: usize,
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
            to: To::Compressed { packing: self.compression, again: self.recompress, threads: self.threads },
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
