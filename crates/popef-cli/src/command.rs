//! The questions that a tool asks a command.

use std::process::ExitCode;

use popef_ops::Error;

use crate::common::Common;
use crate::tool::Tool;

/// A command: its arguments, and what it does.
pub trait Command {
    /// Runs it, and returns the exit status: 0 for success, 1 for "no" as an answer, such as "they differ".
    fn run(&self, tool: &Tool) -> Result<ExitCode, Error>;

    /// The options that the tool must know about. It has no default, so every command must answer.
    fn common(&self) -> Common<'_>;
}
