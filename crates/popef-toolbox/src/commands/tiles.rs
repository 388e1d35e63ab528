//! `popef tiles`.

mod map;
mod model;
mod picture;
mod plan;
mod vars;
mod words;

use std::process::ExitCode;

use clap::Subcommand;
use popef_ops::Error;

use super::Command;
use crate::common::format::FormatArgs;
use crate::common::tool::Tool;

/// Show how tensors lie on the tiles of IPUs
///
/// Nothing here needs the SDK or a device: mappings are calculated as Graphcore's library poplibs does it, or read from files.
#[derive(Debug, clap::Args)]
#[command(
    arg_required_else_help = true,
    disable_help_subcommand = true,
    mut_arg("format", |format| format.global(true)),
    after_help = "\
Examples:
  popef tiles plan 784x10 F16                          # how Poplar spreads a tensor by default
  popef tiles model model.popef                        # an estimate for all tensors of a model
  popef tiles map model.tensor_map.json                # how TensorFlow spread its tensors
  popef tiles vars vars.json                           # the memory of each tile
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
    Map(map::Args),
    Vars(vars::Args),
    Model(model::Args),
}

impl Command for Args {
    fn run(&self, tool: &Tool) -> Result<ExitCode, Error> {
        match &self.what {
            What::Plan(args) => args.run(tool, &self.format),
            What::Map(args) => args.run(tool, &self.format),
            What::Vars(args) => args.run(tool, &self.format),
            What::Model(args) => args.run(tool, &self.format),
        }
    }
}
