use super::Framework;
use crate::error::{ErrorCode, problems};

problems! {
    /// Problems of the data of an opaque blob.
    OpaqueProblem {
        NotBuilt { framework: Framework } => {
            code: ErrorCode::PayloadNotBuilt,
            words: "the opaque blob is {framework}'s, and this build of the library does not read those; \
                    build it with the feature {framework}",
        }
    }
}
