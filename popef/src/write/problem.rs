use std::io;
use std::path::PathBuf;

use crate::error::{Error, ErrorCode, Problem, counted, problems};
use crate::types::{BlobType, DataType, ShapeProblem};

problems! {
    /// Problems of writing.
    WriteProblem {
        ImpossibleShape { problem: ShapeProblem } => ErrorCode::ImpossibleShape,
            "{problem}";
        WrongLength { blob: String, needed: u64, found: u64 } =>
            ErrorCode::WrongDataLength, needed: *needed, found: *found,
            "{blob} needs {} of data, but {found} were given", counted(*needed, "byte");
        WrongType { blob: String, needed: DataType, found: DataType } => ErrorCode::WrongElementType,
            "{blob} has elements of type {needed}, but elements of type {found} were given";
        BlobUnfinished { blob: String, needed: u64, found: u64 } =>
            ErrorCode::BlobUnfinished, needed: *needed, found: *found,
            "{blob} was left unfinished: it needs {} of data, and {found} were written", counted(*needed, "byte");
        ExecutableUnnamed => ErrorCode::ExecutableUnnamed,
            "an executable needs a name that is not empty";
        DuplicateExecutable { name: String } => ErrorCode::DuplicateExecutable,
            "the file has an executable named {name} already, and names must differ";
        NoSuchLevel { level: u32 } => ErrorCode::NoSuchLevel,
            "compression level {level} was asked for, but levels are 0 to 9";
        NoSuchFeed { asked: usize, held: usize } => ErrorCode::NoSuchFeed,
            "a tensor was given for feed {asked}, counted from 0, but the number of feeds is {held}";
        FeedFull { feed: String, held: u32 } => ErrorCode::FeedFull,
            "one more tensor was given for {feed}, which is complete: it has {}", counted((*held).into(), "tensor");
        FeedsUnfinished { feed: String, missing: u32, needed: u32, others: usize } =>
            ErrorCode::FeedsUnfinished, needed: u64::from(*needed), found: u64::from(needed.saturating_sub(*missing)),
            "{feed} is incomplete: it has {} of {needed} tensors{}",
            needed.saturating_sub(*missing), other_feeds(*others);
        /// An unfinished blob is in a stream, and cannot be removed.
        NotUndone => ErrorCode::StreamBroken,
            "a blob was left unfinished in a stream, which cannot go back; what was written is not a PopEF file";
        WriterFailed => ErrorCode::WriterFailed,
            "writing failed before, and this writer cannot go on";
        BeforeAppend { damage: Problem } =>
            damage.code(), needed: damage.needed(), found: damage.found(), source: damage.source(),
            "nothing is appended to a damaged file, recover it first; the damage: {damage}";
        /// The caller of a watched writer stopped it.
        Stopped => ErrorCode::Stopped,
            "writing was stopped, and what was written is discarded";
        PrefixTooLate => ErrorCode::PrefixTooLate,
            "bytes that come before the first blob must be written before any blob";
        FileExists => ErrorCode::FileExists,
            "the file exists, and overwriting was not allowed";
        CopyFromTarget => ErrorCode::CopyFromTarget,
            "the blob would be copied out of the very file that is being appended to";
        WrongInfo { blob: String, found: BlobType } => ErrorCode::WrongInfo,
            "{blob} cannot be copied with the info of a blob of type {found}";
        UnpackedSizeChanged { blob: String, needed: u64, found: u64 } =>
            ErrorCode::WrongInfo, needed: *needed, found: *found,
            "{blob} unpacks to {}, so the info of a copy cannot state {found}", counted(*needed, "byte");
        InfoDoesNotFit { blob: String, needed: u64, found: u64 } =>
            ErrorCode::WrongDataLength, needed: *needed, found: *found,
            "{blob} cannot be copied with an info that calls for {} of data: it has {found}", counted(*needed, "byte");
        NoName { blob: String } => ErrorCode::NoName,
            "{blob} cannot be copied under another name, because blobs of its type have none";
        NotCompressed { blob: String } => ErrorCode::UnknownCompression,
            "{blob} was given compressed data that begins like none of the formats that are known: zlib, gzip, zstd, \
             LZ4";
        NotUnpacked { blob: String, error: Error } =>
            error.code(), needed: error.needed(), found: error.found(), source: Some(error),
            "{blob} was given data that does not unpack: {error}";
        IsFolder => ErrorCode::IsFolder,
            "this is a folder";
        /// The path of a new file ends with a separator.
        NamesFolder { source: io::Error } => ErrorCode::NoFolder, source: Some(source),
            "this is the path of a folder that does not exist";
        NoFolder { folder: PathBuf, source: io::Error } => ErrorCode::NoFolder, source: Some(source),
            "the folder {} does not exist", folder.display();
        IsLink => ErrorCode::InTheWay,
            "it is a link, and nothing is written through links";
        NotReplaceable => ErrorCode::NotReplaceable,
            "this is not a regular file, so it cannot be replaced or appended to";
        /// The length of a file that is being written is not that of what was written.
        FileResized => ErrorCode::FileResized,
            "the file was made shorter or longer by somebody else while it was written, without its lock";
        TemporaryGone => ErrorCode::FileChanged,
            "cannot put the new file in its place: its temporary file was removed or replaced by somebody else";
        FolderNotFlushed { source: io::Error } => ErrorCode::FolderNotFlushed, source: Some(source),
            "the new file is in place, but its folder could not be flushed to disk: {source}; after a power cut the \
             old one may be back";
        /// A file with the name of the temporary file could not be removed.
        TemporaryExists => ErrorCode::LeftBehind,
            "cannot make a temporary file beside it, because its name is taken";
        /// Not a failure in itself: the writer was discarded, and a file could not be removed.
        Discarded => ErrorCode::LeftBehind,
            "writing was given up";
        /// Not a failure in itself: the file was finished, and a file could not be removed.
        InPlace => ErrorCode::LeftBehind,
            "the new file is whole and in place";
        /// A problem, after which undoing failed as well.
        LeftBehind { problem: Problem, left: Left, source: io::Error } =>
            problem.code(), needed: problem.needed(), found: problem.found(), source: problem.source().or(Some(source)),
            "{problem}; and {}", left.not_undone(source);
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
