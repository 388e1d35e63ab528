//! `popef ls`: popef-dump's overview.

use std::process::ExitCode;

use popef_cli::groups::Parts;
use popef_cli::common::Common;
use popef_cli::tool::Tool;
use popef_ops::Error;

use super::Command;
use crate::common::listing::ListArgs;

/// List what is in files, one line per blob
#[derive(Debug, clap::Args)]
#[command(override_usage = "popef ls [OPTIONS] <FILE>...", after_help = "\
Examples:
  popef ls model.popef
  popef ls --sort size model.popef weights.popef
  popef ls --filter '*bias' --values=4 model.popef
  popef ls --format json model.popef | jq '.files[].blobs[].info.name'
  find models -name '*.popef' -print0 | popef ls --files-from -
  ssh host cat model.popef | popef ls -")]
pub(crate) struct Args {
    #[command(flatten)]
    list: ListArgs,
    /// Do not shorten names to fit the terminal
    #[arg(long, help_heading = "Output")]
    full_names: bool,
}

impl Command for Args {
    fn run(&self, tool: &Tool) -> Result<ExitCode, Error> {
        self.list.run(tool, &Parts::default(), self.full_names)
    }

    fn common(&self) -> Common<'_> {
        Common::NONE.format(self.list.format()).lists()
    }
}
