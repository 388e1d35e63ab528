//! The program that runs: its name in complaints, and its exit statuses.

use std::fmt;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use popef::error::CodeInfo;
use popef::types::{Diagnostic, redact};
use popef_check::Rule;
use popef_open::name_of;
use popef_show::escape;
use popef_show::rules::did_you_mean;

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
    /// What is wrong, and in which file, with its code.
    pub text: String,
    /// What to do; empty if nothing is known.
    pub advice: String,
}

/// The program that runs: `popef-dump`, or a command of the toolbox.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// Its name as users type it. Complaints begin with it.
    pub name: &'static str,
    /// The words that users type for an explanation of the rules.
    pub explain: &'static str,
    /// Whether a check names files that could not be opened on stderr too. Its report always does.
    pub tells_unread: bool,
}

impl From<String> for Complaint {
    fn from(text: String) -> Self {
        Complaint { text, advice: String::new() }
    }
}

impl From<&Diagnostic> for Complaint {
    fn from(error: &Diagnostic) -> Self {
        let file = error.file.as_ref().map(|file| file.to_string_lossy());
        let file = file.map(|file| format!("{}: ", name_of(Path::new(&*file)))).unwrap_or_default();
        Complaint { text: format!("{file}{error} [{}]", error.code), advice: error.advice.clone().into_owned() }
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Program {
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
                let failure = Diagnostic::new(CodeInfo::of(&error), format!("cannot write the output: {error}"));
                self.complain_of(&[Complaint::from(&failure)]);
                ExitCode::from(UNREAD)
            }
        }
    }
}
