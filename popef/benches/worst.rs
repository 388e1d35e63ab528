//! What the worst inputs cost a byte, at three sizes: blobs made to be much work for few bytes, again and again, and files
//! whose parts grow together.
//!
//! `cargo bench -p popef --bench worst` prints nanoseconds a byte, and how many times as many a byte of the largest costs
//! as one of the smallest; `-- WORD` does so for the inputs with that word. Work out of proportion to the input would show
//! as a factor of 10 from column to column. Then it prints what decoders cost, beside what is promised of them.

#![allow(missing_docs, reason = "a benchmark")]

mod common;
#[allow(dead_code, unreachable_pub, reason = "the tests use the rest")]
#[path = "../tests/common/cost.rs"]
mod cost;
#[allow(unreachable_pub, reason = "a module of its own would say more than it does")]
#[path = "common/decoding.rs"]
mod decoding;
#[allow(dead_code, unreachable_pub, reason = "the tests use the rest")]
#[path = "../tests/common/heap.rs"]
mod heap;
#[allow(dead_code, unreachable_pub, reason = "the tests use the rest")]
#[path = "../tests/common/worst.rs"]
mod worst;

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use popef::{Blobs, CheckOptions, Content, File, Loader, OpenOptions, check};

#[global_allocator]
static ALLOCATOR: heap::Counting = heap::Counting;

const LONG_ENOUGH: Duration = Duration::from_millis(150);
const SIZES: [usize; 3] = [200_000, 2_000_000, 20_000_000];

/// A file in all forms in which it is read.
struct Input {
    bytes: Arc<[u8]>,
    path: Box<Path>,
}

type Work = fn(&Input);

const WORKS: [(&str, Work); 6] = [
    ("walk", walk),
    ("open in memory, list, look up a name", list),
    ("open in parts", in_parts),
    ("open as a stream", stream),
    ("read all metadata", read_metadata),
    ("check", check_all),
];

fn main() {
    if common::only_tested() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("worst.popef");
    println!("ns a byte: {SIZES:?} bytes, and the last over the first");
    let asked = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    for (what, file) in inputs().into_iter().filter(|(what, _)| what.contains(&asked)) {
        println!("{what}");
        let costs = SIZES.map(|size| {
            let bytes = file(size);
            std::fs::write(&path, &bytes).unwrap();
            let input = Input { bytes: bytes.into(), path: path.as_path().into() };
            WORKS.map(|(_, work)| cost(&input, work))
        });
        let [first, .., last] = costs;
        for (number, (work, _)) in WORKS.into_iter().enumerate() {
            let each = costs.map(|costs| format!("{:>8.2}", costs[number])).concat();
            println!("  {work:<38}{each}   ×{:.1}", last[number] / first[number]);
        }
    }
    let mut decoders = worst::decoders::worst_decoders();
    decoders.retain(|worst| worst.name.contains(&asked) || worst.bound.decoder == asked);
    decoding::print(&decoders);
}

type Make = Box<dyn Fn(usize) -> Vec<u8>>;

fn inputs() -> Vec<(&'static str, Make)> {
    let repeated = |blob: Vec<u8>| -> Make { Box::new(move |size| blob.repeat(size.div_ceil(blob.len()))) };
    // For comparison: a tensor as writers make it.
    let mut inputs = vec![("an ordinary small tensor", repeated(ordinary()))];
    inputs.extend(worst::worst_blobs().into_iter().map(|(what, blob)| (what, repeated(blob))));
    inputs.extend(worst::worst_files().into_iter().map(|(what, file)| (what, Box::new(file) as Make)));
    inputs
}

fn ordinary() -> Vec<u8> {
    let file = std::fs::read("../testdata/interop/all-types.popef").unwrap();
    let blob = Blobs::new(&file).next().unwrap().unwrap();
    file[..usize::try_from(blob.size()).unwrap()].to_vec()
}

fn cost(input: &Input, work: Work) -> f64 {
    let (start, spent) = (Instant::now(), spent());
    let mut rounds = 0;
    while rounds == 0 || start.elapsed() < LONG_ENOUGH {
        work(black_box(input));
        rounds += 1;
    }
    let taken = self::spent().zip(spent).map_or_else(|| start.elapsed(), |(now, before)| now - before);
    taken.as_nanos() as f64 / rounds as f64 / input.bytes.len() as f64
}

/// What the processor spent on this thread, where the system tells: what else it is busy with does not count. It is
/// told at every tick of a clock of some milliseconds.
fn spent() -> Option<Duration> {
    let numbers = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    numbers.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

fn walk(input: &Input) {
    Blobs::new(&input.bytes).for_each(|blob| assert!(black_box(blob).is_ok()));
}

fn list(input: &Input) {
    let file = File::from_bytes(Arc::clone(&input.bytes)).unwrap();
    for blob in file.blobs() {
        black_box(blob.name());
        if let Content::Tensor(tensor) = blob.content() {
            black_box(tensor.size_in_bytes().ok());
        }
    }
    black_box(file.tensor("none").is_some());
}

fn in_parts(input: &Input) {
    black_box(File::open(&input.path).unwrap());
}

fn stream(input: &Input) {
    black_box(OpenOptions::new().stream(&*input.bytes).unwrap());
}

fn read_metadata(input: &Input) {
    for blob in Blobs::new(&input.bytes).map(Result::unwrap) {
        if let Content::Metadata(metadata) = blob.content() {
            drop(black_box(metadata.read()));
        }
    }
}

fn check_all(input: &Input) {
    let file = File::from_bytes(Arc::clone(&input.bytes)).unwrap();
    let mut options = CheckOptions::new();
    for loader in [Loader::Popart, Loader::Poptorch, Loader::Tensorflow, Loader::Triton] {
        options.loader(loader);
    }
    black_box(check([&file], options.deep(true)));
}
