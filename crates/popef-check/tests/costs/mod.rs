//! What decoders cost for the worst inputs known. The benchmark `worst` and the fuzz targets use parts of it.

#![allow(dead_code, unreachable_pub, reason = "nobody uses all of it")]
#![allow(clippy::duplicate_mod, reason = "the benchmark has no other way to the blobs that are laid out by hand")]

pub mod cost;
pub mod heap;
#[path = "../../../../popef/tests/common/raw.rs"]
pub mod raw;
pub mod work;
pub mod worst;
