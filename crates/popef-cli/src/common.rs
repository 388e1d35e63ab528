//! The options that many commands have.

use std::path::Path;

use popef_open::is_stdin;

use crate::format::Format;

/// Those options of a command that the tool itself must know.
///
/// If the tool looked for them by name, renaming a field would silently turn off a protection.
#[derive(Clone, Copy, Debug)]
pub struct Common<'a> {
    /// The output file, and whether it may replace an old one.
    pub output: Place<'a>,
    /// Whether the output file is text. If not, reports cannot share standard output with it, and it must not go to a terminal, which obeys
    /// bytes.
    pub is_text: bool,
    /// The requested format, if it is one of reports.
    pub format: Option<Format>,
    /// Whether the command takes lists of files.
    pub takes_lists: bool,
}

impl<'a> Common<'a> {
    /// The options of a command that makes no file.
    pub const NONE: Common<'static> = Common::of(Place::NONE);

    /// The options of a command that makes a file.
    pub const fn of(output: Place<'a>) -> Self {
        Common { output, is_text: false, format: None, takes_lists: false }
    }

    /// Sets the format.
    pub fn format(self, format: impl Into<Option<Format>>) -> Self {
        Common { format: format.into(), ..self }
    }

    /// Adds lists of files.
    pub fn lists(self) -> Self {
        Common { takes_lists: true, ..self }
    }

    /// Says that the file is text.
    pub fn text(self) -> Self {
        Common { is_text: true, ..self }
    }

    /// Whether a file that is not text goes to standard output.
    pub fn fills_stdout(&self) -> bool {
        !self.is_text && self.output.is_stdout()
    }
}

/// Where a file goes.
#[derive(Clone, Copy, Debug)]
pub struct Place<'p> {
    /// `-` is standard output. `None` if a dry run names no file.
    pub path: Option<&'p Path>,
    /// Whether an existing file is replaced.
    pub force: bool,
    /// Whether the command only says what it would write.
    pub dry_run: bool,
}

impl Place<'static> {
    /// The place of a command that makes no file.
    pub const NONE: Self = Place { path: None, force: false, dry_run: false };
}

impl Place<'_> {
    /// Whether the file goes to standard output.
    pub fn is_stdout(self) -> bool {
        !self.dry_run && self.path.is_some_and(is_stdin)
    }
}
