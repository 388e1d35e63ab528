use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use popef::error::{ErrorCode, ErrorKind, SourceError};
use serde::Serialize;

/// One entry per code: its name, its kind, what happened, and what to do.
macro_rules! codes {
    ($( $code:ident = $name:literal, $kind:literal, $meaning:literal, $advice:literal; )+) => {
        /// A failure of an operation itself. Failures of reading, of writing and of the system have the library's
        /// codes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Code { $( #[doc = $meaning] #[doc = ""] #[doc = $advice] $code, )+ }

        impl Code {
            /// All codes.
            pub const ALL: &'static [Code] = &[ $( Code::$code, )+ ];

            /// The name of the code, which never changes.
            pub const fn as_str(self) -> &'static str {
                match self { $( Code::$code => $name, )+ }
            }

            /// The kind of failure: an [`ErrorKind`](popef::error::ErrorKind) of the library by its name; `notPopef`,
            /// for a file of another format; or `request`, if the request does not fit the files.
            pub const fn kind(self) -> &'static str {
                match self { $( Code::$code => $kind, )+ }
            }

            /// What happened.
            pub const fn meaning(self) -> &'static str {
                match self { $( Code::$code => $meaning, )+ }
            }

            /// What to do.
            pub const fn advice(self) -> &'static str {
                match self { $( Code::$code => $advice, )+ }
            }
        }
    };
}

codes! {
    NotPopef = "not-popef", "notPopef",
        "The file is of another format, which the message names if it is known.",
        "Give a PopEF file.";
    EmptyInput = "empty-input", "damaged",
        "Standard input, or a pipe, ended without a byte.",
        "Run the program before the pipe alone, to see what it says.";
    NoSuchBlob = "no-such-blob", "request",
        "The file has no such blob.",
        "List the blobs of the file, and choose one of them.";
    AmbiguousBlob = "ambiguous-blob", "request",
        "Several blobs fit, and the command works on one.",
        "Choose by type or by index too.";
    NothingChosen = "nothing-chosen", "request",
        "What was asked for fits no blob.",
        "List the blobs of the files, and choose some of them.";
    WrongArguments = "wrong-arguments", "request",
        "The command line cannot be understood, or its options contradict each other.",
        "See the help of the command.";
    NothingWhole = "nothing-whole", "damaged",
        "A damaged file has no whole blob.",
        "Copy or export the file again.";
    OutputIsInput = "output-is-input", "request",
        "The output is one of the files that are read.",
        "Choose another output, or ask for the input to be replaced.";
    FileExists = "file-exists", "exists",
        "There is a file at the path of the output.",
        "Choose another path, or allow overwriting.";
    // The library has it too, for links at the path of a file.
    InTheWay = "in-the-way", "exists",
        "There is something else than a regular file at the path of the output: a folder, a link, or a device.",
        "Choose another path.";
    BadArray = "bad-array", "damaged",
        "A file of arrays is damaged, or of another format than its name says.",
        "Save the array again: the file is damaged, or of another format.";
    UnsupportedArray = "unsupported-array", "unsupported",
        "A file has an array of a type or layout that PopEF does not have.",
        "Convert the array to a type that PopEF has, and save it again.";
    Conflict = "conflict", "request",
        "Several files have a blob of the same name and type with other content.",
        "Choose which one is kept, or leave one of the files out.";
    PrefixInside = "prefix-inside", "request",
        "A file begins with bytes that are not PopEF, and would not be the first in the new file.",
        "Put that file first, or ask for what comes before PopEF to be dropped.";
    NothingLeft = "nothing-left", "request",
        "Nothing would be left in the new file.",
        "Drop less.";
    TooManyParts = "too-many-parts", "request",
        "A file would be split into more parts than are useful.",
        "Split in another way, or into larger parts.";
    UnknownField = "unknown-field", "request",
        "Metadata has no such field.",
        "Use a field of the metadata's JSON.";
    WrongValue = "wrong-value", "request",
        "A field cannot have that value.",
        "Give a value that the field can have.";
    NoSuchName = "no-such-name", "request",
        "The file has nothing of that name.",
        "Use a name that the file has.";
    Ambiguous = "ambiguous", "request",
        "What was asked for can mean several things.",
        "Say which one is meant.";
    WrongArray = "wrong-array", "wrongType",
        "An array has another type or shape than it must have.",
        "Give an array of the type and shape that the file has.";
    NameTaken = "name-taken", "duplicate",
        "There would be two blobs, or two files, of one name.",
        "Choose another name.";
    NewFindings = "new-findings", "request",
        "The new file would have errors that its inputs do not have.",
        "Make another change, or allow the findings.";
    NotVerified = "not-verified", "io",
        "What was read back from the disk differs from what was written.",
        "Try again. If it happens again, check the disk and the memory.";
    BadManifest = "bad-manifest", "damaged",
        "A manifest cannot be read.",
        "Give a manifest of popef hash, or lines of sha256sum or b3sum.";
    // The library has it too, for files that are read as PopEF.
    FileChanged = "file-changed", "changed",
        "A file changed while it was read.",
        "Try again when nothing else writes the file.";
    BadIndex = "bad-index", "damaged",
        "The index.json of an extracted file cannot be read, or does not fit the folder.",
        "Extract the file again, or correct index.json.";
    BadMetadata = "bad-metadata", "damaged",
        "A JSON file with metadata cannot be read.",
        "Correct the JSON: popef extract writes metadata as it must be.";
    DoesNotFit = "does-not-fit", "wrongType",
        "Data has another size, shape or type than its anchor.",
        "Give data of the shape and type that the anchor has, or write it all the same: popef pack --unchecked.";
    BadPolicy = "bad-policy", "damaged",
        "A policy cannot be read, or has unknown keys or rules.",
        "Correct the policy: popef explain policy has examples.";
    BadTileFile = "bad-tile-file", "damaged",
        "A file about tiles cannot be read.",
        "Give a file of TensorFlow's or Poplar's, and make it again if it is damaged.";
    BadGraphFile = "bad-graph-file", "damaged",
        "A dump of graphs cannot be read.",
        "Give a dump of PopART's IR, and make it again if it is damaged.";
    BadProfile = "bad-profile", "damaged",
        "A profiling report cannot be read.",
        "Give a profiling report of Poplar (JSON or CBOR), and make it again if it is damaged.";
    Stopped = "stopped", "stopped",
        "The work was stopped before its end.",
        "Nothing. Begin again when you want to.";
}

