//! What `popef.open` of the Python module is compared with: `cargo bench -p popef --bench open -- FILE`.
//!
//! It opens the file a hundred times, in parts. crates/popef-python/benches/compare.py runs it, and takes the processor's time.

#![allow(missing_docs, reason = "a benchmark")]

use std::env;
use std::hint::black_box;

use popef::File;

const ROUNDS: usize = 100;

fn main() {
    // Cargo adds its own arguments, and gives no file when it runs all benchmarks.
    let Some(path) =
        env::args_os().skip(1).find(|argument| argument.to_str().is_none_or(|text| !text.starts_with("--")))
    else {
        return;
    };
    for _ in 0..ROUNDS {
        assert!(black_box(File::open(&path).unwrap()).blobs().len() > 0);
    }
}
