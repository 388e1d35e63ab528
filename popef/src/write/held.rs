//! How an open blob holds its writer: borrowed or owned.

use std::fmt;

use super::destination::Destination;
use super::writer::Writer;
use crate::error::Error;

/// The [`Writer`] of an open blob: `&mut Writer`, which the blob borrows, or `Writer`, which it owns and gives back.
///
/// This trait is sealed: other crates cannot implement it.
pub trait HeldWriter: hold::Hold {}

pub(super) mod hold {
    use super::{Destination, Writer};

    pub trait Hold {
        /// The destination of the writer.
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

/// The error of opening or finishing a blob that owns its writer, together with the writer.
///
/// After a caller's mistake, the writer can be used as before. After a failure, each later call fails.
pub struct Refused<D: Destination> {
    /// The error.
    pub error: Error,
    /// The writer, without the blob.
    pub writer: Writer<D>,
}

impl<D: Destination> Refused<D> {
    /// Adds the writer to a result.
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
