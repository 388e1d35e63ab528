use crate::error::{ErrorCode, problems};

problems! {
    /// Problems of linking files.
    ModelProblem {
        TooManyFiles => {
            code: ErrorCode::TooManyFiles,
            words: "more files were given than can be numbered with 32 bits",
        }
    }
}
