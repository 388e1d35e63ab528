//! Mistakes that a writer refuses, and failures after which it does not go on.

use crate::common::{testdata, writing};

use std::io::{self, Write};

use popef::error::*;
use popef::read::*;
use popef::types::*;
use popef::write::*;
use writing::{Full, in_memory, opaque, tensor};

/// Each mistake has its words. The writer goes on, and the file has nothing of the refused blob.
#[test]
fn mistakes_are_refused_before_anything_is_written() {
    let feed = |num_tensors| {
        let tensor_info = TensorInfo::new(DataType::S32, [2]);
        FeedDataInfo { name: "labels\u{1b}[2J".into(), tensor_info, num_tensors }
    };
    let anchor = Anchor { name: vec![0; 300 << 20].into(), ..Anchor::default() };
    let huge = Metadata { anchors: vec![anchor], ..Metadata::default() };
    let bytes = in_memory(|writer| {
        writer.write_executable("model", b"GC").unwrap();
        let says = |result: Result<Written, Error>, code: ErrorCode, text: &str| {
            let error = result.unwrap_err();
            assert_eq!((error.code(), error.reason().as_str()), (code, text));
            assert_eq!((error.blob(), error.offset()), (Some(1), Some(90)));
        };
        let w = writer;
        says(w.write_executable("", b""), ErrorCode::ExecutableUnnamed, "an executable needs a name that is not empty");
        says(
            w.write_executable("model", b""),
            ErrorCode::DuplicateExecutable,
            "the file has an executable named model already, and names must differ",
        );
        says(
            w.write_packed_executable("other", b"", Packing::Gzip(10)),
            ErrorCode::NoSuchLevel,
            "compression level 10 was asked for, but levels are 0 to 9",
        );
        says(
            w.write_tensor(&tensor(DataType::F32, &[2, 3]), &[1.5f32; 5]),
            ErrorCode::WrongDataLength,
            "tensor weights (F32 [2, 3]) needs 24 bytes of data, but 20 were given",
        );
        says(
            w.write_tensor(&tensor(DataType::F32, &[2]), &[1u32; 2]),
            ErrorCode::WrongElementType,
            "tensor weights has elements of type F32, but elements of type U32 were given",
        );
        says(
            w.write_tensor_bytes(&tensor(DataType::U8, &[4, -1]), &[]),
            ErrorCode::ImpossibleShape,
            "dimension 1 of the shape is -1, which no tensor can have",
        );
        says(
            w.write_tensor_bytes(&tensor(DataType::U64, &[i64::MAX]), &[]),
            ErrorCode::ImpossibleShape,
            "the shape calls for more bytes than 64 bits can count",
        );
        says(
            w.write_tensor_bytes(&tensor(DataType::from_number(99), &[1]), &[1]),
            ErrorCode::UnknownDataType,
            "data type 99 is not known, so neither is the size of its elements",
        );
        says(
            w.write_feed(&feed(3), &[1i32; 5]),
            ErrorCode::WrongDataLength,
            "feed labels\\u{1b}[2J (S32 [2], 3 times) needs 24 bytes of data, but 20 were given",
        );
        says(
            w.write_metadata(&huge),
            ErrorCode::MessageTooLong,
            "the info message needs 314573040 bytes, more than the 268435456 that readers accept",
        );
        let finish = |mut blob: BlobWriter<&mut Writer<_>>, data: &[u8]| {
            let _ = blob.write_all(data);
            blob.finish()
        };
        says(
            w.sized_opaque(&opaque("o"), 5).and_then(|blob| finish(blob, b"four")),
            ErrorCode::BlobUnfinished,
            "opaque blob o was left unfinished: it needs 5 bytes of data, and 4 were written",
        );
        says(
            w.sized_opaque(&opaque("o"), 3).and_then(|blob| finish(blob, b"four")),
            ErrorCode::WrongDataLength,
            "opaque blob o needs 3 bytes of data, but 4 were given",
        );
        let error = w.tensor(&tensor(DataType::F32, &[2])).unwrap().write_elements(&[1u8]).unwrap_err();
        assert_eq!(error.code(), ErrorCode::WrongElementType);
        assert_eq!(error.reason(), "tensor weights has elements of type F32, but elements of type U8 were given");
        let mut feeds = w.feeds(&[feed(2), feed(0), feed(2)]).unwrap();
        feeds.push(0, &[1, 2]).unwrap();
        let reasons = [
            (
                feeds.push(0, &[1]),
                ErrorCode::WrongDataLength,
                "each tensor of feed labels\\u{1b}[2J needs 8 bytes of data, but 4 were given",
            ),
            (
                feeds.push(0, &[1u8]),
                ErrorCode::WrongElementType,
                "feed labels\\u{1b}[2J has elements of type S32, but elements of type U8 were given",
            ),
            (
                feeds.push(1, &[1, 2]),
                ErrorCode::FeedFull,
                "one more tensor was given for feed labels\\u{1b}[2J, which is complete: it has 0 tensors",
            ),
            (
                feeds.push(3, &[1, 2]),
                ErrorCode::NoSuchFeed,
                "a tensor was given for feed 3, counted from 0, but the number of feeds is 3",
            ),
        ];
        for (result, code, reason) in reasons {
            let error = result.unwrap_err();
            assert_eq!((error.code(), error.reason().as_str()), (code, reason));
        }
        let error = feeds.finish().unwrap_err();
        assert_eq!(error.code(), ErrorCode::FeedsUnfinished);
        assert_eq!(error.reason(), "feed labels\\u{1b}[2J is incomplete: it has 1 of 2 tensors; so is 1 other feed");
        assert_eq!((error.needed(), error.found()), (Some(2), Some(1)));
        w.write_opaque(&opaque("last"), b"").unwrap();
    });
    let file = File::from_bytes(bytes).unwrap();
    assert_eq!(file.blobs().map(|blob| blob.name().unwrap().to_string()).collect::<Vec<_>>(), ["model", "last"]);
}