/// Why an operation failed.
///
/// Its text says what is wrong, and in which file. [`code`](Error::code) is stable, and [`advice`](Error::advice) says
/// what to do.
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
        // The error inside an I/O error that a reader of this project returned.
        let source = match source.downcast::<Error>() {
            Ok(error) => return error,
            Err(source) => source,
        };
        match source.downcast::<popef::Error>() {
            Ok(error) => error.into(),
            Err(source) => Error::of(Kind::System { doing, source }),
        }
    }

    /// A failure of copying data from a file to another place. If only writing can fail in this way, the error is not
    /// about the file that was read.
    pub fn of_copy(error: popef::Error) -> Self {
        let source = StdError::source(&error).and_then(<dyn StdError>::downcast_ref::<io::Error>);
        match source.filter(|source| is_of_writing(source.kind())).and_then(io::Error::raw_os_error) {
            Some(code) => Error::io("write the data", io::Error::from_raw_os_error(code)),
            None => error.into(),
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

    /// The same error, about a file that the user knows in another folder.
    pub(crate) fn moved(mut self, from: &Path, to: &Path) -> Self {
        if let Some(path) = &self.0.path
            && let Ok(rest) = path.strip_prefix(from)
        {
            self.0.path = Some(to.join(rest));
        }
        self
    }

    /// The same error, about a part of the file that `part` names.
    pub(crate) fn of_part(part: &str, error: Error) -> Self {
        match error.0.kind {
            Kind::Own { code, message } => {
                let kind = Kind::Own { code, message: format!("{part}: {message}") };
                Error(Box::new(Inner { kind, path: error.0.path }))
            }
            _ => error,
        }
    }

    /// The stable name of the failure: a [`Code`], an [`ErrorCode`] of the library, or a code of the file's source of
    /// bytes.
    pub fn code(&self) -> &'static str {
        match &self.0.kind {
            Kind::Library(error) => error.code_name(),
            Kind::System { source, .. } => of_system(source).0,
            Kind::Own { code, .. } => code.as_str(),
        }
    }

    /// The name of the kind of failure: see [`Code::kind`].
    pub fn kind(&self) -> &'static str {
        match &self.0.kind {
            Kind::Library(error) => error.kind().as_str(),
            Kind::System { source, .. } => of_system(source).1.as_str(),
            Kind::Own { code, .. } => code.kind(),
        }
    }

    /// What to do.
    pub fn advice(&self) -> &'static str {
        match &self.0.kind {
            Kind::Library(error) => error.advice(),
            Kind::System { source, .. } => of_system(source).2,
            Kind::Own { code, .. } => code.advice(),
        }
    }

    /// Whether the work was stopped, by [`Progress`](crate::Progress) or by the source of a file.
    pub fn is_stop(&self) -> bool {
        self.kind() == Code::Stopped.kind()
    }

    /// The file that the error is about.
    pub fn path(&self) -> Option<&Path> {
        match &self.0.kind {
            Kind::Library(error) => error.path().or(self.0.path.as_deref()),
            _ => self.0.path.as_deref(),
        }
    }

    /// The error as a plain value, without the path.
    pub fn describe(&self) -> ErrorReport {
        let library = self.library();
        ErrorReport {
            message: library.map_or_else(|| self.0.kind.to_string(), popef::Error::reason),
            kind: self.kind(),
            code: self.code(),
            blob: library.and_then(popef::Error::blob),
            offset: library.and_then(popef::Error::offset),
            needed: library.and_then(popef::Error::needed),
            found: library.and_then(popef::Error::found),
            advice: self.advice().to_owned(),
        }
    }

    /// The library's error, if this is one. It knows the blob and the byte.
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

