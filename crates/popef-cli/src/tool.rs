//! The services that a command gets from the tool.

use std::io::{self, Write as _};
use std::ops::ControlFlow;
use std::path::Path;

use popef::error::ErrorCode;
use popef::types::redact;
use popef_open::{FOLDER, Foreign, is_stdin, name_of};
use popef_ops::{Code, Error, ErrorReport, Progress};
use popef_show::{Failure, Out, ProgressLine, When, escape_rest};

use crate::common::Common;
use crate::line::{advised, through_stdout};
use crate::program::{Complaint, Program};
use crate::screen::{colors, progress};
use crate::signals::{hear_signals, is_stopped};
use crate::stdout::Stdout;

/// The tool as a command sees it: the command's name, and where its output goes.
#[derive(Debug)]
pub struct Tool {
    program: Program,
    /// The words that users type for the command that runs: `popef tiles plan`.
    typed: String,
    colors: bool,
    /// Whether --force was given.
    is_forced: bool,
    /// Whether the command takes lists of files.
    takes_lists: bool,
    stdout: Stdout,
}

impl Tool {
    /// `name` is the command as users type it: `popef tiles`. `typed` also has the command inside it, if there is one: `popef tiles plan`.
    pub fn new(name: &'static str, typed: String, when: When, common: &Common<'_>) -> Self {
        Tool {
            program: Program { name, explain: "popef explain", advise: Some(complaint_of_failure) },
            typed,
            is_forced: common.output.force,
            takes_lists: common.takes_lists,
            colors: colors(when),
            stdout: Stdout::of(common),
        }
    }

    /// Fails if a file would go to a terminal.
    pub fn check_stdout(&self) -> Result<(), Error> {
        self.stdout.check()
    }

    /// The command as a program, for code that popef-dump shares.
    pub fn program(&self) -> Program {
        self.program
    }

    /// Standard output, for data and reports. Messages about the work go to stderr. If nobody reads the output any more, the work goes on.
    pub fn out(&self) -> Out {
        Out::new(self.stdout.writer(), self.colors)
    }

    /// Standard output for commands that only show something, and end when nobody reads it.
    pub fn out_while_read(&self) -> Out {
        Out::new(self.stdout.read_writer(), self.colors)
    }

    /// The output of a report: stderr if a file goes to standard output.
    pub fn report(&self) -> Out {
        if self.stdout.takes_file() { Out::new(Box::new(io::stderr()), self.colors) } else { self.out() }
    }

    /// Tells programs in JSON why the call failed, if they expect JSON.
    pub fn tell_programs(&self, error: &Error) {
        let mut report = described(error);
        report.advice = self.advice(error);
        // If standard output fails, stderr and the exit status must do.
        let _ = self.stdout.tell(error, report);
    }

    /// Says what files on other machines have cost in the whole call: always to programs that expect lines of JSON, and to people if
    /// `verbose`.
    #[cfg(feature = "remote")]
    pub fn tell_cost(&self, verbose: bool) {
        let Some(cost) = popef_open::network_cost() else { return };
        // If standard output fails, the exit status is still right.
        let _ = self.stdout.tell_cost();
        if verbose {
            self.say(&cost.to_string());
        }
    }

    /// Says why something failed and what to do, in a line each.
    pub fn complain(&self, error: &Error) {
        self.complaint(error).into_iter().for_each(|line| self.say(&line));
    }

    /// Why something failed and what to do, in a line each.
    pub fn complaint(&self, error: &Error) -> impl IntoIterator<Item = String> {
        let Complaint { text, advice } = complaint(&words(error), error.code(), self.advice(error));
        [text, advice].into_iter().filter(|line| !line.is_empty())
    }

    /// What to do about an error. Only the tool knows the help of the command.
    fn advice(&self, error: &Error) -> String {
        match error.code() {
            code if code == Code::WrongArguments.as_str() => format!("See {} --help.", self.typed),
            code if code == ErrorCode::FileExists.as_str() && self.is_forced => "Choose another path.".to_owned(),
            code => said(error).unwrap_or_else(|| advice(code, leaves_others(error)).to_owned()),
        }
    }

    /// Says what a foreign file is, and how to go on with the command.
    pub fn foreign(&self, foreign: &Foreign, path: &Path) -> String {
        if foreign.is_folder() && !self.takes_lists {
            return FOLDER.to_owned();
        }
        advised(foreign, path, false)
    }

