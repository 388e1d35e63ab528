//! `popef merge`.

use std::process::ExitCode;

use popef_ops::{Error, Output, Progress as _};

use super::Command;
use crate::common::filter::Filter;
use crate::common::input::Inputs;
use crate::common::output::OutputArgs;
use crate::common::tool::Tool;

/// Make one file of several
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    inputs: Inputs,
    #[command(flatten)]
    filter: Filter,
    #[command(flatten)]
    output: OutputArgs,
}

impl Command for Args {
    fn run(&self, tool: &Tool) -> Result<ExitCode, Error> {
        let files = self.inputs.open()?;
        let watch = tool.progress("merging");
        let mut output = Output::begin(self.output.target(), &files, &watch)?;
        for file in &files {
            watch.expect(file.size());
            output.copy_all(file.blobs().filter(|blob| self.filter.takes(blob)))?;
        }
        output.finish()?;
        Ok(ExitCode::SUCCESS)
    }
}
