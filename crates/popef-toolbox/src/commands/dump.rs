//! `popef dump`: popef-dump's listings.

use std::process::ExitCode;

use popef_cli::groups::Parts;
use popef_cli::common::Common;
use popef_cli::tool::Tool;
use popef_cli::values::when;
use popef_ops::Error;
use popef_show::When;

use super::Command;
use crate::LAST;
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
    /// When to use colours: auto, always or never; without WHEN, always
    // The same as that of all commands, which clap also takes for this one: with the letter that it has in popef-dump.
    #[arg(
        short,
        long,
        value_name = "WHEN",
        value_parser = when(),
        num_args = 0..=1,
        require_equals = true,
        default_value = "auto",
        default_missing_value = "always",
        hide_default_value = true,
        hide_possible_values = true,
        display_order = LAST,
        help_heading = "Output"
    )]
    color: When,
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
