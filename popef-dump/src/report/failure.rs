use std::fmt;
use std::io;

use popef::{Error, ErrorKind};
use serde::Serialize;

/// What could not be read or shown, and where in its file.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Failure {
    message: String,
    kind: Kind,
    blob: Option<usize>,
    offset: Option<u64>,
    needed: Option<u64>,
    found: Option<u64>,
}

/// Whose fault it is: the library's kinds, and one for what is no PopEF file at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Kind {
    Damaged,
    Usage,
    Limit,
    Changed,
    Io,
    NotPopef,
}

impl Failure {
    pub(crate) fn not_popef(message: String) -> Self {
        Failure { message, kind: Kind::NotPopef, blob: None, offset: None, needed: None, found: None }
    }

    pub(crate) fn io(message: String) -> Self {
        Failure { kind: Kind::Io, ..Failure::not_popef(message) }
    }

    /// The same, at a place that the library could not know.
    pub(crate) fn at(self, blob: usize, offset: u64) -> Self {
        Failure { blob: Some(blob), offset: Some(offset), ..self }
    }

    /// Whether the first blob could not be read, as of every file that is something else.
    pub(crate) fn is_at_start(&self) -> bool {
        self.kind == Kind::Damaged && self.blob == Some(0)
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
            message: error.reason(),
            kind: kind(error.kind()),
            blob: error.blob(),
            offset: error.offset(),
            needed: error.needed(),
            found: error.found(),
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
            Err(error) => Failure::io(format!("cannot read the data: {error}")),
        }
    }
}

fn kind(kind: ErrorKind) -> Kind {
    match kind {
        ErrorKind::Damaged => Kind::Damaged,
        ErrorKind::Limit => Kind::Limit,
        ErrorKind::Changed => Kind::Changed,
        ErrorKind::Io => Kind::Io,
        _ => Kind::Usage,
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.blob, self.offset) {
            (Some(blob), Some(offset)) => write!(f, "blob {blob}, byte {offset}: ")?,
            (Some(blob), None) => write!(f, "blob {blob}: ")?,
            (None, Some(offset)) => write!(f, "byte {offset}: ")?,
            (None, None) => {}
        }
        f.write_str(&self.message)
    }
}
