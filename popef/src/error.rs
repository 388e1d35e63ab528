use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::types::DataType;

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
pub struct Error(Box<Inner>);

struct Inner {
    problem: Problem,
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
    /// The system could not read or write.
    Io,
}

/// Which of a blob's two messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Message {
    Header,
    Info,
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Message::Header => "header",
            Message::Info => "info",
        })
    }
}

/// Everything that can be wrong, with the figures. The texts are made from it, in one place.
#[derive(Debug)]
pub(crate) enum Problem {
    HeaderCut {
        needed: u64,
        found: u64,
    },
    SegmentCount {
        message: Message,
        found: u64,
    },
    HeaderTooLong {
        needed: u64,
        limit: u64,
    },
    InfoPastEnd {
        needed: u64,
        found: u64,
    },
    SizeTooSmall {
        needed: u64,
        found: u64,
    },
    SizePastEnd {
        needed: u64,
        found: u64,
    },
    Message {
        message: Message,
        field: &'static str,
        source: capnp::Error,
    },
    ListStep {
        message: Message,
        field: &'static str,
    },
    DataShort {
        needed: u64,
        found: u64,
    },
    NegativeDimension {
        dimension: usize,
        extent: i64,
    },
    ShapeTooLarge,
    UnknownDataType {
        number: u16,
    },
    NotBool {
        element: u64,
        value: u8,
    },
    Compressed {
        source: io::Error,
    },
    CompressedTail {
        found: u64,
    },
    UnpackedShort {
        needed: u64,
        found: u64,
    },
    UnpackedLong {
        needed: u64,
    },
    UnknownCompression {
        first: [u8; 4],
    },
    #[cfg_attr(all(feature = "lz4", feature = "zstd"), expect(dead_code, reason = "all were built"))]
    CompressionNotBuilt {
        format: &'static str,
        feature: &'static str,
    },
    WrongType {
        asked: DataType,
        held: DataType,
    },
    NoSuchItem {
        asked: u32,
        held: u32,
    },
    NoSuchRange {
        end: u64,
        len: u64,
    },
    NotNumeric {
        data_type: DataType,
    },
    DataNotKept,
    InfoTooLong {
        needed: u64,
        limit: u64,
    },
    TooManyVisits {
        message: Message,
        limit: u32,
    },
    TooMuchMemory {
        needed: u64,
        limit: u64,
    },
    TooManyBlobs,
    OutOfMemory {
        needed: u64,
    },
    AddressSpace {
        needed: u64,
    },
    Changed,
    Io {
        doing: &'static str,
        source: io::Error,
    },
}

impl Problem {
    fn kind(&self) -> ErrorKind {
        match self {
            Problem::HeaderCut { .. }
            | Problem::SegmentCount { .. }
            | Problem::HeaderTooLong { .. }
            | Problem::InfoPastEnd { .. }
            | Problem::SizeTooSmall { .. }
            | Problem::SizePastEnd { .. }
            | Problem::Message { .. }
            | Problem::ListStep { .. }
            | Problem::DataShort { .. }
            | Problem::NegativeDimension { .. }
            | Problem::ShapeTooLarge
            | Problem::NotBool { .. }
            | Problem::Compressed { .. }
            | Problem::CompressedTail { .. }
            | Problem::UnpackedShort { .. }
            | Problem::UnpackedLong { .. }
            | Problem::UnknownCompression { .. } => ErrorKind::Damaged,
            Problem::UnknownDataType { .. }
            | Problem::CompressionNotBuilt { .. }
            | Problem::WrongType { .. }
            | Problem::NoSuchItem { .. }
            | Problem::NoSuchRange { .. }
            | Problem::NotNumeric { .. }
            | Problem::DataNotKept => ErrorKind::Usage,
            Problem::InfoTooLong { .. }
            | Problem::TooManyVisits { .. }
            | Problem::TooMuchMemory { .. }
            | Problem::TooManyBlobs
            | Problem::OutOfMemory { .. }
            | Problem::AddressSpace { .. } => ErrorKind::Limit,
            Problem::Changed => ErrorKind::Changed,
            Problem::Io { .. } => ErrorKind::Io,
        }
    }

