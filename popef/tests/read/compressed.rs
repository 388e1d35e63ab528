//! Executables that were compressed with zlib, gzip, zstandard and lz4 unpack to exactly the original bytes.

use crate::common;

use std::io::Read as _;

use common::{patch, popef_files, read, testdata, ways};
use popef::error::{ErrorCode, ErrorKind};
use popef::read::{Compression, ExecutableBlob};
use popef::{Error, File};

/// The offset of the data in the files of testdata/compressed.
const DATA: usize = 88;

/// The files there with many executables. The name of each executable is the CRC-32 of its unpacked bytes.
const SETTINGS: [&str; 2] = ["lz4-settings", "zstd-settings"];

fn settings(name: &str) -> File {
    File::open(testdata(&format!("compressed/{name}.popef"))).unwrap()
}

fn unpack(executable: &ExecutableBlob<'_>) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    let mut reader = executable.unpack()?;
    assert_eq!(reader.read(&mut []).unwrap(), 0, "reading zero bytes must not look like the end");
    let result = reader.read_to_end(&mut bytes).map_err(|e| e.downcast::<Error>().unwrap());
    assert!(bytes.len() as u64 <= executable.uncompressed_size(), "more bytes than the blob says");
    if result.is_err() {
        assert!(reader.read(&mut [0]).is_err(), "reading on after an error must not look like the end");
    }
    result.map(|_| bytes)
}

fn only_executable(file: &File) -> ExecutableBlob<'_> {
    file.executables().next().unwrap()
}

fn is_built(kind: Option<Compression>) -> bool {
    match kind {
        Some(Compression::Lz4) => cfg!(feature = "lz4"),
        Some(Compression::Zstd) => cfg!(feature = "zstd"),
        _ => true,
    }
}

/// The files that this build can unpack.
fn built<'n>(names: &[&'n str]) -> Vec<&'n str> {
    let can = |name: &&str| {
        !(name.starts_with("lz4") && cfg!(not(feature = "lz4"))
            || name.starts_with("zstd") && cfg!(not(feature = "zstd")))
    };
    names.iter().copied().filter(can).collect()
}

/// The error of unpacking the executable in these bytes.
fn error_of(bytes: Vec<u8>) -> Error {
    let file = File::from_bytes(bytes).unwrap();
    let error = match unpack(&only_executable(&file)) {
        Err(error) => error,
        Ok(bytes) => panic!("unpacked to {} bytes", bytes.len()),
    };
    assert_eq!((error.blob(), error.offset()), (Some(0), Some(DATA as u64)), "{error}");
    error
}

