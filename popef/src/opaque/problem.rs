use super::Framework;
use crate::error::{ErrorCode, problems};
use crate::wire::lower_case_phrase;

problems! {
    /// Problems of the data of an opaque blob.
    OpaqueProblem {
        NotBuilt { framework: Framework } => {
            code: ErrorCode::PayloadNotBuilt,
            words: "the opaque blob is {framework}'s, and this build of the library does not read those; \
                    build it with the feature {framework}",
        }
        Cut { framework: Framework, needed: u64, found: u64 } => {
            code: ErrorCode::PayloadCut,
            needed: *needed,
            found: *found,
            words: "{framework}'s message in the opaque blob is cut off: it needs {needed} bytes, the blob has {found}; \
                    copy or export the file again",
        }
        TooManySegments { framework: Framework, found: u64 } => {
            code: ErrorCode::PayloadMalformed,
            found: *found,
            words: "{framework}'s message in the opaque blob claims {found} segments, more than the 511 that any reader \
                    accepts; another program wrote the blob, or its bytes were overwritten here",
        }
        Malformed { framework: Framework, field: &'static str, source: capnp::Error } => {
            code: ErrorCode::PayloadMalformed,
            source: Some(source),
            words: "{framework}'s message in the opaque blob cannot be read at {field}: {}; \
                    its bytes were overwritten or written by another program, export the file again",
                   lower_case_phrase(source),
        }
        TooDeep { framework: Framework, limit: u64 } => {
            code: ErrorCode::PayloadTooLarge,
            words: "{framework}'s message in the opaque blob nests deeper than {limit}, or in a circle; \
                    no framework writes that, do not trust the file",
        }
        TooManyVisits { framework: Framework } => {
            code: ErrorCode::PayloadTooLarge,
            words: "the pointers of {framework}'s message in the opaque blob share so much that reading it would cost \
                    many times its length; no framework writes that, do not trust the file",
        }
        TooLarge { framework: Framework } => {
            code: ErrorCode::PayloadTooLarge,
            words: "the lists and texts of {framework}'s message in the opaque blob would take memory out of proportion \
                    to its length; no framework writes that, do not trust the file",
        }
    }
}
