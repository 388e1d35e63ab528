use std::fmt;
use std::io;

use popef::Error;
use popef::error::{ErrorCode, ErrorKind, Location};
use serde::Serialize;

/// What could not be read or shown, and where in its file.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Failure {
    message: String,
    /// The library's names for kind and code, or those of [`NOT_POPEF`].
    kind: &'static str,
    code: &'static str,
    blob: Option<usize>,
    offset: Option<u64>,
    needed: Option<u64>,
    found: Option<u64>,
}

/// Kind and code of a file that is something else, which the library cannot tell from a damaged one.
const NOT_POPEF: (&str, &str) = ("notPopef", "not-popef");

impl Failure {
    fn new(message: String, (kind, code): (&'static str, &'static str)) -> Self {
        Failure { message, kind, code, blob: None, offset: None, needed: None, found: None }
    }

    pub(crate) fn not_popef(message: String) -> Self {
        Failure::new(message, NOT_POPEF)
    }

    /// What could not be done, and why.
    pub(crate) fn io(doing: &str, error: &io::Error) -> Self {
        Failure::new(format!("cannot {doing}: {error}"), names(error.kind().into()))
    }

    /// The same, at a place that the library could not know.
    pub(crate) fn at(self, blob: usize, offset: u64) -> Self {
        Failure { blob: Some(blob), offset: Some(offset), ..self }
    }

    /// Whether the first blob could not be read, as of every file that is something else.
    pub(crate) fn is_at_start(&self) -> bool {
        self.kind == ErrorKind::Damaged.as_str() && self.blob == Some(0)
    }

    /// The text without the place.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }
}

/// What is wrong with the parts of one file. Each is shown in its place; here the first ones are kept, to be told again
/// at the end, for a file of millions of blobs may have as many.
#[derive(Default)]
pub(crate) struct Failures {
    first: Vec<Failure>,
    more: u64,
}

impl Failures {
    const MOST: usize = 100;

    pub(crate) fn push(&mut self, failure: &Failure) {
        if self.first.len() < Self::MOST {
            self.first.push(failure.clone());
        } else {
            self.more = self.more.saturating_add(1);
        }
    }

    /// A line for each, and one that tells how many were left out.
    pub(crate) fn lines(&self) -> impl Iterator<Item = String> {
        let more = (self.more > 0).then(|| format!("{} more are shown in their places", self.more));
        self.first.iter().map(ToString::to_string).chain(more)
    }
}

impl From<&Error> for Failure {
    fn from(error: &Error) -> Self {
        Failure {
            blob: error.blob(),
            offset: error.offset(),
            needed: error.needed(),
            found: error.found(),
            ..Failure::new(error.reason(), names(error.code()))
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::from(&error)
    }
}

/// An error of the library that travelled through a reader, or one of the system.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.downcast::<Error>() {
            Ok(error) => error.into(),
            Err(error) => Failure::io("read the data", &error),
        }
    }
}

/// Kind and code as they are shown.
fn names(code: ErrorCode) -> (&'static str, &'static str) {
    (code.kind().as_str(), code.as_str())
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Failure { blob, offset, message, .. } = self;
        write!(f, "{}{message}", Location { blob: *blob, offset: *offset })
    }
}