    /// Writes a line for people to stderr, after the name of the command. Names of blobs are quoted and escaped already. Names of files are
    /// escaped here, and addresses lose their secrets.
    pub fn say(&self, text: &str) {
        // If stderr is closed, nobody can be told.
        let _ = writeln!(io::stderr(), "{}: {}", self.program.name, escape_rest(&redact(text)));
    }

    /// A progress line on stderr, if that is a terminal. `what` says what is done. From now on, Ctrl-C stops the work instead of the
    /// program, so that nothing half done is left.
    pub fn progress(&self, what: &'static str) -> Watch {
        self.hear_signals();
        Watch(progress(what))
    }

    /// From now on, Ctrl-C stops the work instead of the program.
    pub fn hear_signals(&self) {
        if let Err(error) = hear_signals() {
            self.say(&format!("cannot listen for Ctrl-C: {error}"));
        }
    }
}

/// The words of an error, in which `-` is called standard input.
pub fn words(error: &Error) -> String {
    let text = error.to_string();
    let of_stdin = text.strip_prefix("-: ").filter(|_| error.path().is_some_and(is_stdin));
    of_stdin.map_or_else(|| text.clone(), |rest| format!("{}: {rest}", name_of("-".as_ref())))
}

/// An error for a report.
pub fn described(error: &Error) -> ErrorReport {
    let mut report = error.describe();
    report.message = redact(&report.message).into_owned();
    report.advice = advice(report.code, leaves_others(error)).to_owned();
    report
}

/// The complaint about a failure in code that popef-dump shares.
fn complaint_of_failure(text: &str, failure: &Failure) -> Complaint {
    complaint(text, failure.code(), advice(failure.code(), failure.leaves_others()).to_owned())
}

/// The complaint about an error. All errors get their code and their advice here.
fn complaint(text: &str, code: &str, advice: String) -> Complaint {
    // The error of a damaged file says what can be done. Only the command is added.
    if advice == RECOVER && text.ends_with("keep the blobs before this one") {
        return Complaint { text: format!("{text} with popef recover [{code}]"), advice: String::new() };
    }
    let advice = if has_advice(text, code, &advice) { String::new() } else { advice };
    Complaint { text: format!("{text} [{code}]"), advice }
}

/// The advice for damage after whole blobs.
const RECOVER: &str = "popef recover keeps the blobs before this one.";

/// Whether a file has other blobs that can be found, although it is damaged.
fn leaves_others(error: &Error) -> bool {
    error.library().is_some_and(|error| Failure::from(error).leaves_others())
}

/// The advice for an error, with the names of commands and options. `leaves_others` says whether other blobs of a damaged file can be
/// found.
pub fn advice(code: &str, leaves_others: bool) -> &'static str {
    let own = Code::ALL.iter().find(|own| own.as_str() == code);
    match (own, code.parse()) {
        (Some(Code::OutputIsInput), _) => {
            "Choose another output. Commands that change one file replace it with --in-place."
        }
        (Some(Code::NoSuchBlob | Code::AmbiguousBlob | Code::NothingChosen), _) => {
            "popef ls shows the blobs of a file: their numbers, types and names."
        }
        (Some(Code::Ambiguous), _) => "Say which one is meant: set has --model NAME and --type TYPE for it.",
        (Some(Code::Conflict), _) => {
            "Choose with --keep first or last, keep all blobs but executables with --keep all, or leave out one of the files."
        }
        (Some(Code::PrefixInside), _) => {
            "Put that file first, or leave out what comes before PopEF with --drop-prefix."
        }
        (Some(Code::NewFindings), _) => "Make another change, or allow the findings: without --strict.",
        (Some(own), _) => own.info().advice,
        (None, Ok(ErrorCode::FileExists)) => "Choose another path, or allow overwriting with --force.",
        (None, Ok(ErrorCode::HeaderCut | ErrorCode::BlobCut | ErrorCode::BlobUnwritten)) if leaves_others => RECOVER,
        (None, Ok(code)) if leaves_others && is_overwritten(code) => {
            "Export the file again; popef recover keeps the blobs that are whole."
        }
        (None, Ok(ErrorCode::InfoTooLong | ErrorCode::WindowTooLarge)) => {
            "No option raises this limit. If you trust the file, a program of your own can: see Limits in the library."
        }
        (None, Ok(ErrorCode::NotRegularFile)) => "Give a regular file: copy it to one first.",
        (None, Ok(code)) => code.info().advice,
        (None, Err(_)) => elsewhere_advice(code),
    }
}

