//! Every bit of small files flipped, one at a time: no panic, and the same answer in every way in.

mod common;

use std::io::{Seek as _, SeekFrom, Write as _};

use common::{description, testdata};
use popef::{Blobs, Content, File, OpenOptions};

/// Reads everything that there is to read, and throws it away.
fn use_everything(file: &File) {
    for blob in file.blobs() {
        assert!(blob.offset() + blob.size() <= file.size());
        match blob.content() {
            Content::Executable(executable) => {
                if let Ok(mut unpack) = executable.unpack() {
                    let _ = std::io::copy(&mut unpack, &mut std::io::sink());
                }
                let _ = executable.poplar_header();
            }
            Content::Metadata(metadata) => drop(metadata.read()),
            Content::Tensor(tensor) => {
                assert!(file.tensor(tensor.name().as_bytes()).is_some());
                if let Ok(values) = tensor.elements().and_then(|elements| elements.values()) {
                    values.for_each(drop);
                }
            }
            Content::Feed(feed) => {
                for item in feed.items().take(100) {
                    if let Ok(values) = item.and_then(|elements| elements.values()) {
                        values.for_each(drop);
                    }
                }
            }
            Content::Opaque(opaque) => drop(opaque.info()),
            _ => {}
        }
    }
}

#[test]
fn every_flipped_bit_gives_an_answer_and_the_same_in_every_way() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flipped.popef");
    let mut options = OpenOptions::new();
    options.damaged(true);
    for name in ["two-models", "replicated", "split-tensors", "split-feeds", "compressed-zlib"] {
        let mut bytes = std::fs::read(testdata(&format!("interop/{name}.popef"))).unwrap();
        // One byte is changed in place: to write the whole file each time would be to wait for the disk.
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
            use_everything(&file);
            let damaged = Blobs::new(&bytes).any(|blob| blob.is_err());
            assert_eq!(damaged, file.damage().is_some());

            let in_parts = options.open(&path).unwrap();
            assert_eq!(description(&in_parts), description(&file), "{name} bit {bit}");
            bytes[at] ^= 1 << (bit % 8);
            put(at, bytes[at]);
        }
    }
}
