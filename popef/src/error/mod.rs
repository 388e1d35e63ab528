//! The error type of this library: a problem, and its place in a file.
//!
//! Each [`Error`] has a stable [`ErrorCode`], and each code belongs to an [`ErrorKind`].

mod advice;
mod code;
mod info;
mod kind;
mod location;
mod of_source;
mod problem;
mod system;

use std::fmt;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

pub use advice::Advice;
#[doc(hidden)]
pub use advice::word_advice;
pub use code::ErrorCode;
pub use info::CodeInfo;
pub use kind::ErrorKind;
pub use location::Location;
pub use of_source::SourceError;

pub use crate::names::UnknownName;
pub(crate) use problem::problems;
#[doc(hidden)]
pub use problem::{Facts, Problem, counted};
pub(crate) use system::SystemProblem;
#[doc(hidden)]
pub use system::{out_of_memory, push, with_room_for};

/// What went wrong, and where.
///
/// The text is one line: the file, the blob, the byte, what was needed and what was found. [`advice`](Error::advice) says
/// what to do. Programs decide by the [code](Error::code) or the [kind](Error::kind).
///
/// ```
/// let cut = &std::fs::read("examples/data/executable.popef")?[..2000];
/// let error = popef::File::from_bytes(cut.to_vec()).unwrap_err();
/// assert_eq!(error.code(), popef::error::ErrorCode::BlobCut);
/// assert_eq!(error.kind(), popef::error::ErrorKind::Damaged);
/// assert_eq!((error.blob(), error.offset()), (Some(1), Some(1648)));
/// assert_eq!((error.needed(), error.found()), (Some(1288), Some(352)));
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Conversion to `std::io::Error`
///
/// `std::io::Read` and `std::io::Write` allow only [`io::Error`]. This error is then wrapped in one of the
/// [nearest kind](ErrorCode::io_kind). `downcast` and `get_ref` give it back:
///
/// ```
/// use popef::error::ErrorCode;
/// use popef::{Error, File};
///
/// # fn read(bytes: Vec<u8>) -> std::io::Result<()> {
/// let file = File::from_bytes(bytes)?;
/// # Ok(())
/// # }
/// # let bytes = std::fs::read("examples/data/executable.popef")?;
/// # let error = read(bytes[..2000].to_vec()).unwrap_err();
/// assert_eq!(error.kind(), std::io::ErrorKind::UnexpectedEof);
/// let error = error.downcast::<Error>()?;
/// assert_eq!(error.code(), ErrorCode::BlobCut);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone)]
pub struct Error(Box<Inner>);

#[derive(Clone)]
struct Inner {
    problem: Problem,
    path: Option<PathBuf>,
    location: Location,
    blob_range: Option<Range<u64>>,
}

