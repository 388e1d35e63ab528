use crate::error::{ErrorCode, problems};

problems! {
    /// Problems of a tensor's shape and type.
    ShapeProblem {
        NegativeDimension { dimension: usize, extent: i64 } => ErrorCode::NegativeDimension,
            "dimension {dimension} of the shape is {extent}, which no tensor can have";
        TooLarge => ErrorCode::ShapeTooLarge,
            "the shape calls for more bytes than 64 bits can count";
        UnknownDataType { number: u16 } => ErrorCode::UnknownDataType,
            "data type {number} is not known, so neither is the size of its elements";
    }
}
