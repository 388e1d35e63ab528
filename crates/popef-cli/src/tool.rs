//! The services that a command gets from the tool.

use std::io::{self, Write as _};
use std::ops::ControlFlow;
use std::path::Path;

use popef::error::Advice;
use popef::types::{Diagnostic, redact};
use popef_open::Foreign;
use popef_ops::{Error, Progress};
use popef_show::{Out, ProgressLine, When, escape_rest};

use crate::common::Common;
use crate::line::{self, through_stdout};
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
            program: Program { name, explain: "popef explain", tells_unread: true },
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
        // If standard output fails, stderr and the exit status must do.
        let _ = self.stdout.tell(self.described(error));
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
        let Complaint { text, advice } = Complaint::from(&self.described(error));
        [text, advice].into_iter().filter(|line| !line.is_empty())
    }

    /// An error for a report, with the advice that depends on the line of the user.
    fn described(&self, error: &Error) -> Diagnostic {
        let mut described = described(error);
        let line = match error.advice() {
            Advice::SeeHelp => Some(format!("See {} --help.", self.typed)),
            Advice::AllowOverwriting if self.is_forced => Some(Advice::ChooseAnotherPath.to_string()),
            Advice::WriteStream => error.path().and_then(through_stdout),
            _ => None,
        };
        if let Some(line) = line {
            described.advice = line.into();
        }
        described
    }

    /// The error for a foreign file, with the way to go on with the command.
    pub fn foreign(&self, foreign: &Foreign, path: &Path) -> Error {
        let refused = Error::new(foreign.info(), foreign.to_string()).in_file(path);
        if foreign.is_folder() && !self.takes_lists {
            return refused;
        }
        refused.advising(line::described(foreign, path, false).advice.into_owned())
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

/// An error for a report. Its message has no secrets of addresses.
pub fn described(error: &Error) -> Diagnostic {
    let mut described = error.describe();
    described.message = redact(&described.message).into_owned();
    described
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
