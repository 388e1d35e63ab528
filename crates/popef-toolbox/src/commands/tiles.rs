//! `popef tiles`.

mod picture;
mod plan;
mod words;

use std::process::ExitCode;

use clap::Subcommand;
use popef_ops::Error;

use super::Command;
use crate::common::format::FormatArgs;
use crate::common::tool::Tool;

/// Show how tensors lie on the tiles of IPUs
///
/// The functions are those of Graphcore's library poplibs, calculated without its SDK or a device.
#[derive(Debug, clap::Args)]
#[command(
    arg_required_else_help = true,
    disable_help_subcommand = true,
    mut_arg("format", |format| format.global(true)),
    after_help = "\
Examples:
  popef tiles plan 784x10 F16                          # how Poplar spreads a tensor by default
  popef tiles plan 1024x1024 F32 --ipus 4 --format json | jq '.mapping[0]'
  popef tiles plan --help"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
    #[command(flatten)]
    format: FormatArgs,
}

#[derive(Debug, Subcommand)]
enum What {
    Plan(plan::Args),
}

impl Command for Args {
    fn run(&self, tool: &Tool) -> Result<ExitCode, Error> {
        match &self.what {
            What::Plan(args) => args.run(tool, &self.format),
        }
    }
}
