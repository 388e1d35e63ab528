//! The reports of operations: diff, hash, verify, extract, pack, set, compress, merge, split, strip and recover.

mod changed;
mod diff;
mod extract;
mod hash;
mod pack;
mod verify;

pub use changed::{RecompressedText, write_changes, write_merged, write_recovered, write_split, write_stripped};
pub use diff::{DiffExtent, DiffRenderer};
pub use extract::ExtractedText;
pub use hash::HashRenderer;
pub use pack::PackedText;
pub use verify::{FileOutcome, FileStatus, VerifyRenderer};
