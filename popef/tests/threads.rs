//! The threads that compress end with the writer, however it ends. This is a program of its own so that it can count
//! its threads.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::{self, Cursor, Seek, SeekFrom, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use popef::write::*;

/// More data than waits in memory before the first of it is written.
const LEN: usize = 10 << 20;

/// The number of threads of this program that compress.
fn compressing() -> usize {
    let tasks = fs::read_dir("/proc/self/task").unwrap();
    let names = tasks.filter_map(|task| fs::read_to_string(task.unwrap().path().join("comm")).ok());
    names.filter(|name| name.trim_end() == "popef-compress").count()
}

/// Whether the threads that compressed have ended. The system lists a thread for a moment after it was joined.
fn all_ended() -> bool {
    (0..100_000).any(|_| {
        thread::yield_now();
        compressing() == 0
    })
}

/// A destination that takes some bytes and then fails or panics.
struct Until {
    memory: Cursor<Vec<u8>>,
    room: usize,
    panics: bool,
}

impl Write for Until {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.memory.get_ref().len() + bytes.len() > self.room {
            assert!(!self.panics, "as it was asked to");
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.memory.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Until {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.memory.seek(to)
    }
}

impl Truncate for Until {
    fn truncate(&mut self, len: u64) -> io::Result<()> {
        self.memory.truncate(len)
    }
}

fn until(room: usize, panics: bool) -> Until {
    Until { memory: Cursor::new(Vec::new()), room, panics }
}

#[test]
fn threads_end_with_the_writer() {
    let data = vec![7; LEN];
    small_data_and_one_thread_start_none(&data);
    dropped(&data);
    failing(&data);
    panicking(&data);
}

fn small_data_and_one_thread_start_none(data: &[u8]) {
    for (threads, data) in [(4, &data[..256 << 10]), (1, data)] {
        let mut writer = Writer::seekable(until(2 * LEN, false)).unwrap();
        let mut blob = writer.threads(threads).packed_executable("model", Packing::Zlib(1)).unwrap();
        blob.write_all(data).unwrap();
        assert_eq!(compressing(), 0);
        blob.finish().unwrap();
    }
}

fn dropped(data: &[u8]) {
    let mut writer = Writer::seekable(until(2 * LEN, false)).unwrap();
    let mut blob = writer.threads(3).packed_executable("dropped", Packing::Zlib(0)).unwrap();
    blob.write_all(data).unwrap();
    assert_eq!(compressing(), 3);
    drop(blob);
    assert!(all_ended());
    let mut blob = writer.packed_executable("model", Packing::Gzip(0)).unwrap();
    blob.write_all(data).unwrap();
    blob.finish().unwrap();
    assert!(all_ended());
    writer.write_packed_executable("whole", &data[..3 << 20], Packing::Zlib(1)).unwrap();
    assert!(all_ended());
    writer.finish().unwrap();
}

/// The first error gives the reason. Later ones say that writing failed before.
fn failing(data: &[u8]) {
    for room in [10, 200, 1 << 20, 5 << 20, 9 << 20] {
        let mut memory = until(room, false);
        let mut writer = Writer::seekable(&mut memory).unwrap();
        let mut blob = writer.threads(2).packed_executable("model", Packing::Zlib(0)).unwrap();
        let mut results: Vec<_> = data.chunks(1 << 20).map(|piece| blob.write_all(piece)).collect();
        let failed = results.iter().any(Result::is_err);
        assert!(!failed || all_ended(), "threads go on after the failure");
        results.push(blob.finish().map(drop).map_err(io::Error::from));
        assert!(all_ended());
        let mut errors = results.into_iter().filter_map(Result::err);
        assert_eq!(errors.next().unwrap().kind(), io::ErrorKind::StorageFull, "{room} bytes");
        assert!(errors.all(|error| error.to_string().contains("writing failed before")));
        assert!(writer.finish().is_err());
        assert!(memory.memory.into_inner().is_empty(), "bytes of the blob stay");
    }
}

fn panicking(data: &[u8]) {
    let mut memory = until(8000, true);
    let mut writer = Writer::seekable(&mut memory).unwrap();
    let mut blob = writer.threads(2).packed_executable("model", Packing::Zlib(0)).unwrap();
    catch_unwind(AssertUnwindSafe(|| blob.write_all(data))).unwrap_err();
    assert!(all_ended());
    // A block is lost, so the blob must not be finished.
    assert!(blob.write(&[1]).unwrap_err().to_string().contains("writing failed before"));
    assert!(blob.finish().unwrap_err().to_string().contains("writing failed before"));
}
