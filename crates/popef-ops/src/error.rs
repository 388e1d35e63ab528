use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use popef::error::{Advice, CodeInfo, ErrorKind};
use popef::seam::codes;
use popef::types::Diagnostic;

codes! {
    /// A failure of an operation itself. Failures of reading, of writing and of the system have the library's codes,
    /// and so has what the library can fail in too, such as a file that exists.
    pub enum Code;

    EmptyInput = "empty-input", Damaged,
        "Standard input, or a pipe, ended without a byte.",
        "Run the program before the pipe alone, to see what it says.";
    NoSuchBlob = "no-such-blob", Request,
        "The file has no such blob.",
        Advice::ListBlobs;
    AmbiguousBlob = "ambiguous-blob", Request,
        "Several blobs fit, and the command works on one.",
        Advice::ListBlobs;
    NothingChosen = "nothing-chosen", Request,
        "What was asked for fits no blob.",
        Advice::ListBlobs;
    WrongArguments = "wrong-arguments", Request,
        "The command line cannot be understood, or its options contradict each other.",
        Advice::SeeHelp;
    NothingWhole = "nothing-whole", Damaged,
        "A damaged file has no whole blob.",
        "Copy or export the file again.";
    OutputIsInput = "output-is-input", Request,
        "The output is one of the files that are read.",
        Advice::ReplaceInput;
    BadArray = "bad-array", Damaged,
        "A file of arrays is damaged, or of another format than its name says.",
        "Save the array again: the file is damaged, or of another format.";
    UnsupportedArray = "unsupported-array", Unsupported,
        "A file has an array of a type or layout that PopEF does not have.",
        "Convert the array to a type that PopEF has, and save it again.";
    Conflict = "conflict", Request,
        "Several files have a blob of the same name and type with other content.",
        Advice::ChooseKept;
    PrefixInside = "prefix-inside", Request,
        "A file begins with bytes that are not PopEF, and would not be the first in the new file.",
        Advice::DropPrefix;
    NothingLeft = "nothing-left", Request,
        "Nothing would be left in the new file.",
        "Drop less.";
    TooManyParts = "too-many-parts", Request,
        "A file would be split into more parts than are useful.",
        "Split in another way, or into larger parts.";
    UnknownField = "unknown-field", Request,
        "Metadata has no such field.",
        "Use a field of the metadata's JSON.";
    WrongValue = "wrong-value", Request,
        "A field cannot have that value.",
        "Give a value that the field can have.";
    NoSuchName = "no-such-name", Request,
        "The file has nothing of that name.",
        "Use a name that the file has.";
    Ambiguous = "ambiguous", Request,
        "What was asked for can mean several things.",
        Advice::ChooseMeant;
    WrongArray = "wrong-array", WrongType,
        "An array has another type or shape than it must have.",
        "Give an array of the type and shape that the file has.";
    NameTaken = "name-taken", Duplicate,
        "There would be two blobs, or two files, of one name.",
        "Choose another name.";
    NewFindings = "new-findings", Request,
        "The new file would have errors that its inputs do not have.",
        Advice::AllowFindings;
    NotVerified = "not-verified", Io,
        "What was read back from the disk differs from what was written.",
        "Try again. If it happens again, check the disk and the memory.";
    BadManifest = "bad-manifest", Damaged,
        "A manifest cannot be read.",
        "Give a manifest of popef hash, or lines of sha256sum or b3sum.";
    BadIndex = "bad-index", Damaged,
        "The index.json of an extracted file cannot be read, or does not fit the folder.",
        "Extract the file again, or correct index.json.";
    BadMetadata = "bad-metadata", Damaged,
        "A JSON file with metadata cannot be read.",
        "Correct the JSON: popef extract writes metadata as it must be.";
    DoesNotFit = "does-not-fit", WrongType,
        "Data has another size, shape or type than its anchor.",
        Advice::WriteUnchecked;
    BadPolicy = "bad-policy", Damaged,
        "A policy cannot be read, or has unknown keys or rules.",
        "Correct the policy: popef explain policy has examples.";
    BadTileFile = "bad-tile-file", Damaged,
        "A file about tiles cannot be read.",
        "Give a file of TensorFlow's or Poplar's, and make it again if it is damaged.";
    BadGraphFile = "bad-graph-file", Damaged,
        "A dump of graphs cannot be read.",
        "Give a dump of PopART's IR, and make it again if it is damaged.";
    BadProfile = "bad-profile", Damaged,
        "A profiling report cannot be read.",
        "Give a profiling report of Poplar (JSON or CBOR), and make it again if it is damaged.";
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
/// assert_eq!(error.describe().advice, "Check the path.");
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
    Own { info: CodeInfo, message: String, advice: Option<String> },
}

impl Error {
    /// An error of an operation's own.
    pub fn new(code: impl Into<CodeInfo>, message: impl Into<String>) -> Self {
        Error::of(Kind::Own { info: code.into(), message: message.into(), advice: None })
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

    /// The same error with advice for this case, which says more than that of its code.
    #[must_use]
    pub fn advising(mut self, words: String) -> Self {
        if let Kind::Own { advice, .. } = &mut self.0.kind {
            *advice = Some(words);
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
            Kind::Own { info, message, advice } => {
                let kind = Kind::Own { info, message: format!("{part}: {message}"), advice };
                Error(Box::new(Inner { kind, path: error.0.path }))
            }
            _ => error,
        }
    }

    /// What is known of the failure's code: a [`Code`], an [`ErrorCode`](popef::error::ErrorCode) of the library, or a
    /// code of the file's source of bytes.
    pub fn info(&self) -> CodeInfo {
        match &self.0.kind {
            Kind::Library(error) => error.info(),
            Kind::System { source, .. } => CodeInfo::of(source),
            Kind::Own { info, .. } => *info,
        }
    }

    /// The stable name of the failure.
    pub fn code(&self) -> &'static str {
        self.info().name
    }

    /// The kind of failure.
    pub fn kind(&self) -> ErrorKind {
        self.info().kind
    }

    /// What to do.
    pub fn advice(&self) -> Advice {
        self.library().map_or_else(|| self.info().advice, popef::Error::advice)
    }

    /// Whether the work was stopped, by [`Progress`](crate::Progress) or by the source of a file.
    pub fn is_stop(&self) -> bool {
        self.kind() == ErrorKind::Stopped
    }

    /// The file that the error is about.
    pub fn path(&self) -> Option<&Path> {
        match &self.0.kind {
            Kind::Library(error) => error.path().or(self.0.path.as_deref()),
            _ => self.0.path.as_deref(),
        }
    }

    /// The error as a plain value.
    pub fn describe(&self) -> Diagnostic {
        let mut described = match &self.0.kind {
            Kind::Library(error) => error.describe(),
            kind => Diagnostic::new(self.info(), kind.to_string()),
        };
        if let Kind::Own { advice: Some(advice), .. } = &self.0.kind {
            described.advice = advice.clone().into();
        }
        match self.path() {
            Some(path) => described.in_file(path),
            None => described,
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