/// A file of testdata/compressed with other data, and with the size of the blob corrected.
fn with_data(name: &str, change: impl Fn(&mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = read(&format!("compressed/{name}.popef"));
    let old_size = bytes.len() as u64;
    let mut data = bytes.split_off(DATA);
    change(&mut data);
    bytes.extend(data);
    let new_size = bytes.len() as u64;
    patch(&mut bytes[..DATA], old_size.to_le_bytes(), new_size.to_le_bytes());
    bytes
}

#[test]
fn every_kind_unpacks_to_the_payload_in_every_way() {
    let payload = read("compressed/payload.bin");
    let container = {
        let file = File::open(testdata("compressed/plain-poplar.popef")).unwrap();
        only_executable(&file).data().read().unwrap().into_owned()
    };
    for path in popef_files("compressed") {
        let name = path.file_stem().unwrap().to_str().unwrap();
        if SETTINGS.contains(&name) {
            continue;
        }
        let expected_kind = match name.split('-').next().unwrap() {
            "zlib" => Some(Compression::Zlib),
            "gzip" => Some(Compression::Gzip),
            "zstd" => Some(Compression::Zstd),
            "lz4" => Some(Compression::Lz4),
            _ => None,
        };
        for (way, file) in ways(&path) {
            let file = file.unwrap();
            let executable = only_executable(&file);
            assert_eq!(executable.compression().unwrap(), expected_kind, "{name} {way}");
            if !is_built(expected_kind) {
                let error = unpack(&executable).unwrap_err();
                assert_eq!((error.code(), error.kind()), (ErrorCode::CompressionNotBuilt, ErrorKind::Unsupported));
                assert!(error.reason().contains("popef was built without its feature"), "{error}");
                continue;
            }
            let unpacked = unpack(&executable).unwrap();
            match name {
                "plain-poplar" | "zlib-poplar" => assert!(unpacked == container, "{name} {way}"),
                "plain-poplar-1" | "plain-poplar-2" => assert!(unpacked[8..] == container[8..], "{name} {way}"),
                _ => assert!(unpacked == payload, "{name} {way}"),
            }
        }
    }
}

#[test]
fn the_poplar_header_is_read_from_plain_and_compressed_executables() {
    let header = |name: &str| {
        let file = File::open(testdata(&format!("compressed/{name}.popef"))).unwrap();
        only_executable(&file).poplar_header().unwrap()
    };
    for (name, format) in [("plain-poplar", 3), ("plain-poplar-1", 1), ("plain-poplar-2", 2), ("zlib-poplar", 3)] {
        let header = header(name).unwrap();
        assert_eq!(header.format, format, "{name}");
        assert_eq!((header.archive_size, header.archive_compressed_size), (90_000, 2_465), "{name}");
        assert_eq!((header.metadata_size, header.metadata_compressed_size), (10_000, 1_096), "{name}");
    }
    assert_eq!(header("zlib-6"), None);
    let file = File::open(testdata("interop/two-models.popef")).unwrap();
    assert_eq!(only_executable(&file).poplar_header().unwrap(), None, "nine bytes are no header");
}

#[test]
fn unpacking_to_another_length_than_the_blob_says_is_an_error() {
    for name in built(&["zlib-6", "gzip-two-members", "zstd-two-frames", "lz4-linked"]) {
        let stated = |size: u64| {
            let mut bytes = read(&format!("compressed/{name}.popef"));
            patch(&mut bytes[..DATA], 100_000u64.to_le_bytes(), size.to_le_bytes());
            error_of(bytes)
        };
        let error = stated(100_001);
        assert_eq!(error.reason(), "the data unpacks to 100000 bytes, the blob says 100001", "{name}");
        assert_eq!((error.needed(), error.found()), (Some(100_001), Some(100_000)));
        for size in [99_999, 60_000, 1, 0] {
            let error = stated(size);
            let bytes = if size == 1 { "byte" } else { "bytes" };
            let text = format!("the data unpacks to more than the {size} {bytes} that the blob says");
            assert_eq!((error.kind(), error.reason()), (ErrorKind::Damaged, text), "{name}");
        }
    }
}

#[test]
fn compressed_data_cut_off_anywhere_is_an_error() {
    let names =
        ["zlib-1", "gzip-name", "gzip-two-members", "zstd-checksum", "zstd-two-frames", "lz4", "lz4-two-frames"];
    for name in built(&names) {
        let whole = read(&format!("compressed/{name}.popef")).len() - DATA;
        for len in (0..whole).step_by(31).chain([whole - 1]) {
            let error = error_of(with_data(name, |data| data.truncate(len)));
            assert_eq!(error.kind(), ErrorKind::Damaged, "{name} cut to {len}");
        }
    }
}

#[test]
fn bytes_behind_the_compressed_data_are_an_error() {
    for name in built(&["zlib-6", "gzip", "zstd", "lz4"]) {
        let error = error_of(with_data(name, |data| data.extend(b"garbage")));
        let text = "7 bytes follow the end of the compressed data, and nothing says what they are";
        assert_eq!((error.kind(), error.reason().as_str()), (ErrorKind::Damaged, text), "{name}");
    }
}

#[test]
fn a_flipped_bit_in_data_with_a_checksum_is_an_error() {
    for name in built(&["zlib-6", "gzip", "zstd-checksum", "lz4-checksum"]) {
        let len = read(&format!("compressed/{name}.popef")).len() - DATA;
        let error = error_of(with_data(name, |data| data[len / 2] ^= 1));
        assert_eq!(error.kind(), ErrorKind::Damaged, "{name}");
        assert!(error.reason().ends_with(""), "{error}");
    }
}

#[test]
fn frames_of_all_settings_unpack_to_what_was_packed() {
    for name in built(&SETTINGS) {
        let file = settings(name);
        assert!(file.executables().count() > 20, "{name}");
        for executable in file.executables() {
            let mut crc = flate2::Crc::new();
            crc.update(&unpack(&executable).unwrap());
            assert_eq!(executable.name().to_string(), format!("{:08x}", crc.sum()), "{name}, {:?}", executable.blob());
        }
    }
}

/// A few bytes are given without unpacking a whole window.
#[cfg(feature = "zstd")]
#[test]
fn zstd_frames_give_as_many_bytes_as_the_blob_says_and_then_an_error() {
    for executable in settings("zstd-settings").executables() {
        let (packed, unpacked) = (executable.data().read().unwrap(), unpack(&executable).unwrap());
        assert_eq!(executable.poplar_header().unwrap(), popef::read::PoplarHeader::parse(&unpacked));
        for size in [0, 1, 40, 1000, 100_000, 200_000, unpacked.len() - 1] {
            let file = File::from_bytes(common::raw::executable(size as u64, &packed)).unwrap();
            let mut reader = only_executable(&file).unpack().unwrap();
            let mut given: Vec<u8> = Vec::new();
            let mut buffer = [0; 997];
            let error = loop {
                match reader.read(&mut buffer) {
                    Ok(count) => given.extend(&buffer[..count]),
                    Err(error) => break error.downcast::<Error>().unwrap(),
                }
            };
            assert!(given == unpacked[..size], "{:?}: the first {size} bytes", executable.blob());
            let bytes = if size == 1 { "byte" } else { "bytes" };
            let text = format!("the data unpacks to more than the {size} {bytes} that the blob says");
            assert_eq!(error.reason(), text, "{:?}", executable.blob());
        }
    }
}

/// The data has three frames with linked blocks and every kind of checksum.
#[cfg(feature = "lz4")]
#[test]
fn lz4_frames_with_any_byte_changed_or_cut_off_give_an_error_or_what_was_packed() {
    let file = settings("lz4-settings");
    let executable = only_executable(&file);
    let (packed, unpacked) = (executable.data().read().unwrap(), unpack(&executable).unwrap());
    let unpack = |data: &[u8]| {
        let file = File::from_bytes(common::raw::executable(unpacked.len() as u64, data)).unwrap();
        unpack(&only_executable(&file))
    };
    assert_eq!(unpack(&packed).unwrap(), unpacked);
    for len in 0..packed.len() {
        assert!(unpack(&packed[..len]).is_err(), "cut to {len} of {} bytes", packed.len());
    }
    let mut refused = 0;
    for (at, bit) in (0..packed.len()).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
        let mut changed = packed.to_vec();
        changed[at] ^= 1 << bit;
        match unpack(&changed) {
            Ok(bytes) => assert!(bytes == unpacked, "bit {bit} of byte {at}"),
            Err(error) => {
                let in_mark = at < 4 && error.code() == ErrorCode::UnknownCompression;
                assert!(in_mark || error.kind() == ErrorKind::Damaged, "bit {bit} of byte {at}: {error}");
                refused += 1;
            }
        }
    }
    // The last digit of a skippable frame's magic number, and its content, carry no meaning.
    assert_eq!(refused, packed.len() * 8 - 4 - "between".len() * 8);
}

