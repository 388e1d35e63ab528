//! What the worst inputs cost a byte: blobs made to be much work for few bytes, and ten and a hundred times as many.
//!
//! `cargo bench -p popef --bench worst` prints nanoseconds a byte. A cost that grows with the input would show from left
//! to right.

#![allow(missing_docs, reason = "a benchmark")]

#[allow(dead_code, unreachable_pub, reason = "the tests use the rest")]
#[path = "../tests/common/worst.rs"]
mod worst;

use std::hint::black_box;
use std::time::{Duration, Instant};

use popef::{Blobs, Content, File};

const ROUNDS: usize = 5;
const BYTES: usize = 200_000;

fn main() {
    println!("ns a byte, best of {ROUNDS} rounds: {BYTES} bytes, 10 times as many, 100 times as many");
    println!("{:<40} {:>23} {:>23} {:>23}", "input", "walk", "open, list, look up", "read metadata");
    let mut blobs = worst::worst_blobs();
    // For comparison: a tensor as writers make it.
    blobs.insert(0, ("an ordinary small tensor", ordinary()));
    for (what, blob) in blobs {
        let count = BYTES.div_ceil(blob.len());
        let files = [1, 10, 100].map(|times| blob.repeat(count * times));
        let of = |work: fn(&[u8])| files.each_ref().map(|file| cost(file, work)).join(" ");
        println!("{what:<40} {:>23} {:>23} {:>23}", of(walk), of(list), of(read_metadata));
    }
}

fn ordinary() -> Vec<u8> {
    let file = std::fs::read("../testdata/interop/all-types.popef").unwrap();
    let blob = Blobs::new(&file).next().unwrap().unwrap();
    file[..usize::try_from(blob.size()).unwrap()].to_vec()
}

fn cost(file: &[u8], work: fn(&[u8])) -> String {
    let best = (0..ROUNDS).map(|_| time(file, work)).min().unwrap();
    format!("{:>7.2}", best.as_nanos() as f64 / file.len() as f64)
}

fn time(file: &[u8], work: fn(&[u8])) -> Duration {
    let start = Instant::now();
    work(black_box(file));
    start.elapsed()
}

fn walk(file: &[u8]) {
    Blobs::new(file).for_each(|blob| assert!(black_box(blob).is_ok()));
}

/// The copy of the bytes is a small part of it.
fn list(file: &[u8]) {
    let file = File::from_bytes(file.to_vec()).unwrap();
    for blob in file.blobs() {
        black_box(blob.name());
        if let Content::Tensor(tensor) = blob.content() {
            black_box(tensor.size_in_bytes().ok());
        }
    }
    black_box(file.tensor("none").is_some());
}

fn read_metadata(file: &[u8]) {
    for blob in Blobs::new(file).map(Result::unwrap) {
        if let Content::Metadata(metadata) = blob.content() {
            drop(black_box(metadata.read()));
        }
    }
}
