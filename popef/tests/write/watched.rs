//! Writers that are watched, stopped, read back, begun after other bytes, and that write nowhere.

use crate::common::{popef_files, testdata, writing};

use std::fs;
use std::io::Cursor;
use std::ops::ControlFlow;

use popef::error::*;
use popef::write::*;
use popef::{File, OpenOptions, Writer};
use writing::{Place, opaque};

#[test]
fn the_watcher_hears_of_every_byte() {
    for path in popef_files("interop") {
        let Ok(file) = File::open(&path) else { continue };
        let mut heard = 0;
        let mut bytes = Vec::new();
        let mut writer = Writer::stream(&mut bytes).watched(|len| {
            heard += len;
            ControlFlow::Continue(())
        });
        writer.copy_all(file.blobs()).unwrap();
        writer.finish().unwrap();
        assert_eq!((heard, bytes), (file.end(), fs::read(&path).unwrap()), "{path:?}");
    }
}

#[test]
fn copies_by_the_system_can_be_stopped_between_pieces() {
    const SIZE: u64 = 200 << 20;
    let place = Place::new();
    let large = place.path.with_file_name("large.popef");
    let head = head_of_opaque(SIZE);
    fs::write(&large, &head).unwrap();
    let head = head.len() as u64;
    // Zeros that were never written take no room on the disk.
    fs::OpenOptions::new().write(true).open(&large).unwrap().set_len(head + SIZE).unwrap();

    let file = File::open(&large).unwrap();
    let mut pieces = Vec::new();
    let mut writer = Writer::create(&place.path).unwrap().watched(|len| {
        pieces.push(len);
        if pieces.len() == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let error = writer.copy_all(file.blobs()).unwrap_err();
    assert_eq!((error.code(), error.kind()), (ErrorCode::Stopped, ErrorKind::Stopped), "{error}");
    assert_eq!(writer.finish().unwrap_err().code(), ErrorCode::WriterFailed);
    assert_eq!(pieces, [head, 64 << 20, 64 << 20]);
    fs::remove_file(&large).unwrap();
    place.is_as_it_was();
}

/// The header and info of an opaque blob with so much data.
fn head_of_opaque(size: u64) -> Vec<u8> {
    use std::io::Write as _;
    let mut head = Vec::new();
    let mut writer = Writer::stream(&mut head);
    let mut blob = writer.sized_opaque(&opaque("large"), size).unwrap();
    blob.write_all(&[0]).unwrap();
    drop(blob);
    drop(writer);
    head.pop();
    head
}

#[test]
fn a_stop_leaves_the_old_file() {
    let place = Place::new();
    let mut writer = Writer::create(&place.path).unwrap().watched(|_| ControlFlow::Break(()));
    let error = writer.write_opaque(&opaque("new"), b"data").unwrap_err();
    assert_eq!(error.code(), ErrorCode::Stopped, "{error}");
    drop(writer);
    place.is_as_it_was();
}

#[test]
fn what_is_written_nowhere_has_the_size_of_the_file() {
    for path in popef_files("interop") {
        let Ok(file) = File::open(&path) else { continue };
        let mut writer = Writer::nowhere();
        writer.copy_all(file.blobs()).unwrap();
        assert_eq!(writer.finish().unwrap().size, file.end(), "{path:?}");
    }
    let mut writer = Writer::nowhere();
    writer.write_packed_executable("model", &[7; 100_000], Packing::Zlib(6)).unwrap();
    let mut bytes = Writer::stream(Vec::new());
    bytes.write_packed_executable("model", &[7; 100_000], Packing::Zlib(6)).unwrap();
    assert_eq!(writer.finish().unwrap().size, bytes.into_inner().unwrap().len() as u64);
}

#[test]
fn a_file_can_be_read_back_before_it_appears() {
    let place = Place::new();
    let mut writer = Writer::create(&place.path).unwrap();
    writer.write_opaque(&opaque("new"), &[5; 300_000]).unwrap();
    let written = writer.read_back(&OpenOptions::new()).unwrap().unwrap();
    assert_eq!(*written.opaque("new").unwrap().data().read().unwrap(), [5; 300_000]);
    // It goes on after that.
    writer.write_opaque(&opaque("more"), b"data").unwrap();
    assert_eq!(writer.read_back(&OpenOptions::new()).unwrap().unwrap().len(), 2);
    writer.discard().unwrap();
    place.is_as_it_was();

    assert!(Writer::stream(Vec::new()).read_back(&OpenOptions::new()).unwrap().is_none());
    assert!(Writer::nowhere().read_back(&OpenOptions::new()).unwrap().is_none());
}

#[cfg(unix)]
#[test]
fn a_temporary_file_that_another_replaced_is_not_read_back() {
    let place = Place::new();
    let mut writer = Writer::create(&place.path).unwrap();
    writer.write_opaque(&opaque("new"), b"data").unwrap();
    let temporary = place.path.with_file_name(".model.popef.popef-new");
    fs::remove_file(&temporary).unwrap();
    fs::write(&temporary, "another").unwrap();
    let error = writer.read_back(&OpenOptions::new()).unwrap_err();
    assert_eq!(error.code(), ErrorCode::FileChanged, "{error}");
}

#[test]
fn bytes_before_the_first_blob_come_first_or_not_at_all() {
    let path = testdata("opaque/poptorch/poptorch25.poptorch");
    let file = OpenOptions::new().after_pickle(true).open(&path).unwrap();
    assert!(!file.prefix().is_empty());
    let mut writer = Writer::seekable(Cursor::new(Vec::new())).unwrap();
    writer.write_prefix(&file.prefix()).unwrap();
    let written = writer.copy_all(file.blobs()).unwrap();
    assert_eq!(written.first().unwrap().offset, file.prefix().len());
    assert_eq!(writer.write_prefix(&file.prefix()).unwrap_err().code(), ErrorCode::PrefixTooLate);
    assert_eq!(writer.into_inner().unwrap().into_inner(), fs::read(&path).unwrap());
}
