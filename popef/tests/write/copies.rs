//! Copied blobs have the same bytes, come from the right file in few calls, and are refused if their file changed.

use crate::common::{testdata, writing};

use std::fs;
use std::io::{self, Write};

use popef::error::*;
use popef::read::*;
use popef::types::*;
use popef::write::*;
use writing::{Place, in_memory, opaque, tensor};

/// The blobs are large enough to be copied by the system.
#[test]
fn copy_all_gives_the_bytes_of_the_blobs_from_and_to_every_place() {
    let place = Place::new();
    let mut writer = Writer::create(&place.path).unwrap();
    writer.write_opaque(&opaque("first"), &[1; 300_000]).unwrap();
    writer.write_executable("one", &[2; 5000]).unwrap();
    writer.write_executable("two", &[3; 200_000]).unwrap();
    (0..40u8).for_each(|index| assert!(writer.write_opaque(&opaque("small"), &[index; 7000]).unwrap().size > 7000));
    writer.write_metadata(&Metadata::default()).unwrap();
    writer.finish().unwrap();
    let bytes = fs::read(&place.path).unwrap();

    let opened = File::open(&place.path).unwrap();
    // SAFETY: the file is not written to.
    #[expect(unsafe_code, reason = "what is mapped is copied by the system too")]
    let mapped = unsafe { File::map(&place.path) }.unwrap();
    let to = place.folder.path().join("copy");
    for file in [&opened, &mapped] {
        for left_out in [usize::MAX, 0, 1, 7, 43] {
            let blobs = || file.blobs().filter(|blob| blob.index() != left_out);
            let range = |blob: &Blob<'_>| {
                let [offset, size] = [blob.offset(), blob.size()].map(|position| usize::try_from(position).unwrap());
                offset..offset + size
            };
            let expected: Vec<u8> = blobs().flat_map(|blob| bytes[range(&blob)].iter().copied()).collect();

            let mut writer = Writer::create(&to).unwrap();
            let written = writer.copy_all(blobs()).unwrap();
            writer.write_opaque(&opaque("last"), b"").unwrap();
            writer.finish().unwrap();
            let created = fs::read(&to).unwrap();
            assert!(created.starts_with(&expected), "without {left_out}");
            let found: Vec<_> = File::open(&to).unwrap().blobs().map(|blob| (blob.offset(), blob.size())).collect();
            let said: Vec<_> = written.iter().map(|written| (written.offset, written.size)).collect();
            assert_eq!(found[..found.len() - 1], said);

            fs::write(&to, &place.bytes).unwrap();
            let mut writer = Writer::append(&to).unwrap();
            writer.copy_all(blobs()).unwrap();
            writer.finish().unwrap();
            assert!(fs::read(&to).unwrap() == [&*place.bytes, &expected].concat(), "without {left_out}");

            assert!(in_memory(|writer| writer.copy_all(blobs()).unwrap()) == expected, "without {left_out}");

            let mut stream = fs::File::create(&to).unwrap();
            let mut writer = Writer::stream(&mut stream);
            writer.copy_all(blobs()).unwrap();
            writer.finish().unwrap();
            assert!(fs::read(&to).unwrap() == expected, "without {left_out}");
        }
    }
    let mut writer = Writer::seekable(io::Cursor::new(Vec::new())).unwrap();
    writer.write_executable("two", b"").unwrap();
    let error = writer.copy_all(opened.blobs()).unwrap_err();
    assert_eq!((error.code(), error.blob()), (ErrorCode::DuplicateExecutable, Some(3)), "{error}");
}

/// Blobs are copied together, and each has its errors.
#[test]
fn an_error_of_reading_is_about_the_blob_that_was_read() {
    struct Breaks(Vec<u8>, u64);
    impl ReadAt for Breaks {
        fn size(&self) -> u64 {
            self.0.len() as u64
        }
        fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
            let start = usize::try_from(offset).unwrap();
            buf.copy_from_slice(&self.0[start..start + buf.len()]);
            // Heads are short.
            let breaks = buf.len() > 5000 && offset + buf.len() as u64 > self.1;
            if breaks { Err(io::ErrorKind::ConnectionReset.into()) } else { Ok(()) }
        }
    }
    let bytes = in_memory(|writer| {
        (0..4u8).for_each(|index| _ = writer.write_opaque(&opaque("large"), &[index; 300_000]).unwrap());
    });
    for at in [100_000, 400_000, 700_000, 1_100_000] {
        let file = OpenOptions::new().read_ahead(0, 0).source(Breaks(bytes.clone(), at)).unwrap();
        let error = Writer::stream(Vec::new()).copy_all(file.blobs()).unwrap_err();
        let (blob, offset) = (file.blob(error.blob().unwrap()).unwrap(), error.offset().unwrap());
        assert!((blob.offset()..blob.offset() + blob.size()).contains(&offset), "{at}: {error}");
        assert!(offset <= at && at < offset + 300_000, "{at}: {error}");
    }
}

