use super::Framework;
use popef::error::ErrorCode;
use popef::seam::lower_case_phrase;
use popef::seam::problems;

problems! {
    /// Problems of the data of an opaque blob.
    OpaqueProblem {
        NotBuilt { framework: Framework } => ErrorCode::PayloadNotBuilt,
            "the opaque blob is {}'s, and this build of the library does not read those; build it with the feature \
             {framework}", framework.title();
        Cut { framework: Framework, needed: u64, found: u64 } => ErrorCode::PayloadCut, needed: *needed, found: *found,
            "{}'s message in the opaque blob is cut off: it needs {needed} bytes, the blob has {found}", framework.title();
        TooManySegments { framework: Framework, found: u64 } => ErrorCode::PayloadMalformed, found: *found,
            "{}'s message in the opaque blob claims {found} segments, more than the 511 that any reader accepts; \
             another program wrote the blob, or its bytes were overwritten here", framework.title();
        Malformed { framework: Framework, field: &'static str, source: capnp::Error } =>
            ErrorCode::PayloadMalformed, source: Some(source),
            "{}'s message in the opaque blob cannot be read at {field}: {}; its bytes were overwritten or written by \
             another program", framework.title(), lower_case_phrase(source);
        NotProtobuf { framework: Framework, what: &'static str } => ErrorCode::PayloadMalformed,
            "{}'s message in the opaque blob cannot be read: {what}; its bytes were overwritten or written by another \
             program", framework.title();
        TooDeep { framework: Framework, limit: u64 } => ErrorCode::PayloadTooLarge,
            "{}'s message in the opaque blob nests deeper than {limit}, or in a circle", framework.title();
        TooManyVisits { framework: Framework } => ErrorCode::PayloadTooLarge,
            "reading {}'s message in the opaque blob would cost many times its length, because its pointers share \
             their targets or its lists have elements without bytes",
            framework.title();
        TooLarge { framework: Framework } => ErrorCode::PayloadTooLarge,
            "the lists and texts of {}'s message in the opaque blob would take memory out of proportion to its length", framework.title();
    }
}
