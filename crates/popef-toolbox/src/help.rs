//! The help of the tool as a whole.

use popef_cli::sections::{CHECK_STATUS, CLOSED_PIPE, COLOR_VARIABLES, LOG_DEST, LOG_LEVEL, Section, lines};
use std::fmt::Write as _;

use clap::builder::StyledStr;
use clap::{Arg, Command};

/// Statuses and what they mean.
type Statuses = &'static [(&'static str, &'static str)];

/// The exit status of commands that can answer "no", or that end well in more than one way.
const STATUSES: &[(&str, Statuses)] = &[
    ("popef check", CHECK_STATUS),
    ("popef diff", SAME_OR_NOT),
    ("popef graph diff", SAME_OR_NOT),
    ("popef profile diff", SAME_OR_NOT),
    (
        "popef profile",
        &[
            ("0", "The report was shown; with --check or a limit, nothing worse than a warning was found."),
            ("1", "With --check or a limit: errors were found; with --strict, warnings."),
            ("2", "A file could not be read, or a limit could not be checked, or the options are wrong."),
        ],
    ),
    (
        "popef set",
        &[
            ("0", "The file was written, or there was nothing to change."),
            ("2", "Something could not be changed, or the options are wrong. The old file is unchanged."),
        ],
    ),
    (
        "popef verify",
        &[
            ("0", "No file has changed."),
            ("1", "A file has changed, or is missing."),
            ("2", "Something could not be read, or the options are wrong."),
        ],
    ),
];

const SAME_OR_NOT: Statuses =
    &[("0", "They are the same."), ("1", "They differ."), ("2", "They cannot be compared, or the options are wrong.")];

/// The exit status of other commands.
const DONE_OR_NOT: Statuses =
    &[("0", "Everything was done."), ("2", "Something could not be done, or the options are wrong.")];

/// The exit status of commands that were stopped.
const STOPPED: (&str, &str) = ("130, 143", "It was stopped by Ctrl-C, by SIGTERM (128 and the signal).");

/// What `-h` leaves to `--help`, so that the options for the usual work fit a screen: in all commands (""), and in one.
const RARE: &[(&str, &[&str])] = &[
    ("", &["ignore-case", "exclude", "files-from", "full-names", "strict", "allow-empty"]),
    ("popef dump", &["all", "type", "sort", "each", "color"]),
    ("popef pack", &["unchecked", "opaque", "metadata", "compression"]),
    (
        "popef set",
        &[
            "unset",
            "merge",
            "drop-engine-option",
            "device-option",
            "drop-device-option",
            "model",
            "keep-references",
            "add-missing",
            "drop-surplus",
            "set-version",
        ],
    ),
    ("popef compress", &["recompress", "threads", "type"]),
    ("popef merge", &["unpacked", "drop-prefix"]),
    ("popef tiles plan", &["grain", "vector-width", "min-elements"]),
    ("popef graph", &["calls", "ops", "parameters", "code", "profile"]),
    (
        "popef profile",
        &[
            "name",
            "numbers",
            "depth",
            "steps",
            "sort",
            "items",
            "trace",
            "dry-run",
            "max-total",
            "max-cycles",
            "min-balance",
            "quiet",
            "verbose",
            "policy",
        ],
    ),
];

/// Adds the exit status to the help of each command, and of their commands, and leaves rare options out of the short one.
pub(crate) fn with_statuses(command: Command, path: &str) -> Command {
    command.mut_subcommands(|inner| {
        let path = format!("{path} {}", inner.get_name());
        let help = inner.get_after_help().map(|help| format!("{}\n\n", help.ansi())).unwrap_or_default();
        let help = format!("{help}{STATUS}:\n{}", lines(&statuses(&path), STATUS_WIDTH).trim_end());
        let is_rare = |arg: &Arg| {
            let of_command = RARE.iter().filter(|(of, _)| of.is_empty() || *of == path);
            arg.get_long().is_some_and(|long| of_command.flat_map(|(_, names)| *names).any(|name| *name == long))
        };
        let inner = inner.mut_args(|arg| if is_rare(&arg) { arg.hide_short_help(true) } else { arg });
        with_statuses(inner, &path).after_help(help)
    })
}

/// The heading of exit statuses.
const STATUS: &str = "Exit status";
/// The width of a usual terminal.
const STATUS_WIDTH: usize = 80;

fn statuses(path: &str) -> Vec<(&'static str, &'static str)> {
    let own = STATUSES.iter().find(|(of, _)| *of == path).map_or(DONE_OR_NOT, |(_, own)| own);
    own.iter().copied().chain([STOPPED]).collect()
}

/// Groups of commands, each by its first command.
const GROUPS: [(&str, &str); 7] = [
    ("ls", "Look"),
    ("extract", "Move"),
    ("set", "Change"),
    ("diff", "Compare"),
    ("report", "Other"),
    ("tiles", "Device"),
    (LAST_TWO.0, "Shell"),
];

/// The sections for all commands.
pub(crate) const COMMON: [Section; 3] = [
    (
        "Files",
        &[
            ("-", "standard input or output"),
            ("--force, --in-place", "Without one of them, no file is replaced."),
            ("", "A new file appears when it is complete. An old one stays until then, also after Ctrl-C."),
        ],
    ),
    (
        STATUS,
        &[
            ("0", "success"),
            ("1", "\"no\" as an answer: two files differ, a check failed"),
            ("2", "Something could not be done, or the options are wrong."),
            STOPPED,
            CLOSED_PIPE,
        ],
    ),
    ("Environment", &[(COLOR_VARIABLES, "whether --color auto uses colours"), LOG_LEVEL, LOG_DEST]),
];

/// The first line of the help, with the usage and the exit status. The manual page has sections.
const USAGE: &str = "Usage: popef COMMAND ... (--help: examples). Exit: 0 done, 1 \"no\", 2 not done";

/// The last two commands, and what they do.
const LAST_TWO: (&str, &str) = ("completions, man", "Print the script for a shell, or a manual page");

/// The help of the tool: all commands, in groups, on one screen.
pub(crate) fn text(command: &Command) -> StyledStr {
    let rows = command_rows(command);
    let column = rows.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
    let groups = GROUPS.iter().map(|(_, group)| group.len()).max().unwrap_or_default();
    let mut text = StyledStr::new();
    // Writing to a text cannot fail.
    let _ = writeln!(text, "{USAGE}");
    for (name, about) in &rows {
        // The last two share a line, so that all fit a screen.
        let (name, about) = match name.as_str() {
            "completions" => (LAST_TWO.0, LAST_TWO.1),
            "man" => continue,
            name => (name, about.as_str()),
        };
        let group = GROUPS.iter().find(|(first, _)| *first == name).map_or("", |(_, group)| group);
        let _ = writeln!(text, "{group:groups$}  \u{1b}[1m{name:column$}\u{1b}[0m  {about}");
    }
    text
}

/// Each command, and what it does.
pub(crate) fn command_rows(command: &Command) -> Vec<(String, String)> {
    let about = |command: &Command| command.get_about().map(ToString::to_string).unwrap_or_default();
    let commands = command.get_subcommands().filter(|command| command.get_name() != "help");
    commands.map(|command| (command.get_name().to_owned(), about(command))).collect()
}
