//! What a command gets from the tool.

use std::io::{self, Write as _};
use std::ops::ControlFlow;

use popef::error::ErrorCode;
use popef_dump_tool::Program;
use popef_dump_tool::screen::{colors, progress};
use popef_open::{is_stdin, name_of};
use popef_ops::{Code, Error, ErrorReport, Progress};
use popef_show::{Out, ProgressLine, When, escape_rest};

use super::signals::{hear_signals, is_stopped};
use super::stdout::Stdout;

/// The tool as a command sees it: what the command is called, where its output goes, and how.
#[derive(Debug)]
pub(crate) struct Tool {
    program: Program,
    colors: bool,
    stdout: Stdout,
}

impl Tool {
    /// `command` is what users type: `popef merge`.
    pub(crate) fn new(command: &'static str, when: When, stdout: Stdout) -> Self {
        Tool { program: Program { name: command, explain: "popef explain" }, colors: colors(when), stdout }
    }

    /// The command, for what popef-dump does under this name.
    pub(crate) fn program(&self) -> Program {
        self.program
    }

    /// Standard output. Data and reports go there; words for people about the work go to stderr.
    pub(crate) fn out(&self) -> Out {
        Out::new(self.stdout.writer(), self.colors)
    }

    /// Where a report goes: to stderr if a file goes to standard output.
    pub(crate) fn report(&self, stdout_is_taken: bool) -> Out {
        if stdout_is_taken { Out::new(Box::new(io::stderr()), self.colors) } else { self.out() }
    }

    /// Tells programs in JSON why the call failed, if they expect JSON.
    pub(crate) fn tell_programs(&self, error: &Error) {
        if let Err(unwritten) = self.stdout.tell(error, described(error)) {
            self.say(&format!("cannot write the output: {unwritten}"));
        }
    }

    /// Says why something failed and what to do, in a line each.
    pub(crate) fn complain(&self, error: &Error) {
        let (text, advice) = (words(error), advice(error));
        self.say(&format!("{text} [{}]", error.code()));
        if !has_advice(&text, advice) {
            self.say(advice);
        }
    }

    /// Writes a line for people to stderr, after the name of the command. Names of blobs are quoted in it, and so escaped
    /// already. Those of files are escaped here.
    pub(crate) fn say(&self, text: &str) {
        // If stderr is closed, nobody can be told.
        let _ = writeln!(io::stderr(), "{}: {}", self.program.name, escape_rest(text));
    }

    /// A progress line on stderr, if that is a terminal, which says that `what` is read or written. From now on, Ctrl-C stops
    /// the work instead of the program, so that nothing half done is left.
    pub(crate) fn progress(&self, what: &'static str) -> Watch {
        if let Err(error) = hear_signals() {
            self.say(&format!("cannot listen for Ctrl-C: {error}"));
        }
        Watch(progress(what))
    }
}

/// An error in words, in which standard input is not called `-`.
pub(crate) fn words(error: &Error) -> String {
    let text = error.to_string();
    let of_stdin = text.strip_prefix("-: ").filter(|_| error.path().is_some_and(is_stdin));
    of_stdin.map_or_else(|| text.clone(), |rest| format!("{}: {rest}", name_of("-".as_ref())))
}

/// An error for a report.
pub(crate) fn described(error: &Error) -> ErrorReport {
    let mut report = error.describe();
    report.advice = advice(error).to_owned();
    report
}

/// What to do about an error, with the names of commands and options.
fn advice(error: &Error) -> &'static str {
    match error.code() {
        _ if is_cut(error) => "popef recover keeps the blobs before this one.",
        code if code == Code::FileExists.as_str() => "Choose another path, or allow overwriting with --force.",
        _ => error.advice(),
    }
}

/// Whether a file ends too early, after blobs that are whole.
fn is_cut(error: &Error) -> bool {
    let is_cut = |error: &popef::Error| matches!(error.code(), ErrorCode::HeaderCut | ErrorCode::BlobCut);
    error.library().is_some_and(|error| is_cut(error) && error.blob() > Some(0))
}

/// Whether a text ends with its advice, as errors of damaged files do.
fn has_advice(text: &str, advice: &str) -> bool {
    text.to_lowercase().ends_with(advice.trim_end_matches('.').to_lowercase().as_str())
}

/// Standard output without Rust's buffer, so that the system can copy to it, and binary data is not searched for lines.
#[cfg(unix)]
pub(crate) fn raw_stdout() -> io::Result<std::fs::File> {
    use std::os::fd::AsFd as _;
    io::stdout().as_fd().try_clone_to_owned().map(std::fs::File::from)
}

#[cfg(not(unix))]
pub(crate) fn raw_stdout() -> io::Result<io::Stdout> {
    Ok(io::stdout())
}

/// Shows how far the work is, and stops it at Ctrl-C. The line disappears when this is dropped.
#[derive(Debug)]
pub(crate) struct Watch(ProgressLine);

impl Progress for Watch {
    fn expect(&self, bytes: u64) {
        self.0.expect(bytes);
    }

    fn advance(&self, bytes: u64) -> ControlFlow<()> {
        self.0.add(bytes);
        if is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.clear();
    }
}
