//! The sections of the long help and the manual page after the options.

use popef_cli::sections::{CHECK_STATUS, CLOSED_PIPE, COLOR_VARIABLES, LOG_DEST, LOG_LEVEL, Section, lines};

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
            CLOSED_PIPE,
        ],
    ),
    ("Exit status with --validate", CHECK_STATUS),
    ("Environment", &[(COLOR_VARIABLES, "whether --color=auto uses colours"), LOG_LEVEL, LOG_DEST]),
];

/// All sections, in lines that are no wider than `width`, except for long commands.
pub(crate) fn text(width: usize) -> String {
    SECTIONS.map(|(heading, rows)| format!("{heading}:\n{}", lines(rows, width))).join("\n")
}
