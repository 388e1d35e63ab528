//! The program that runs: its name in complaints, and its exit statuses.

use std::fmt;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::line::advised;
use popef::error::ErrorCode;
use popef::types::redact;
use popef_check::Rule;
use popef_open::{Foreign, Opened, name_of};
use popef_show::rules::did_you_mean;
use popef_show::{Failure, escape};

/// A file could not be read, or is damaged where it was to be shown. 1 is for findings of checks.
pub const UNREAD: u8 = 2;

/// Why nothing was shown or checked.
#[derive(Debug)]
pub enum Refusal {
    /// The options are wrong, or cannot be combined.
    Options(String),
    /// A list or a policy cannot be read.
    Unread {
        /// The action, after "cannot": `read the list`.
        doing: &'static str,
        /// The path; `-` is standard input.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A file is not a list of files.
    List {
        /// The path; `-` is standard input.
        path: PathBuf,
        /// What it is.
        problem: String,
    },
    /// A policy has an error.
    Policy {
        /// The path; `-` is standard input.
        path: PathBuf,
        /// What is wrong, and in which line.
        problem: String,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Options(problem) => f.write_str(problem),
            Refusal::Unread { doing, path, source } => write!(f, "{}: cannot {doing}: {source}", name_of(path)),
            Refusal::List { path, problem } | Refusal::Policy { path, problem } => {
                write!(f, "{}: {problem}", name_of(path))
            }
        }
    }
}

/// The words for a failure: a line, and what to do about it.
#[derive(Debug, PartialEq, Eq)]
pub struct Complaint {
    /// What is wrong, and in which file.
    pub text: String,
    /// What to do; empty if the text says it.
    pub advice: String,
}

/// The program that runs: `popef-dump`, or a command of the toolbox.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// Its name as users type it. Complaints begin with it.
    pub name: &'static str,
    /// The words that users type for an explanation of the rules.
    pub explain: &'static str,
    /// Adds the code and the advice to the text of a failure. Without it, complaints have neither, and only the report of a check names
    /// files that could not be read.
    pub advise: Option<fn(&str, &Failure) -> Complaint>,
}

impl From<String> for Complaint {
    fn from(text: String) -> Self {
        Complaint { text, advice: String::new() }
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Program {
    /// Why a file could not be read to its end. `leaves_file` says whether the command leaves a file all the same.
    pub fn failure(self, opened: &Opened, leaves_file: bool) -> Option<Failure> {
        match &opened.foreign {
            Some(foreign) => {
                Some(Failure::new(advised(foreign, &opened.path, leaves_file), Foreign::KIND, Foreign::CODE))
            }
            None => opened.error().map(Failure::from),
        }
    }

    /// The complaint about a failure to read a file.
    pub fn complaint(self, path: &Path, failure: &Failure) -> Complaint {
        self.advised(format!("{}: {failure}", name_of(path)), failure)
    }

    /// A failure in words, with its code and advice if the program adds them.
    pub fn advised(self, text: String, failure: &Failure) -> Complaint {
        match self.advise {
            Some(advise) => advise(&text, failure),
            None => Complaint::from(text),
        }
    }

    /// Writes complaints to stderr. Advice that several share comes after the last of them.
    pub fn complain_of(self, complaints: &[Complaint]) {
        for (nth, Complaint { text, advice }) in complaints.iter().enumerate() {
            self.complain(text);
            let next = complaints.get(nth.saturating_add(1));
            if !advice.is_empty() && next.is_none_or(|next| next.advice != *advice) {
                self.complain(advice);
            }
        }
    }

    /// Writes a line to stderr. It may have names of files, which are untrusted, and addresses, which may have secrets.
    pub fn complain(self, text: &str) {
        // If stderr is closed, nobody can be told.
        let _ = writeln!(io::stderr(), "{self}: {}", escape(&redact(text)));
    }

    /// The program itself, without the name of the command.
    pub(crate) fn tool(self) -> &'static str {
        self.name.split(' ').next().unwrap_or(self.name)
    }

    /// Says why nothing could be done, and returns the exit status.
    pub fn unread(self, why: &(impl fmt::Display + ?Sized)) -> ExitCode {
        self.complain(&why.to_string());
        ExitCode::from(UNREAD)
    }

    /// The exit status after printing help, the version, or an error of the command line.
    pub fn printed(self, printed: io::Result<()>, status: i32) -> ExitCode {
        match printed.and_then(|()| io::stdout().flush()) {
            Ok(()) => ExitCode::from(u8::try_from(status).unwrap_or(UNREAD)),
            failed => self.written(failed),
        }
    }

    /// The message that no rule has this id, and where to find all rules.
    pub fn no_rule(self, id: &str, rules: impl IntoIterator<Item = &'static Rule>) -> String {
        let advice = did_you_mean(id, rules).unwrap_or_else(|| format!("{} lists all rules", self.explain));
        format!("there is no rule {id:?}; {advice}")
    }

    /// The exit status after writing. A reader that closes the pipe early is not an error.
    pub fn written(self, result: io::Result<()>) -> ExitCode {
        match result {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
            Err(error) => {
                let text = format!("cannot write the output: {error}");
                let code = ErrorCode::from(error.kind());
                let failure = Failure::new(text.clone(), code.kind().as_str(), code.as_str());
                self.complain_of(&[self.advised(text, &failure)]);
                ExitCode::from(UNREAD)
            }
        }
    }
}
