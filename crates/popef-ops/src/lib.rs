//! What can be done with PopEF files: take out, put in, compare, compress, merge, split, verify.
//!
//! Each operation is a function over opened files ([`popef::File`]) that returns a plain report, which serialises. The crate
//! knows no command line and prints nothing, so the tool `popef`, the Python module and services all call the same code.
//!
//! ```text
//! Files ──► operation ──► Output ──► a new file, a pipe, or nowhere
//!              │  └─────► Progress
//!              └────────► report
//! ```
//!
//! - [`Output`] writes a file: whole or not at all, checked before it appears, and never onto an input by mistake.
//! - [`PlainFile`] does the same for a file that is not PopEF.
//! - [`Progress`] is told how far the work is, and can stop it.
//! - [`Error`] has a stable code and says what to do.

#![forbid(unsafe_code, reason = "nothing here needs it")]
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_possible_wrap,
        reason = "no input may panic, and a length from a file is a claim"
    )
)]

mod compress;
pub mod diff;
mod error;
pub mod extract;
pub mod formats;
pub mod hash;
mod listed;
mod merge;
mod name;
mod near;
mod output;
pub mod pack;
mod plain_file;
mod progress;
pub mod recover;
pub mod set;
mod split;
mod strip;
mod verify;
mod work;

pub use compress::{RepackOptions, RepackOutcome, Repacked, RepackedExecutable, repack};
pub use error::{Code, Error};
pub use listed::{Item, Listed};
pub use merge::{Keep, LeftOut, MergeOptions, Merged, MergedInput, Place, merge};
pub use name::{FilePath, Name};
pub use output::{Output, Overwrite, Target};
pub use plain_file::PlainFile;
pub use progress::{Progress, Silent};
pub use split::{Part, Split, SplitBy, SplitOptions, split};
pub use strip::{Broken, StripOptions, Stripped, strip};
