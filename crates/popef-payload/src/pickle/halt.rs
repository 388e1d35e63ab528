use std::collections::TryReserveError;

use popef::error::Error;

/// Why a walk stops before the end of the pickle.
#[derive(Debug)]
pub(super) enum Halt {
    /// Python would stop here too.
    Fault(&'static str),
    /// Python would go on, but this scan does not: it is too large or too unusual.
    Limit(&'static str),
    /// The budget of the whole data is spent, so the pickles around this one cannot be followed either.
    Spent(&'static str),
    /// There is not enough memory. The data itself is not at fault.
    NoMemory,
    /// The bytes could not be read.
    Unread(Error),
}

impl From<Error> for Halt {
    fn from(error: Error) -> Self {
        Halt::Unread(error)
    }
}

impl From<TryReserveError> for Halt {
    fn from(_: TryReserveError) -> Self {
        Halt::NoMemory
    }
}
