//! Open blobs that own their writer, boxed destinations, and destinations that are given back.

use crate::common::writing;

use std::fs;
use std::io::{self, Cursor, Write};

use popef::error::*;
use popef::read::*;
use popef::types::*;
use popef::write::*;
use writing::{Full, Place, in_memory, opaque, tensor};

type Memory<'c> = Seekable<&'c mut Cursor<Vec<u8>>>;

fn feed(name: &'static str) -> FeedDataInfo {
    FeedDataInfo { name: name.into(), tensor_info: TensorInfo::new(DataType::U8, [2]), num_tensors: 2 }
}

fn feeds() -> [FeedDataInfo; 2] {
    [feed("one"), feed("two")]
}

/// Writes one blob of each kind that can be open. Each borrows the writer.
fn write_borrowing<D: Rewind>(writer: &mut Writer<D>) -> Vec<Written> {
    let mut written = Vec::new();
    let mut blob = writer.tensor(&tensor(DataType::F32, &[2])).unwrap();
    blob.write_elements(&[1.5f32]).unwrap();
    blob.write_elements(&[2.5f32]).unwrap();
    written.push(blob.finish().unwrap());
    let mut blob = writer.opaque(&opaque("notes")).unwrap();
    blob.write_all(b"mine").unwrap();
    written.push(blob.finish().unwrap());
    let mut blob = writer.packed_executable("model", Packing::Zlib(1)).unwrap();
    blob.write_all(&[7; 5000]).unwrap();
    written.push(blob.finish().unwrap());
    let mut open = writer.feeds(&feeds()).unwrap();
    (0..4).for_each(|index| open.push(index % 2, &[1u8, 2]).unwrap());
    written.extend(open.finish().unwrap());
    written
}

/// Writes the same blobs. Each owns the writer.
fn write_owning<D: Rewind>(writer: Writer<D>) -> (Writer<D>, Vec<Written>) {
    let mut all = Vec::new();
    let mut blob = BlobWriter::owning(writer, |writer| writer.tensor(&tensor(DataType::F32, &[2]))).unwrap();
    blob.write_elements(&[1.5f32]).unwrap();
    assert!(blob.write_elements(&[1u8]).is_err());
    blob.write_elements(&[2.5f32]).unwrap();
    let (writer, written) = blob.finish().unwrap();
    all.push(written);
    let mut blob = BlobWriter::owning(writer, |writer| writer.opaque(&opaque("notes"))).unwrap();
    blob.write_all(b"mine").unwrap();
    let (writer, written) = blob.finish().unwrap();
    all.push(written);
    let mut blob = PackedWriter::owning(writer, |writer| writer.packed_executable("model", Packing::Zlib(1))).unwrap();
    blob.write_all(&[7; 5000]).unwrap();
    let (writer, written) = blob.finish().unwrap();
    all.push(written);
    let mut open = FeedsWriter::owning(writer, |writer| writer.feeds(&feeds())).unwrap();
    (0..4).for_each(|index| open.push(index % 2, &[1u8, 2]).unwrap());
    let (writer, written) = open.finish().unwrap();
    all.extend(written);
    (writer, all)
}

#[test]
fn blobs_that_own_their_writer_have_the_bytes_of_those_that_borrow_it() {
    let mut borrowing = Vec::new();
    let expected = in_memory(|writer| borrowing = write_borrowing(writer));
    let mut bytes = Cursor::new(Vec::new());
    let (writer, owning) = write_owning(Writer::seekable(&mut bytes).unwrap());
    assert_eq!((writer.written().offset, writer.written().size), (0, expected.len() as u64));
    writer.finish().unwrap();
    assert!(bytes.into_inner() == expected);
    assert_eq!(owning, borrowing);

    let place = Place::new();
    let (writer, written) = write_owning(Writer::append(&place.path).unwrap());
    assert_eq!(writer.written().offset, place.bytes.len() as u64);
    assert_eq!(written[0].offset, place.bytes.len() as u64);
    writer.finish().unwrap();
    assert!(fs::read(&place.path).unwrap() == [&*place.bytes, &expected].concat());
}

