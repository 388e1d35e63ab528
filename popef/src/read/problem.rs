use std::io;

use crate::error::{ErrorCode, counted, problems};
use crate::types::DataType;

problems! {
    /// Problems of a file, of its data, or of a request for them.
    ReadProblem {
        NotRegularFile { source: io::Error } => {
            code: ErrorCode::NotRegularFile,
            source: Some(source),
            words: "cannot read it by position: {source}",
        }
        PickleFirst { end: Option<u64>, len: u64 } => {
            code: ErrorCode::PickleFirst,
            found: *end,
            words: "{}", pickle_first(*end, *len),
        }
        StartPastEnd { start: u64, len: u64 } => {
            code: ErrorCode::NoSuchBytes,
            needed: *start,
            found: *len,
            words: "the first blob was said to begin at byte {start}, but the file has {}", counted(*len, "byte"),
        }
        FileChanged => {
            code: ErrorCode::FileChanged,
            words: "the file was changed by somebody else after it was opened; open it again",
        }
        IndexUnfinished { start: u64, end: u64 } => {
            code: ErrorCode::IndexUnfinished,
            words: "the index is not finished: it was not given the bytes from {start} to {end}",
        }
        TooManyBlobs => {
            code: ErrorCode::TooManyBlobs,
            words: "the file has more blobs than can be numbered with 32 bits",
        }
        DataNotKept => {
            code: ErrorCode::DataNotKept,
            words: "the data was passed over, only headers and infos were read; open the file itself to read it",
        }
        DataTooShort { needed: u64, found: u64 } => {
            code: ErrorCode::DataTooShort,
            needed: *needed,
            found: *found,
            words: "the data is too short: shape and type call for {}, the blob holds {found}", counted(*needed, "byte"),
        }
        NotBool { element: u64, value: u8 } => {
            code: ErrorCode::NotBool,
            words: "element {element} is {value:#04x}, but a bool is 0 or 1",
        }
        WrongType { asked: DataType, held: DataType } => {
            code: ErrorCode::WrongElementType,
            words: "elements of type {asked} were asked for, but they are {held}",
        }
        NotNumeric { data_type: DataType } => {
            code: ErrorCode::NotNumeric,
            words: "elements of type {data_type} cannot be shown as numbers: the file does not say what its bits mean",
        }
        NoSuchItem { asked: u32, held: u32 } => {
            code: ErrorCode::NoSuchItem,
            needed: u64::from(*asked),
            found: u64::from(*held),
            words: "item {asked} was asked for, but the feed has {held}",
        }
        NoSuchBytes { start: u64, end: u64, len: u64 } => {
            code: ErrorCode::NoSuchBytes,
            needed: *end,
            found: *len,
            words: "the bytes from {start} to {end} were asked for, but there are {len}",
        }
        NoSuchElements { start: u64, end: u64, count: u64 } => {
            code: ErrorCode::NoSuchElements,
            needed: *end,
            found: *count,
            words: "the elements from {start} to {end} were asked for, but there are {count}",
        }
        BufferTooSmall { needed: u64, found: u64 } => {
            code: ErrorCode::BufferTooSmall,
            needed: *needed,
            found: *found,
            words: "the buffer for the converted elements needs room for {needed}, and has room for {found}",
        }
    }
}

fn pickle_first(end: Option<u64>, len: u64) -> String {
    match end {
        Some(end) if end == len => "this is a Python pickle, and no PopEF follows it".to_owned(),
        Some(end) => format!(
            "this is a .poptorch file of SDK 2.5 or older: a Python pickle of {}, then PopEF; open it after the pickle",
            counted(end, "byte")
        ),
        None => "the file begins with a Python pickle, as .poptorch files of SDK 2.5 and older do, but where the pickle ends \
                 is not known"
            .to_owned(),
    }
}
