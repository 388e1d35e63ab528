use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) use crate::problem::{Left, Message, Problem};

/// What went wrong, and where.
///
/// The text says all of it in one line: the file, the blob, the byte, what was needed and what was found.
///
/// ```
/// let cut = &std::fs::read("../testdata/interop/executable.popef")?[..2000];
/// let error = popef::File::from_bytes(cut.to_vec()).unwrap_err();
/// assert_eq!(error.kind(), popef::ErrorKind::Damaged);
/// assert_eq!((error.blob(), error.offset()), (Some(1), Some(1648)));
/// assert_eq!((error.needed(), error.found()), (Some(1288), Some(352)));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone)]
pub struct Error(Box<Inner>);

#[derive(Clone)]
struct Inner {
    problem: Arc<Problem>,
    path: Option<PathBuf>,
    blob: Option<usize>,
    offset: Option<u64>,
}

/// Whose fault an [`Error`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The file's bytes are not what the format demands.
    Damaged,
    /// The caller asked for something that is not there, or not of this kind.
    Usage,
    /// Reading on would cost more than a limit allows; see [`Limits`](crate::Limits).
    Limit,
    /// The file was changed by somebody else after it was opened.
    Changed,
    /// Another program, or another writer of this one, is writing the file.
    Busy,
    /// The system could not read or write.
    Io,
}

impl Error {
    pub(crate) fn at(problem: Problem, blob: usize, offset: u64) -> Self {
        Error(Box::new(Inner { problem: Arc::new(problem), path: None, blob: Some(blob), offset: Some(offset) }))
    }

    /// An error of the system while doing something with a file.
    pub(crate) fn io(path: Option<&Path>, doing: &'static str, source: io::Error) -> Self {
        Error::from(Problem::Io { doing, source }).in_file(path)
    }

    /// The same error, of a file that was to be appended to.
    pub(crate) fn before_append(mut self) -> Self {
        self.0.problem = Arc::new(Problem::BeforeAppend(self.0.problem));
        self
    }

    /// The same error with the file it is about.
    pub(crate) fn in_file(mut self, path: Option<&Path>) -> Self {
        if let Some(path) = path {
            self.0.path.get_or_insert_with(|| path.to_owned());
        }
        self
    }

    /// Whose fault it is.
    pub fn kind(&self) -> ErrorKind {
        self.0.problem.kind()
    }

    /// The file, if it came from a path.
    pub fn path(&self) -> Option<&Path> {
        self.0.path.as_deref()
    }

    /// The index of the blob, if it is about one.
    pub fn blob(&self) -> Option<usize> {
        self.0.blob
    }

    /// The byte of the file that it is about: the first one of the message or the data at fault.
    pub fn offset(&self) -> Option<u64> {
        self.0.offset
    }

    /// How much was needed, where that is a number.
    pub fn needed(&self) -> Option<u64> {
        self.0.problem.figures().0
    }

    /// How much was found, where that is a number.
    pub fn found(&self) -> Option<u64> {
        self.0.problem.figures().1
    }

    /// Whether it tells of the file as it is, and not of a failure to read it.
    pub(crate) fn is_about_the_file(&self) -> bool {
        match self.problem() {
            Problem::OutOfMemory { .. } | Problem::AddressSpace { .. } => false,
            problem => matches!(problem.kind(), ErrorKind::Damaged | ErrorKind::Limit),
        }
    }

    pub(crate) fn problem(&self) -> &Problem {
        &self.0.problem
    }

    /// The text without the file, the blob and the byte, for those who show these themselves.
    pub fn reason(&self) -> String {
        self.0.problem.to_string()
    }
}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        Error(Box::new(Inner { problem: Arc::new(problem), path: None, blob: None, offset: None }))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.0.path {
            write!(f, "{}: ", path.display())?;
        }
        match (self.0.blob, self.0.offset) {
            (Some(blob), Some(offset)) => write!(f, "blob {blob}, byte {offset}: ")?,
            (Some(blob), None) => write!(f, "blob {blob}: ")?,
            (None, Some(offset)) => write!(f, "byte {offset}: ")?,
            (None, None) => {}
        }
        write!(f, "{}", self.0.problem)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.kind())
            .field("path", &self.0.path)
            .field("blob", &self.0.blob)
            .field("offset", &self.0.offset)
            .field("problem", &self.0.problem)
            .finish()
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.problem.source()
    }
}

/// So that an error travels through `std::io::Read`; [`io::Error::get_ref`] gives it back.
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        let kind = match error.kind() {
            ErrorKind::Damaged | ErrorKind::Changed => io::ErrorKind::InvalidData,
            ErrorKind::Usage => io::ErrorKind::InvalidInput,
            ErrorKind::Limit => io::ErrorKind::OutOfMemory,
            ErrorKind::Busy => io::ErrorKind::ResourceBusy,
            ErrorKind::Io => match &*error.0.problem {
                Problem::Io { source, .. } => source.kind(),
                _ => io::ErrorKind::Other,
            },
        };
        io::Error::new(kind, error)
    }
}
