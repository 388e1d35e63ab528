//! What operations have done: differences, digests, and what was extracted, packed, changed, compressed, merged, split, left out and
//! recovered.

mod changed;
mod diff;
mod extract;
mod hash;
mod pack;
mod verify;

use std::io;

pub use changed::{RecompressedText, write_changes, write_merged, write_recovered, write_split, write_stripped};
pub use diff::{DiffExtent, DiffRenderer};
pub use extract::ExtractedText;
pub use hash::HashRenderer;
pub use pack::PackedText;
pub use verify::{FileOutcome, FileStatus, VerifyRenderer};

use crate::output::out::Out;

/// Says how many are not shown.
fn and_more(out: &mut Out, more: u64) -> io::Result<()> {
    if more > 0 { out.put(&format!("... and {more} more")).end_line() } else { Ok(()) }
}
