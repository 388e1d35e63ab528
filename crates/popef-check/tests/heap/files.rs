//! Opening and listing a file never holds more than 64 KiB and 4 times the headers and infos that were looked at,
//! whatever they claim. Reading Metadata holds as much for its own info, and the info if it is long, because that is read again.
//! Checking holds a small multiple, too.

use crate::{common, costs};

use std::path::Path;
use std::sync::Arc;

use common::popef_files;
use costs::cost::Cost;
use costs::heap::{BASE, allowance, head_bytes, peak_of, taken_by};
use costs::raw::{executable, tensor, with_data};
use costs::worst::decoders::worst_decoders;
use costs::worst::{worst_blobs, worst_files};
use popef::read::Blobs;
use popef::{File, OpenOptions};
use popef_check::{CheckOptions, Loader, check};

/// Checks every way in, and returns the number of blobs.
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

/// The first look-up of a name makes an index. Opening and the index together stay within the bound.
fn look_up(file: &File, what: &str, left: u64) {
    let (found, peak) = peak_of(|| file.tensor("no such name").is_some());
    assert!(!found && peak <= left, "{what}, names: {peak} of {left}");
}

fn read_metadata(file: &File, what: &str) {
    for metadata in file.metadata() {
        let allowed = BASE + 5 * metadata.blob().info_bytes().len();
        let (_, peak) = peak_of(|| drop(metadata.read()));
        assert!(peak <= allowed, "{what}, metadata: {peak} of {allowed}");
    }
}

#[test]
fn all_of_testdata_is_opened_within_the_bounds() {
    for folder in ["broken", "interop", "elements", "compressed"] {
        for path in popef_files(folder) {
            assert_small(&path, &path.display().to_string());
        }
    }
}

#[test]
fn the_worst_files_are_opened_within_the_bounds() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("worst.popef");
    for (what, blob) in worst_blobs() {
        let mut count = 1;
        while count == 1 || blob.len() * count < 1 << 18 {
            std::fs::write(&path, blob.repeat(count)).unwrap();
            assert_eq!(assert_small(&path, &format!("{count} {what}")), count, "a blob cannot be read");
            count = count * 7 / 2 + 1;
        }
    }
    // A stream cannot know how much there is, so it has to read all that is claimed.
    let mut claims_more = with_data(130_000);
    claims_more[52..56].copy_from_slice(&16_400u32.to_le_bytes());
    claims_more[24..32].copy_from_slice(&140_000u64.to_le_bytes());
    std::fs::write(&path, claims_more).unwrap();
    assert_eq!(assert_small(&path, "an info that claims more than there is"), 0);
    // The window over the file grows and shrinks between these two.
    for gap in [100, 1000, 4000, 20_000, 60_000] {
        std::fs::write(&path, with_data(gap).repeat(40)).unwrap();
        assert_small(&path, &format!("{gap} bytes of data each"));
    }
}

/// What a check may hold at once, beside the file: some findings of each rule, and a multiple of the headers and infos.
/// Models are held one at a time. Pickles have a bound of their own.
fn check_allowance(file: &[u8]) -> u64 {
    (4 << 20) + 8 * head_bytes(file, false)
}

#[test]
fn a_check_holds_a_small_multiple_of_headers_and_infos() {
    let mut options = CheckOptions::new();
    for &loader in Loader::ALL {
        options.loader(loader);
    }
    let of_blobs = worst_blobs().into_iter().map(|(what, blob)| (what, blob.repeat(1_500_000 / blob.len() + 1)));
    let of_files = worst_files().into_iter().filter(|(what, _)| !what.contains("pickle"));
    for (what, bytes) in of_blobs.chain(of_files.map(|(what, make)| (what, make(1_500_000)))) {
        let allowed = check_allowance(&bytes);
        let file = File::from_bytes(bytes).unwrap();
        let (report, peak) = peak_of(|| check([&file], &options));
        assert!(peak <= allowed, "{what}: {peak} of {allowed}");
        assert!(report.is_complete(), "{what}");
    }
}

/// A sparse file can be as large as it claims, and still hold nothing.
#[test]
fn lengths_claimed_in_a_sparse_file_take_no_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hole.popef");
    let hole = 1u64 << 40;
    let write = |start: &[u8]| {
        std::fs::write(&path, start).unwrap();
        std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(hole).unwrap();
    };
    let mut options = OpenOptions::new();
    options.damaged(true);

    // A tensor of a terabyte, then with an info of 32 GiB, then with the longest info that is allowed.
    write(&tensor(hole));
    let (file, peak) = peak_of(|| File::open(&path).unwrap());
    assert_eq!((file.len(), file.blob(0).unwrap().size()), (1, hole));
    assert!(peak <= BASE, "a tensor of 1 TiB: {peak}");
    for words in [u32::MAX, 256 << 17] {
        let mut start = tensor(hole);
        start[52..56].copy_from_slice(&words.to_le_bytes());
        write(&start);
        let (file, peak) = peak_of(|| options.open(&path).unwrap());
        assert_eq!(file.damage().unwrap().kind(), popef::error::ErrorKind::Limit);
        assert!(peak <= BASE, "an info of {words} words: {peak}");
    }
}

/// The compressed data has 320 KiB.
#[test]
fn unpacking_ten_gigabytes_holds_a_few_windows() {
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
    assert_eq!(taken.ok(), Some(32 << 20));
    assert!(peak < 2 << 20, "{peak}");
}

/// Reading the first bytes of an executable does not take a whole window.
#[test]
fn the_poplar_header_of_a_wide_window_holds_little() {
    let mut data = b"\x28\xb5\x2f\xfd\x00\x68".to_vec();
    (0..80).for_each(|_| data.extend(((128u32 << 10) << 3 | 2).to_le_bytes()));
    let file = File::from_bytes(executable(10 << 20, &data)).unwrap();
    let executable = file.executables().next().unwrap();
    let (header, peak) = peak_of(|| executable.poplar_header());
    assert_eq!(header.unwrap(), None, "zeros");
    assert!(peak < 1 << 20, "{peak}");
}

#[test]
fn decoders_hold_no_more_than_is_promised() {
    const ENOUGH: u64 = 4 << 20;
    for worst in worst_decoders() {
        let mut files = [0, 300, 3000, 20_000].map(worst.make.as_ref()).to_vec();
        files.dedup();
        for file in files {
            let cost = Cost::of(file.len() as u64, || (worst.work)(&file));
            let (_, heap) = cost.shares(&worst.bound);
            assert!(heap <= 1.0, "{}, {}: {cost}, {heap:.2} of what is promised", worst.bound.decoder, worst.name);
            if cost.bytes_out > ENOUGH {
                break;
            }
        }
    }
}

/// Memory that is taken anew for each frame costs time out of proportion.
#[test]
fn small_frames_take_little_memory_each() {
    for worst in worst_decoders() {
        let taken = |size| {
            let file = (worst.make)(size);
            (file.len() as u64, taken_by(|| (worst.work)(&file)))
        };
        let ((few_bytes, (few_given, few)), (many_bytes, (many_given, many))) = (taken(300), taken(3000));
        // A decoder is made for each gzip member (47 KB) and each zstd frame (9 KB).
        let allowed = 4096 * (many_bytes - few_bytes) + 4 * (many_given - few_given);
        let what = format!("{}, {}: {few} and {many} bytes", worst.bound.decoder, worst.name);
        assert!(many <= few + allowed, "{what}");
        if worst.bound.decoder == "LZ4" && worst.name.contains("frames") {
            // The text of the error at the end has a number, which may have more digits.
            assert!(many <= few + 100, "{what}");
        }
    }
}
