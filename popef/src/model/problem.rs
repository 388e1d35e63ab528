use crate::error::{ErrorCode, problems};

problems! {
    /// What keeps files from being linked.
    ModelProblem {
        TooManyFiles => {
            code: ErrorCode::TooManyFiles,
            words: "more files were given than can be numbered with 32 bits",
        }
    }
}