/// Whether the code says that a blob's header or info cannot come from a writer.
fn is_overwritten(code: ErrorCode) -> bool {
    use ErrorCode::{BlobTooSmall, HeaderTooLong, InfoPastEnd, MalformedMessage, TooManySegments};
    matches!(code, BlobTooSmall | HeaderTooLong | InfoPastEnd | MalformedMessage | TooManySegments)
}

/// The advice for an error of another machine.
#[cfg(feature = "remote")]
fn elsewhere_advice(code: &str) -> &'static str {
    let own = popef_remote::Code::ALL.iter().find(|own| own.as_str() == code);
    own.map_or("", |own| own.info().advice)
}

#[cfg(not(feature = "remote"))]
fn elsewhere_advice(_: &str) -> &'static str {
    ""
}

/// Whether a text ends with its advice, as errors of damaged files do, and those that say what another file is.
fn has_advice(text: &str, code: &str, advice: &str) -> bool {
    let says_more = code == Code::NotPopef.as_str() && text.contains("; ");
    says_more || text.to_lowercase().ends_with(advice.trim_end_matches('.').to_lowercase().as_str())
}

/// The advice for an error about a path that is not a file. The error's own text may end with it.
fn said(error: &Error) -> Option<String> {
    const SAID: [(&str, &str); 3] = [
        ("name a file in it", "Name a file in it."),
        (FOLDER, "This is a folder; give a file in it."),
        ("give its bytes on standard input (-)", "Give its bytes on standard input (-)."),
    ];
    let text = error.to_string();
    let said = SAID.into_iter().find(|(end, _)| text.ends_with(end)).map(|(_, advice)| advice.to_owned());
    let is_output = || text.ends_with("write to it as to a stream");
    let line = || error.path().filter(|_| is_output()).and_then(through_stdout);
    let folder = || is_of_folder(error).then(|| "This is a folder; give a file in it.".to_owned());
    said.or_else(|| line().map(|line| format!("Write to it through standard output: {line}"))).or_else(folder)
}

/// Whether a folder was given where a file is needed.
fn is_of_folder(error: &Error) -> bool {
    let codes = [ErrorCode::Io, ErrorCode::NotRegularFile];
    codes.iter().any(|code| code.as_str() == error.code()) && error.path().is_some_and(Path::is_dir)
}

/// Standard output without Rust's buffer, so that the system can copy to it, and binary data is not searched for lines.
#[cfg(unix)]
pub fn raw_stdout() -> io::Result<std::fs::File> {
    use std::os::fd::AsFd as _;
    io::stdout().as_fd().try_clone_to_owned().map(std::fs::File::from)
}

#[cfg(not(unix))]
pub fn raw_stdout() -> io::Result<io::Stdout> {
    Ok(io::stdout())
}

/// Shows the progress of the work, and stops it at Ctrl-C. The line disappears when this is dropped.
#[derive(Debug)]
pub struct Watch(ProgressLine);

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

#[cfg(test)]
mod tests {
    use super::*;

    /// The library's advice is for programmers, so people at a shell get other advice.
    #[test]
    fn advice_can_be_followed() {
        for code in ErrorCode::ALL {
            let advice = advice(code.as_str(), false);
            let is_for_programs = advice.starts_with("Raise the limit") || advice.contains("Use a stream");
            assert!(!is_for_programs, "{code}: {advice}");
        }
    }

    #[test]
    fn the_documentation_has_all_codes() {
        let docs = include_str!("../../../docs/TOOLBOX.md").replace("\r\n", "\n");
        let row =
            |code: &Code| format!("| `{}` | `{}` | {} |\n", code.as_str(), code.kind(), advice(code.as_str(), false));
        let table: String = Code::ALL.iter().map(row).collect();
        assert!(docs.contains(&format!("|---|---|---|\n{table}\n")), "docs/TOOLBOX.md needs these rows:\n{table}");
    }
}
