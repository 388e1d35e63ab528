use crate::error::{ErrorCode, problems};

problems! {
    /// Problems of linking files.
    ModelProblem {
        TooManyFiles => ErrorCode::TooManyFiles,
            "more files were given than can be numbered with 32 bits";
    }
}
