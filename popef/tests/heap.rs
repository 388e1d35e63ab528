//! Opening and listing a file holds at most 64 KiB and 4 times the headers and infos that were looked at, at any
//! moment, whatever they claim; and so does reading Metadata, of its own info.

mod common;

use std::path::Path;
use std::sync::Arc;

use common::heap::{BASE, Counting, allowance, peak_of};
use common::popef_files;
use popef::{Blobs, File, OpenOptions};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Checks every way in, and tells how many blobs there are.
fn assert_small(path: &Path, what: &str) -> usize {
    let bytes: Arc<[u8]> = std::fs::read(path).unwrap().into();
    let allowed = allowance(&bytes, false);
    let mut options = OpenOptions::new();
    options.damaged(true);

    let (_, peak) = peak_of(|| Blobs::new(&bytes).for_each(drop));
    assert!(peak <= BASE, "{what}, walked: {peak}");
    let (file, peak) = peak_of(|| options.bytes(bytes.clone()).unwrap());
    assert!(peak <= allowed, "{what}, in memory: {peak} of {allowed}");
    look_up(&file, what, allowed - peak);
    // SAFETY: nobody changes the file while the test reads it.
    let (_, peak) = peak_of(|| unsafe { options.map(path) }.unwrap());
    assert!(peak <= allowed, "{what}, mapped: {peak} of {allowed}");
    let (file, peak) = peak_of(|| options.open(path).unwrap());
    assert!(peak <= allowed, "{what}, in parts: {peak} of {allowed}");
    read_metadata(&file, what);
    let allowed = allowance(&bytes, true);
    let (_, peak) = peak_of(|| options.stream(&*bytes).unwrap());
    assert!(peak <= allowed, "{what}, streamed: {peak} of {allowed}");
    file.len()
}

/// The first look-up of a name makes an index of names, within what opening left.
fn look_up(file: &File, what: &str, left: u64) {
    let (found, peak) = peak_of(|| file.tensor("no such name").is_some());
    assert!(!found && peak <= left, "{what}, names: {peak} of {left}");
}

fn read_metadata(file: &File, what: &str) {
    for metadata in file.metadata() {
        let allowed = BASE + 4 * metadata.blob().info_bytes().len() as u64;
        let (_, peak) = peak_of(|| drop(metadata.read()));
        assert!(peak <= allowed, "{what}, metadata: {peak} of {allowed}");
    }
}

#[test]
fn all_of_testdata() {
    for folder in ["broken", "interop", "elements", "compressed"] {
        for path in popef_files(folder) {
            assert_small(&path, &path.display().to_string());
        }
    }
}

#[test]
fn files_made_to_cost_much() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("worst.popef");
    for (what, blob) in worst_blobs() {
        let mut count = 1;
        while blob.len() * count < 1 << 20 {
            std::fs::write(&path, blob.repeat(count)).unwrap();
            assert_eq!(assert_small(&path, &format!("{count} {what}")), count, "all of it can be read");
            count = count * 7 / 2 + 1;
        }
    }
    // What a stream cannot know to be more than there is it has to take in.
    let mut claims_more = with_data(130_000);
    claims_more[52..56].copy_from_slice(&16_400u32.to_le_bytes());
    claims_more[24..32].copy_from_slice(&140_000u64.to_le_bytes());
    std::fs::write(&path, claims_more).unwrap();
    assert_eq!(assert_small(&path, "an info that claims more than there is"), 0);
    // Between these two the window over the file grows and shrinks.
    for gap in [100, 1000, 4000, 20_000, 60_000] {
        std::fs::write(&path, with_data(gap).repeat(40)).unwrap();
        assert_small(&path, &format!("{gap} bytes of data each"));
    }
}

