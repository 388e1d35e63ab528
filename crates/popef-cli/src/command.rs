//! The questions that a tool asks a command.

use std::process::ExitCode;

use popef_ops::Error;

use crate::common::Common;
use crate::tool::Tool;

/// A command: its arguments, and what it does.
pub trait Command {
    /// Runs it, and returns the exit status: 0 for success, 1 for "no" as an answer, such as "they differ".
    fn run(&self, tool: &Tool) -> Result<ExitCode, Error>;

    /// Those of its options that the tool must know. There is no default, so that every command answers.
    fn common(&self) -> Common<'_>;
}