/// The name of the code for a failure of the system, its kind, and advice.
fn of_system(error: &io::Error) -> (&'static str, ErrorKind, &'static str) {
    if let Some(own) = SourceError::of(error) {
        return (own.name(), own.code().kind(), own.advice());
    }
    let code = ErrorCode::from(error.kind());
    (code.as_str(), code.kind(), code.advice())
}

fn is_of_writing(kind: io::ErrorKind) -> bool {
    use io::ErrorKind::{BrokenPipe, FileTooLarge, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    matches!(kind, BrokenPipe | FileTooLarge | QuotaExceeded | ReadOnlyFilesystem | StorageFull)
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
        self.0.kind.fmt(f)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
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

/// An [`Error`] in a report, without the path. It has the keys of the library's [`ErrorInfo`](popef::types::ErrorInfo),
/// and advice.
///
/// ```
/// use popef_ops::{Code, Error};
///
/// let report = Error::new(Code::NameTaken, "tensor \"w\" is there already").describe();
/// assert_eq!((report.kind, report.code), ("duplicate", "name-taken"));
/// assert_eq!(report.advice, "Choose another name.");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ErrorReport {
    /// The text of the error, without the file, the blob and the byte.
    pub message: String,
    /// The kind: see [`Code::kind`].
    pub kind: &'static str,
    /// The stable code: see [`Error::code`].
    pub code: &'static str,
    /// The blob's number in the file, if the error is about a blob.
    pub blob: Option<usize>,
    /// The byte of the file that the error is about.
    pub offset: Option<u64>,
    /// How much was needed, if that is a number.
    pub needed: Option<u64>,
    /// How much was found, if that is a number.
    pub found: Option<u64>,
    /// What to do.
    pub advice: String,
}
