//! Everything that can be wrong, and its words, in one place.

use std::collections::TryReserveError;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use crate::error::{Error, ErrorKind};
use crate::types::DataType;

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
        format: &'static str,
        fault: &'static str,
        source: Option<io::Error>,
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
        /// How many of these bytes there are.
        given: usize,
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
        start: u64,
        end: u64,
        len: u64,
    },
    NoSuchElements {
        start: u64,
        end: u64,
        count: u64,
    },
    BufferShort {
        needed: u64,
        found: u64,
    },
    NotNumeric {
        data_type: DataType,
    },
    DataNotKept,
    InfoTooLong {
        needed: u64,
        limit: u64,
    },
    WindowTooLarge {
        needed: u64,
        limit: u64,
    },
    TooDeep {
        message: Message,
        limit: u16,
    },
    TooManyVisits {
        message: Message,
        limit: u32,
    },
    TooManyElements {
        found: u64,
        limit: u64,
    },
    TooMuchMemory {
        needed: u64,
        limit: u64,
    },
    TooManyBlobs,
    TooManyFiles,
    OutOfMemory {
        needed: u64,
    },
    AddressSpace {
        needed: u64,
    },
    Changed,
    /// A file that is being written has another length than what was written.
    Disturbed,
    Io {
        doing: &'static str,
        source: io::Error,
    },
    Unwritten,
    /// What cannot be written, because reading it would be this problem.
    Given(Box<Problem>),
    GivenLength {
        blob: String,
        needed: u64,
        found: u64,
    },
    GivenType {
        blob: String,
        needed: DataType,
        found: DataType,
    },
    BlobShort {
        blob: String,
        needed: u64,
        found: u64,
    },
    NoExecutableName,
    ExecutableTwice {
        name: String,
    },
    TooLongToWrite {
        message: Message,
        needed: u64,
        limit: u64,
    },
    Level {
        level: u32,
    },
    NoSuchFeed {
        asked: usize,
        held: usize,
    },
    FeedFull {
        feed: String,
        held: u32,
    },
    FeedsShort {
        feed: String,
        missing: u32,
        needed: u32,
        others: usize,
    },
    NotUndone,
    Failed,
    Discarded,
    InPlace,
    BeforeAppend(Arc<Problem>),
    Exists,
    SameFile,
    Busy,
    NotPlain,
    FolderNotFlushed {
        source: io::Error,
    },
    /// A failure, and what stayed behind because undoing it failed as well.
    LeftBehind {
        problem: Box<Problem>,
        left: Left,
        source: io::Error,
    },
}

/// What a failed write could not take back.
#[derive(Debug)]
pub(crate) enum Left {
    Temporary(PathBuf),
    Tail { old_len: u64 },
}

