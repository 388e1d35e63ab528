//! What it costs to open a file of many tensors, beside the safetensors crate opening one with the same tensors.
//!
//! `cargo bench -p popef --bench walk` prints medians and ratios, all measured in one run.

#![allow(missing_docs, reason = "a benchmark")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use popef::{Blobs, Content, DataType, File, TensorDataInfo, TensorInfo, Writer};
use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView};

const ROUNDS: usize = 15;

fn main() {
    println!("ns a tensor: median of {ROUNDS} rounds, all in one run. The ratio is that of safetensors to Blobs.");
    println!(
        "{:>9} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>12} {:>7}",
        "tensors", "Blobs", "names", "mapped", "memory", "lookup", "parts", "safetensors", "ratio"
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
    // Opened, and one tensor found by its name: safetensors makes its map of names while it opens.
    let last = name(count - 1);
    let lookup = per_tensor(median(|| File::from_bytes(bytes).unwrap().tensor(&last).is_some()));
    let parts = per_tensor(median(|| File::open(&path).unwrap().len()));
    let safetensors = per_tensor(median(|| SafeTensors::deserialize(black_box(&peer)).unwrap().len()));
    println!(
        "{count:>9} {walk:>8.1} {names:>8.1} {mapped:>8.1} {memory:>8.1} {lookup:>8.1} {parts:>8.1} {safetensors:>12.1} {:>7.1}",
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

fn popef_file(count: usize) -> Vec<u8> {
    let mut file = Vec::new();
    let mut writer = Writer::stream(&mut file);
    for index in 0..count {
        let tensor_info = TensorInfo::new(DataType::F32, [2, 2]);
        writer.write_tensor_bytes(&TensorDataInfo { name: name(index).into(), tensor_info }, &[0; 16]).unwrap();
    }
    writer.finish().unwrap();
    file
}
