//! Writing files: the counterpart of [`read`](crate::read).
//!
//! A [`Writer`] writes blobs to a [`Destination`]: a new file ([`Writer::create`]), the end of an existing file
//! ([`Writer::append`]), a pipe ([`Writer::stream`]) or anything that can go back ([`Writer::seekable`]).
//!
//! ```text
//! values ──►    messages  ──► Writer ──► Destination
//!   bytes ────────────────────►   │        Stream    a pipe: forwards only
//!                              BlobWriter  Seekable  can go back and be truncated
//!                                          NewFile   a temporary file, renamed at the end ─┐
//!                                          Appended  the end of a file, valid at the end   ├─► Storage: all file I/O
//!                                          Nowhere   to learn the size alone
//! ```

#![deny(clippy::arithmetic_side_effects, reason = "sums of lengths can wrap")]

mod append;
mod blob;
mod blob_copy;
mod blobs;
mod copy;
mod create;
mod deflate;
mod destination;
// Each fault writes all files again, which takes hours in Miri. The simulated file system is one of Unix.
#[cfg(all(test, unix, not(miri)))]
mod faults;
mod feeds;
mod head;
mod held;
mod label;
mod nowhere;
mod output;
mod packed;
mod packing;
mod problem;
mod rights;
mod storage;
mod watched;
mod writer;

pub use append::{Appended, Recovered, recover};
pub use blob::BlobWriter;
pub use blob_copy::BlobCopy;
pub use create::{CreateOptions, NewFile};
pub use destination::{Destination, Rewind, Seekable, Stream, Truncate};
pub use feeds::FeedsWriter;
pub use head::head;
pub use held::{HeldWriter, Refused};
pub use nowhere::Nowhere;
pub use packed::PackedWriter;
pub use packing::Packing;
pub use rights::keep_rights;
pub use watched::Watched;
#[doc(hidden)]
pub use writer::locked;
pub use writer::{Writer, Written};
