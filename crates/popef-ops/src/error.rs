use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use popef::error::ErrorCode;

/// One line per code: its name, and what to do.
macro_rules! codes {
    ($( $code:ident = $name:literal, $advice:literal; )+) => {
        /// What went wrong in an operation, if it was not reading, writing or the system: those have the library's codes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Code { $( #[doc = $advice] $code, )+ }

        impl Code {
            /// All codes.
            pub const ALL: &'static [Code] = &[ $( Code::$code, )+ ];

            /// The name of the code, which never changes.
            pub const fn as_str(self) -> &'static str {
                match self { $( Code::$code => $name, )+ }
            }

            /// What to do.
            pub const fn advice(self) -> &'static str {
                match self { $( Code::$code => $advice, )+ }
            }
        }
    };
}

codes! {
    NotPopef = "not-popef", "Give a PopEF file.";
    NoSuchBlob = "no-such-blob", "List the blobs of the file, and choose one of them.";
    AmbiguousBlob = "ambiguous-blob", "Choose by type or by index too.";
    NothingChosen = "nothing-chosen", "List the blobs of the files, and choose some of them.";
    WrongArguments = "wrong-arguments", "See the help of the command.";
    NothingWhole = "nothing-whole", "Copy or export the file again.";
    OutputIsInput = "output-is-input", "Choose another output, or ask for the input to be replaced.";
    FileExists = "file-exists", "Choose another path, or allow overwriting.";
    BadArray = "bad-array", "Save the array again: the file is damaged, or of another format.";
    UnsupportedArray = "unsupported-array", "Convert the array to a type that PopEF has, and save it again.";
    Conflict = "conflict", "Choose which one is kept, or leave one of the files out.";
    PrefixInside = "prefix-inside", "Put that file first, or ask for what comes before PopEF to be dropped.";
    NothingLeft = "nothing-left", "Drop less.";
    TooManyParts = "too-many-parts", "Split in another way, or into larger parts.";
    UnknownField = "unknown-field", "Use a field of the metadata's JSON.";
    WrongValue = "wrong-value", "Give a value that the field can have.";
    NoSuchName = "no-such-name", "Use a name that the file has.";
    Ambiguous = "ambiguous", "Say which one is meant.";
    WrongArray = "wrong-array", "Give an array of the type and shape that the file has.";
    NameTaken = "name-taken", "Choose another name.";
    NewFindings = "new-findings", "Make another change, or allow the findings.";
    NotVerified = "not-verified", "Try again. If it happens again, check the disk and the memory.";
    BadManifest = "bad-manifest", "Give a manifest of popef hash, or lines of sha256sum or b3sum.";
    // The library has it too, for files that are read as PopEF.
    FileChanged = "file-changed", "Try again when nothing else writes the file.";
    BadIndex = "bad-index", "Extract the file again, or correct index.json.";
    BadMetadata = "bad-metadata", "Correct the JSON: popef extract writes metadata as it must be.";
    DoesNotFit = "does-not-fit", "Give data of the shape and type that the anchor has, or pack without checking.";
    Stopped = "stopped", "Nothing. Begin again when you want to.";
}

/// Why an operation failed.
///
/// Its text says what is wrong, and in which file. [`code`](Error::code) is stable, and [`advice`](Error::advice) says what to
/// do.
///
/// ```
/// use popef_ops::Error;
///
/// let error = Error::from(popef::File::open("no-such-file.popef").unwrap_err());
/// assert_eq!(error.code(), "not-found");
/// assert_eq!(error.advice(), "Check the path.");
/// ```
pub struct Error(Box<Inner>);

struct Inner {
    kind: Kind,
    /// The file, if the kind does not know it.
    path: Option<PathBuf>,
}

enum Kind {
    Library(popef::Error),
    System { doing: &'static str, source: io::Error },
    Own { code: Code, message: String },
}

impl Error {
    /// An error of an operation's own.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Error::of(Kind::Own { code, message: message.into() })
    }

    /// A failure of the system. `doing` follows "cannot": `read the folder`.
    pub fn io(doing: &'static str, source: io::Error) -> Self {
        // What a reader of this project wraps.
        let source = match source.downcast::<Error>() {
            Ok(error) => return error,
            Err(source) => source,
        };
        match source.downcast::<popef::Error>() {
            Ok(error) => error.into(),
            Err(source) => Error::of(Kind::System { doing, source }),
        }
    }

    fn of(kind: Kind) -> Self {
        Error(Box::new(Inner { kind, path: None }))
    }

    /// Adds the file, unless the error names one already.
    #[must_use]
    pub fn in_file(mut self, path: impl AsRef<Path>) -> Self {
        if self.path().is_none() {
            self.0.path = Some(path.as_ref().to_owned());
        }
        self
    }

    /// The same error, of a file that the user knows in another folder.
    pub(crate) fn moved(mut self, from: &Path, to: &Path) -> Self {
        if let Some(path) = &self.0.path
            && let Ok(rest) = path.strip_prefix(from)
        {
            self.0.path = Some(to.join(rest));
        }
        self
    }

    /// The same error, of a part of the file that `part` names.
    pub(crate) fn of_part(part: &str, error: Error) -> Self {
        match error.0.kind {
            Kind::Own { code, message } => {
                let kind = Kind::Own { code, message: format!("{part}: {message}") };
                Error(Box::new(Inner { kind, path: error.0.path }))
            }
            _ => error,
        }
    }

    /// The stable name of what went wrong: a [`Code`], or an [`ErrorCode`] of the library.
    pub fn code(&self) -> &'static str {
        match &self.0.kind {
            Kind::Library(error) => error.code().as_str(),
            Kind::System { source, .. } => ErrorCode::from(source.kind()).as_str(),
            Kind::Own { code, .. } => code.as_str(),
        }
    }

    /// What to do.
    pub fn advice(&self) -> &'static str {
        match &self.0.kind {
            Kind::Library(error) => error.code().advice(),
            Kind::System { source, .. } => ErrorCode::from(source.kind()).advice(),
            Kind::Own { code, .. } => code.advice(),
        }
    }

    /// Whether the work was stopped through [`Progress`](crate::Progress).
    pub fn is_stop(&self) -> bool {
        self.code() == Code::Stopped.as_str()
    }

    /// The file that the error is about.
    pub fn path(&self) -> Option<&Path> {
        match &self.0.kind {
            Kind::Library(error) => error.path().or(self.0.path.as_deref()),
            _ => self.0.path.as_deref(),
        }
    }

    /// The library's error, which knows the blob and the byte, if it is one.
    pub fn library(&self) -> Option<&popef::Error> {
        match &self.0.kind {
            Kind::Library(error) => Some(error),
            _ => None,
        }
    }
}

impl From<popef::Error> for Error {
    fn from(error: popef::Error) -> Self {
        Error::of(Kind::Library(error))
    }
}

/// A failure to write.
impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Error::io("write", error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.0.path {
            write!(f, "{}: ", path.display())?;
        }
        match &self.0.kind {
            Kind::Library(error) => error.fmt(f),
            Kind::System { doing, source } => write!(f, "cannot {doing}: {source}"),
            Kind::Own { message, .. } => f.write_str(message),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error").field("code", &self.code()).field("text", &self.to_string()).finish_non_exhaustive()
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match &self.0.kind {
            Kind::Library(error) => error.source(),
            Kind::System { source, .. } => Some(source),
            Kind::Own { .. } => None,
        }
    }
}
