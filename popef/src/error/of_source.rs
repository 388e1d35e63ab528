use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::sync::Arc;

use super::Error;
use super::code::ErrorCode;
use super::info::CodeInfo;

/// A failure of a source of bytes that has a code and advice of its own.
///
/// A [`ReadAt`](crate::read::ReadAt) returns it in an `io::Error`. The library's error then has the nearest of the library's codes,
/// so programs that know nothing of the source still know the kind. [`Error::info`] is the source's.
///
/// ```
/// use std::io;
///
/// use popef::OpenOptions;
/// use popef::error::{Advice, CodeInfo, ErrorCode, ErrorKind, SourceError};
/// use popef::read::ReadAt;
///
/// const TORN: CodeInfo = CodeInfo::new("tape-torn", ErrorKind::Io, "The tape is torn.", Advice::Say("Mend it."));
///
/// struct Tape;
///
/// impl ReadAt for Tape {
///     fn size(&self) -> u64 {
///         1000
///     }
///
///     fn read_exact_at(&self, _: &mut [u8], _: u64) -> io::Result<()> {
///         Err(SourceError::new(ErrorCode::Io, TORN, "the tape is torn").into())
///     }
/// }
///
/// let error = OpenOptions::new().source(Tape).unwrap_err();
/// assert_eq!((error.code(), error.info()), (ErrorCode::Io, TORN));
/// ```
#[derive(Clone, Debug)]
pub struct SourceError {
    nearest: ErrorCode,
    info: CodeInfo,
    error: Arc<dyn StdError + Send + Sync>,
}

impl SourceError {
    /// Adds two things to an error: the nearest of the library's codes, and what the source's own table says.
    pub fn new(
        nearest: ErrorCode,
        info: impl Into<CodeInfo>,
        error: impl Into<Box<dyn StdError + Send + Sync>>,
    ) -> Self {
        SourceError { nearest, info: info.into(), error: error.into().into() }
    }

    /// The one in an error of the system, if there is one.
    pub fn of(error: &io::Error) -> Option<&SourceError> {
        error.get_ref()?.downcast_ref()
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
        io::Error::new(error.nearest.io_kind().unwrap_or(io::ErrorKind::Other), error)
    }
}

/// The code of a failure of the system.
pub(super) fn code_of(error: &io::Error) -> ErrorCode {
    SourceError::of(error).map_or_else(|| ErrorCode::from(error.kind()), |own| own.nearest)
}

impl CodeInfo {
    /// What is known of a failure of the system, which may be that of a source of bytes.
    pub fn of(error: &io::Error) -> Self {
        SourceError::of(error).map_or_else(|| ErrorCode::from(error.kind()).info(), |own| own.info)
    }
}

impl Error {
    /// What is known of the code. If the error comes from a source of bytes with [codes of its own](SourceError), that
    /// is its code.
    ///
    /// ```
    /// let error = popef::File::open("no-such-file.popef").unwrap_err();
    /// assert_eq!((error.info().name, error.info().advice.words()), ("not-found", "Check the path."));
    /// ```
    pub fn info(&self) -> CodeInfo {
        let source = StdError::source(self).and_then(<dyn StdError>::downcast_ref).and_then(SourceError::of);
        source.map_or_else(|| self.code().info(), |own| own.info)
    }
}
