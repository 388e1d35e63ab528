use std::fmt;
use std::io;

/// Why a dump cannot be read, or not to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DumpError {
    /// What kind of problem it is.
    pub kind: DumpErrorKind,
    /// What is wrong, without the place.
    pub message: String,
    /// The line of the problem, from 1 on. Dumps often have one line.
    pub line: usize,
    /// The byte of the line, from 1 on.
    pub column: usize,
}

/// What kind of problem a [`DumpError`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DumpErrorKind {
    /// The file ends too early.
    Cut,
    /// The file is not JSON, as PopART or as others write it.
    NotJson,
    /// The JSON does not have the form of a dump.
    WrongForm,
    /// The bytes cannot be read.
    Unreadable(io::ErrorKind),
}

impl From<io::Error> for DumpError {
    fn from(error: io::Error) -> Self {
        DumpError { kind: DumpErrorKind::Unreadable(error.kind()), message: error.to_string(), line: 1, column: 1 }
    }
}

impl fmt::Display for DumpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, byte {}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for DumpError {}
