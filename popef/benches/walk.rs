//! What it costs to open a file of many tensors, beside the safetensors crate opening one with the same tensors.
//!
//! `cargo bench -p popef --bench walk` prints medians and ratios, all measured in one run.

#![allow(missing_docs, reason = "a benchmark")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use popef::{Blobs, Content, File};
use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView};

const ROUNDS: usize = 15;

fn main() {
    println!("ns a tensor: median of {ROUNDS} rounds, all in one run. The ratio is that of safetensors to Blobs.");
    println!(
        "{:>9} {:>8} {:>8} {:>8} {:>8} {:>8} {:>12} {:>7}",
        "tensors", "Blobs", "names", "mapped", "memory", "parts", "safetensors", "ratio"
    );
    for count in [1_000, 10_000, 100_000] {
        compare(count);
    }
}

fn compare(count: usize) {
    let file = popef_file(count);
    let peer = safetensors_file(count);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tensors.popef");
    std::fs::write(&path, &file).unwrap();

    let per_tensor = |time: Duration| time.as_nanos() as f64 / count as f64;
    let walk = per_tensor(median(|| Blobs::new(black_box(&file)).map(|blob| blob.unwrap().size()).sum::<u64>()));
    let names = per_tensor(median(|| Blobs::new(black_box(&file)).map(|blob| describe(&blob.unwrap())).sum::<u64>()));
    // SAFETY: nobody changes the file while the benchmark reads it.
    let mapped = per_tensor(median(|| unsafe { File::map(&path) }.unwrap().len()));
    let bytes: &'static [u8] = Box::leak(file.clone().into_boxed_slice());
    let memory = per_tensor(median(|| File::from_bytes(bytes).unwrap().len()));
    let parts = per_tensor(median(|| File::open(&path).unwrap().len()));
    let safetensors = per_tensor(median(|| SafeTensors::deserialize(black_box(&peer)).unwrap().len()));
    println!(
        "{count:>9} {walk:>8.1} {names:>8.1} {mapped:>8.1} {memory:>8.1} {parts:>8.1} {safetensors:>12.1} {:>7.1}",
        safetensors / walk
    );
}

/// Name, shape and type of a tensor, as a listing uses them.
fn describe(blob: &popef::Blob<'_>) -> u64 {
    let Content::Tensor(tensor) = blob.content() else { return 0 };
    black_box(tensor.name().as_bytes());
    black_box(tensor.shape().iter().sum::<i64>());
    tensor.size_in_bytes().unwrap()
}

fn median<T>(mut work: impl FnMut() -> T) -> Duration {
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            black_box(work());
            start.elapsed()
        })
        .collect();
    times.sort();
    times[ROUNDS / 2]
}

fn name(index: usize) -> String {
    format!("model.encoder.layer.{index:06}.weight")
}

fn safetensors_file(count: usize) -> Vec<u8> {
    let data = [0; 16];
    let tensors = (0..count).map(|index| (name(index), TensorView::new(Dtype::F32, vec![2, 2], &data).unwrap()));
    safetensors::serialize(tensors, None).unwrap()
}

/// A file of such tensors, put together word by word.
fn popef_file(count: usize) -> Vec<u8> {
    let mut file = Vec::new();
    for index in 0..count {
        let struct_pointer = |offset: u64, data: u64, pointers: u64| offset << 2 | data << 32 | pointers << 48;
        let list_pointer = |offset: u64, size: u64, len: u64| 1 | offset << 2 | size << 32 | len << 35;
        let mut text = name(index).into_bytes();
        let text_len = text.len() as u64 + 1;
        text.resize(text.len() / 8 * 8 + 8, 0);
        let body = [
            struct_pointer(0, 0, 2),
            list_pointer(5, 2, text_len),
            struct_pointer(0, 1, 1),
            3,
            list_pointer(0, 5, 2),
            2,
            2,
        ];
        let info_words = body.len() as u64 + text.len() as u64 / 8;
        let size = 40 + 8 + info_words * 8 + 16;
        let header = [4 << 32, struct_pointer(0, 2, 1), 2, size, 0, info_words << 32];
        file.extend(header.iter().chain(&body).flat_map(|word| word.to_le_bytes()));
        file.extend(text);
        file.extend([0; 16]);
    }
    file
}
