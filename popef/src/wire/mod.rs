//! Converts bytes to header and info messages, and back, without I/O.
//!
//! From the first bytes of a blob, [`Head::parse`] finds what the blob is, or how many more bytes it needs. Nothing
//! outside this folder uses Cap'n Proto, except the reader of PopART's opaque blobs (`opaque/popart/`), which frames its
//! message in the same way.

#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects, reason = "sums of lengths from a file can wrap"))]

mod decode;
mod edit;
mod edit_lists;
mod encode;
mod encode_metadata;
mod fields;
mod head;
mod layout;
mod lists;
mod message;
mod metadata;
mod parts;
mod plain;
#[allow(
    dead_code,
    elided_lifetimes_in_paths,
    missing_debug_implementations,
    missing_docs,
    unreachable_pub,
    unused_qualifications,
    clippy::all,
    clippy::restriction,
    clippy::semicolon_if_nothing_returned,
    reason = "generated from schema/popef.capnp"
)]
mod popef_capnp;
mod problem;
mod set;
mod words;

pub(crate) use encode::NewHead;
pub(crate) use encode_metadata::is_encoded as is_encoded_metadata;
#[doc(hidden)]
pub use fields::number;
pub(crate) use head::Head;
#[doc(hidden)]
pub use message::{Frame, FrameFault, LONGEST_TABLE, Refusal, message_len};
#[cfg(feature = "serde")]
pub(crate) use metadata::{AnchorRef, MetadataRef, OptionRef, ProgramRef, serialize_metadata};
pub(crate) use metadata::{check_value_bytes, is_metadata, read_metadata};
pub(crate) use parts::{InfoFields, Span};
pub(crate) use problem::WireProblem;
#[doc(hidden)]
pub use problem::lower_case_phrase;

use crate::error::Problem;

/// The reason why a blob could not be parsed.
#[derive(Debug)]
pub(crate) enum Stop {
    /// More bytes are needed: this many in total, counted from the blob's start.
    Need(u64),
    /// A problem at byte `at`, relative to the blob's start. It holds only if the input has at least `reach` bytes from
    /// the blob's start; otherwise the problem is that the input is cut off. `size` is that of the blob, if its header could be
    /// read.
    Fault { problem: Problem, at: u64, reach: u64, size: Option<u64> },
}

impl<P: Into<Problem>> From<P> for Stop {
    fn from(problem: P) -> Self {
        Stop::Fault { problem: problem.into(), at: 0, reach: 0, size: None }
    }
}

impl Stop {
    /// Moves all positions by `len` bytes, to make them relative to a start that is `len` bytes earlier.
    fn behind(self, len: u64) -> Self {
        match self {
            Stop::Need(needed) => Stop::Need(len.saturating_add(needed)),
            Stop::Fault { problem, at, reach, size } => {
                Stop::Fault { problem, at: len.saturating_add(at), reach: len.saturating_add(reach), size }
            }
        }
    }

    /// Makes a fault conditional on an input of at least `len` bytes.
    fn reaching(self, len: u64) -> Self {
        match self {
            Stop::Need(_) => self,
            Stop::Fault { problem, at, reach, size } => Stop::Fault { problem, at, reach: reach.max(len), size },
        }
    }

    /// Marks a fault as one of the info, in a blob of a known size whose bytes must all be present.
    fn in_blob(self, len: u64) -> Self {
        match self.reaching(len) {
            Stop::Fault { problem, at, reach, .. } => Stop::Fault { problem, at, reach, size: Some(len) },
            need => need,
        }
    }

    /// Returns the problem, for a message whose bytes are all present.
    fn into_problem(self) -> Problem {
        match self {
            Stop::Fault { problem, .. } => problem,
            Stop::Need(needed) => WireProblem::HeaderCut { needed, found: 0 }.into(),
        }
    }
}
