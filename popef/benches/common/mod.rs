//! What the benchmarks share: their inputs, and how they measure and show.

#![allow(dead_code, unreachable_pub, reason = "no benchmark uses all of it")]

pub mod measure;
pub mod recipe;

/// Whether this is `cargo test --benches`, which only wants to see a benchmark start: `cargo bench` alone says `--bench`.
pub fn only_tested() -> bool {
    std::env::args().all(|argument| argument != "--bench")
}
