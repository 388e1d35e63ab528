//! Executables that are compressed in blocks on several threads have the same bytes every time. Python unpacks them.

use crate::common::peers::{printed, python};
use crate::common::writing;

use std::fs;
use std::io::{Read, Write};

use flate2::write::{GzEncoder, ZlibEncoder};
use popef::read::*;
use popef::write::*;
use writing::in_memory;

/// The number of bytes in a block.
const BLOCK: usize = 256 << 10;

/// Data with matches far back, also over the borders of blocks.
fn data(len: usize) -> Vec<u8> {
    let mut state = 1u32;
    let mut bytes = Vec::with_capacity(len);
    while bytes.len() < len {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let back = (state >> 16) as usize % 30_000 + 40;
        match bytes.len().checked_sub(back) {
            Some(from) if !state.is_multiple_of(8) => bytes.extend_from_within(from..from + 40),
            _ => bytes.extend_from_slice(&state.to_le_bytes()),
        }
    }
    bytes.truncate(len);
    bytes
}

/// The compressed bytes, which must be the same for each number of threads and each size of the pieces.
fn packed(data: &[u8], packing: Packing, ways: usize) -> Vec<u8> {
    let whole =
        |threads| in_memory(|writer| writer.threads(threads).write_packed_executable("model", data, packing).unwrap());
    let pieces = |threads, len| {
        in_memory(|writer| {
            let mut blob = writer.threads(threads).packed_executable("model", packing).unwrap();
            data.chunks(len).for_each(|piece| blob.write_all(piece).unwrap());
            blob.finish().unwrap()
        })
    };
    let bytes = whole(0);
    let others: [&dyn Fn() -> Vec<u8>; 4] =
        [&|| pieces(1, 70_001), &|| pieces(3, 4999), &|| whole(2), &|| pieces(2, BLOCK)];
    for other in &others[..ways] {
        assert!(other() == bytes, "{packing:?} of {} bytes is not always the same", data.len());
    }
    let file = File::from_bytes(bytes).unwrap();
    let executable = file.executable("model").unwrap();
    let mut unpacked = Vec::new();
    executable.unpack().unwrap().read_to_end(&mut unpacked).unwrap();
    assert!(unpacked == data, "{packing:?} of {} bytes", data.len());
    executable.data().read().unwrap().into_owned()
}

/// The data as flate2 compresses it in one piece.
fn plain(data: &[u8], packing: Packing) -> Vec<u8> {
    let plain = match packing {
        Packing::Zlib(level) => {
            let mut encoder = ZlibEncoder::new(Vec::new(), flate2::Compression::new(level));
            encoder.write_all(data).unwrap();
            encoder.finish()
        }
        Packing::Gzip(level) => {
            let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::new(level));
            encoder.write_all(data).unwrap();
            encoder.finish()
        }
        _ => unreachable!("there are two"),
    };
    plain.unwrap()
}

const UNPACK: &str = "
import gzip, sys, zlib
with open(sys.argv[1], 'rb') as file:
    packed = file.read()
with open(sys.argv[2], 'rb') as file:
    data = file.read()
for kind, at, size in (line.split() for line in sys.argv[3].splitlines()):
    part = packed[int(at):int(at) + int(size)]
    if kind == 'zlib':
        decoder = zlib.decompressobj()
        found = decoder.decompress(part)
        assert decoder.eof and not decoder.unused_data, (kind, at, size)
    else:
        found = gzip.decompress(part)
    assert data.startswith(found), (kind, at, size)
    print(len(found))
";

#[test]
fn any_number_of_threads_gives_one_stream_that_python_unpacks() {
    let all = data(3 * BLOCK + 12_345);
    let small = [0, 1, 100_000];
    let large = [BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, all.len()];
    let levels = (0..=9).flat_map(|level| [Packing::Zlib(level), Packing::Gzip(level)]);
    let small = levels.flat_map(|packing| small.map(|size| (size, packing, 1)));
    let large = large.map(|size| (size, Packing::Zlib(1), if size > 2 * BLOCK { 4 } else { 1 }));
    let others =
        [(all.len(), Packing::Gzip(1), 0), (BLOCK + 1, Packing::Zlib(0), 1), (BLOCK + 50_000, Packing::Zlib(6), 1)];
    let (mut every, mut list, mut expected) = (Vec::new(), String::new(), Vec::new());
    for (size, packing, ways) in small.chain(large).chain(others) {
        let bytes = packed(&all[..size], packing, ways);
        let plain = plain(&all[..size], packing);
        let most = plain.len() + plain.len() / 100;
        assert!(bytes.len() <= most, "{packing:?}: {} bytes, {} in one piece", bytes.len(), plain.len());
        let (kind, header) = if matches!(packing, Packing::Zlib(_)) { ("zlib", 2) } else { ("gzip", 10) };
        assert_eq!(bytes[..header], plain[..header], "{packing:?}");
        list.push_str(&format!("{kind} {} {}\n", every.len(), bytes.len()));
        every.extend_from_slice(&bytes);
        expected.push(size.to_string());
    }
    let Some(mut python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (packed, data) = (folder.path().join("packed"), folder.path().join("data"));
    fs::write(&packed, every).unwrap();
    fs::write(&data, all).unwrap();
    let output = python.args(["-c", UNPACK]).args([&packed, &data]).arg(list).output().unwrap();
    assert_eq!(printed(output).lines().collect::<Vec<_>>(), expected);
}

/// Flushed bytes are in the file while the rest is still being compressed.
#[test]
fn what_was_compressed_can_be_read_back_before_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.popef");
    let mut writer = Writer::create(&path).unwrap();
    let mut file = writer.read_back_file().unwrap().unwrap();
    let mut blob = writer.threads(2).packed_executable("model", Packing::Zlib(1)).unwrap();
    let (data, mut read, mut partly) = (data(20 * BLOCK), Vec::new(), 0);
    let mut read_to = |end: u64| {
        let before = read.len();
        Read::by_ref(&mut file).take(end - before as u64).read_to_end(&mut read).unwrap();
        assert_eq!(read.len() as u64, end);
        read.len() - before
    };
    let mut start = 0;
    for piece in data.chunks(100_000) {
        blob.write_all(piece).unwrap();
        let place = blob.flushed().unwrap();
        start = place.start;
        partly += usize::from(!place.is_empty() && read_to(place.end) > 0);
    }
    let written = blob.finish().unwrap();
    assert_eq!(writer.flush().unwrap(), written);
    read_to(written.size);
    assert!(partly > 2, "{partly}");
    writer.finish().unwrap();
    let all = fs::read(&path).unwrap();
    assert!(read[start as usize..] == all[start as usize..]);
}

/// Data with short matches that a compressor finds or does not find by what it still has of an earlier block.
#[test]
fn blocks_do_not_depend_on_those_that_a_thread_compressed_before() {
    let mut state = 1_u64;
    let mut four_bits = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 60) as u8
    };
    let data: Vec<u8> = (0..4 * BLOCK).map(|_| four_bits()).collect();
    let packed = |threads| {
        in_memory(|writer| writer.threads(threads).write_packed_executable("model", &data, Packing::Zlib(3)).unwrap())
    };
    let one = packed(1);
    assert!([2, 3].into_iter().all(|threads| packed(threads) == one));
}
