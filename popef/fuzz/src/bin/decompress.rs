//! An executable whose data are any bytes behind the mark of a compression: no panic, never more than the blob says,
//! and an end or an error.

#![no_main]

use std::io::Read as _;

use libfuzzer_sys::fuzz_target;
use popef::Blobs;
use popef_fuzz::heap::{Counting, peak_of};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What a decoder may hold: its window, which by default is 8 MiB at most, and its tables.
const ALLOWED: u64 = 20 << 20;

fuzz_target!(|input: &[u8]| {
    // Three bytes of the size that the blob states, one for the mark, and the data.
    let Some((&[a, b, c, mark], data)) = input.split_first_chunk::<4>() else { return };
    let size = u32::from_le_bytes([a, b, c, 0]);
    let marks = [&[][..], &[0x78, 0x9c], &[0x1f, 0x8b, 8], &[0x28, 0xb5, 0x2f, 0xfd], &[0x04, 0x22, 0x4d, 0x18]];
    let data = [marks[usize::from(mark) % marks.len()], data].concat();
    let file = executable(size.into(), &data);

    let blob = Blobs::new(&file).next().unwrap().unwrap();
    let popef::Content::Executable(executable) = blob.content() else { panic!("an executable was made") };
    let (_, peak) = peak_of(|| {
        let Ok(mut unpack) = executable.unpack() else { return };
        let mut buffer = [0; 4096];
        let mut given = 0u64;
        loop {
            match unpack.read(&mut buffer) {
                Ok(0) => break assert_eq!(given, u64::from(size), "the end came early"),
                Ok(count) => given += count as u64,
                Err(_) => break,
            }
            assert!(given <= u64::from(size), "more than the blob says");
        }
    });
    assert!(peak <= ALLOWED, "unpacking held {peak} bytes");
    drop(executable.poplar_header());
});

/// One blob, an executable with no name and this data.
fn executable(size: u64, data: &[u8]) -> Vec<u8> {
    let total = 40 + 32 + data.len() as u64;
    let header = [4 << 32, 2 << 32 | 1 << 48, 0, total, 0];
    let info = [3 << 32, 1 << 32 | 1 << 48, size, 0];
    header.into_iter().chain(info).flat_map(u64::to_le_bytes).chain(data.iter().copied()).collect()
}
