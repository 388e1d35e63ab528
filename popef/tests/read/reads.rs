//! Opening a file reads little of it, in few calls.

#![cfg(target_os = "linux")]

use crate::common;

use std::path::Path;

use popef::types::TensorDataInfo;
use popef::{DataType, File, TensorInfo, Writer};

/// The bytes that this thread has read so far, and the number of calls.
fn counters() -> Option<[u64; 2]> {
    common::io_counters(["rchar", "syscr"])
}

/// The bytes and the number of calls that opening a file takes.
fn read_by_opening(path: &Path) -> Option<[u64; 2]> {
    let before = counters()?;
    let counting = counters()?;
    let file = File::open(path).unwrap();
    let after = counters()?;
    drop(file);
    // Reading the counters is counted too.
    Some([0, 1].map(|which| after[which] - counting[which] - (counting[which] - before[which])))
}

fn write_tensors(path: &Path, count: usize, elements: usize) -> u64 {
    let mut writer = Writer::create(path).unwrap();
    for index in 0..count {
        let info = TensorDataInfo {
            name: format!("model/layer_{index}/weights").into(),
            tensor_info: TensorInfo::new(DataType::U8, [elements as i64]),
        };
        writer.write_tensor_bytes(&info, &vec![1; elements]).unwrap();
    }
    writer.finish().unwrap();
    std::fs::metadata(path).unwrap().len()
}

#[test]
fn opening_reads_a_page_for_a_large_blob_and_many_small_blobs_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.popef");

    // The sizes are odd, so that headers lie anywhere in a page.
    write_tensors(&path, 200, 100_003);
    let Some([bytes, calls]) = read_by_opening(&path) else { return };
    assert!((200 * 100..=200 * 4096).contains(&bytes), "{bytes} bytes for 200 blobs far apart");
    // Some headers lie across two pages.
    assert!((200..=220).contains(&calls), "{calls} reads for 200 blobs far apart");

    let size = write_tensors(&path, 20_000, 16);
    let [bytes, calls] = read_by_opening(&path).unwrap();
    assert!((size..=size + size / 50).contains(&bytes), "{bytes} bytes for a file of {size}");
    // Each call reads 32 KiB. The header that the window cuts off is read again.
    assert!(calls <= size / (28 << 10) + 10, "{calls} reads for a file of {size} bytes");
}
