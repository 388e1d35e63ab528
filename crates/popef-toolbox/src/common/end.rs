//! Signals and exit statuses.

use std::io::{self, ErrorKind};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Once};

use popef_dump_tool::Refusal;
use popef_ops::{Code, Error};
use signal_hook::consts::signal::{SIGINT, SIGTERM};
use signal_hook::flag::{register, register_conditional_shutdown};

use super::tool::Tool;

/// "No" as an answer: two files differ, a file is not as it should be.
pub(crate) const NO: u8 = 1;
/// Something could not be done.
pub(crate) const FAILED: u8 = 2;
/// Stopped by a signal, as shells say it of Ctrl-C.
pub(crate) const STOPPED: u8 = 130;

static SIGNALLED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// From now on, Ctrl-C and SIGTERM stop the work, and so does the end of a terminal. A second signal ends the program at once.
/// Until then, they end it as they end any program: a command that only reads leaves nothing behind.
pub(crate) fn hear_signals() -> io::Result<()> {
    static HEARD: Once = Once::new();
    let mut result = Ok(());
    HEARD.call_once(|| result = signals().into_iter().try_for_each(hear).and_then(|()| survive_limits()));
    result
}

/// A write beyond the limit of a file's size fails from now on, like one to a full disk. It would end the program, and leave its
/// temporary file.
#[cfg(unix)]
fn survive_limits() -> io::Result<()> {
    register(signal_hook::consts::signal::SIGXFSZ, Arc::default()).map(drop)
}

#[cfg(not(unix))]
fn survive_limits() -> io::Result<()> {
    Ok(())
}

fn hear(signal: i32) -> io::Result<()> {
    // In this order, so that the first signal only sets the flag.
    register_conditional_shutdown(signal, i32::from(STOPPED), SIGNALLED.clone())?;
    register(signal, SIGNALLED.clone())?;
    Ok(())
}

/// The signals to hear. Those that are ignored stay so: `nohup` means that the work goes on without the terminal.
#[cfg(unix)]
fn signals() -> Vec<i32> {
    let ignored = ignored_signals().unwrap_or_default();
    let is_heard = |signal: &i32| ignored >> signal.saturating_sub(1) & 1 == 0;
    [SIGINT, SIGTERM, signal_hook::consts::signal::SIGHUP].into_iter().filter(is_heard).collect()
}

#[cfg(not(unix))]
fn signals() -> Vec<i32> {
    vec![SIGINT, SIGTERM]
}

/// The signals that the program was started to ignore, a bit each. Known only on Linux.
#[cfg(unix)]
fn ignored_signals() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    u64::from_str_radix(mask.trim(), 16).ok()
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
            tool.say("stopped; no file was left half done");
            tool.tell_programs(&error);
            ExitCode::from(STOPPED)
        }
        // A reader that closes the pipe early, such as head, is no error.
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            tool.complain(&error);
            tool.tell_programs(&error);
            ExitCode::from(FAILED)
        }
    }
}

/// The error of what popef-dump refuses to do.
pub(crate) fn refused(refusal: Refusal) -> Error {
    match refusal {
        Refusal::Options(problem) => Error::new(Code::WrongArguments, problem),
        Refusal::Unread { doing, path, source } => Error::io(doing, source).in_file(path),
        Refusal::Policy { path, problem } => Error::new(Code::BadPolicy, problem).in_file(path),
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
