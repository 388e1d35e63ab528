use std::io;
use std::path::PathBuf;

use crate::error::{Error, ErrorCode, Problem, counted, problems};
use crate::types::{BlobType, DataType, ShapeProblem};

problems! {
    /// Problems of writing.
    WriteProblem {
        ImpossibleShape { problem: ShapeProblem } => {
            code: ErrorCode::ImpossibleShape,
            words: "{problem}",
        }
        WrongLength { blob: String, needed: u64, found: u64 } => {
            code: ErrorCode::WrongDataLength,
            needed: *needed,
            found: *found,
            words: "{blob} needs {} of data, but {found} were given", counted(*needed, "byte"),
        }
        WrongType { blob: String, needed: DataType, found: DataType } => {
            code: ErrorCode::WrongElementType,
            words: "{blob} has elements of type {needed}, but elements of type {found} were given",
        }
        BlobUnfinished { blob: String, needed: u64, found: u64 } => {
            code: ErrorCode::BlobUnfinished,
            needed: *needed,
            found: *found,
            words: "{blob} was left unfinished: it needs {} of data, and {found} were written", counted(*needed, "byte"),
        }
        ExecutableUnnamed => {
            code: ErrorCode::ExecutableUnnamed,
            words: "an executable needs a name that is not empty",
        }
        DuplicateExecutable { name: String } => {
            code: ErrorCode::DuplicateExecutable,
            words: "the file has an executable named {name} already, and names must differ",
        }
        NoSuchLevel { level: u32 } => {
            code: ErrorCode::NoSuchLevel,
            words: "compression level {level} was asked for, but levels are 0 to 9",
        }
        NoSuchFeed { asked: usize, held: usize } => {
            code: ErrorCode::NoSuchFeed,
            words: "a tensor was given for feed {asked}, counted from 0, but the number of feeds is {held}",
        }
        FeedFull { feed: String, held: u32 } => {
            code: ErrorCode::FeedFull,
            words: "one more tensor was given for {feed}, which is complete: it has {}", counted((*held).into(), "tensor"),
        }
        FeedsUnfinished { feed: String, missing: u32, needed: u32, others: usize } => {
            code: ErrorCode::FeedsUnfinished,
            needed: u64::from(*needed),
            found: u64::from(needed.saturating_sub(*missing)),
            words: "{feed} is incomplete: it has {} of {needed} tensors{}",
            needed.saturating_sub(*missing), other_feeds(*others),
        }
        /// An unfinished blob is in a stream, and cannot be removed.
        NotUndone => {
            code: ErrorCode::StreamBroken,
            words: "a blob was left unfinished in a stream, which cannot go back; what was written is not a PopEF file",
        }
        WriterFailed => {
            code: ErrorCode::WriterFailed,
            words: "writing failed before, and this writer cannot go on; write the file anew",
        }
        BeforeAppend { damage: Problem } => {
            code: damage.code(),
            needed: damage.needed(),
            found: damage.found(),
            source: damage.source(),
            words: "nothing is appended to a damaged file, recover it first; the damage: {damage}",
        }
        /// The caller of a watched writer stopped it.
        Stopped => {
            code: ErrorCode::Stopped,
            words: "writing was stopped, and what was written is discarded",
        }
        PrefixTooLate => {
            code: ErrorCode::PrefixTooLate,
            words: "bytes that come before the first blob must be written before any blob",
        }
        FileExists => {
            code: ErrorCode::FileExists,
            words: "the file exists, and overwriting was not allowed",
        }
        CopyFromTarget => {
            code: ErrorCode::CopyFromTarget,
            words: "the blob would be copied out of the very file that is being appended to; \
                    read it from another copy",
        }
        WrongInfo { blob: String, found: BlobType } => {
            code: ErrorCode::WrongInfo,
            words: "{blob} cannot be copied with the info of a blob of type {found}",
        }
        UnpackedSizeChanged { blob: String, needed: u64, found: u64 } => {
            code: ErrorCode::WrongInfo,
            needed: *needed,
            found: *found,
            words: "{blob} unpacks to {}, so the info of a copy cannot state {found}", counted(*needed, "byte"),
        }
        InfoDoesNotFit { blob: String, needed: u64, found: u64 } => {
            code: ErrorCode::WrongDataLength,
            needed: *needed,
            found: *found,
            words: "{blob} cannot be copied with an info that calls for {} of data: it has {found}", counted(*needed, "byte"),
        }
        NoName { blob: String } => {
            code: ErrorCode::NoName,
            words: "{blob} cannot be copied under another name, because blobs of its type have none",
        }
        NotCompressed { blob: String } => {
            code: ErrorCode::UnknownCompression,
            words: "{blob} was given compressed data that begins like none of the formats that are known: zlib, gzip, zstd, \
                    LZ4",
        }
        NotUnpacked { blob: String, error: Error } => {
            code: error.code(),
            needed: error.needed(),
            found: error.found(),
            source: Some(error),
            words: "{blob} was given data that does not unpack: {error}",
        }
        IsFolder => {
            code: ErrorCode::NotRegularFile,
            words: "this is a folder: name a file in it",
        }
        /// The path of a new file ends with a separator.
        NamesFolder { source: io::Error } => {
            code: ErrorCode::NoFolder,
            source: Some(source),
            words: "this is the path of a folder that does not exist: make it, and name a file in it",
        }
        NoFolder { folder: PathBuf, source: io::Error } => {
            code: ErrorCode::NoFolder,
            source: Some(source),
            words: "the folder {} does not exist", folder.display(),
        }
        IsLink => {
            code: ErrorCode::InTheWay,
            words: "it is a link, and nothing is written through links",
        }
        NotRegularFile => {
            code: ErrorCode::NotRegularFile,
            words: "this is not a regular file, so it cannot be replaced or appended to; write to it as to a stream",
        }
        /// The length of a file that is being written is not that of what was written.
        FileResized => {
            code: ErrorCode::FileResized,
            words: "the file was made shorter or longer by somebody else while it was written, without its lock; \
                    look at what is there, and write again",
        }
        TemporaryGone => {
            code: ErrorCode::FileChanged,
            words: "cannot put the new file in its place: its temporary file was removed or replaced by somebody else",
        }
        FolderNotFlushed { source: io::Error } => {
            code: ErrorCode::FolderNotFlushed,
            source: Some(source),
            words: "the new file is in place, but its folder could not be flushed to disk: {source}; \
                    after a power cut the old one may be back",
        }
        /// A file with the name of the temporary file could not be removed.
        TemporaryExists => {
            code: ErrorCode::LeftBehind,
            words: "cannot make a temporary file beside it, because its name is taken",
        }
        /// Not a failure in itself: the writer was discarded, and a file could not be removed.
        Discarded => {
            code: ErrorCode::LeftBehind,
            words: "writing was given up",
        }
        /// Not a failure in itself: the file was finished, and a file could not be removed.
        InPlace => {
            code: ErrorCode::LeftBehind,
            words: "the new file is whole and in place",
        }
        /// A problem, after which undoing failed as well.
        LeftBehind { problem: Problem, left: Left, source: io::Error } => {
            code: problem.code(),
            needed: problem.needed(),
            found: problem.found(),
            source: problem.source().or(Some(source)),
            words: "{problem}; and {}", left.not_undone(source),
        }
    }
}

/// What could not be undone after a failed write.
#[derive(Debug)]
pub(crate) enum Left {
    Temporary(PathBuf),
    Tail { old_len: u64 },
}

impl Left {
    fn not_undone(&self, why: &io::Error) -> String {
        match self {
            Left::Temporary(path) => format!("the temporary file {} could not be removed: {why}", path.display()),
            Left::Tail { old_len } => {
                format!("the file could not be cut back to its {old_len} bytes: {why}; recover it")
            }
        }
    }
}

fn other_feeds(count: usize) -> String {
    match count {
        0 => String::new(),
        1 => "; so is 1 other feed".to_owned(),
        _ => format!("; so are {count} other feeds"),
    }
}

/// The problem of a shape to be written. It is a mistake of the caller, and not damage of a file.
pub(super) fn impossible(problem: ShapeProblem) -> Problem {
    match problem {
        ShapeProblem::UnknownDataType { .. } => problem.into(),
        _ => WriteProblem::ImpossibleShape { problem }.into(),
    }
}

/// Adds to a problem what could not be undone.
pub(super) fn left_behind(problem: impl Into<Problem>, left: Left, source: io::Error) -> Problem {
    WriteProblem::LeftBehind { problem: problem.into(), left, source }.into()
}
