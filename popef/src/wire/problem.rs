use std::fmt;

use crate::error::{ErrorCode, counted, problems};

/// One of a blob's two messages.
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

problems! {
    /// Problems of a header or an info message, read or to be written.
    WireProblem {
        HeaderCut { needed: u64, found: u64 } => ErrorCode::HeaderCut, needed: *needed, found: *found,
            "the header is cut off: it needs {needed} bytes, the file has {found} left";
        BlobCut { needed: u64, found: u64 } => ErrorCode::BlobCut, needed: *needed, found: *found,
            "the blob is incomplete: its header gives it {needed} bytes, the file has {found} left";
        BlobUnwritten => ErrorCode::BlobUnwritten,
            "the blob is incomplete: its first bytes are zeros, a program was stopped while it wrote here";
        BlobTooSmall { needed: u64, found: u64 } => ErrorCode::BlobTooSmall, needed: *needed, found: *found,
            "the header gives the blob {}, but its header and info alone need {needed}; the size was never filled in \
             or was overwritten", counted(*found, "byte");
        TooManySegments { message: Message, found: u64 } => ErrorCode::TooManySegments, found: *found,
            "the {message} message claims {found} segments, more than the 511 that any reader accepts; this is not a \
             PopEF file, or its bytes were overwritten here";
        HeaderTooLong { needed: u64, limit: u64 } => ErrorCode::HeaderTooLong, needed: *needed, found: *limit,
            "the header message's segment table claims {needed} bytes where a header has at most {limit}; this is not \
             a PopEF file, or its bytes were overwritten here";
        InfoPastEnd { needed: u64, found: u64 } => ErrorCode::InfoPastEnd, needed: *needed, found: *found,
            "the info message's segment table claims {needed} bytes, more than the rest of the file; the blob has \
             {found} left for it, and its bytes were overwritten here";
        Malformed { message: Message, field: &'static str, source: capnp::Error } =>
            ErrorCode::MalformedMessage, source: Some(source),
            "the {message} message cannot be read at {field}: {}; its bytes were overwritten or written by a faulty \
             program", lower_case_phrase(source);
        NotNumbers { message: Message, field: &'static str } => ErrorCode::MalformedMessage,
            "the {message} message cannot be read at {field}: its elements are not 64-bit numbers side by side; its \
             bytes were overwritten or written by a faulty program";
        InfoTooLong { needed: u64, limit: u64 } => ErrorCode::InfoTooLong, needed: *needed, found: *limit,
            "the info message has {needed} bytes, more than the limit of {limit}";
        TooDeep { message: Message, limit: u16 } => ErrorCode::TooDeep,
            "the {message} message's pointers nest deeper than {limit}, or in a circle";
        TooManyVisits { message: Message, limit: u32 } => ErrorCode::TooManyVisits,
            "the {message} message's pointers share so much that reading it would visit more than {limit} times its \
             length";
        TooManyElements { found: u64, limit: u64 } => ErrorCode::TooManyElements, needed: *found, found: *limit,
            "the metadata's lists claim {found} elements, more than its message has words ({limit})";
        MetadataTooLarge { needed: u64, limit: u64 } => ErrorCode::MetadataTooLarge, needed: *needed, found: *limit,
            "the metadata would take more than {limit} bytes of memory, out of proportion to its message";
        TooLongToWrite { message: Message, needed: u64, limit: u64 } =>
            ErrorCode::MessageTooLong, needed: *needed, found: *limit,
            "the {message} message needs {needed} bytes, more than the {limit} that readers accept";
    }
}

/// The text of a foreign error in our style: a lower-case first letter, no full stop.
pub fn lower_case_phrase(error: &dyn fmt::Display) -> String {
    let text = error.to_string();
    let text = text.trim_end_matches(['.', ' ', ':']);
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_lowercase().chain(letters).collect(),
        None => String::new(),
    }
}
