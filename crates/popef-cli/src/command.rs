//! What a tool asks a command.

use std::process::ExitCode;

use popef_ops::Error;

use crate::format::Format;
use crate::plain::Place;
use crate::tool::Tool;

/// A command: its arguments, and what it does.
///
/// The tool asks here for options that many commands have. If it looked for them by their names, renaming a field would turn off what
/// protects a user, and nobody would notice.
pub trait Command {
    /// Runs it. What is returned is the exit status: 0 for success, 1 for "no" as an answer, such as "they differ".
    fn run(&self, tool: &Tool) -> Result<ExitCode, Error>;

    /// The output file, and whether it may replace an old one. There is no default, so that each command must answer.
    fn output(&self) -> Place<'_>;

    /// Whether its file goes to standard output. Then reports cannot go there, and a terminal, which obeys bytes, must not be there.
    fn fills_stdout(&self) -> bool {
        self.output().is_stdout()
    }

    /// The format that was asked for, if it is one of those that reports have.
    fn format(&self) -> Option<Format> {
        None
    }

    /// Whether it takes lists of files.
    fn takes_lists(&self) -> bool {
        false
    }
}
