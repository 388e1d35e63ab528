//! What it costs to get at the elements of a model: `cargo bench -p popef --bench elements`.
//!
//! What is compared takes turns, all in one run, and medians count.

#![allow(missing_docs, reason = "a benchmark")]

#[allow(dead_code, unreachable_pub, reason = "other benchmarks use the rest")]
#[path = "common/recipe.rs"]
mod recipe;

use std::borrow::Cow;
use std::hint::black_box;
use std::ops::Range;
use std::path::Path;
use std::time::Instant;

use memmap2::Mmap;
use popef::half::f16;
use popef::{DataType, File, TensorDataInfo, TensorInfo};
use zerocopy::FromBytes;

fn main() {
    // `cargo test --benches` only wants to see it start.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    conversions();
    typed_views();
}

/// From each small float to `f32`, beside a copy of as many bytes as come out.
fn conversions() {
    println!("to f32, GB/s in and out, beside a copy of as many bytes as come out: medians");
    println!("{:<6} {:>12} {:>8} {:>8} {:>8} {:>6}", "", "bytes out", "in", "out", "copy", "ratio");
    for data_type in [DataType::F16, DataType::F8143, DataType::F8152] {
        // One stays in the cache, the other does not fit into any.
        for (count, rounds, repeats) in [(32 << 10, 101, 50), (64 << 20, 15, 1)] {
            let size = usize::try_from(data_type.size().unwrap()).unwrap();
            let file = File::from_bytes(recipe::in_memory(|writer| {
                let tensor_info = TensorInfo::new(data_type, [i64::try_from(count).unwrap()]);
                let info = TensorDataInfo { name: "random".into(), tensor_info };
                writer.write_tensor_bytes(&info, &recipe::Random::new().bytes(count * size)).unwrap();
            }));
            let file = file.unwrap();
            let elements = file.tensor("random").unwrap().elements().unwrap();
            let [mut converted, from, mut copy] = [vec![0.0f32; count], vec![1.0; count], vec![0.0; count]];
            let convert = &mut || (0..repeats).for_each(|_| drop(black_box(elements.convert_into(&mut converted))));
            let plain = &mut || (0..repeats).for_each(|_| black_box(&mut copy).copy_from_slice(black_box(&from)));
            let [convert, plain] = medians(rounds, &mut [convert, plain]);
            let rate = |time: f64, size: usize| (count * size * repeats) as f64 / time / 1e9;
            let (input, output, copied) = (rate(convert, size), rate(convert, 4), rate(plain, 4));
            let (name, out) = (data_type.to_string(), count * 4);
            println!("{name:<6} {out:>12} {input:>8.2} {output:>8.2} {copied:>8.2} {:>6.2}", output / copied);
        }
    }
}

/// All bytes of a model through the typed views of its mapping, beside the same bytes of a mapping without this crate.
fn typed_views() {
    const ROUNDS: usize = 15;
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = folder.path().join("bert.popef");
    recipe::create(&path, recipe::bert);
    let tensors = tensors(&path);
    let bytes = tensors.iter().map(|(_, range)| range.len()).sum::<usize>();
    println!("all bytes of {} tensors, {} MiB, GB/s: median of {ROUNDS} rounds", tensors.len(), bytes >> 20);
    println!("{:<28} {:>8} {:>8} {:>6}", "", "ours", "bare", "ratio");

    let show = |what, [ours, bare]: [f64; 2]| {
        let rate = |time: f64| bytes as f64 / time / 1e9;
        println!("{what:<28} {:>8.2} {:>8.2} {:>6.3}", rate(ours), rate(bare), bare / ours);
    };
    assert_eq!(sum_typed(&map(&path)), sum_bare(&map_bare(&path), &tensors));
    let opened = medians(ROUNDS, &mut [&mut || sum_typed(&map(&path)), &mut || sum_bare(&map_bare(&path), &tensors)]);
    show("mapped anew each round", opened);
    let (file, bare) = (map(&path), map_bare(&path));
    let stays = medians(ROUNDS, &mut [&mut || sum_typed(&file), &mut || sum_bare(&bare, &tensors)]);
    show("mapped once", stays);
}

fn map(path: &Path) -> File {
    // SAFETY: nobody changes the file while the benchmark reads it.
    unsafe { File::map(path) }.unwrap()
}

fn map_bare(path: &Path) -> Mmap {
    // SAFETY: nobody changes the file while the benchmark reads it.
    unsafe { Mmap::map(&std::fs::File::open(path).unwrap()) }.unwrap()
}

/// The types and places of the tensors.
fn tensors(path: &Path) -> Vec<(DataType, Range<usize>)> {
    let place = |tensor: popef::TensorBlob<'_>| {
        let (start, len) = (tensor.blob().data_offset(), tensor.size_in_bytes().unwrap());
        (tensor.data_type(), usize::try_from(start).unwrap()..usize::try_from(start + len).unwrap())
    };
    File::open(path).unwrap().tensors().map(place).collect()
}

fn sum_typed(file: &File) -> u64 {
    let sum = |tensor: popef::TensorBlob<'_>| {
        let elements = tensor.elements().unwrap();
        match tensor.data_type() {
            DataType::F32 => sum_f32(borrowed(&elements.to().unwrap())),
            DataType::F16 => sum_f16(borrowed(&elements.to().unwrap())),
            other => panic!("no such tensors: {other}"),
        }
    };
    file.tensors().map(sum).fold(0, u64::wrapping_add)
}

fn borrowed<'a, T: Clone>(view: &Cow<'a, [T]>) -> &'a [T] {
    match view {
        Cow::Borrowed(elements) => elements,
        Cow::Owned(_) => panic!("all tensors lie aligned"),
    }
}

fn sum_bare(bytes: &[u8], tensors: &[(DataType, Range<usize>)]) -> u64 {
    let sum = |(data_type, range): &(DataType, Range<usize>)| match data_type {
        DataType::F32 => sum_f32(<[f32]>::ref_from_bytes(&bytes[range.clone()]).unwrap()),
        DataType::F16 => sum_f16(<[f16]>::ref_from_bytes(&bytes[range.clone()]).unwrap()),
        other => panic!("no such tensors: {other}"),
    };
    tensors.iter().map(sum).fold(0, u64::wrapping_add)
}

/// A sum of bits, which takes the processor the least time of all that touches each element.
#[inline(never)]
fn sum_f32(elements: &[f32]) -> u64 {
    elements.iter().map(|element| u64::from(element.to_bits())).fold(0, u64::wrapping_add)
}

#[inline(never)]
fn sum_f16(elements: &[f16]) -> u64 {
    elements.iter().map(|element| u64::from(element.to_bits())).fold(0, u64::wrapping_add)
}

/// The median times, in seconds, of what takes turns; each begins a round in its turn.
fn medians<T, const N: usize>(rounds: usize, works: &mut [&mut dyn FnMut() -> T; N]) -> [f64; N] {
    let mut times = [const { Vec::new() }; N];
    for round in 0..rounds {
        for turn in 0..N {
            let which = (round + turn) % N;
            let start = Instant::now();
            black_box(works[which]());
            times[which].push(start.elapsed().as_secs_f64());
        }
    }
    times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    })
}
