//! What the benchmarks share: inputs, measuring, and tables.

#![allow(dead_code, unreachable_pub, reason = "no benchmark uses all of it")]

pub mod measure;
pub mod recipe;

/// Whether this is `cargo test --benches`, which only starts the benchmarks. Only `cargo bench` passes `--bench`.
pub fn only_tested() -> bool {
    std::env::args().all(|argument| argument != "--bench")
}
