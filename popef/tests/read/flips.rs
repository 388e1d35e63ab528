//! Each flipped bit of small files gives no panic, and the same answer in every way in.

use crate::common;

use std::io::{Seek as _, SeekFrom, Write as _};

use common::everything::everything;
use common::{Pieces, description, testdata, without_path};
use popef::OpenOptions;
use popef::read::Blobs;

#[test]
fn every_flipped_bit_gives_the_same_answer_in_every_way_in() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flipped.popef");
    let mut options = OpenOptions::new();
    options.damaged(true);
    for name in ["two-models", "replicated", "split-tensors", "split-feeds", "compressed-zlib"] {
        let mut bytes = std::fs::read(testdata(&format!("interop/{name}.popef"))).unwrap();
        // One byte is changed in place: writing the whole file each time would wait for the disk.
        std::fs::write(&path, &bytes).unwrap();
        let on_disk = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        let put = |at: usize, byte: u8| {
            let mut on_disk = &on_disk;
            on_disk.seek(SeekFrom::Start(at as u64)).unwrap();
            on_disk.write_all(&[byte]).unwrap();
        };
        for bit in 0..bytes.len() * 8 {
            let at = bit / 8;
            bytes[at] ^= 1 << (bit % 8);
            put(at, bytes[at]);
            let file = options.bytes(bytes.clone()).unwrap();
            everything(&file, bytes.len() as u64);
            let damaged = Blobs::new(&bytes).any(|blob| blob.is_err());
            assert_eq!(damaged, file.damage().is_some());

            let in_parts = options.open(&path).unwrap();
            assert_eq!(description(&in_parts), description(&file), "{name} bit {bit}");
            let streamed = options.stream(Pieces::of(&bytes)).unwrap();
            assert_eq!(streamed.len(), file.len());
            assert_eq!(streamed.damage().map(without_path), file.damage().map(without_path), "{name} bit {bit}");
            bytes[at] ^= 1 << (bit % 8);
            put(at, bytes[at]);
        }
    }
}
