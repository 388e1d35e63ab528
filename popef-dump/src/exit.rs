//! Complaints and exit statuses.

use std::io::{self, Write as _};
use std::process::ExitCode;

use popef_show::escape;
use popef_show::rules::did_you_mean;

/// Something could not be read, or what was to be shown is damaged. 1 is for findings of checks.
pub(crate) const UNREAD: u8 = 2;

/// Writes a line to stderr. It may hold names of files, which are untrusted too.
pub(crate) fn complain(text: &str) {
    // If stderr is closed, nobody can be told.
    let _ = writeln!(io::stderr(), "popef-dump: {}", escape(text));
}

/// The exit status when nothing could be done, and why.
pub(crate) fn unread(why: &str) -> ExitCode {
    complain(why);
    ExitCode::from(UNREAD)
}

/// That no rule has an id, and where to find those that there are.
pub(crate) fn no_rule(id: &str) -> String {
    let advice = did_you_mean(id).unwrap_or_else(|| "popef-dump --explain lists all rules".to_owned());
    format!("there is no rule {id:?}; {advice}")
}

/// The exit status of writing. A reader that closes the pipe early is no error.
pub(crate) fn written(result: io::Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => unread(&format!("cannot write the output: {error}")),
    }
}
