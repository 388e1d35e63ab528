//! From values and bytes to blobs in a file: the way of [`read`](crate::read), backwards.
//!
//! A [`Writer`] writes blobs to a [`Destination`]: a new file ([`Writer::create`]), the end of one ([`Writer::append`]),
//! a pipe ([`Writer::stream`]) or anything that can go back ([`Writer::seekable`]).
//!
//! ```text
//! values ──►    messages  ──► Writer ──► Destination
//!   bytes ────────────────────►   │        Stream    a pipe: forwards only
//!                              BlobWriter  Seekable  can go back and cut off
//!                                          NewFile   a temporary file, renamed at the end ─┐
//!                                          Appended  the end of a file, valid at the end   ├─► Storage: the one seam
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
// Each fault writes files anew: hours in Miri. The file system that the tests make up is one of Unix.
#[cfg(all(test, unix, not(miri)))]
mod faults;
mod feeds;
mod held;
mod label;
mod output;
mod packed;
mod packing;
mod problem;
mod rights;
mod storage;
mod writer;

pub use append::{Appended, Recovered, recover};
pub use blob::BlobWriter;
pub use blob_copy::BlobCopy;
pub use create::{CreateOptions, NewFile};
pub use destination::{Destination, Rewind, Seekable, Stream, Truncate};
pub use feeds::FeedsWriter;
pub use held::{HeldWriter, Refused};
pub use packed::PackedWriter;
pub use packing::Packing;
pub use writer::{Writer, Written};
