//! Data as a reader, and copied to a writer.

use std::fs;
use std::io::{self, BufRead, Cursor, Read, Seek, SeekFrom, Write};
use std::sync::atomic::Ordering;

use popef::error::ErrorCode;
use popef::read::{File, OpenOptions};
use popef::types::OpaqueInfo;
use popef::write::Writer;

use crate::bucket::{Bucket, Object, Random, damaged, many_small};
use crate::common;

#[test]
fn a_reader_reads_and_seeks_as_a_cursor_does() {
    let data: Vec<u8> = (0..200_000u32).map(|index| ((index * 31) >> 3) as u8).collect();
    let mut bytes = Vec::new();
    let mut writer = Writer::stream(&mut bytes);
    writer.write_opaque(&OpaqueInfo::default(), &data).unwrap();
    writer.finish().unwrap();
    let mut random = Random(7);
    for file in [File::from_bytes(bytes.clone()), OpenOptions::new().source(Bucket(Object::of(&bytes)))] {
        let file = file.unwrap();
        let (mut reader, mut cursor) = (file.blob(0).unwrap().data().reader(), Cursor::new(&data));
        for step in 0..3000 {
            match random.below(6) {
                0 => {
                    let to = match random.below(3) {
                        0 => SeekFrom::Start(random.below(210_000) as u64),
                        1 => SeekFrom::End(-(random.below(200_000) as i64)),
                        _ => SeekFrom::Current(random.below(20_000) as i64 - 5000),
                    };
                    assert_eq!(reader.seek(to).ok(), cursor.seek(to).ok(), "{step}: {to:?}");
                }
                1 => {
                    let filled = reader.fill_buf().unwrap();
                    let rest = cursor.fill_buf().unwrap();
                    assert_eq!(filled.is_empty(), rest.is_empty());
                    assert_eq!(filled, &rest[..filled.len()]);
                    let count = random.below(filled.len() + 1);
                    reader.consume(count);
                    cursor.consume(count);
                }
                _ => {
                    let most = [10, 3000, 70_000][random.below(3)];
                    let len = random.below(most);
                    let (mut found, mut expected) = (vec![0; len], vec![0; len]);
                    let count = reader.read(&mut found).unwrap();
                    assert!(count > 0 || len == 0 || cursor.fill_buf().unwrap().is_empty());
                    cursor.read_exact(&mut expected[..count]).unwrap();
                    assert_eq!(found, expected, "{step}");
                }
            }
            assert_eq!(reader.left(), (data.len() as u64).saturating_sub(cursor.position()));
        }
    }
}

#[test]
fn a_reader_reads_a_small_blob_in_one_call_of_the_source() {
    let object = Object::of(&many_small(7));
    let file = OpenOptions::new().source(Bucket(object.clone())).unwrap();
    let (opening, mut reader) = (object.reads.load(Ordering::Relaxed), file.blob(0).unwrap().data().reader());
    while reader.read(&mut [0; 10]).unwrap() > 0 {}
    assert_eq!(object.reads.load(Ordering::Relaxed) - opening, 1);
}

#[test]
fn data_of_a_source_is_copied_whole_and_in_order() {
    // The data is read in several pieces, none of which is like another.
    let data: Vec<u8> = (0..175_000u32).flat_map(u32::to_le_bytes).collect();
    let mut bytes = Vec::new();
    let mut writer = Writer::stream(&mut bytes);
    writer.write_opaque(&OpaqueInfo::default(), &data).unwrap();
    writer.finish().unwrap();
    let file = OpenOptions::new().source(Bucket(Object::of(&bytes))).unwrap();
    let blob = file.blob(0).unwrap();
    let mut copied = Vec::new();
    assert_eq!(blob.data().copy_to(&mut copied).unwrap(), data.len() as u64);
    assert!(copied == data);
    let mut copied = Vec::new();
    let mut writer = Writer::stream(&mut copied);
    writer.copy(blob).unwrap();
    writer.finish().unwrap();
    assert!(copied == bytes);
}

#[test]
fn copying_data_to_a_full_disk_is_an_error_that_says_so() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let path = common::testdata("interop/executable.popef");
    let bytes = fs::read(&path).unwrap();
    for file in [File::open(&path), File::from_bytes(bytes.clone()), damaged().source(Bucket(Object::of(&bytes)))] {
        let file = file.unwrap();
        let error = file.tensor("input_parameter").unwrap().data().copy_to(&mut Full).unwrap_err();
        assert_eq!(error.code(), ErrorCode::StorageFull, "{error}");
    }
    let listed = File::from_stream(&*bytes).unwrap();
    let error = listed.tensor("input_parameter").unwrap().data().copy_to(&mut io::sink()).unwrap_err();
    assert_eq!(error.code(), ErrorCode::DataNotKept);
}
