//! What a tool asks a command.

use std::process::ExitCode;

use popef_ops::Error;

use crate::common::Common;
use crate::tool::Tool;

/// A command: its arguments, and what it does.
pub trait Command {
    /// Runs it. What is returned is the exit status: 0 for success, 1 for "no" as an answer, such as "they differ".
    fn run(&self, tool: &Tool) -> Result<ExitCode, Error>;

    /// What the tool must know of its options. Each command must answer, so this has no default.
    fn common(&self) -> Common<'_>;
}
