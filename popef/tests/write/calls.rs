//! Writing takes few calls of the system.

#![cfg(target_os = "linux")]

use crate::common;

use std::path::Path;

use popef::types::{FeedDataInfo, OpaqueInfo, TensorDataInfo};
use popef::write::NewFile;
use popef::{DataType, File, TensorInfo, Writer};

/// The bytes of small blobs that are gathered before a call.
const BUFFER: u64 = 256 << 10;
/// The bytes of a feed that are gathered before a call.
const GATHERED: u64 = 64 << 10;

/// The numbers of reads and writes of this thread so far.
fn calls() -> Option<[u64; 2]> {
    common::io_counters(["syscr", "syscw"])
}

struct Counted {
    reads: u64,
    writes: u64,
    size: u64,
}

/// The numbers of reads and writes that a new file takes, and its length.
fn count(path: &Path, write: impl FnOnce(&mut Writer<NewFile>)) -> Option<Counted> {
    let mut writer = Writer::create(path).unwrap();
    let before = calls()?;
    write(&mut writer);
    let size = writer.finish().unwrap().size;
    let [reads, writes] = calls()?;
    Some(Counted { reads: reads - before[0], writes: writes - before[1], size })
}

#[test]
fn small_blobs_are_written_together_and_large_ones_copied_by_the_system() {
    let folder = tempfile::tempdir().unwrap();
    let [path, copy] = ["model.popef", "copy.popef"].map(|name| folder.path().join(name));

    // None of the gathered pieces is full to the last byte.
    let tensor_info = TensorInfo::new(DataType::U8, [24]);
    let feeds = ["one", "two", "three"];
    let feeds =
        feeds.map(|name| FeedDataInfo { name: name.into(), tensor_info: tensor_info.clone(), num_tensors: 20_000 });
    let counted = count(&path, |writer| {
        let mut open = writer.feeds(&feeds).unwrap();
        for _ in 0..20_000 {
            (0..3).for_each(|feed| open.push_bytes(feed, &[2; 24]).unwrap());
        }
        open.finish().unwrap();
    });
    let Some(Counted { writes, size, .. }) = counted else { return };
    assert!((size / GATHERED..=size / GATHERED + 20).contains(&writes), "{writes} writes for {size} bytes of feeds");

    let tensor = TensorDataInfo { name: "small".into(), tensor_info };
    let counted = count(&path, |writer| {
        for _ in 0..20_000 {
            writer.write_tensor_bytes(&tensor, &[1; 24]).unwrap();
        }
        writer.write_opaque(&OpaqueInfo { name: "large".into(), ..Default::default() }, &[3; 10 << 20]).unwrap();
    });
    let Counted { writes, size, .. } = counted.unwrap();
    let small = size - (10 << 20);
    assert!((small / BUFFER..=small / BUFFER + 10).contains(&writes), "{writes} writes for {small} bytes of blobs");

    let opened = File::open(&path).unwrap();
    // SAFETY: nobody writes to the file.
    #[expect(unsafe_code, reason = "a mapped file is copied in a way of its own")]
    let mapped = unsafe { File::map(&path) }.unwrap();
    for (way, file) in [("opened", &opened), ("mapped", &mapped)] {
        let large = file.opaque("large").unwrap();
        let Counted { writes, .. } =
            count(&copy, |writer| assert_eq!(writer.copy(large.blob()).unwrap().offset, 0)).unwrap();
        assert!(writes <= 8, "{writes} writes for a large blob of a file that was {way}");

        let Counted { reads, writes, size } = count(&copy, |writer| {
            file.tensors()
                .for_each(|tensor| assert_eq!(writer.copy(tensor.blob()).unwrap().offset, tensor.blob().offset()));
        })
        .unwrap();
        assert!(
            writes <= size / BUFFER + 10,
            "{writes} writes for {size} bytes of small blobs of a file that was {way}"
        );
        assert!(reads < 10 || way == "opened", "{reads} reads of what was mapped");
    }
}