/// Opens a blob that owns the writer, writes data, and drops both.
type Leave = fn(Writer<Memory<'_>>);

/// The blobs have some or all of their data, and are not finished.
const LEFT: [Leave; 4] = [
    |writer| {
        let mut blob = BlobWriter::owning(writer, |writer| writer.sized_opaque(&opaque("left"), 4)).unwrap();
        blob.write_all(b"all!").unwrap();
    },
    |writer| {
        let mut blob = BlobWriter::owning(writer, |writer| writer.opaque(&opaque("left"))).unwrap();
        blob.write_all(b"some").unwrap();
    },
    |writer| {
        let mut blob =
            PackedWriter::owning(writer, |writer| writer.packed_executable("left", Packing::Zlib(1))).unwrap();
        blob.write_all(b"some").unwrap();
    },
    |writer| {
        let mut feeds = FeedsWriter::owning(writer, |writer| writer.feeds(&feeds())).unwrap();
        (0..4).for_each(|index| feeds.push(index % 2, &[1u8, 2]).unwrap());
    },
];

#[test]
fn an_unfinished_blob_that_is_dropped_with_its_writer_leaves_nothing() {
    for leave in LEFT {
        let mut bytes = Cursor::new(Vec::new());
        let mut writer = Writer::seekable(&mut bytes).unwrap();
        let before = writer.write_opaque(&opaque("before"), b"data").unwrap();
        leave(writer);
        assert_eq!(bytes.get_ref().len() as u64, before.size);
        assert_eq!(File::from_bytes(bytes.into_inner()).unwrap().len(), 1);
    }
    let place = Place::new();
    let writer = Writer::append(&place.path).unwrap().map_destination(|to| Box::new(to) as Box<dyn Rewind>);
    let mut blob = BlobWriter::owning(writer, |writer| writer.opaque(&opaque("left"))).unwrap();
    blob.write_all(&[1; 1_000_000]).unwrap();
    assert!(fs::metadata(&place.path).unwrap().len() > place.bytes.len() as u64);
    drop(blob);
    place.is_as_it_was();
}

#[test]
fn a_discarded_blob_gives_its_writer_back() {
    let expected = in_memory(|writer| writer.write_opaque(&opaque("after"), b"data").unwrap());
    let mut bytes = Cursor::new(Vec::new());
    let writer = Writer::seekable(&mut bytes).unwrap();
    let mut blob = BlobWriter::owning(writer, |writer| writer.opaque(&opaque("given up"))).unwrap();
    blob.write_all(b"some").unwrap();
    let mut blob = PackedWriter::owning(blob.discard(), |w| w.packed_executable("up", Packing::Gzip(1))).unwrap();
    blob.write_all(b"some").unwrap();
    let mut open = FeedsWriter::owning(blob.discard(), |writer| writer.feeds(&feeds())).unwrap();
    open.push(0, &[1u8, 2]).unwrap();
    let mut writer = open.discard();
    writer.write_opaque(&opaque("after"), b"data").unwrap();
    writer.finish().unwrap();
    assert!(bytes.into_inner() == expected);
}

#[test]
fn a_refusal_gives_back_a_writer_that_goes_on() {
    let mut expected = Vec::new();
    let mut writer = Writer::stream(&mut expected);
    writer.write_executable("model", b"its bytes").unwrap();
    let refused = BlobWriter::owning(writer, |writer| writer.sized_executable("model", 9)).unwrap_err();
    assert_eq!(refused.error.code(), ErrorCode::DuplicateExecutable);
    assert_eq!(refused.to_string(), refused.error.to_string());
    refused.writer.finish().unwrap();

    let mut bytes = Cursor::new(Vec::new());
    let mut writer = Writer::seekable(&mut bytes).unwrap();
    writer.write_executable("model", b"its bytes").unwrap();
    let refused = PackedWriter::owning(writer, |writer| writer.packed_executable("", Packing::default())).unwrap_err();
    assert_eq!(refused.error.code(), ErrorCode::ExecutableUnnamed);
    let long = FeedDataInfo { tensor_info: TensorInfo::new(DataType::U8, [-1]), ..feed("long") };
    let refused = FeedsWriter::owning(refused.writer, |writer| writer.feeds(&[long])).unwrap_err();
    assert_eq!(refused.error.code(), ErrorCode::ImpossibleShape);
    let mut blob = BlobWriter::owning(refused.writer, |w| w.tensor(&tensor(DataType::F32, &[2]))).unwrap();
    blob.write_elements(&[1.5f32]).unwrap();
    let refused = blob.finish().unwrap_err();
    assert_eq!(refused.error.code(), ErrorCode::BlobUnfinished);
    let mut open = FeedsWriter::owning(refused.writer, |writer| writer.feeds(&feeds())).unwrap();
    open.push(0, &[1u8, 2]).unwrap();
    let refused = open.finish().unwrap_err();
    assert_eq!(Error::from(refused).code(), ErrorCode::FeedsUnfinished);
    assert!(bytes.into_inner() == expected);
}

#[test]
fn a_failure_gives_back_a_writer_that_says_it_failed() {
    let writer = Writer::stream(Full(200));
    let mut blob = BlobWriter::owning(writer, |writer| writer.sized_opaque(&opaque("long"), 1000)).unwrap();
    blob.write_all(&[1; 50]).unwrap();
    assert_eq!(blob.write_all(&[1; 100]).unwrap_err().kind(), io::ErrorKind::StorageFull);
    let refused = blob.finish().unwrap_err();
    assert_eq!(refused.error.code(), ErrorCode::WriterFailed);
    assert_eq!(refused.writer.into_inner().unwrap_err().code(), ErrorCode::WriterFailed);

    let writer = Writer::stream(Full(200));
    let mut blob = BlobWriter::owning(writer, |writer| writer.sized_opaque(&opaque("long"), 1000)).unwrap();
    blob.write_all(&[1; 50]).unwrap();
    assert_eq!(blob.discard().finish().unwrap_err().code(), ErrorCode::StreamBroken);
}

#[test]
fn into_inner_flushes_and_gives_the_destination_back() {
    let expected = in_memory(|writer| drop(write_borrowing(writer)));
    let mut cursor = Cursor::new(b"before".to_vec());
    cursor.set_position(6);
    let mut writer = Writer::seekable(cursor).unwrap();
    write_borrowing(&mut writer);
    let cursor = writer.into_inner().unwrap();
    assert_eq!(cursor.position(), 6 + expected.len() as u64);
    assert!(cursor.into_inner() == [b"before", &*expected].concat());

    let mut writer = Writer::stream(io::BufWriter::new(Vec::new()));
    let info = opaque("notes");
    let written = writer.write_opaque(&info, b"mine").unwrap();
    assert_eq!(writer.written(), written);
    let buffered = writer.into_inner().unwrap();
    assert!(buffered.buffer().is_empty());
    assert_eq!(buffered.get_ref().len() as u64, written.size);

    let mut writer = Writer::stream(Full(usize::try_from(written.size).unwrap()));
    writer.write_opaque(&info, b"mine").unwrap();
    assert_eq!(writer.into_inner().unwrap_err().code(), ErrorCode::StorageFull);
}

#[test]
fn boxed_destinations_write_the_same_as_unboxed_ones() {
    let place = Place::new();
    let expected = in_memory(|writer| drop(write_borrowing(writer)));
    let forward = in_memory(|writer| writer.write_opaque(&opaque("notes"), b"mine").unwrap());
    let new = place.folder.path().join("new.popef");

    let mut streamed = Vec::new();
    let forwards: [Writer<Box<dyn Destination + '_>>; 2] = [
        Writer::stream(&mut streamed).map_destination(|to| Box::new(to) as _),
        Writer::create(&new).unwrap().map_destination(|to| Box::new(to) as _),
    ];
    for mut writer in forwards {
        writer.write_opaque(&opaque("notes"), b"mine").unwrap();
        writer.finish().unwrap();
    }
    assert!(streamed == forward && fs::read(&new).unwrap() == forward);

    // A blob that owns a writer with a boxed destination goes to another thread.
    let mut writers: Vec<Writer<Box<dyn Rewind + Send>>> = vec![
        Writer::append(&place.path).unwrap().map_destination(|to| Box::new(to) as _),
        Writer::create(&new).unwrap().map_destination(|to| Box::new(to) as _),
    ];
    let refused = writers[0].copy(File::open(&place.path).unwrap().blob(0).unwrap()).unwrap_err();
    assert_eq!((refused.code(), refused.path()), (ErrorCode::CopyFromTarget, Some(&*place.path)));
    for writer in writers {
        std::thread::spawn(move || write_owning(writer).0.finish().unwrap()).join().unwrap();
    }
    assert!(fs::read(&place.path).unwrap() == [&*place.bytes, &expected].concat());
    assert!(fs::read(&new).unwrap() == expected);

    let writer = Writer::create(&new).unwrap().map_destination(|to| Box::new(to) as Box<dyn Rewind>);
    assert_eq!(place.names().len(), 3);
    writer.discard().unwrap();
    assert_eq!(place.names(), ["model.popef", "new.popef"]);
}