#[test]
fn executable_names_must_be_unique_in_the_whole_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.popef");
    std::fs::copy(testdata("interop/executable.popef"), &path).unwrap();
    let name = File::open(&path).unwrap().executables().next().unwrap().name().into_owned();
    let copied = File::from_bytes(std::fs::read(&path).unwrap()).unwrap();
    let mut writer = Writer::append(&path).unwrap();
    assert!(writer.write_executable(name.clone(), b"").unwrap_err().to_string().contains("already"));
    assert!(writer.copy(copied.executable(name.as_bytes()).unwrap().blob()).is_err());
    // A name is free again when its blob is dropped.
    drop(writer.executable("new").unwrap());
    writer.executable("new").unwrap().finish().unwrap();
}

#[test]
fn a_blob_that_is_left_unfinished_in_a_stream_is_an_error() {
    let mut out = Vec::new();
    let mut writer = Writer::stream(&mut out);
    drop(writer.sized_opaque(&opaque("not begun"), 9).unwrap());
    writer.write_opaque(&opaque("whole"), b"data").unwrap();
    writer.sized_opaque(&opaque("half"), 9).unwrap().write_all(b"half").unwrap();
    for _ in 0..2 {
        let error = writer.write_opaque(&opaque("next"), b"").unwrap_err();
        assert_eq!((error.code(), error.kind()), (ErrorCode::StreamBroken, ErrorKind::Io));
        assert!(error.reason().starts_with("a blob was left unfinished in a stream"), "{error}");
    }
    assert!(writer.finish().is_err());
}

