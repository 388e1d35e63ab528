//! The code that the fuzz targets share. `crates/fuzz/run` builds and runs them. `docs/ROBUSTNESS.md` says what each
//! one tests.
//!
//! Blind mutations seldom get past a header, because the lengths no longer agree. So half of all inputs are recipes for
//! a file ([`generate`]): blobs, messages, pointers, and lies about each.

pub mod generate;
pub mod ways;

#[path = "../../popef-check/tests/costs/cost.rs"]
pub mod cost;

#[path = "../../../popef/tests/common/everything.rs"]
pub mod everything;

#[path = "../../popef-check/tests/costs/heap.rs"]
pub mod heap;

#[path = "../../popef-check/tests/costs/work.rs"]
pub mod work;

use arbitrary::Unstructured;

/// The file of an input. The first byte says whether the rest is the file itself or a recipe for one.
///
/// If the variable `POPEF_FUZZ_WRITE` names a file, the result is written there, so that a finding can be cut down and
/// kept.
pub fn file(input: &[u8]) -> Vec<u8> {
    let file = match input.split_first() {
        Some((first, rest)) if first % 2 == 1 => generate::file(&mut Unstructured::new(rest)),
        Some((_, rest)) => rest.to_vec(),
        None => Vec::new(),
    };
    if let Some(path) = std::env::var_os("POPEF_FUZZ_WRITE") {
        std::fs::write(path, &file).expect("the file named by POPEF_FUZZ_WRITE can be written");
    }
    file
}
