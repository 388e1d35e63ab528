use crate::error::{ErrorCode, problems};

problems! {
    /// Problems of a tensor's shape and type.
    ShapeProblem {
        NegativeDimension { dimension: usize, extent: i64 } => {
            code: ErrorCode::NegativeDimension,
            words: "dimension {dimension} of the shape is {extent}, which no tensor can have",
        }
        TooLarge => {
            code: ErrorCode::ShapeTooLarge,
            words: "the shape calls for more bytes than 64 bits can count",
        }
        UnknownDataType { number: u16 } => {
            code: ErrorCode::UnknownDataType,
            words: "data type {number} is not known, so neither is the size of its elements",
        }
    }
}
