use std::io;

use super::code::ErrorCode;
use super::problem::problems;

problems! {
    /// Failures of the system.
    SystemProblem {
        Io { doing: &'static str, source: io::Error } => {
            code: ErrorCode::from(source.kind()),
            source: Some(source),
            words: "cannot {doing}: {source}",
        }
        FileBusy => {
            code: ErrorCode::FileBusy,
            words: "the file is being written by somebody else; try again when that has ended",
        }
        OutOfMemory { needed: u64 } => {
            code: ErrorCode::OutOfMemory,
            needed: *needed,
            words: "there is not enough memory for {needed} bytes; read the data in parts",
        }
        AddressSpace { needed: u64 } => {
            code: ErrorCode::AddressSpace,
            needed: *needed,
            words: "{needed} bytes do not fit into this machine's address space; read the data in parts",
        }
    }
}
