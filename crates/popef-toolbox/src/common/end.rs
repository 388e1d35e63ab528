//! Signals and exit statuses.

use std::io::{self, ErrorKind};
use std::process::ExitCode;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use popef_ops::Error;

use super::tool::Tool;

/// "No" as an answer: two files differ, a file is not as it should be.
pub(crate) const NO: u8 = 1;
/// Something could not be done.
pub(crate) const FAILED: u8 = 2;
/// Stopped by a signal, as shells say it of Ctrl-C.
pub(crate) const STOPPED: u8 = 130;

static SIGNALLED: AtomicBool = AtomicBool::new(false);

/// From now on, Ctrl-C and SIGTERM stop the work. A second one ends the program at once. Until then, they end it as they end
/// any program: a command that only reads leaves nothing behind.
pub(crate) fn hear_signals() -> Result<(), ctrlc::Error> {
    static HEARD: Once = Once::new();
    let mut result = Ok(());
    HEARD.call_once(|| {
        result = ctrlc::set_handler(|| {
            if SIGNALLED.swap(true, Ordering::Relaxed) {
                std::process::exit(i32::from(STOPPED));
            }
        });
    });
    result
}

/// Whether the work is to be stopped.
pub(crate) fn is_stopped() -> bool {
    SIGNALLED.load(Ordering::Relaxed)
}

/// The exit status of a command. Says why it failed, and what to do, in a line each.
pub(crate) fn ended(tool: &Tool, result: Result<ExitCode, Error>) -> ExitCode {
    match result {
        Ok(status) => status,
        Err(error) if error.is_stop() => {
            tool.say("stopped; nothing was changed");
            ExitCode::from(STOPPED)
        }
        // A reader that closes the pipe early, such as head, is no error.
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            tool.complain(&error);
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
