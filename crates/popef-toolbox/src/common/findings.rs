//! Findings in a new file.

use popef_cli::common::Place;
use popef_cli::tool::Tool;
use popef_open::is_stdin;
use popef_ops::{Code, Error, NewFinding};

/// The maximum number of findings on stderr.
const MOST_TOLD: usize = 10;

/// Fails if findings are to prevent a new file that goes, or would go, to standard output.
pub(crate) fn check_strict(strict: bool, output: Place<'_>) -> Result<(), Error> {
    if strict && output.path.is_some_and(is_stdin) {
        let message = "--strict needs a file: what goes into a pipe cannot be checked before it is complete";
        return Err(Error::new(Code::WrongArguments, message));
    }
    Ok(())
}

/// Writes the findings in the new file to stderr.
pub(crate) fn say_findings(tool: &Tool, findings: Option<&[NewFinding]>) {
    let findings = findings.unwrap_or_default();
    for NewFinding { rule, severity, blob, message } in findings.iter().take(MOST_TOLD) {
        let blob = blob.map_or(String::new(), |blob| format!("blob {blob}: "));
        tool.say(&format!("the checks find now: {severity} {rule}: {blob}{message}"));
    }
    if let Some(more @ 1..) = findings.len().checked_sub(MOST_TOLD) {
        tool.say(&format!("the checks find {more} more; popef check shows them"));
    }
}