#[test]
fn names_that_the_format_forbids_are_copied_if_that_is_allowed() {
    for name in ["checks/PE010.popef", "checks/PE105.popef"] {
        let bytes = fs::read(testdata(name)).unwrap();
        let file = File::from_bytes(bytes.clone()).unwrap();
        let mut writer = Writer::stream(Vec::new());
        assert!(writer.copy_all(file.blobs()).is_err(), "{name}");
        let mut writer = Writer::stream(Vec::new());
        writer.any_names(true).copy_all(file.blobs()).unwrap();
        assert!(writer.any_names(false).write_executable("", b"").is_err(), "{name}");
        assert!(writer.into_inner().unwrap() == bytes, "{name}");
    }
}

#[test]
fn copy_all_takes_each_blob_from_its_own_file() {
    let place = Place::new();
    let paths = ["a", "b"].map(|name| place.folder.path().join(name));
    for (path, byte) in paths.iter().zip(1..) {
        let mut writer = Writer::create(path).unwrap();
        for _ in 0..2 {
            writer.write_opaque(&opaque("same"), &[byte; 100_000]).unwrap();
        }
        writer.finish().unwrap();
    }
    let [a, b] = paths.map(|path| File::open(path).unwrap());
    let blobs = || [a.blob(0).unwrap(), b.blob(1).unwrap(), a.blob(1).unwrap(), b.blob(0).unwrap()].into_iter();
    let bytes = in_memory(|writer| drop(writer.copy_all(blobs()).unwrap()));
    let copied = File::from_bytes(bytes).unwrap();
    let first_bytes: Vec<_> = copied.blobs().map(|blob| blob.data().read().unwrap()[0]).collect();
    assert_eq!(first_bytes, [1, 2, 1, 2]);
}

#[test]
fn a_blob_that_was_overwritten_is_not_copied() {
    let place = Place::new();
    let mut writer = Writer::create(&place.path).unwrap();
    writer.write_opaque(&opaque("small"), &[1; 1000]).unwrap();
    writer.write_opaque(&opaque("large"), &[2; 1_000_000]).unwrap();
    writer.finish().unwrap();
    let opened = File::open(&place.path).unwrap();
    let bytes = fs::read(&place.path).unwrap();
    fs::write(&place.path, bytes).unwrap();
    for copied in [0..1, 1..2, 0..2] {
        let mut writer = Writer::stream(io::sink());
        let blobs = copied.clone().map(|index| opened.blob(index).unwrap());
        let error = writer.copy_all(blobs).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Changed, "{copied:?}: {error}");
    }
}

/// The bytes of the mapping are copied, whatever the time of the last change.
#[test]
fn a_mapped_file_that_was_touched_is_copied() {
    let place = Place::new();
    let mut writer = Writer::create(&place.path).unwrap();
    writer.write_opaque(&opaque("large"), &[2; 1_000_000]).unwrap();
    writer.finish().unwrap();
    // SAFETY: the file's bytes are not changed.
    #[expect(unsafe_code, reason = "a mapping goes on where reading in parts does not")]
    let mapped = unsafe { File::map(&place.path) }.unwrap();
    fs::File::options().write(true).open(&place.path).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
    let copied = in_memory(|writer| drop(writer.copy_all(mapped.blobs()).unwrap()));
    assert!(copied == fs::read(&place.path).unwrap());
}

/// How often a destination is written to.
struct Calls(usize);

impl Write for Calls {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += 1;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn adjacent_blobs_are_copied_together() {
    let place = Place::new();
    let mut writer = Writer::create(&place.path).unwrap();
    for _ in 0..1000 {
        writer.write_opaque(&opaque("small"), &[1; 100]).unwrap();
    }
    writer.finish().unwrap();
    let file = File::open(&place.path).unwrap();
    // All blobs, and so few that they go through memory.
    for taken in [1000, 500] {
        let mut calls = Calls(0);
        let mut writer = Writer::stream(&mut calls);
        writer.copy_all(file.blobs().take(taken)).unwrap();
        let error = writer.write_tensor(&tensor(DataType::F32, &[2]), &[1.0f32]).unwrap_err();
        assert_eq!(error.blob(), Some(taken), "each blob counts: {error}");
        writer.finish().unwrap();
        assert!(calls.0 < 100, "{} calls for {taken} blobs", calls.0);
    }
}

#[test]
fn a_source_that_changes_while_it_is_copied_is_an_error_and_leaves_nothing() {
    let place = Place::new();
    let source = File::open(&place.path).unwrap();
    fs::write(&place.path, [0; 10]).unwrap();
    let bytes = in_memory(|writer| {
        writer.write_opaque(&opaque("before"), b"data").unwrap();
        assert_eq!(writer.copy(source.blob(0).unwrap()).unwrap_err().kind(), ErrorKind::Changed);
        writer.write_opaque(&opaque("after"), b"data").unwrap();
    });
    assert_eq!(File::from_bytes(bytes).unwrap().len(), 2);
}
