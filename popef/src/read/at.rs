//! The place of an error.

use std::io;
use std::path::Path;

use crate::error::{Error, Problem};

/// The place of an error: the file, the blob and the byte.
#[derive(Clone, Copy, Debug)]
pub(super) struct At<'a> {
    /// The blob and the byte of the file. `None` if the bytes are not from a file.
    place: Option<(usize, u64)>,
    path: Option<&'a Path>,
}

impl<'a> At<'a> {
    pub(super) fn new(blob: usize, offset: u64, path: Option<&'a Path>) -> Self {
        At { place: Some((blob, offset)), path }
    }

    /// The place of bytes that are not from a file.
    pub(super) fn nowhere() -> At<'static> {
        At { place: None, path: None }
    }

    pub(super) fn error(self, problem: impl Into<Problem>) -> Error {
        let problem = problem.into();
        let error = match self.place {
            Some((blob, offset)) => problem.at(blob, offset),
            None => problem.into(),
        };
        error.in_file(self.path)
    }

    /// Moves the place forwards by `bytes`.
    pub(super) fn further(self, bytes: u64) -> Self {
        At { place: self.place.map(|(blob, offset)| (blob, offset.saturating_add(bytes))), ..self }
    }

    /// Removes the file from the place.
    pub(super) fn without_file(self) -> At<'static> {
        At { place: self.place, path: None }
    }

    /// Unwraps an error of this library from the `io::Error` of a reader, or makes one of the `io::Error` itself.
    pub(super) fn unwrap_io(self, error: io::Error) -> Error {
        match error.downcast::<Error>() {
            Ok(error) => error,
            Err(source) => self.error(Problem::io("read the data", source)),
        }
    }
}
