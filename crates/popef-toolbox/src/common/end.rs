//! Complaints, signals and exit statuses.

use std::io::{self, ErrorKind, Write as _};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use popef_ops::Error;
use popef_show::escape;

use super::tool::Tool;

/// "No" as an answer: two files differ, a file is not as it should be.
pub(crate) const NO: u8 = 1;
/// Something could not be done.
const FAILED: u8 = 2;
/// Stopped by Ctrl-C, as shells say it.
const STOPPED: u8 = 130;

static SIGNALLED: AtomicBool = AtomicBool::new(false);

/// From now on, Ctrl-C and SIGTERM stop the work, so that nothing half done is left. A second one ends the program at once.
pub(crate) fn hear_signals() -> Result<(), ctrlc::Error> {
    ctrlc::set_handler(|| {
        if SIGNALLED.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(STOPPED));
        }
    })
}

/// Whether the work is to be stopped.
pub(crate) fn is_stopped() -> bool {
    SIGNALLED.load(Ordering::Relaxed)
}

/// Writes a line to stderr. It may hold names of files, which are untrusted too.
pub(crate) fn complain(text: &str) {
    // If stderr is closed, nobody can be told.
    let _ = writeln!(io::stderr(), "popef: {}", escape(text));
}

/// The exit status of a command.
pub(crate) fn ended(_tool: &Tool, result: Result<ExitCode, Error>) -> ExitCode {
    match result {
        Ok(status) => status,
        Err(error) if error.is_stop() => {
            complain("stopped; nothing was changed");
            ExitCode::from(STOPPED)
        }
        // A reader that closes the pipe early, such as head, is no error.
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&format!("{error} [{}]", error.code()));
            complain(error.advice());
            ExitCode::from(FAILED)
        }
    }
}

/// An error of writing to standard output.
pub(crate) fn unwritten(error: io::Error) -> Error {
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
