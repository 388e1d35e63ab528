//! What operations have done: differences, digests, and what was extracted, packed, changed, compressed, merged, split, left out and
//! recovered.

mod compress;
mod diff;
mod extract;
mod hash;
mod merge;
mod pack;
mod recover;
mod set;
mod split;
mod strip;
mod verify;

use std::io;

pub use compress::RecompressedText;
pub use diff::{DiffExtent, DiffRenderer};
pub use extract::ExtractedText;
pub use hash::HashRenderer;
pub use merge::write_merged;
pub use pack::PackedText;
pub use recover::write_recovered;
pub use set::write_changes;
pub use split::write_split;
pub use strip::write_stripped;
pub use verify::{FileOutcome, FileStatus, VerifyRenderer};

use crate::output::out::Out;

/// Says how many are not shown.
fn and_more(out: &mut Out, more: u64) -> io::Result<()> {
    if more > 0 { out.put(&format!("... and {more} more")).end_line() } else { Ok(()) }
}
