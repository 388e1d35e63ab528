//! `popef dump`: popef-dump's listings.

use std::process::ExitCode;

use popef_cli::groups::Parts;
use popef_cli::common::Common;
use popef_cli::tool::Tool;
use popef_ops::Error;

use super::Command;
use crate::common::listing::ListArgs;

/// Show all that is known of a model, or parts of it
#[derive(Debug, clap::Args)]
#[command(override_usage = "popef dump [OPTIONS] <FILE>...", after_help = "\
Examples:
  popef dump model.popef                    everything
  popef dump -m model.popef                 target, options, program flow
  popef dump -u model.popef weights.popef   the inputs you must feed, the outputs to fetch
  popef dump -t --values model.popef        tensors with their first values and statistics
  popef dump -e -v model.popef              executables with their tiles
  popef dump --format json model.popef > model.json")]
pub(crate) struct Args {
    #[command(flatten, next_help_heading = "What to show (default: everything)")]
    parts: Parts,
    #[command(flatten)]
    list: ListArgs,
}

impl Command for Args {
    fn run(&self, tool: &Tool) -> Result<ExitCode, Error> {
        let mut parts = self.parts.clone();
        parts.all |= parts.selected().is_none();
        self.list.run(tool, &parts, false)
    }

    fn common(&self) -> Common<'_> {
        Common::NONE.format(self.list.format()).lists()
    }
}
