//! The sections of the long help and the manual page after the options, in lines of a certain width.

/// A heading, and terms with their meanings. A meaning without a term is a paragraph.
pub type Section = (&'static str, &'static [(&'static str, &'static str)]);

/// The exit status of checks.
pub const CHECK_STATUS: &[(&str, &str)] = &[
    ("0", "Nothing worse than a warning was found; with --strict, nothing worse than a note."),
    ("1", "Something worse was found, such as damage."),
    (
        "2",
        "Something could not be checked, such as a missing file; or there are no files; or the policy or the options are \
         wrong.",
    ),
];

/// The sentence about readers that close the pipe.
pub const CLOSED_PIPE: (&str, &str) = ("", "A reader that closes the pipe early, such as head, is not an error.");
/// The variable for the level of the log.
pub const LOG_LEVEL: (&str, &str) = ("POPEF_LOG_LEVEL", "TRACE, DEBUG, INFO, WARN, ERR or OFF");
/// The variable for the destination of the log.
pub const LOG_DEST: (&str, &str) = ("POPEF_LOG_DEST", "stdout, stderr or a file");
/// The variables that turn colours on and off.
pub const COLOR_VARIABLES: &str = "NO_COLOR, CLICOLOR, CLICOLOR_FORCE, TERM";

/// The lines of a section.
pub fn lines(rows: &[(&str, &str)], width: usize) -> String {
    const INDENT: usize = 2;
    /// The minimum width of the column of meanings. Narrower ones are hard to read, so meanings come below their terms.
    const LEAST: usize = 25;
    let explained = rows.iter().filter(|(_, meaning)| !meaning.is_empty());
    let column = explained.map(|(term, _)| term.len() + INDENT).max().unwrap_or(0);
    let beside = width.saturating_sub(INDENT + column) >= LEAST;
    let mut lines = String::new();
    for &(term, meaning) in rows {
        let indent = match term {
            "" => INDENT,
            _ if beside => INDENT + column,
            _ => 3 * INDENT,
        };
        let mut start = format!("{:INDENT$}{term}", "");
        if !term.is_empty() && (meaning.is_empty() || !beside) {
            lines.push_str(&format!("{start}\n"));
            start.clear();
        }
        for line in wrapped(meaning, width.saturating_sub(indent)) {
            lines.push_str(&format!("{start:indent$}{line}\n"));
            start.clear();
        }
    }
    lines
}

/// A text in lines.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= width => line.extend([" ", word]),
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
