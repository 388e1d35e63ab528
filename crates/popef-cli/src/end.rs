//! Exit statuses.

use std::fmt::Display;
use std::io::{self, ErrorKind};
use std::process::ExitCode;

use popef_ops::{Code, Error};

use crate::program::Refusal;
use crate::tool::Tool;

pub use crate::signals::stopped;

/// "No" as an answer: two files differ, a file is not as it should be.
pub const NO: u8 = 1;
/// Something could not be done.
pub const FAILED: u8 = 2;

/// The exit status of a command. Says why it failed, and what to do, in a line each.
pub fn ended(tool: &Tool, result: Result<ExitCode, Error>) -> ExitCode {
    match result {
        Ok(status) => status,
        Err(error) if error.is_stop() => {
            tool.say(&left(&error).unwrap_or_else(|| "stopped; no file was left half done".to_owned()));
            tool.tell_programs(&error);
            ExitCode::from(stopped())
        }
        // A reader that closes the pipe early, such as head, is not an error. Only data stops then: reports go on without a reader.
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            tool.complain(&error);
            tool.tell_programs(&error);
            ExitCode::from(FAILED)
        }
    }
}

/// The message if work on another machine was stopped and could not be undone.
#[cfg(feature = "remote")]
fn left(error: &Error) -> Option<String> {
    let parts = popef_remote::RemoteError::of(error)?.left()?;
    Some(format!("stopped, but {parts}"))
}

#[cfg(not(feature = "remote"))]
fn left(_: &Error) -> Option<String> {
    None
}

/// The error for a refusal of popef-dump.
pub fn refused(refusal: Refusal) -> Error {
    match refusal {
        Refusal::Options(problem) => Error::new(Code::WrongArguments, problem),
        Refusal::Unread { doing, path, source } => Error::io(doing, source).in_file(path),
        Refusal::List { path, problem } => Error::new(Code::WrongArguments, problem).in_file(path),
        Refusal::Policy { path, problem } => Error::new(Code::BadPolicy, problem).in_file(path),
    }
}

/// An error of writing to standard output.
pub fn unwritten(error: io::Error) -> Error {
    Error::io("write the output", error)
}

fn is_closed_pipe(error: &Error) -> bool {
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        if cause.downcast_ref::<io::Error>().is_some_and(|cause| cause.kind() == ErrorKind::BrokenPipe) {
            return true;
        }
        source = cause.source();
    }
    false
}

/// An error about arguments.
pub fn wrong(error: impl Display) -> Error {
    Error::new(Code::WrongArguments, error.to_string())
}
