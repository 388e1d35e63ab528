//! The cost of reading the elements of a model: `cargo bench -p popef --bench elements`.
//!
//! The works that are compared take turns in one run. The medians count.

#![allow(missing_docs, reason = "a benchmark")]

mod common;

use std::borrow::Cow;
use std::hint::black_box;
use std::ops::Range;
use std::path::Path;

use common::measure::{Row, medians, ratio, rounded, work};
use common::recipe;
use memmap2::Mmap;
use popef::types::TensorDataInfo;
use popef::types::half::f16;
use popef::{DataType, File, TensorInfo};
use zerocopy::FromBytes;

fn main() {
    if common::only_tested() {
        return;
    }
    conversions();
    typed_views();
}

/// Conversions of small floats to `f32`, beside a copy of as many bytes as come out.
fn conversions() {
    for (data_type, goal) in [
        (DataType::F16, "at least 0.5 of memcpy's bytes out"),
        (DataType::F8143, "at least 1 GB/s in"),
        (DataType::F8152, "at least 1 GB/s in"),
    ] {
        // One size fits into no cache, the other into all.
        for (what, count, rounds, repeats) in [("256 MiB out", 64 << 20, 15, 1), ("128 KiB out", 32 << 10, 101, 50)] {
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
            let [convert, plain] = medians(rounds, [convert, plain]);
            let rate = |time: f64, size: usize| (count * size * repeats) as f64 / time / 1e9;
            let (input, output, copied) = (rate(convert, size), rate(convert, 4), rate(plain, 4));
            Row {
                work: &format!("convert {data_type} to f32, {what}"),
                goal,
                figure: format!("{} GB/s in, {} out", rounded(input), rounded(output)),
                peer: format!("memcpy, {} GB/s", rounded(copied)),
                ratio: ratio(output, copied),
                met: if data_type == DataType::F16 { output >= 0.5 * copied } else { input >= 1.0 },
            }
            .print();
        }
    }
}

/// All bytes of a model through the typed views of its mapping, beside a plain mapping without this crate.
fn typed_views() {
    const ROUNDS: usize = 15;
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = folder.path().join("bert.popef");
    recipe::create(&path, recipe::bert);
    let tensors = tensors(&path);
    let bytes = tensors.iter().map(|(_, range)| range.len()).sum::<usize>();
    assert_eq!(sum_typed(&map(&path)), sum_bare(&map_bare(&path), &tensors));
    let (file, bare) = (map(&path), map_bare(&path));
    let works: [&mut dyn FnMut(); 4] = [
        &mut work(|| sum_typed(&map(&path))),
        &mut work(|| sum_bare(&map_bare(&path), &tensors)),
        &mut work(|| sum_typed(&file)),
        &mut work(|| sum_bare(&bare, &tensors)),
    ];
    let [opened, bare_opened, stays, bare_stays] = medians(ROUNDS, works);
    let rate = |time: f64| rounded(bytes as f64 / time / 1e9);
    for (what, ours, bare) in [("mapped anew", opened, bare_opened), ("mapped once", stays, bare_stays)] {
        Row {
            work: &format!("all bytes of {} tensors of {} MiB by typed views, {what}", tensors.len(), bytes >> 20),
            goal: "at least 0.97 of the same loop over the bare mapping",
            figure: format!("{} GB/s", rate(ours)),
            peer: format!("memmap2, {} GB/s", rate(bare)),
            ratio: ratio(bare, ours),
            met: bare >= 0.97 * ours,
        }
        .print();
    }
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
    let place = |tensor: popef::read::TensorBlob<'_>| {
        let (start, len) = (tensor.blob().data_offset(), tensor.size_in_bytes().unwrap());
        (tensor.data_type(), usize::try_from(start).unwrap()..usize::try_from(start + len).unwrap())
    };
    File::open(path).unwrap().tensors().map(place).collect()
}

fn sum_typed(file: &File) -> u64 {
    let sum = |tensor: popef::read::TensorBlob<'_>| {
        let elements = tensor.elements().unwrap();
        match tensor.data_type() {
            DataType::F32 => sum_f32(borrowed(&elements.to_slice().unwrap())),
            DataType::F16 => sum_f16(borrowed(&elements.to_slice().unwrap())),
            other => panic!("no such tensors: {other}"),
        }
    };
    file.tensors().map(sum).fold(0, u64::wrapping_add)
}

fn borrowed<'a, T: Clone>(view: &Cow<'a, [T]>) -> &'a [T] {
    match view {
        Cow::Borrowed(elements) => elements,
        Cow::Owned(_) => panic!("a tensor is not aligned"),
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

/// A sum of bits, which is the fastest work that touches each element.
#[inline(never)]
fn sum_f32(elements: &[f32]) -> u64 {
    elements.iter().map(|element| u64::from(element.to_bits())).fold(0, u64::wrapping_add)
}

#[inline(never)]
fn sum_f16(elements: &[f16]) -> u64 {
    elements.iter().map(|element| u64::from(element.to_bits())).fold(0, u64::wrapping_add)
}
