//! Operations on PopEF files: extract, pack, compare, compress, merge, split, verify.
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
//! | to | use |
//! |---|---|
//! | take blobs out into files, and make a model of them | [`extract`], [`pack`] |
//! | change metadata, names and weights | [`set`] |
//! | compress and decompress executables | [`compress`](fn@compress), [`decompress`] |
//! | make one file of several, several of one, leave blobs out | [`merge`](fn@merge), [`split`](fn@split), [`strip`](fn@strip) |
//! | compare two files, or a file with its manifest | [`diff`], [`hash`] |
//! | keep what is whole of a damaged file | [`recover`] |
//! | read arrays of numpy and PyTorch | [`formats`] |
//!
//! All of them use these:
//!
//! - [`Output`] writes a file: whole or not at all, checked before it appears, and never onto an input by mistake. Only
//!   users who could open all inputs can open a new file.
//! - [`PlainFile`] does the same for a file that is not PopEF.
//! - [`Progress`] follows the work, and can stop it.
//! - [`Error`] has a stable code and advice.
//!
//! This compresses a model, reports the progress, and stops when the service must stop:
//!
//! ```
//! use std::ops::ControlFlow;
//! use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
//!
//! use popef_ops::{CompressOptions, Overwrite, Progress, Target, compress};
//!
//! #[derive(Default)]
//! struct Job {
//!     done: AtomicU64,
//!     is_cancelled: AtomicBool,
//! }
//!
//! impl Progress for Job {
//!     fn advance(&self, bytes: u64) -> ControlFlow<()> {
//!         self.done.fetch_add(bytes, Ordering::Relaxed);
//!         if self.is_cancelled.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
//!     }
//! }
//!
//! # fn main() -> Result<(), popef_ops::Error> {
//! # let folder = tempfile::tempdir().unwrap();
//! # let (from, to) = (folder.path().join("model.popef"), folder.path().join("small.popef"));
//! # let mut writer = popef::Writer::create(&from)?;
//! # writer.write_executable("model", &[0; 10_000])?;
//! # writer.finish()?;
//! let file = popef::File::open(&from)?;
//! let job = Job::default();
//! let (options, target) = (CompressOptions::default(), Target::Path(&to, Overwrite::Never));
//! let report = compress(&file, target, &options, &job, &mut |_| Ok(()))?;
//! assert!(report.size_after < report.size_before);
//!
//! job.is_cancelled.store(true, Ordering::Relaxed);
//! let stopped = compress(&file, Target::Nowhere, &options, &job, &mut |_| Ok(())).unwrap_err();
//! assert!(stopped.is_stop());
//! # Ok(())
//! # }
//! ```

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
mod findings;
mod folders;
pub mod formats;
pub mod hash;
mod hex;
mod listed;
mod merge;
mod name;
mod near;
mod output;
pub mod pack;
mod plain_file;
mod progress;
mod read_back;
pub mod recover;
mod rights;
pub mod set;
mod split;
mod strip;
mod verify;
mod work;

pub use compress::{
    CompressOptions, CompressionOutcome, DecompressOptions, EachExecutable, Recompressed, RecompressedExecutable,
    compress, decompress,
};
pub use error::{Code, Error};
pub use findings::NewFinding;
pub use listed::{Item, Listed};
pub use merge::{Keep, LeftOut, MergeOptions, Merged, MergedInput, Place, merge};
pub use name::{FilePath, InFile, Name, OutputPath};
pub use near::did_you_mean;
pub use output::{Output, Overwrite, Store, Target, TargetFolder};
pub use plain_file::PlainFile;
pub use progress::{Progress, Silent};
pub use split::{Part, Split, SplitBy, SplitOptions, split};
pub use strip::{Broken, StripOptions, Stripped, strip};
