//! Errors as plain values.

#[cfg(feature = "serde")]
mod serde_impls;

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::path::Path;

use crate::error::{CodeInfo, Error, ErrorKind, Location};
use crate::types::Text;

/// An error as a plain value, which all crates of this project make of their errors.
///
/// Its text is `blob 2, byte 2936: ...`, without the file. With the feature `serde`, it serialises as the repository's
/// `docs/error.schema.json` says, and an [`Error`](crate::Error) in the same way.
///
/// ```
/// let cut = &std::fs::read("examples/data/executable.popef")?[..2000];
/// let error = popef::File::from_bytes(cut.to_vec()).unwrap_err().describe();
/// assert_eq!((&*error.code, error.blob, error.needed, error.found), ("blob-cut", Some(1), Some(1288), Some(352)));
/// assert_eq!(error.advice, "Copy or export the file again, or keep the blobs before this one.");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// The stable code of the error.
    pub code: Cow<'static, str>,
    /// The kind of the error.
    pub kind: ErrorKind,
    /// The text of the error, without the file, the blob, the byte and the advice.
    pub message: String,
    /// The file that the error is about.
    pub file: Option<Text<'static>>,
    /// The blob's number in the file, if the error is about a blob.
    pub blob: Option<usize>,
    /// The byte of the file that the error is about.
    pub offset: Option<u64>,
    /// How much was needed, if that is a number.
    pub needed: Option<u64>,
    /// How much was found, if that is a number.
    pub found: Option<u64>,
    /// What to do, in the words of the program that runs.
    pub advice: Cow<'static, str>,
}

impl Diagnostic {
    /// An error with a code, about no file.
    pub fn new(code: impl Into<CodeInfo>, message: impl Into<String>) -> Self {
        let CodeInfo { name, kind, advice, .. } = code.into();
        Diagnostic {
            code: name.into(),
            kind,
            message: message.into(),
            file: None,
            blob: None,
            offset: None,
            needed: None,
            found: None,
            advice: advice.words().into(),
        }
    }

    /// Sets the file, unless the error names one.
    #[must_use]
    pub fn in_file(mut self, path: &Path) -> Self {
        self.file.get_or_insert_with(|| path.as_os_str().as_encoded_bytes().to_owned().into());
        self
    }

    /// Sets the place in the file.
    #[must_use]
    pub fn at(self, blob: usize, offset: u64) -> Self {
        Diagnostic { blob: Some(blob), offset: Some(offset), ..self }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Diagnostic { blob, offset, message, .. } = self;
        write!(f, "{}{message}", Location { blob: *blob, offset: *offset })
    }
}

impl Error {
    /// Returns the error as a plain value.
    pub fn describe(&self) -> Diagnostic {
        let described = Diagnostic {
            blob: self.blob(),
            offset: self.offset(),
            needed: self.needed(),
            found: self.found(),
            advice: self.advice().words().into(),
            ..Diagnostic::new(self.info(), self.reason())
        };
        match self.path() {
            Some(path) => described.in_file(path),
            None => described,
        }
    }
}

impl From<Error> for Diagnostic {
    fn from(error: Error) -> Self {
        error.describe()
    }
}

/// An error of the library that travelled through a reader, or one of the system.
impl From<io::Error> for Diagnostic {
    fn from(error: io::Error) -> Self {
        match error.downcast::<Error>() {
            Ok(error) => error.describe(),
            Err(error) => Diagnostic::new(CodeInfo::of(&error), format!("cannot read the data: {error}")),
        }
    }
}