impl Problem {
    pub(crate) fn kind(&self) -> ErrorKind {
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
            | Problem::UnknownCompression { .. }
            | Problem::Unwritten => ErrorKind::Damaged,
            Problem::UnknownDataType { .. }
            | Problem::CompressionNotBuilt { .. }
            | Problem::WrongType { .. }
            | Problem::NoSuchItem { .. }
            | Problem::NoSuchRange { .. }
            | Problem::NoSuchElements { .. }
            | Problem::BufferShort { .. }
            | Problem::NotNumeric { .. }
            | Problem::DataNotKept
            | Problem::Given(_)
            | Problem::GivenLength { .. }
            | Problem::GivenType { .. }
            | Problem::BlobShort { .. }
            | Problem::NoExecutableName
            | Problem::ExecutableTwice { .. }
            | Problem::TooLongToWrite { .. }
            | Problem::Level { .. }
            | Problem::NoSuchFeed { .. }
            | Problem::FeedFull { .. }
            | Problem::FeedsShort { .. }
            | Problem::Exists
            | Problem::SameFile
            | Problem::NotPlain => ErrorKind::Usage,
            Problem::InfoTooLong { .. }
            | Problem::TooDeep { .. }
            | Problem::WindowTooLarge { .. }
            | Problem::TooManyVisits { .. }
            | Problem::TooManyElements { .. }
            | Problem::TooMuchMemory { .. }
            | Problem::TooManyBlobs
            | Problem::TooManyFiles
            | Problem::OutOfMemory { .. }
            | Problem::AddressSpace { .. } => ErrorKind::Limit,
            Problem::Changed | Problem::Disturbed => ErrorKind::Changed,
            Problem::Busy => ErrorKind::Busy,
            Problem::Io { .. }
            | Problem::NotUndone
            | Problem::Failed
            | Problem::Discarded
            | Problem::InPlace
            | Problem::FolderNotFlushed { .. } => ErrorKind::Io,
            Problem::LeftBehind { problem, .. } => problem.kind(),
            Problem::BeforeAppend(problem) => problem.kind(),
        }
    }

    /// What was needed and what was found, where the two are numbers.
    pub(crate) fn figures(&self) -> (Option<u64>, Option<u64>) {
        match *self {
            Problem::Given(ref problem) | Problem::LeftBehind { ref problem, .. } => problem.figures(),
            Problem::BeforeAppend(ref problem) => problem.figures(),
            Problem::GivenLength { needed, found, .. } | Problem::BlobShort { needed, found, .. } => {
                (Some(needed), Some(found))
            }
            Problem::FeedsShort { missing, needed, .. } => {
                (Some(needed.into()), Some(needed.saturating_sub(missing).into()))
            }
            Problem::TooLongToWrite { needed, limit, .. } => (Some(needed), Some(limit)),
            Problem::HeaderCut { needed, found }
            | Problem::InfoPastEnd { needed, found }
            | Problem::SizeTooSmall { needed, found }
            | Problem::SizePastEnd { needed, found }
            | Problem::DataShort { needed, found }
            | Problem::UnpackedShort { needed, found } => (Some(needed), Some(found)),
            Problem::SegmentCount { found, .. } => (None, Some(found)),
            Problem::TooManyElements { found, limit } => (Some(found), Some(limit)),
            Problem::UnpackedLong { needed } => (Some(needed), None),
            Problem::CompressedTail { found } => (Some(0), Some(found)),
            Problem::NoSuchItem { asked, held } => (Some(asked.into()), Some(held.into())),
            Problem::NoSuchRange { end, len, .. } => (Some(end), Some(len)),
            Problem::NoSuchElements { end, count, .. } => (Some(end), Some(count)),
            Problem::BufferShort { needed, found } => (Some(needed), Some(found)),
            Problem::HeaderTooLong { needed, limit }
            | Problem::InfoTooLong { needed, limit }
            | Problem::WindowTooLarge { needed, limit }
            | Problem::TooMuchMemory { needed, limit } => (Some(needed), Some(limit)),
            Problem::OutOfMemory { needed } | Problem::AddressSpace { needed } => (Some(needed), None),
            _ => (None, None),
        }
    }

    pub(crate) fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Problem::Message { source, .. } => Some(source),
            Problem::Compressed { source, .. } => source.as_ref().map(|source| source as _),
            Problem::Io { source, .. } | Problem::FolderNotFlushed { source } => Some(source),
            Problem::LeftBehind { problem, source, .. } => problem.source().or(Some(source)),
            Problem::Given(problem) => problem.source(),
            Problem::BeforeAppend(problem) => problem.source(),
            _ => None,
        }
    }

    /// A reservation of so many bytes.
    pub(crate) fn in_memory(needed: usize, reserved: Result<(), TryReserveError>) -> Result<(), Problem> {
        let needed = u64::try_from(needed).unwrap_or(u64::MAX);
        reserved.map_err(|_| Problem::OutOfMemory { needed })
    }

    /// A failure of the system while doing something; [`Problem::Disturbed`] travels in one.
    pub(crate) fn io(doing: &'static str, source: io::Error) -> Problem {
        let inner = source.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
        match inner.map(Error::problem) {
            Some(Problem::Disturbed) => Problem::Disturbed,
            _ => Problem::Io { doing, source },
        }
    }

    /// The error of this problem at a byte of a blob.
    pub(crate) fn at(self, blob: usize, offset: u64) -> Error {
        Error::at(self, blob, offset)
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
            Problem::Compressed { format, fault, .. } => {
                write!(f, "the {format} data is damaged: {fault}; copy or export the file again")
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
            Problem::UnknownCompression { given: 0, .. } => {
                f.write_str("the blob says that its data is compressed, but it has none; export the file again")
            }
            Problem::UnknownCompression { first, given } => {
                f.write_str("the data is compressed in a way that is not known: it begins")?;
                first.iter().take(*given).try_for_each(|byte| write!(f, " {byte:02x}"))?;
                f.write_str(", and is not zlib, gzip, zstd or an LZ4 frame")
            }
            Problem::CompressionNotBuilt { format, feature } => {
                write!(f, "the data is compressed with {format}, and popef was built without its feature {feature:?}")
            }
            Problem::WrongType { asked, held } => {
                write!(f, "elements of type {asked} were asked for, but they are {held}")
            }
            Problem::NoSuchItem { asked, held } => write!(f, "item {asked} was asked for, but the feed has {held}"),
            Problem::NoSuchRange { start, end, len } => {
                write!(f, "the bytes from {start} to {end} were asked for, but there are {len}")
            }
            Problem::NoSuchElements { start, end, count } => {
                write!(f, "the elements from {start} to {end} were asked for, but there are {count}")
            }
            Problem::BufferShort { needed, found } => {
                write!(f, "{needed} elements were to be converted, but the buffer has room for {found}")
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
            Problem::WindowTooLarge { needed, limit } => write!(
                f,
                "unpacking the data would take a window of {needed} bytes, more than the limit of {limit}; \
                 raise the limit if the file is trusted"
            ),
            Problem::TooDeep { message, limit } => write!(
                f,
                "the {message} message's pointers nest deeper than {limit}, or in a circle; \
                 no exporter writes that, do not trust the file"
            ),
            Problem::TooManyVisits { message, limit } => write!(
                f,
                "the {message} message's pointers share so much that reading it would visit more than {limit} times its length; \
                 no exporter writes that, do not trust the file"
            ),
            Problem::TooManyElements { found, limit } => write!(
                f,
                "the metadata's lists claim {found} elements, more than its message has words ({limit}); \
                 no exporter writes that, do not trust the file"
            ),
            Problem::TooMuchMemory { limit, .. } => write!(
                f,
                "the metadata would take more than {limit} bytes of memory, out of proportion to its message; \
                 no exporter writes that, do not trust the file"
            ),
            Problem::TooManyBlobs => f.write_str("the file has more blobs than can be numbered with 32 bits"),
            Problem::TooManyFiles => f.write_str("more files were given than can be numbered with 32 bits"),
            Problem::OutOfMemory { needed } => {
                write!(f, "there is not enough memory for {needed} bytes; read the data in parts")
            }
            Problem::AddressSpace { needed } => {
                write!(f, "{needed} bytes do not fit into this machine's address space; read the data in parts")
            }
            Problem::Changed => f.write_str("the file was changed by somebody else after it was opened; open it again"),
            Problem::Disturbed => f.write_str(
                "the file was made shorter or longer by somebody else while it was written, without its lock; \
                 look at what is there, and write again",
            ),
            Problem::Io { doing, source } => write!(f, "cannot {doing}: {source}"),
            Problem::Unwritten => f.write_str(
                "the blob is incomplete: its first bytes are zeros, a program was stopped while it wrote here; \
                 keep the blobs before this one",
            ),
            Problem::Given(problem) => write!(f, "{problem}"),
            Problem::GivenLength { blob, needed, found } => {
                write!(f, "{blob} needs {needed} bytes of data, but {found} were given")
            }
            Problem::GivenType { blob, needed, found } => {
                write!(f, "{blob} has elements of type {needed}, but elements of type {found} were given")
            }
            Problem::BlobShort { blob, needed, found } => {
                write!(f, "{blob} was left unfinished: it needs {needed} bytes of data, and {found} were written")
            }
            Problem::NoExecutableName => f.write_str("an executable needs a name that is not empty"),
            Problem::ExecutableTwice { name } => {
                write!(f, "the file has an executable named {name} already, and names must differ")
            }
            Problem::TooLongToWrite { message, needed, limit } => {
                write!(f, "the {message} message needs {needed} bytes, more than the {limit} that readers accept")
            }
            Problem::Level { level } => write!(f, "compression level {level} was asked for, but levels are 0 to 9"),
            Problem::NoSuchFeed { asked, held } => {
                write!(f, "a tensor was given for feed {asked}, counted from 0, but there are {held} feeds")
            }
            Problem::FeedFull { feed, held } => {
                write!(f, "one more tensor was given for {feed}, which has all its {held} tensors")
            }
            Problem::FeedsShort { feed, missing, needed, others } => {
                write!(f, "{feed} is incomplete: {missing} of its {needed} tensors are missing")?;
                match others {
                    0 => Ok(()),
                    1 => f.write_str("; so is 1 other feed"),
                    _ => write!(f, "; so are {others} other feeds"),
                }
            }
            Problem::NotUndone => f.write_str(
                "a blob was left unfinished in a stream, which cannot take it back; what was written is no PopEF file",
            ),
            Problem::Failed => f.write_str("writing failed before, and this writer cannot go on; write the file anew"),
            Problem::Discarded => f.write_str("writing was given up"),
            Problem::InPlace => f.write_str("the new file is whole and in place"),
            Problem::BeforeAppend(problem) => {
                write!(f, "nothing is appended to a damaged file, recover it first; the damage: {problem}")
            }
            Problem::Exists => f.write_str("the file exists already, and it was asked not to overwrite one"),
            Problem::SameFile => f.write_str(
                "the blob would be copied out of the very file that is being appended to; read it from another copy",
            ),
            Problem::Busy => f.write_str("the file is being written by somebody else; try again when that has ended"),
            Problem::NotPlain => f.write_str(
                "this is not a plain file, so it cannot be replaced or appended to; write to it as to a stream",
            ),
            Problem::FolderNotFlushed { source } => write!(
                f,
                "the new file is in place, but its folder could not be flushed to disk: {source}; \
                 after a power cut the old one may be back"
            ),
            Problem::LeftBehind { problem, left: Left::Temporary(path), source } => {
                write!(f, "{problem}; and the temporary file {} could not be removed: {source}", path.display())
            }
            Problem::LeftBehind { problem, left: Left::Tail { old_len }, source } => {
                write!(f, "{problem}; and the file could not be cut back to its {old_len} bytes: {source}; recover it")
            }
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
