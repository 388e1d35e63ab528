use std::fmt;
use std::io;

use popef::Error;
use popef::error::{CodeInfo, Location};
use serde::Serialize;

/// What could not be read or shown, and where in its file.
///
/// It comes from an error of the library, or from a program's own message. Its text is `blob 2, byte 2936: ...`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Failure {
    message: Box<str>,
    /// The library's names for kind and code, or those that a program or a source of bytes has added.
    kind: &'static str,
    code: &'static str,
    blob: Option<usize>,
    offset: Option<u64>,
    needed: Option<u64>,
    found: Option<u64>,
    #[serde(skip)]
    leaves_others: bool,
}

impl Failure {
    /// A failure that is not an error of the library, with its own names for kind and code.
    pub fn new(message: String, kind: &'static str, code: &'static str) -> Self {
        Failure { message: message.into(), kind, code, ..Failure::default() }
    }

    /// The same failure at a place that the library could not know.
    pub(crate) fn at(self, blob: usize, offset: u64) -> Self {
        Failure { blob: Some(blob), offset: Some(offset), ..self }
    }

    /// The stable code.
    pub fn code(&self) -> &'static str {
        self.code
    }

    /// The number of the blob in the file, if the failure is about a blob.
    pub fn blob(&self) -> Option<usize> {
        self.blob
    }

    /// Whether other blobs of the damaged file can be found, before or after this one.
    pub fn leaves_others(&self) -> bool {
        self.leaves_others || self.blob > Some(0)
    }

    /// The text without the place.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }
}

/// What is wrong with the blobs of one file.
///
/// Each failure is shown at its blob. The first hundred are kept here, to be repeated at the end: a file of millions of blobs
/// may have millions of failures.
#[derive(Debug, Default)]
pub struct Failures {
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

    /// The first failures.
    pub fn first(&self) -> &[Failure] {
        &self.first
    }

    /// The number of failures that were left out, in words, if there are any.
    pub fn more(&self) -> Option<String> {
        (self.more > 0).then(|| format!("{} more errors are shown above, each at its blob", self.more))
    }
}

impl From<&Error> for Failure {
    fn from(error: &Error) -> Self {
        Failure {
            blob: error.blob(),
            offset: error.offset(),
            needed: error.needed(),
            found: error.found(),
            leaves_others: error.blob_range().is_some(),
            ..Failure::new(error.reason(), error.kind().as_str(), error.info().name)
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
            Err(error) => {
                let CodeInfo { kind, name, .. } = CodeInfo::of(&error);
                Failure::new(format!("cannot read the data: {error}"), kind.as_str(), name)
            }
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Failure { blob, offset, message, .. } = self;
        write!(f, "{}{message}", Location { blob: *blob, offset: *offset })
    }
}
