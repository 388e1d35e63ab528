use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::sync::Arc;

use super::Error;
use super::code::ErrorCode;

/// A failure of a source of bytes that has a code and advice of its own.
///
/// A [`ReadAt`](crate::read::ReadAt) returns it in an `io::Error`. The library's error then has the nearest of the library's codes,
/// so programs that know nothing of the source still know the kind. [`Error::code_name`] and [`Error::advice`] are those of the
/// source.
///
/// ```
/// use std::io;
///
/// use popef::OpenOptions;
/// use popef::error::{ErrorCode, ErrorKind, SourceError};
/// use popef::read::ReadAt;
///
/// struct Tape;
///
/// impl ReadAt for Tape {
///     fn size(&self) -> u64 {
///         1000
///     }
///
///     fn read_exact_at(&self, _: &mut [u8], _: u64) -> io::Result<()> {
///         Err(SourceError::new(ErrorCode::Io, "tape-torn", "Mend the tape.", "the tape is torn").into())
///     }
/// }
///
/// let error = OpenOptions::new().source(Tape).unwrap_err();
/// assert_eq!((error.kind(), error.code_name(), error.advice()), (ErrorKind::Io, "tape-torn", "Mend the tape."));
/// ```
#[derive(Clone, Debug)]
pub struct SourceError {
    code: ErrorCode,
    name: &'static str,
    advice: &'static str,
    error: Arc<dyn StdError + Send + Sync>,
}

impl SourceError {
    /// Adds three things to an error: the nearest of the library's codes, the source's own stable name for what
    /// happened, and advice.
    pub fn new(
        code: ErrorCode,
        name: &'static str,
        advice: &'static str,
        error: impl Into<Box<dyn StdError + Send + Sync>>,
    ) -> Self {
        SourceError { code, name, advice, error: error.into().into() }
    }

    /// The one in an error of the system, if there is one.
    pub fn of(error: &io::Error) -> Option<&SourceError> {
        error.get_ref()?.downcast_ref()
    }

    /// The nearest of the library's codes.
    pub fn code(&self) -> ErrorCode {
        self.code
    }

    /// The source's own name for what happened.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// What to do.
    pub fn advice(&self) -> &'static str {
        self.advice
    }
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl StdError for SourceError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(&*self.error)
    }
}

impl From<SourceError> for io::Error {
    fn from(error: SourceError) -> Self {
        io::Error::new(error.code.io_kind().unwrap_or(io::ErrorKind::Other), error)
    }
}

/// The code of a failure of the system.
pub(super) fn code_of(error: &io::Error) -> ErrorCode {
    SourceError::of(error).map_or_else(|| ErrorCode::from(error.kind()), SourceError::code)
}

impl Error {
    /// The name of the code. If the error comes from a source of bytes with [codes of its own](SourceError), its code.
    ///
    /// ```
    /// let error = popef::File::open("no-such-file.popef").unwrap_err();
    /// assert_eq!(error.code_name(), "not-found");
    /// ```
    pub fn code_name(&self) -> &'static str {
        self.of_source().map_or_else(|| self.code().as_str(), SourceError::name)
    }

    /// What to do: the advice of the code, or of the source of bytes.
    pub fn advice(&self) -> &'static str {
        self.of_source().map_or_else(|| self.code().advice(), SourceError::advice)
    }

    fn of_source(&self) -> Option<&SourceError> {
        StdError::source(self)?.downcast_ref().and_then(SourceError::of)
    }
}
