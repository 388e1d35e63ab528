use std::fmt;
use std::io;

use serde_json::error::Category;

/// Why a JSON file of a framework cannot be read, or not to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadError {
    /// What kind of problem it is.
    pub kind: ReadErrorKind,
    /// What is wrong, without the place.
    pub message: String,
    /// The line of the problem, from 1 on. The files often have one line.
    pub line: usize,
    /// The byte of the line, from 1 on.
    pub column: usize,
}

/// What kind of problem a [`ReadError`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReadErrorKind {
    /// The file ends too early.
    Cut,
    /// The file is not JSON, as the framework or as others write it.
    NotJson,
    /// The JSON does not have the form of a file of this kind.
    WrongForm,
    /// The bytes cannot be read.
    Unreadable(io::ErrorKind),
}

impl ReadError {
    /// An error of a reader of such files.
    pub fn new(kind: ReadErrorKind, message: String, line: usize, column: usize) -> Self {
        ReadError { kind, message, line, column }
    }
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        ReadError::new(ReadErrorKind::Unreadable(error.kind()), error.to_string(), 1, 1)
    }
}

impl From<serde_json::Error> for ReadError {
    fn from(error: serde_json::Error) -> Self {
        let kind = match error.classify() {
            Category::Eof => ReadErrorKind::Cut,
            Category::Syntax => ReadErrorKind::NotJson,
            Category::Data => ReadErrorKind::WrongForm,
            Category::Io => ReadErrorKind::Unreadable(error.io_error_kind().unwrap_or(io::ErrorKind::Other)),
        };
        let (line, column) = (error.line(), error.column());
        let mut message = error.to_string();
        if let Some(end) = message.rfind(" at line ") {
            message.truncate(end);
        }
        // A value of the wrong type can be a text of any length.
        if message.len() > MESSAGE {
            message.truncate((0..=MESSAGE).rev().find(|&at| message.is_char_boundary(at)).unwrap_or_default());
            message.push_str("...");
        }
        ReadError { kind, message, line, column }
    }
}

/// The maximum length of a message, in bytes.
const MESSAGE: usize = 200;

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, byte {}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for ReadError {}
