//! The cost of decoders for the worst inputs known, beside what is promised: headers and infos, Metadata, checks,
//! pickles, and executables.
//!
//! `cargo bench -p popef-check --bench worst` prints nanoseconds a byte for inputs of several sizes, and the ratio of the
//! largest to the smallest; then a table with a row for each decoder. `-- WORD` measures the decoders and inputs with
//! that word. Work out of proportion to the input shows as a factor from column to column.

#![allow(missing_docs, reason = "a benchmark")]

#[path = "../../../popef/benches/common/mod.rs"]
mod common;
#[path = "../tests/costs/mod.rs"]
mod costs;
#[path = "common/decoding.rs"]
mod decoding;

use costs::{heap, worst};

#[global_allocator]
static ALLOCATOR: heap::Counting = heap::Counting;

fn main() {
    if common::only_tested() {
        return;
    }
    let asked = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let mut all = worst::messages::worst_messages();
    all.extend(worst::decoders::worst_decoders());
    #[cfg(all(feature = "popart", feature = "serde", feature = "tensorflow"))]
    all.extend(worst::payloads::worst_payloads());
    all.extend(worst::pickles::worst_pickles());
    #[cfg(feature = "poptorch")]
    all.extend(worst::poptorch::worst_poptorch_data());
    all.retain(|worst| worst.name.contains(&asked) || worst.bound.decoder.contains(&asked));
    decoding::print(&all);
}
