use std::io;

use crate::error::{ErrorCode, counted, problems};
use crate::types::DataType;

problems! {
    /// Problems of a file, of its data, or of a request for them.
    ReadProblem {
        NotRegularFile { source: io::Error } => not_regular(source), source: Some(source),
            "cannot read it by position: {source}";
        PickleFirst { end: Option<u64>, len: u64 } => ErrorCode::PickleFirst, found: *end,
            "{}", pickle_first(*end, *len);
        StartPastEnd { start: u64, len: u64 } => ErrorCode::NoSuchBytes, needed: *start, found: *len,
            "the first blob was said to begin at byte {start}, but the file has {}", counted(*len, "byte");
        FileChanged => ErrorCode::FileChanged,
            "the file was changed by somebody else after it was opened";
        IndexUnfinished { start: u64, end: u64 } => ErrorCode::IndexUnfinished,
            "the index is not finished: it was not given the bytes from {start} to {end}";
        TooManyBlobs => ErrorCode::TooManyBlobs,
            "the file has more blobs than can be numbered with 32 bits";
        DataNotKept => ErrorCode::DataNotKept,
            "the data was passed over, only headers and infos were read";
        DataTooShort { needed: u64, found: u64 } => ErrorCode::DataTooShort, needed: *needed, found: *found,
            "the data is too short: shape and type call for {}, the blob holds {found}", counted(*needed, "byte");
        NotBool { element: u64, value: u8 } => ErrorCode::NotBool,
            "element {element} is {value:#04x}, but a bool is 0 or 1";
        WrongType { asked: DataType, held: DataType } => ErrorCode::WrongElementType,
            "elements of type {asked} were asked for, but they are {held}";
        NotNumeric { data_type: DataType } => ErrorCode::NotNumeric,
            "elements of type {data_type} cannot be shown as numbers: the file does not say what its bits mean";
        NoSuchItem { asked: u32, held: u32 } =>
            ErrorCode::NoSuchItem, needed: u64::from(*asked), found: u64::from(*held),
            "item {asked} was asked for, but the feed has {held}";
        NoSuchBytes { start: u64, end: u64, len: u64 } => ErrorCode::NoSuchBytes, needed: *end, found: *len,
            "the bytes from {start} to {end} were asked for, but there are {len}";
        NoSuchElements { start: u64, end: u64, count: u64 } => ErrorCode::NoSuchElements, needed: *end, found: *count,
            "the elements from {start} to {end} were asked for, but there are {count}";
        BufferTooSmall { needed: u64, found: u64 } => ErrorCode::BufferTooSmall, needed: *needed, found: *found,
            "the buffer for the converted elements needs room for {needed}, and has room for {found}";
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

/// The code for a path or handle that is not a regular file.
fn not_regular(source: &io::Error) -> ErrorCode {
    if source.kind() == io::ErrorKind::IsADirectory { ErrorCode::IsFolder } else { ErrorCode::NotRegularFile }
}
