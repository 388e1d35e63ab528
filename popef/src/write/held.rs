//! How an open blob holds its writer: by `&mut`, or as its own.

use std::fmt;

use super::destination::Destination;
use super::writer::Writer;
use crate::error::Error;

/// The [`Writer`] of an open blob: `&mut Writer`, which the blob borrows, or `Writer`, which it owns and gives back.
/// Not for others to implement.
pub trait HeldWriter: hold::Hold {}

pub(super) mod hold {
    use super::{Destination, Writer};

    pub trait Hold {
        /// Where the writer writes to.
        type To: Destination;

        fn get(&self) -> &Writer<Self::To>;

        fn get_mut(&mut self) -> &mut Writer<Self::To>;
    }
}

impl<D: Destination> HeldWriter for Writer<D> {}

impl<D: Destination> hold::Hold for Writer<D> {
    type To = D;

    fn get(&self) -> &Writer<D> {
        self
    }

    fn get_mut(&mut self) -> &mut Writer<D> {
        self
    }
}

impl<D: Destination> HeldWriter for &mut Writer<D> {}

impl<D: Destination> hold::Hold for &mut Writer<D> {
    type To = D;

    fn get(&self) -> &Writer<D> {
        self
    }

    fn get_mut(&mut self) -> &mut Writer<D> {
        self
    }
}

/// Why a blob that was to own its writer was not opened or finished, and the writer.
///
/// After a mistake of the caller the writer goes on as before. After a failure every later call of it says so.
pub struct Refused<D: Destination> {
    /// What was wrong.
    pub error: Error,
    /// The writer, without the blob.
    pub writer: Writer<D>,
}

impl<D: Destination> Refused<D> {
    /// What was done and the writer, or the error and the writer.
    #[allow(clippy::result_large_err, reason = "the writer comes back by value; how large it is differs by system")]
    pub(super) fn unless<T>(done: Result<T, Error>, writer: Writer<D>) -> Result<(Writer<D>, T), Self> {
        match done {
            Ok(done) => Ok((writer, done)),
            Err(error) => Err(Refused { error, writer }),
        }
    }
}

impl<D: Destination> From<Refused<D>> for Error {
    fn from(refused: Refused<D>) -> Self {
        refused.error
    }
}

impl<D: Destination> fmt::Display for Refused<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<D: Destination> fmt::Debug for Refused<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Refused").field("error", &self.error).field("writer", &self.writer).finish()
    }
}

impl<D: Destination> std::error::Error for Refused<D> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.error.source()
    }
}