    /// What was needed and what was found, where the two are numbers.
    fn figures(&self) -> (Option<u64>, Option<u64>) {
        match *self {
            Problem::HeaderCut { needed, found }
            | Problem::InfoPastEnd { needed, found }
            | Problem::SizeTooSmall { needed, found }
            | Problem::SizePastEnd { needed, found }
            | Problem::DataShort { needed, found }
            | Problem::UnpackedShort { needed, found } => (Some(needed), Some(found)),
            Problem::SegmentCount { found, .. } => (None, Some(found)),
            Problem::UnpackedLong { needed } => (Some(needed), None),
            Problem::CompressedTail { found } => (Some(0), Some(found)),
            Problem::NoSuchItem { asked, held } => (Some(asked.into()), Some(held.into())),
            Problem::NoSuchRange { end, len } => (Some(end), Some(len)),
            Problem::HeaderTooLong { needed, limit }
            | Problem::InfoTooLong { needed, limit }
            | Problem::TooMuchMemory { needed, limit } => (Some(needed), Some(limit)),
            Problem::OutOfMemory { needed } | Problem::AddressSpace { needed } => (Some(needed), None),
            _ => (None, None),
        }
    }

    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Problem::Message { source, .. } => Some(source),
            Problem::Compressed { source } | Problem::Io { source, .. } => Some(source),
            _ => None,
        }
    }

    /// The error of this problem at a byte of a blob.
    pub(crate) fn at(self, blob: usize, offset: u64) -> Error {
        Error(Box::new(Inner { problem: self, path: None, blob: Some(blob), offset: Some(offset) }))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::HeaderCut { needed, found } => write!(
                f,
                "the header is cut off: it needs {needed} bytes, the file has {found} left; \
                 copy or export the file again, or keep the blobs before this one"
            ),
            Problem::SegmentCount { message, found } => write!(
                f,
                "the {message} message claims {found} segments, more than the 511 that any reader accepts; \
                 this is not a PopEF file, or its bytes were overwritten here"
            ),
            Problem::HeaderTooLong { needed, limit } => write!(
                f,
                "the header message's segment table claims {needed} bytes where a header has at most {limit}; \
                 this is not a PopEF file, or its bytes were overwritten here"
            ),
            Problem::InfoPastEnd { needed, found } => write!(
                f,
                "the info message's segment table claims {needed} bytes, more than the rest of the file; \
                 the blob has {found} left for it, and its bytes were overwritten here"
            ),
            Problem::SizeTooSmall { needed, found } => write!(
                f,
                "the header gives the blob {found} bytes, but its header and info alone need {needed}; \
                 the size was never filled in or was overwritten, export the file again"
            ),
            Problem::SizePastEnd { needed, found } => write!(
                f,
                "the blob is incomplete: its header gives it {needed} bytes, the file has {found} left; \
                 copy or export the file again, or keep the blobs before this one"
            ),
            Problem::Message { message, field, source } => write!(
                f,
                "the {message} message cannot be read at {field}: {}; \
                 its bytes were overwritten or written by a faulty program, export the file again",
                lower_case_phrase(source)
            ),
            Problem::ListStep { message, field } => write!(
                f,
                "the {message} message cannot be read at {field}: its elements are not 64-bit numbers side by side; \
                 its bytes were overwritten or written by a faulty program, export the file again"
            ),
            Problem::DataShort { needed, found } => {
                write!(f, "the data is too short: shape and type call for {needed} bytes, the blob holds {found}")
            }
            Problem::NegativeDimension { dimension, extent } => {
                write!(f, "dimension {dimension} of the shape is {extent}, which no tensor can have")
            }
            Problem::ShapeTooLarge => f.write_str("the shape calls for more bytes than 64 bits can count"),
            Problem::UnknownDataType { number } => {
                write!(f, "data type {number} is not known, so neither is the size of its elements")
            }
            Problem::NotBool { element, value } => {
                write!(f, "element {element} is {value:#04x}, but a bool is 0 or 1")
            }
            Problem::Compressed { source } => {
                write!(f, "the compressed data is damaged: {}", lower_case_phrase(source))
            }
            Problem::CompressedTail { found } => {
                write!(f, "{found} bytes follow the end of the compressed data, and nothing says what they are")
            }
            Problem::UnpackedShort { needed, found } => {
                write!(f, "the data unpacks to {found} bytes, the blob says {needed}")
            }
            Problem::UnpackedLong { needed } => {
                write!(f, "the data unpacks to more than the {needed} bytes that the blob says")
            }
            Problem::UnknownCompression { first } => {
                let [a, b, c, d] = first;
                write!(
                    f,
                    "the data is compressed in a way that is not known: it begins {a:02x} {b:02x} {c:02x} {d:02x}, \
                     and is not zlib, gzip, zstd or an LZ4 frame"
                )
            }
            Problem::CompressionNotBuilt { format, feature } => {
                write!(f, "the data is compressed with {format}, and popef was built without its feature {feature:?}")
            }
            Problem::WrongType { asked, held } => {
                write!(f, "elements of type {asked} were asked for, but they are {held}")
            }
            Problem::NoSuchItem { asked, held } => write!(f, "item {asked} was asked for, but the feed has {held}"),
            Problem::NoSuchRange { end, len } => {
                write!(f, "a range up to {end} was asked for, but there are only {len}")
            }
            Problem::NotNumeric { data_type } => {
                write!(
                    f,
                    "elements of type {data_type} cannot be shown as numbers: the file does not say what its bits mean"
                )
            }
            Problem::DataNotKept => {
                f.write_str("the data was passed over while reading a stream; open the file itself to read it")
            }
            Problem::InfoTooLong { needed, limit } => {
                write!(
                    f,
                    "the info message has {needed} bytes, more than the limit of {limit}; raise the limit if the file is trusted"
                )
            }
            Problem::TooManyVisits { message, limit } => write!(
                f,
                "the {message} message's pointers share so much that reading it would visit more than {limit} times its length; \
                 no exporter writes that, do not trust the file"
            ),
            Problem::TooMuchMemory { needed, limit } => write!(
                f,
                "the metadata would take more than {limit} bytes of memory, out of proportion to its message (at least {needed}); \
                 no exporter writes that, do not trust the file"
            ),
            Problem::TooManyBlobs => f.write_str("the file has more blobs than can be numbered with 32 bits"),
            Problem::OutOfMemory { needed } => {
                write!(f, "there is not enough memory for {needed} bytes; read the data in parts")
            }
            Problem::AddressSpace { needed } => {
                write!(f, "{needed} bytes do not fit into this machine's address space; read the data in parts")
            }
            Problem::Changed => f.write_str("the file was changed by somebody else after it was opened; open it again"),
            Problem::Io { doing, source } => write!(f, "cannot {doing}: {source}"),
        }
    }
}

/// A foreign error's text as a phrase of ours: the first letter small, no full stop.
fn lower_case_phrase(error: &dyn fmt::Display) -> String {
    let text = error.to_string();
    let text = text.trim_end_matches(['.', ' ', ':']);
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_lowercase().chain(letters).collect(),
        None => String::new(),
    }
}

impl Error {
    /// An error of the system while doing something with a file.
    pub(crate) fn io(path: Option<&Path>, doing: &'static str, source: io::Error) -> Self {
        Error::from(Problem::Io { doing, source }).in_file(path)
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

    /// The text without the file, the blob and the byte, for those who show these themselves.
    pub fn reason(&self) -> String {
        self.0.problem.to_string()
    }
}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        Error(Box::new(Inner { problem, path: None, blob: None, offset: None }))
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
            ErrorKind::Io => match &error.0.problem {
                Problem::Io { source, .. } => source.kind(),
                _ => io::ErrorKind::Other,
            },
        };
        io::Error::new(kind, error)
    }
}
