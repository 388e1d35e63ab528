//! Looks inside compiled IPU models, and at the files around them.
//!
//! A PopEF file says how a model is loaded and run. What runs is in Poplar's own files, which this crate looks into. It
//! depends on none of Graphcore's software.
//!
//! - [`executable`]: what each tile of the IPUs has in its memory, from a PopEF file's executable or from the
//!   `archive.a` that Poplar writes on request.
//! - [`profile`]: why a model is slow or does not fit, from Poplar's profiling reports.
//! - [`tiles`]: how tensors are spread over tiles, calculated as Graphcore's poplibs does it.
//!
//! Graphcore published little about these files. So each result says whether it follows a documented format
//! (`verified`), and if input is damaged, what was read before the damage is kept and the result says that it is
//! incomplete.
//!
//! No input makes the crate panic, loop forever, or take more memory than its documentation says.

#![forbid(unsafe_code, reason = "nothing here needs it")]
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_possible_wrap,
        reason = "no input may panic, and a length from a file is a claim"
    )
)]

mod error;
pub mod executable;
pub mod profile;
pub mod tiles;

pub use error::{Error, ErrorCode, Part, Place};
