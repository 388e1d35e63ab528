//! Failures of the system: of its operations and of its memory.

use std::collections::TryReserveError;
use std::io;

use super::Error;
use super::code::ErrorCode;
use super::of_source::code_of;
use super::problem::{Problem, problems};

problems! {
    /// Failures of the system.
    SystemProblem {
        Io { doing: &'static str, source: io::Error } => code_of(source), source: Some(source),
            "cannot {doing}: {source}";
        FileBusy => ErrorCode::FileBusy,
            "the file is being written by somebody else";
        OutOfMemory { needed: u64 } => ErrorCode::OutOfMemory, needed: *needed,
            "there is not enough memory for {needed} bytes";
        AddressSpace { needed: u64 } => ErrorCode::AddressSpace, needed: *needed,
            "{needed} bytes do not fit into this machine's address space";
    }
}

impl Problem {
    /// Turns a failed reservation of `needed` bytes into a problem.
    #[doc(hidden)]
    pub fn in_memory(needed: usize, reserved: Result<(), TryReserveError>) -> Result<(), Problem> {
        let needed = u64::try_from(needed).unwrap_or(u64::MAX);
        reserved.map_err(|_| SystemProblem::OutOfMemory { needed }.into())
    }

    /// A system error during an operation. If it wraps an error of ours that says that the file was resized, or
    /// that writing was stopped, that error's problem.
    pub(crate) fn io(doing: &'static str, source: io::Error) -> Problem {
        let inner = source.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
        match inner {
            Some(error) if matches!(error.code(), ErrorCode::FileResized | ErrorCode::Stopped) => error.problem(),
            _ => SystemProblem::Io { doing, source }.into(),
        }
    }
}

/// The problem that there is not enough memory for this many bytes.
pub fn out_of_memory(needed: u64) -> Problem {
    SystemProblem::OutOfMemory { needed }.into()
}

/// Returns an empty list with room for exactly `len` elements. Without memory for them this is an error, not an abort.
pub fn with_room_for<T>(len: usize) -> Result<Vec<T>, Problem> {
    let mut list = Vec::new();
    Problem::in_memory(len.saturating_mul(size_of::<T>()), list.try_reserve_exact(len))?;
    Ok(list)
}

/// Adds an item to a list. Without memory for it this is an error, not an abort.
pub fn push<T>(list: &mut Vec<T>, item: T) -> Result<(), Problem> {
    let needed = list.len().saturating_add(1).saturating_mul(size_of::<T>());
    Problem::in_memory(needed, list.try_reserve(1))?;
    list.push(item);
    Ok(())
}