/// A length is a claim until the bytes are there: a file that is all hole is as large as anyone says.
#[test]
fn lengths_claimed_in_a_file_that_is_all_hole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hole.popef");
    let hole = 1u64 << 40;
    let write = |start: &[u8]| {
        std::fs::write(&path, start).unwrap();
        std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(hole).unwrap();
    };
    let mut options = OpenOptions::new();
    options.damaged(true);

    // A tensor of a terabyte; the same with an info of 32 GiB, and of as much as is allowed.
    write(&tensor(4, hole));
    let (file, peak) = peak_of(|| File::open(&path).unwrap());
    assert_eq!((file.len(), file.blob(0).unwrap().size()), (1, hole));
    assert!(peak <= BASE, "a tensor of 1 TiB: {peak}");
    for words in [u32::MAX, 256 << 17] {
        let mut start = tensor(4, hole);
        start[52..56].copy_from_slice(&words.to_le_bytes());
        write(&start);
        let (file, peak) = peak_of(|| options.open(&path).unwrap());
        assert_eq!(file.damage().unwrap().kind(), popef::ErrorKind::Limit);
        assert!(peak <= BASE, "an info of {words} words: {peak}");
    }
}

/// Ten gigabytes out of 320 KiB: as many as are asked for, and a few windows of memory.
#[test]
fn unpacking_ten_gigabytes_holds_little() {
    // A zstd frame of blocks that each say "128 KiB of zeros" in four bytes.
    let blocks = (10u64 << 30) / (128 << 10);
    let mut data = b"\x28\xb5\x2f\xfd\x00\x38".to_vec();
    (1..=blocks).for_each(|block| data.extend(((128u32 << 10) << 3 | 2 | u32::from(block == blocks)).to_le_bytes()));
    let bytes = executable(10 << 30, &data);
    let file = File::from_bytes(bytes).unwrap();
    let executable = file.executables().next().unwrap();
    assert_eq!(executable.uncompressed_size(), 10 << 30);
    let (taken, peak) = peak_of(|| {
        let mut unpack = std::io::Read::take(executable.unpack()?, 32 << 20);
        std::io::copy(&mut unpack, &mut std::io::sink()).map_err(|e| e.downcast::<popef::Error>().unwrap())
    });
    assert_eq!(taken.ok(), cfg!(feature = "zstd").then_some(32 << 20));
    assert!(peak < 2 << 20, "{peak}");
}

const fn to_struct(offset: i32, data: u64, pointers: u64) -> u64 {
    (offset << 2) as u32 as u64 | data << 32 | pointers << 48
}

const fn to_list(offset: u64, size: u64, len: u64) -> u64 {
    1 | offset << 2 | size << 32 | len << 35
}