#[cfg(feature = "lz4")]
#[test]
fn lz4_blocks_may_be_empty() {
    const HEADER: &[u8] = b"\x04\x22\x4d\x18\x60\x40\x82";
    const END: &[u8] = &[0; 4];
    let (packed, stored) = (b"\x01\0\0\0\0".as_slice(), b"\0\0\0\x80".as_slice());
    let one = b"\x01\0\0\x80x".as_slice();
    let data = [HEADER, END, HEADER, packed, stored, one, packed, END, HEADER, one, stored, END].concat();
    let file = File::from_bytes(common::raw::executable(2, &data)).unwrap();
    assert_eq!(unpack(&only_executable(&file)).unwrap(), b"xx");
}

/// The end of a frame lies at every place around the edge of what is read at once.
#[cfg(feature = "zstd")]
#[test]
fn frames_that_meet_at_the_edge_of_a_buffer_are_unpacked() {
    // One block that is stored uncompressed.
    let frame = |len: usize| {
        let mut frame = b"\x28\xb5\x2f\xfd\x00\x38".to_vec();
        frame.extend(&(len << 3 | 1).to_le_bytes()[..3]);
        frame.resize(frame.len() + len, 7);
        frame
    };
    let skippable = [b"\x5e\x2a\x4d\x18\x09\0\0\0".as_slice(), &[0; 9]].concat();
    let empty = frame(0).len();
    for first in (32 << 10) - 40..=32 << 10 {
        let len = 100_000 - (first - empty);
        let data = [frame(first - empty), skippable.clone(), frame(0), frame(len)].concat();
        let bytes = with_data("zstd", |old| old.clone_from(&data));
        assert_eq!(unpack(&only_executable(&File::from_bytes(bytes).unwrap())).unwrap(), [7; 100_000]);
    }
}

#[test]
fn skippable_frames_that_are_cut_off_are_an_error() {
    for name in built(&["zstd-skippable", "lz4-skippable"]) {
        for cut in [1, 2, 1000] {
            let error = error_of(with_data(name, |data| data.truncate(data.len() - cut)));
            assert!(error.reason().ends_with("it ends too early"), "{error}");
        }
    }
}

#[test]
fn an_unknown_compression_shows_its_first_bytes() {
    let bytes = with_data("zlib-6", |data| data[..4].copy_from_slice(b"BZh9"));
    let file = File::from_bytes(bytes).unwrap();
    let error = only_executable(&file).unpack().unwrap_err();
    assert_eq!((error.code(), error.kind()), (ErrorCode::UnknownCompression, ErrorKind::Unknown));
    let text = "the data is compressed in an unknown format: it begins 42 5a 68 39, and is not zlib, gzip, zstd or an LZ4 frame";
    assert_eq!(error.reason(), text);
}

/// The data would unpack to a thousand times its length.
#[test]
fn a_bomb_gives_no_more_than_the_blob_says() {
    let mut bomb = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    std::io::copy(&mut std::io::repeat(0).take(4 << 20), &mut bomb).unwrap();
    let bomb = bomb.finish().unwrap();
    let error = error_of(with_data("zlib-6", |data| data.clone_from(&bomb)));
    assert_eq!(error.reason(), "the data unpacks to more than the 100000 bytes that the blob says");
}