/// The source of an error.
pub type Cause<'e> = &'e (dyn std::error::Error + 'static);

impl Error {
    pub(crate) fn at(problem: Problem, blob: usize, offset: u64) -> Self {
        let location = Location { blob: Some(blob), offset: Some(offset) };
        Error(Box::new(Inner { problem, path: None, location, blob_range: None }))
    }

    /// A system error during an operation on a file.
    pub(crate) fn io(path: Option<&Path>, doing: &'static str, source: io::Error) -> Self {
        Error::from(Problem::io(doing, source)).in_file(path)
    }

    /// Replaces the problem and keeps the place.
    pub(crate) fn map_problem<P: Into<Problem>>(mut self, to: impl FnOnce(Problem) -> P) -> Self {
        self.0.problem = to(self.0.problem).into();
        self
    }

    /// What is wrong, without the place.
    #[doc(hidden)]
    pub fn problem(&self) -> Problem {
        self.0.problem.clone()
    }

    /// Sets the number of the blob that the error is about.
    pub(crate) fn in_blob(mut self, blob: usize) -> Self {
        self.0.location.blob = Some(blob);
        self
    }

    /// Sets the place of the blob that the error is about.
    pub(crate) fn in_blob_at(mut self, range: Option<Range<u64>>) -> Self {
        self.0.blob_range = range;
        self
    }

    /// Sets the file that the error is about, unless it is already set.
    pub(crate) fn in_file(mut self, path: Option<&Path>) -> Self {
        if let Some(path) = path {
            self.0.path.get_or_insert_with(|| path.to_owned());
        }
        self
    }

    /// The stable code of the error.
    ///
    /// ```
    /// use popef::error::ErrorCode;
    /// use popef::write::CreateOptions;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("model.popef");
    /// # std::fs::write(&path, "precious")?;
    /// match CreateOptions::new().overwrite(false).create(&path) {
    ///     Ok(writer) => drop(writer.finish()?),
    ///     Err(error) if error.code() == ErrorCode::FileExists => println!("{} already exists", path.display()),
    ///     Err(error) => return Err(error.into()),
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn code(&self) -> ErrorCode {
        self.0.problem.code()
    }

    /// The kind of the error, which follows from its code.
    pub fn kind(&self) -> ErrorKind {
        self.code().kind()
    }

    /// The path of the file, if it has one.
    pub fn path(&self) -> Option<&Path> {
        self.0.path.as_deref()
    }

    /// The place in the file.
    pub fn location(&self) -> Location {
        self.0.location
    }

    /// The index of the blob, if the error is about one.
    pub fn blob(&self) -> Option<usize> {
        self.0.location.blob
    }

    /// The byte of the file that the error is about: the first byte of the faulty message or data.
    pub fn offset(&self) -> Option<u64> {
        self.0.location.offset
    }

    /// The blob's byte range in the file, if its header can be read but its info cannot. The next blob begins at the
    /// end of the range, where [`File::past_damage`](crate::File::past_damage) continues.
    ///
    /// ```
    /// let mut bytes = std::fs::read("examples/data/executable.popef")?;
    /// let size = popef::File::from_bytes(bytes.clone())?.blob(0).map_or(0, |blob| blob.size());
    /// bytes[56..64].fill(0xff); // in the info of the first blob
    /// let error = popef::File::from_bytes(bytes).unwrap_err();
    /// assert_eq!((error.blob(), error.blob_range()), (Some(0), Some(0..size)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn blob_range(&self) -> Option<Range<u64>> {
        self.0.blob_range.clone()
    }

    /// How much was needed, if that is a number.
    pub fn needed(&self) -> Option<u64> {
        self.0.problem.needed()
    }

    /// How much was found, if that is a number.
    pub fn found(&self) -> Option<u64> {
        self.0.problem.found()
    }

    /// Whether the file's content is the cause, and not a failure to read it.
    pub fn is_about_the_file(&self) -> bool {
        matches!(self.kind(), ErrorKind::Damaged | ErrorKind::Unknown | ErrorKind::Limit)
    }

    /// The text without the file, the blob and the byte, for callers that show these separately.
    pub fn reason(&self) -> String {
        self.0.problem.to_string()
    }

    /// What to do: the advice of the [code](Self::info), or better one if other blobs of a damaged file can be found.
    ///
    /// ```
    /// use popef::error::Advice;
    ///
    /// let cut = &std::fs::read("examples/data/executable.popef")?[..2000];
    /// let error = popef::File::from_bytes(cut.to_vec()).unwrap_err();
    /// assert_eq!(error.advice(), Advice::KeepBlobsBefore);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn advice(&self) -> Advice {
        use ErrorCode::{
            BlobCut, BlobTooSmall, BlobUnwritten, HeaderCut, HeaderTooLong, InfoPastEnd, MalformedMessage,
            TooManySegments,
        };
        let leaves_others = self.0.blob_range.is_some() || self.blob() > Some(0);
        match self.code() {
            HeaderCut | BlobCut | BlobUnwritten if leaves_others => Advice::KeepBlobsBefore,
            BlobTooSmall | HeaderTooLong | InfoPastEnd | MalformedMessage | TooManySegments if leaves_others => {
                Advice::KeepWholeBlobs
            }
            _ => self.info().advice,
        }
    }
}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        Error(Box::new(Inner { problem, path: None, location: Location::default(), blob_range: None }))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.0.path {
            write!(f, "{}: ", path.display())?;
        }
        write!(f, "{}{}", self.0.location, self.0.problem)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("code", &self.code())
            .field("kind", &self.kind())
            .field("path", &self.0.path)
            .field("blob", &self.blob())
            .field("offset", &self.offset())
            .field("problem", &self.0.problem)
            .finish()
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.problem.source()
    }
}

/// Wraps the error so that it can pass through `std::io`. [`io::Error::downcast`] gives it back.
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        let of_the_system = || {
            let source = std::error::Error::source(&error)?;
            source.downcast_ref().map(io::Error::kind)
        };
        let kind = error.code().io_kind().or_else(of_the_system);
        io::Error::new(kind.unwrap_or(io::ErrorKind::Other), error)
    }
}
