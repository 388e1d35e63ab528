use popef::error::ErrorCode;
use popef::seam::problems;

problems! {
    /// Problems of PopTorch's data.
    PoptorchProblem {
        NotPickle => ErrorCode::PayloadMalformed,
            "the data is not a Python pickle, but PopTorch's data always is";
        DamagedPickle { offset: u64, reason: &'static str } => ErrorCode::PayloadMalformed,
            "the pickle cannot be followed after its byte {offset}: {reason}";
    }
}
