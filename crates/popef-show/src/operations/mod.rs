//! What operations have done: differences, digests, and what was merged, split and left out.

mod diff;
mod hash;
mod merge;
mod split;
mod strip;
mod verify;

use std::io;

pub use diff::{DiffExtent, DiffRenderer};
pub use hash::HashRenderer;
pub use merge::write_merged;
pub use split::write_split;
pub use strip::write_stripped;
pub use verify::{FileOutcome, FileStatus, VerifyRenderer};

use crate::output::out::Out;

/// Says how many are not shown.
fn and_more(out: &mut Out, more: u64) -> io::Result<()> {
    if more > 0 { out.put(&format!("... and {more} more")).end_line() } else { Ok(()) }
}
