//! What runs: its name in complaints, and its exit statuses.

use std::fmt;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use popef_open::name_of;
use popef_show::escape;
use popef_show::rules::did_you_mean;

/// Something could not be read, or what was to be shown is damaged. 1 is for findings of checks.
pub(crate) const UNREAD: u8 = 2;

/// Why nothing was shown or checked.
#[derive(Debug)]
pub enum Refusal {
    /// The options are wrong, or cannot be combined.
    Options(String),
    /// A list or a policy cannot be read.
    Unread {
        /// What was to be done, after "cannot": `read the list`.
        doing: &'static str,
        /// The path; `-` is standard input.
        path: PathBuf,
        /// Why the system cannot do it.
        source: io::Error,
    },
    /// A policy has something wrong in it.
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
            Refusal::Policy { path, problem } => write!(f, "{}: {problem}", name_of(path)),
        }
    }
}

/// What runs: `popef-dump`, or a command of the toolbox.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// Its name as users type it. Complaints begin with it.
    pub name: &'static str,
    /// What users type for an explanation of the rules.
    pub explain: &'static str,
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Program {
    /// Writes a line to stderr. It may hold names of files, which are untrusted too.
    pub(crate) fn complain(self, text: &str) {
        // If stderr is closed, nobody can be told.
        let _ = writeln!(io::stderr(), "{self}: {}", escape(text));
    }

    /// The exit status when nothing could be done, and why.
    pub(crate) fn unread(self, why: &(impl fmt::Display + ?Sized)) -> ExitCode {
        self.complain(&why.to_string());
        ExitCode::from(UNREAD)
    }

    /// The exit status after help, the version, or what is wrong with the command line was printed.
    pub fn printed(self, printed: io::Result<()>, status: i32) -> ExitCode {
        match printed.and_then(|()| io::stdout().flush()) {
            Ok(()) => ExitCode::from(u8::try_from(status).unwrap_or(UNREAD)),
            failed => self.written(failed),
        }
    }

    /// That no rule has an id, and where to find those that there are.
    pub(crate) fn no_rule(self, id: &str) -> String {
        let advice = did_you_mean(id).unwrap_or_else(|| format!("{} lists all rules", self.explain));
        format!("there is no rule {id:?}; {advice}")
    }

    /// The exit status of writing. A reader that closes the pipe early is no error.
    pub(crate) fn written(self, result: io::Result<()>) -> ExitCode {
        match result {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
            Err(error) => self.unread(&format!("cannot write the output: {error}")),
        }
    }
}
