//! The cost of opening a file of many tensors, beside the safetensors crate with the same tensors:
//! `cargo bench -p popef --bench walk`.
//!
//! It prints medians and ratios, all measured in one run, and then what a walk reads from a disk if nothing is cached.

#![allow(missing_docs, reason = "a benchmark")]

mod common;

use std::hint::black_box;
use std::path::Path;

use common::measure::{Row, growth, medians, ratio, rounded, work};
use common::recipe;
use popef::read::Blobs;
use popef::{Content, File};
use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView};

const ROUNDS: usize = 15;

fn main() {
    if common::only_tested() {
        return;
    }
    let ways = ["walk", "names", "mapped", "memory", "lookup", "parts", "safetensors"];
    println!("ns a tensor, median of {ROUNDS} rounds");
    println!("{:>9}{}", "tensors", ways.map(|way| format!("{way:>12}")).concat());
    let costs = [1_000, 10_000, 100_000].map(|count| {
        let costs = compare(count);
        println!("{count:>9}{}", costs.map(|cost| format!("{cost:>12.1}")).concat());
        costs
    });
    let [walk, _, mapped, _, _, parts, safetensors] = costs[2];
    Row {
        work: "walk 100,000 tensors, mapped, warm",
        goal: "at most 60 ns a blob",
        figure: format!("{} ns a blob", rounded(walk)),
        peer: format!("safetensors, {} ns", rounded(safetensors)),
        ratio: ratio(safetensors, walk),
        met: walk <= 60.0,
    }
    .print();
    Row {
        work: "open them: map the file, walk it, keep an index",
        goal: "safetensors takes at least 12 times as long to open the same",
        figure: format!("{} ns a blob", rounded(mapped)),
        peer: format!("safetensors, {} ns", rounded(safetensors)),
        ratio: ratio(safetensors, mapped),
        met: safetensors >= 12.0 * mapped,
    }
    .print();
    Row {
        work: "open them in parts (positioned reads)",
        goal: "at most twice as long as mapped",
        figure: format!("{} ns a blob", rounded(parts)),
        peer: format!("mapped, {} ns", rounded(mapped)),
        ratio: ratio(parts, mapped),
        met: parts <= 2.0 * mapped,
    }
    .print();
    growth("open 1,000, 10,000, 100,000 tensors, mapped", "ns a blob", costs.map(|costs| costs[2]), 1.5);
    growth("open them in parts", "ns a blob", costs.map(|costs| costs[5]), 1.5);
    cold();
}

/// The cost of each way in, in nanoseconds a tensor.
fn compare(count: usize) -> [f64; 7] {
    let file = recipe::in_memory(|writer| recipe::small_tensors(writer, count));
    let peer = safetensors_file(count);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tensors.popef");
    std::fs::write(&path, &file).unwrap();
    // SAFETY: nobody changes the file while the benchmark reads it.
    let mapping = unsafe { memmap2::Mmap::map(&std::fs::File::open(&path).unwrap()) }.unwrap();
    let bytes: &'static [u8] = file.leak();
    // safetensors makes its map of names on opening, this crate at the first look-up.
    let last = recipe::name(count - 1);
    let works: [&mut dyn FnMut(); 7] = [
        &mut work(|| Blobs::new(black_box(&mapping)).map(|blob| blob.unwrap().size()).sum::<u64>()),
        &mut work(|| Blobs::new(black_box(&mapping)).map(|blob| describe(&blob.unwrap())).sum::<u64>()),
        &mut work(|| map(&path).len()),
        &mut work(|| File::from_bytes(bytes).unwrap().len()),
        &mut work(|| File::from_bytes(bytes).unwrap().tensor(&last).is_some()),
        &mut work(|| File::open(&path).unwrap().len()),
        &mut work(|| SafeTensors::deserialize(black_box(&peer)).unwrap().len()),
    ];
    medians(ROUNDS, works).map(|time| time * 1e9 / count as f64)
}

fn map(path: &Path) -> File {
    // SAFETY: nobody changes the file while the benchmark reads it.
    unsafe { File::map(path) }.unwrap()
}

/// Looks at name, shape and type of a tensor, as a listing does.
fn describe(blob: &popef::Blob<'_>) -> u64 {
    let Content::Tensor(tensor) = blob.content() else { return 0 };
    black_box(tensor.name().as_bytes());
    black_box(tensor.shape().iter().sum::<i64>());
    tensor.size_in_bytes().unwrap()
}

fn safetensors_file(count: usize) -> Vec<u8> {
    let data = [0; 16];
    let view = |index| (recipe::name(index), TensorView::new(Dtype::F32, vec![2, 2], &data).unwrap());
    safetensors::serialize((0..count).map(view), None).unwrap()
}

/// The bytes that the kernel reads from the disk for a walk over large tensors if nothing is cached.
#[cfg(target_os = "linux")]
fn cold() {
    use popef::DataType;
    const TENSORS: usize = 64;
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = folder.path().join("large.popef");
    recipe::create(&path, |writer| {
        let mut weights = recipe::Weights::new();
        // The size is no multiple of a page, as in real files.
        (0..TENSORS).for_each(|index| weights.write(writer, &recipe::name(index), DataType::F16, &[4, 1_000_003]));
    });
    // Only pages that are on the disk can be dropped from the cache.
    let disk = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    disk.sync_all().unwrap();
    let open: fn(&Path) -> File = |path| File::open(path).unwrap();
    for (way, open) in [("in parts", open), ("mapped", map)] {
        rustix::fs::fadvise(&disk, 0, None, rustix::fs::Advice::DontNeed).unwrap();
        let Some(before) = bytes_read() else { return };
        let blobs = open(&path).len();
        let read = bytes_read().unwrap_or_default() - before;
        let a_blob = read as f64 / blobs as f64 / 1024.0;
        Row {
            work: &format!("open {TENSORS} tensors of 8 MB, cold, {way}"),
            goal: "at most 8 KiB read from the disk a blob",
            figure: format!("{} KiB a blob", rounded(a_blob)),
            peer: format!("the whole file, {} MiB", disk.metadata().unwrap().len() >> 20),
            ratio: String::new(),
            met: read > 0 && a_blob <= 8.0,
        }
        .print();
    }
}

#[cfg(not(target_os = "linux"))]
fn cold() {}

/// The bytes that the kernel has read from disks for this process.
#[cfg(target_os = "linux")]
fn bytes_read() -> Option<u64> {
    let counters = std::fs::read_to_string("/proc/self/io").ok()?;
    let line = counters.lines().find_map(|line| line.strip_prefix("read_bytes: "))?;
    line.parse().ok()
}
