//! JSON files that stand around a model.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::process::ExitCode;

use popef_ops::{Code, Error, ErrorReport};
use poplar_inspect::tiles::{ReadError, ReadErrorKind};

use crate::common::end::FAILED;
use crate::common::tool::{Tool, described};

/// Opens a file, or standard input for `-`.
pub(super) fn open(path: &Path) -> Result<Box<dyn Read>, Error> {
    if path.as_os_str() == "-" {
        return Ok(Box::new(io::stdin().lock()));
    }
    let file = File::open(path).map_err(|error| Error::io("open the file", error).in_file(path))?;
    Ok(Box::new(file))
}

/// Why a file could not be read, or not to its end.
pub(super) fn unread(error: &ReadError, path: &Path) -> Error {
    match error.kind {
        ReadErrorKind::Unreadable(kind) => Error::io("read the file", kind.into()),
        _ => Error::new(Code::BadTileFile, error.to_string()),
    }
    .in_file(path)
}

/// The damage of a file, of which the part before it is shown.
pub(super) struct Damage(Option<Error>);

impl Damage {
    pub(super) fn of(damage: Option<&ReadError>, path: &Path) -> Self {
        Damage(damage.map(|damage| unread(damage, path)))
    }

    /// For the JSON of the file.
    pub(super) fn report(&self) -> Option<ErrorReport> {
        self.0.as_ref().map(described)
    }

    /// Says what is damaged, and returns the exit status.
    pub(super) fn told(&self, tool: &Tool) -> ExitCode {
        match &self.0 {
            Some(error) => {
                tool.complain(error);
                ExitCode::from(FAILED)
            }
            None => ExitCode::SUCCESS,
        }
    }
}
