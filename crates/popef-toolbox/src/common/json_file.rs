//! JSON files around a model.

use std::io::{self, Read};
use std::path::Path;
use std::process::ExitCode;

use popef::types::Diagnostic;
use popef_cli::end::FAILED;
use popef_cli::meant::meant;
use popef_cli::tool::{Tool, described};
use popef_ops::{Code, Error};
use poplar_inspect::tiles::{ReadError, ReadErrorKind};

/// Opens a file.
pub(crate) fn open(path: &Path) -> Result<Box<dyn Read + Send>, Error> {
    popef_open::read(path).map_err(|error| Error::io("open the file", error).in_file(path))
}

/// Why a file could not be read, or not to its end. `code` is the code for damage.
pub(crate) fn unread(error: &ReadError, code: Code, path: &Path) -> Error {
    match error.kind {
        ReadErrorKind::Unreadable(kind) => Error::io("read the file", io::Error::new(kind, error.to_string())),
        _ => Error::new(code, error.to_string()),
    }
    .in_file(path)
}

/// The error for a file that could not be read at all. It may be for another command.
pub(crate) fn refused(error: &ReadError, code: Code, path: &Path) -> Error {
    match meant(path) {
        Some(meant) if !matches!(error.kind, ReadErrorKind::Unreadable(_)) => {
            Error::new(code, error.to_string()).in_file(path).advising(meant.advice())
        }
        _ => unread(error, code, path),
    }
}

/// The damage of a file. The part before it is shown.
#[derive(Debug, Default)]
pub(crate) struct Damage(Option<Error>);

impl Damage {
    pub(crate) fn of(damage: Option<&ReadError>, code: Code, path: &Path) -> Self {
        Damage(damage.map(|damage| unread(damage, code, path)))
    }

    /// The error for the JSON of the file.
    pub(crate) fn report(&self) -> Option<Diagnostic> {
        self.0.as_ref().map(described)
    }

    /// Says what is damaged, and returns the exit status.
    pub(crate) fn told(&self, tool: &Tool) -> ExitCode {
        match &self.0 {
            Some(error) => {
                tool.complain(error);
                ExitCode::from(FAILED)
            }
            None => ExitCode::SUCCESS,
        }
    }
}