fn bytes_of(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn message(words: &[u64]) -> Vec<u8> {
    [bytes_of(&[(words.len() as u64) << 32]), bytes_of(words)].concat()
}

/// A header of 48 bytes, and what follows it.
fn blob(blob_type: u64, size: u64, info: &[u8], data: &[u8]) -> Vec<u8> {
    let header = message(&[to_struct(0, 2, 1), blob_type, size, to_list(0, 2, 1), 0]);
    [&header, info, data].concat()
}

fn sized(blob_type: u64, info: &[u8], data: &[u8]) -> Vec<u8> {
    blob(blob_type, (48 + info.len() + data.len()) as u64, info, data)
}

/// A float32 tensor of two dimensions and no name, of a size that is a claim.
fn tensor(info_words: u64, size: u64) -> Vec<u8> {
    assert_eq!(info_words, 4);
    blob(2, size, &message(&[to_struct(0, 0, 2), 0, 0, 0]), &[])
}

fn executable(size: u64, data: &[u8]) -> Vec<u8> {
    sized(0, &message(&[to_struct(0, 1, 1), size, 0]), data)
}

fn with_data(len: usize) -> Vec<u8> {
    sized(2, &message(&[to_struct(0, 0, 2), 0, 0]), &vec![0; len])
}

/// Blobs that make a reader keep much for few bytes.
fn worst_blobs() -> Vec<(&'static str, Vec<u8>)> {
    // The header struct lies over its own root pointer: 24 bytes in all, of type 0xfffc.
    let smallest = message(&[to_struct(-1, 2, 0), 24]);
    assert_eq!(smallest.len(), 24);
    // No version, and an info of one null pointer.
    let header = |blob_type| message(&[to_struct(0, 2, 0), blob_type, 48]);
    let of_type = |blob_type| [header(blob_type), message(&[0])].concat();
    let mut many_segments = bytes_of(&[510 | 1 << 32]);
    many_segments.resize(511 * 4 + 4, 0);
    many_segments.extend(bytes_of(&[0]));
    vec![
        ("smallest blobs", smallest),
        ("tensors of defaults", of_type(2)),
        ("executables of defaults", of_type(0)),
        ("metadata of defaults", of_type(1)),
        ("infos of 511 segments", sized(2, &many_segments, &[])),
        ("metadata of 511 segments", sized(1, &many_segments, &[])),
        ("anchors of no bytes", sized(1, &anchors_of_no_bytes(30), &[])),
        ("options that share a text", sized(1, &options_that_share(100, 40), &[])),
        ("anchors", sized(1, &anchors(1), &[])),
        ("lists of 50 anchors", sized(1, &anchors(50), &[])),
        ("lists of 8,000 anchors", sized(1, &anchors(8_000), &[])),
        ("lists of 20,000 anchors of one shape", sized(1, &anchors_of_one_shape(20_000), &[])),
        ("texts of 10,000 bytes", sized(4, &long_name(10_000), &[])),
        ("texts of 300,000 bytes", sized(4, &long_name(300_000), &[])),
    ]
}

/// A root of Metadata whose pointer of an index leads behind it.
fn metadata(pointer: usize, to_behind: impl Fn(u64) -> u64, behind: &[u64]) -> Vec<u8> {
    let mut words = vec![to_struct(0, 3, 7), 0, 0, 0];
    words.extend([0; 7]);
    words[4 + pointer] = to_behind(6 - pointer as u64);
    words.extend(behind);
    message(&words)
}

fn anchors_of_no_bytes(count: i32) -> Vec<u8> {
    metadata(1, |offset| to_list(offset, 7, 0), &[to_struct(count, 0, 0)])
}

fn options_that_share(options: u64, text: u64) -> Vec<u8> {
    let mut behind = vec![to_struct(options as i32, 0, 2)];
    for option in 0..options {
        behind.extend([to_list(2 * (options - option) - 1, 2, text), 0]);
    }
    behind.resize(behind.len() + text.div_ceil(8) as usize, 0);
    metadata(3, |offset| to_list(offset, 7, 2 * options), &behind)
}

/// The smallest anchors that have a shape and a program, of one number each.
fn anchors(count: u64) -> Vec<u8> {
    let mut behind = vec![to_struct(count as i32, 1, 4)];
    let infos = 5 * count;
    for anchor in 0..count {
        // Word 2 of 5 leads to the program, word 4 to the TensorInfo, behind all anchors.
        let to_program = infos - 5 * anchor - 3 + 4 * anchor + 3;
        let to_info = infos - 5 * anchor - 5 + 4 * anchor;
        behind.extend([0, 0, to_list(to_program, 4, 1), 0, to_struct(to_info as i32, 1, 1)]);
    }
    for _ in 0..count {
        behind.extend([3, to_list(0, 5, 1), 1, 0]);
    }
    metadata(1, |offset| to_list(offset, 7, 5 * count), &behind)
}

/// Anchors that share one program and one shape, each of one number: lists that a `Vec` would make larger.
fn anchors_of_one_shape(count: u64) -> Vec<u8> {
    let mut behind = vec![to_struct(count as i32, 1, 4)];
    for anchor in 0..count {
        let left = 5 * (count - anchor);
        behind.extend([0, 0, to_list(left - 3, 4, 1), 0, to_struct((left - 5) as i32, 1, 1)]);
    }
    behind.extend([3, to_list(0, 5, 1), 1]);
    metadata(1, |offset| to_list(offset, 7, 5 * count), &behind)
}

fn long_name(len: u64) -> Vec<u8> {
    let mut words = vec![to_struct(0, 0, 2), to_list(1, 2, len), 0];
    words.resize(words.len() + len.div_ceil(8) as usize, 0);
    message(&words)
}