#[test]
fn a_failure_is_final_and_keeps_its_reason() {
    let mut writer = Writer::stream(Full(100));
    writer.write_opaque(&opaque("fits"), b"").unwrap();
    let error = writer.write_opaque(&opaque("does not"), b"data").unwrap_err();
    let reason = std::error::Error::source(&error).unwrap().downcast_ref::<io::Error>().unwrap();
    assert_eq!((error.code(), reason.kind()), (ErrorCode::StorageFull, io::ErrorKind::StorageFull));
    let error = writer.write_metadata(&Metadata::default()).unwrap_err();
    assert_eq!((error.code(), error.kind()), (ErrorCode::WriterFailed, ErrorKind::Io));
    assert!(error.reason().starts_with("writing failed before"), "{error}");
    assert!(writer.finish().is_err());
    let error = Writer::stream(Full(0)).finish().unwrap_err();
    assert_eq!(error.to_string(), "cannot flush the stream: no storage space");
}

/// Memory with room for some bytes. If it is stuck, it cannot be truncated.
struct Memory {
    bytes: io::Cursor<Vec<u8>>,
    room: usize,
    stuck: bool,
}

fn memory(room: usize, stuck: bool) -> Memory {
    Memory { bytes: io::Cursor::new(Vec::new()), room, stuck }
}

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = self.room.saturating_sub(self.bytes.get_ref().len());
        if room == 0 {
            Err(io::ErrorKind::StorageFull.into())
        } else {
            self.bytes.write(&bytes[..room.min(bytes.len())])
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl io::Seek for Memory {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        self.bytes.seek(to)
    }
}

impl Truncate for Memory {
    fn truncate(&mut self, len: u64) -> io::Result<()> {
        if self.stuck { Err(io::Error::other("stuck")) } else { self.bytes.truncate(len) }
    }
}

#[test]
fn whole_blobs_stay_if_the_next_one_does_not_fit() {
    let mut memory = memory(500, false);
    let mut writer = Writer::seekable(&mut memory).unwrap();
    writer.write_opaque(&opaque("fits"), &[1; 100]).unwrap();
    assert_eq!(writer.write_opaque(&opaque("does not"), &[2; 1000]).unwrap_err().kind(), ErrorKind::Io);
    assert!(writer.finish().is_err());
    assert_eq!(File::from_bytes(memory.bytes.into_inner()).unwrap().len(), 1);
}

#[test]
fn a_blob_that_cannot_be_undone_is_an_error() {
    let mut writer = Writer::seekable(memory(usize::MAX, true)).unwrap();
    writer.write_opaque(&opaque("whole"), b"data").unwrap();
    let error = writer.discard().unwrap_err();
    assert!(error.to_string().contains("stuck"), "{error}");

    let mut writer = Writer::seekable(memory(usize::MAX, true)).unwrap();
    writer.opaque(&opaque("dropped")).unwrap().write_all(b"data").unwrap();
    // Dropping cannot return an error, so the next call does. Later calls say that writing failed before.
    let error = writer.write_opaque(&opaque("next"), b"").unwrap_err();
    assert!(error.to_string().contains("cannot undo an unfinished blob: stuck"), "{error}");
    let error = writer.finish().unwrap_err();
    assert!(!error.to_string().contains("stuck"), "{error}");
}

/// Readers accept headers of up to 64 KiB.
#[test]
fn a_header_of_64_kib_is_written_and_a_longer_one_refused() {
    let write = |len: usize| {
        let mut bytes = Vec::new();
        let mut writer = Writer::stream(&mut bytes);
        writer.version("v".repeat(len));
        let written = writer.write_opaque(&OpaqueInfo::default(), &[1]).map(drop);
        drop(writer);
        written.map(|()| bytes)
    };
    // The header also has a segment table, a root pointer, two words of data, a pointer, and a NUL.
    let longest = (64 << 10) - 5 * 8 - 1;
    let file = File::from_bytes(write(longest).unwrap()).unwrap();
    assert_eq!(file.blob(0).unwrap().header_bytes().len(), 64 << 10);
    assert_eq!(write(longest + 1).unwrap_err().code(), ErrorCode::MessageTooLong);
}
