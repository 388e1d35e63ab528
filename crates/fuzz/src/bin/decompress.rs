//! An executable whose data is any bytes after the mark of a compression: no panic, never more bytes than the blob
//! says, an end or an error, and no more time and memory than is promised.

#![no_main]

use std::io::Read as _;

use libfuzzer_sys::fuzz_target;
use popef::read::{Blobs, Compression, ExecutableBlob, PoplarHeader};
use popef_fuzz::cost::{Bound, GZIP, LZ4, SLACK, ZLIB, assert_within, zstd};
use popef_fuzz::heap::Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fuzz_target!(|input: &[u8]| {
    // The input has three bytes for the size that the blob states, one for the mark, and the data.
    let Some((&[a, b, c, mark], data)) = input.split_first_chunk::<4>() else { return };
    let size = u32::from_le_bytes([a, b, c, 0]);
    let marks = [&[][..], &[0x78, 0x9c], &[0x1f, 0x8b, 8], &[0x28, 0xb5, 0x2f, 0xfd], &[0x04, 0x22, 0x4d, 0x18]];
    let data = [marks[usize::from(mark) % marks.len()], data].concat();
    let file = executable(size.into(), &data);

    let blob = Blobs::new(&file).next().unwrap().unwrap();
    let popef::Content::Executable(executable) = blob.content() else { panic!("an executable was made") };
    let Ok(Some(compression)) = executable.compression() else { return };
    let bytes = file.len() as u64;
    assert_within(&bound(compression, size.into()), SLACK, bytes, || unpack(&executable, size.into()));
    assert_within(&bound(compression, PoplarHeader::LEN as u64), SLACK, bytes, || {
        executable.poplar_header().map_or(0, |header| header.map_or(0, |_| PoplarHeader::LEN as u64))
    });
});

/// The promised cost of unpacking the first `wanted` bytes.
fn bound(compression: Compression, wanted: u64) -> Bound {
    match compression {
        Compression::Zlib => ZLIB,
        Compression::Gzip => GZIP,
        Compression::Zstd => zstd(wanted.min(8 << 20)),
        Compression::Lz4 => LZ4,
        other => panic!("{other:?} has no bound"),
    }
}

/// Unpacks everything and returns the number of bytes that came out.
fn unpack(executable: &ExecutableBlob<'_>, size: u64) -> u64 {
    let Ok(mut unpack) = executable.unpack() else { return 0 };
    let mut buffer = [0; 4096];
    let mut given = 0;
    loop {
        match unpack.read(&mut buffer) {
            Ok(0) => {
                assert_eq!(given, size, "the end came early");
                return given;
            }
            Ok(count) => given += count as u64,
            Err(_) => return given,
        }
        assert!(given <= size, "more bytes than the blob says");
    }
}

/// A blob with an executable without a name.
fn executable(size: u64, data: &[u8]) -> Vec<u8> {
    let total = 40 + 32 + data.len() as u64;
    let header = [4 << 32, 2 << 32 | 1 << 48, 0, total, 0];
    let info = [3 << 32, 1 << 32 | 1 << 48, size, 0];
    header.into_iter().chain(info).flat_map(u64::to_le_bytes).chain(data.iter().copied()).collect()
}
