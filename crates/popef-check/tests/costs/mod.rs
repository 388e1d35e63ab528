//! What decoders cost for the worst inputs known. The benchmark `worst` and the fuzz targets use parts of it.

#![allow(dead_code, unreachable_pub, reason = "nobody uses all of it")]

pub mod cost;
pub mod heap;
#[path = "../../../../popef/tests/common/raw.rs"]
pub mod raw;
pub mod work;
pub mod worst;
