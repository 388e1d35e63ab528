//! What the long help and the manual page have after the options, in lines of a certain width.

/// A heading, and terms with what they mean. A meaning without a term is a paragraph.
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

pub(crate) const SECTIONS: [Section; 4] = [
    (
        "Examples",
        &[
            ("popef-dump model.popef", "what is in the file, one line per blob"),
            ("popef-dump -u model.popef", "the inputs you must feed, the outputs to fetch"),
            ("popef-dump -u model.popef weights.popef", "the same for a model in two files"),
            ("popef-dump --values --filter '*bias' m.popef", "the values of all biases"),
            ("popef-dump --exclude '*optimizer*' m.popef", "everything except some names"),
            ("popef-dump --format json m.popef | jq '.files[].blobs[].info.name'", ""),
            ("popef-dump --format ndjson --files-from list.txt", ""),
            ("ssh host cat model.popef | popef-dump -", "a file on another machine"),
            ("popef-dump --validate --deep model.popef", "what would fail when the model is loaded"),
            ("popef-dump --validate --each -q *.popef", "only what was found"),
            ("popef-dump --validate --format junit m.popef > findings.xml", ""),
            ("popef-dump --explain PE101", "what a finding means"),
            ("popef-dump --generate man | man -l -", "the manual page"),
        ],
    ),
    (
        "Exit status",
        &[
            ("0", "Every file was read completely."),
            (
                "2",
                "Something could not be read, or something to be shown is damaged (the rest was shown), or the options are \
                 wrong.",
            ),
            ("", "A reader that closes the pipe early, such as head, is not an error."),
        ],
    ),
    ("Exit status with --validate", CHECK_STATUS),
    (
        "Environment",
        &[
            ("NO_COLOR, CLICOLOR, CLICOLOR_FORCE, TERM", "whether --color=auto uses colours"),
            ("POPEF_LOG_LEVEL", "TRACE, DEBUG, INFO, WARN, ERR or OFF"),
            ("POPEF_LOG_DEST", "stdout, stderr or a file"),
        ],
    ),
];

/// All sections, in lines that are no wider than `width`, except for long commands.
pub(crate) fn text(width: usize) -> String {
    SECTIONS.map(|(heading, rows)| format!("{heading}:\n{}", lines(rows, width))).join("\n")
}

/// The lines of a section.
pub fn lines(rows: &[(&str, &str)], width: usize) -> String {
    const INDENT: usize = 2;
    /// Narrower columns are hard to read. Then a meaning comes below its term.
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
