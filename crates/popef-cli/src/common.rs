//! The options that many commands have.

use std::path::Path;

use popef_open::is_stdin;

use crate::format::Format;

/// What the options of a command say that the tool itself must know.
///
/// If it looked for them by their names, renaming a field would turn off what protects a user, and nobody would notice.
#[derive(Clone, Copy, Debug)]
pub struct Common<'a> {
    /// The output file, and whether it may replace an old one.
    pub output: Place<'a>,
    /// Whether that is text. If not, reports cannot go to standard output with it, and a terminal, which obeys bytes, must not be
    /// there.
    pub is_text: bool,
    /// The format that was asked for, if it is one of those that reports have.
    pub format: Option<Format>,
    /// Whether it takes lists of files.
    pub takes_lists: bool,
}

impl<'a> Common<'a> {
    /// Those of a command that makes no file.
    pub const NONE: Common<'static> = Common::of(Place::NONE);

    /// Those of a command that makes a file.
    pub const fn of(output: Place<'a>) -> Self {
        Common { output, is_text: false, format: None, takes_lists: false }
    }

    /// With a format.
    pub fn format(self, format: impl Into<Option<Format>>) -> Self {
        Common { format: format.into(), ..self }
    }

    /// With lists of files.
    pub fn lists(self) -> Self {
        Common { takes_lists: true, ..self }
    }

    /// With a file that is text.
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
    /// Whether nothing is written, and only said what would be.
    pub dry_run: bool,
}

impl Place<'static> {
    /// That of a command that makes no file.
    pub const NONE: Self = Place { path: None, force: false, dry_run: false };
}

impl Place<'_> {
    /// Whether the file goes to standard output.
    pub fn is_stdout(self) -> bool {
        !self.dry_run && self.path.is_some_and(is_stdin)
    }
}
