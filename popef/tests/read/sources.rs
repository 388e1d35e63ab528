//! Files whose bytes come from elsewhere than a path: sources of the caller's, an indexer that is given its bytes, open
//! files, readers. Whatever the way, the same is read.

use crate::common;

use std::fs;
use std::future::Future;
use std::io::{self, BufRead, Cursor, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};

use common::{description, popef_files, without_path};
use popef::error::*;
use popef::read::*;
use popef::types::*;
use popef::write::*;

/// An object in a bucket, say: bytes that are read by position, counted, and may be replaced.
#[derive(Default)]
struct Object {
    bytes: Vec<u8>,
    reads: AtomicUsize,
    replaced: AtomicBool,
}

impl Object {
    fn of(bytes: &[u8]) -> Arc<Self> {
        Arc::new(Object { bytes: bytes.to_vec(), ..Object::default() })
    }
}

struct Bucket(Arc<Object>);

impl ReadAt for Bucket {
    fn size(&self) -> u64 {
        self.0.bytes.len() as u64
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.0.reads.fetch_add(1, Ordering::Relaxed);
        let start = usize::try_from(offset).unwrap();
        buf.copy_from_slice(self.0.bytes.get(start..start + buf.len()).ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn is_unchanged(&self) -> io::Result<bool> {
        Ok(!self.0.replaced.load(Ordering::Relaxed))
    }

    fn name(&self) -> Option<&Path> {
        Some(Path::new("s3://models/a.popef"))
    }
}

/// Numbers that are as good as random, and the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most.max(1)
    }
}

fn damaged() -> OpenOptions {
    *OpenOptions::new().damaged(true)
}

fn told(file: Result<File, Error>) -> String {
    file.map_or_else(|error| without_path(&error), |file| description(&file))
}

fn part(bytes: &[u8], range: Range<u64>) -> &[u8] {
    &bytes[usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap()]
}

/// An indexer that is given its bytes in pieces of any length, some of which are longer than it wants.
fn given_in_pieces(options: &OpenOptions, bytes: &[u8], random: &mut Random) -> Indexer {
    let mut indexer = options.indexer(bytes.len() as u64);
    while let Some(wanted) = indexer.wants() {
        assert!(wanted.start < wanted.end && wanted.end <= bytes.len() as u64, "{wanted:?}");
        let len = 1 + random.below(2 * part(bytes, wanted.clone()).len());
        let rest = &bytes[usize::try_from(wanted.start).unwrap()..];
        let taken = indexer.give(&rest[..len.min(rest.len())]);
        assert!(taken as u64 <= wanted.end - wanted.start);
    }
    assert_eq!(indexer.give(bytes), 0);
    indexer
}

/// Bytes that are not there when they are first asked for.
struct Later<'a> {
    bytes: &'a [u8],
    polls_left: usize,
}

impl<'a> Future for Later<'a> {
    type Output = &'a [u8];

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<&'a [u8]> {
        if self.polls_left == 0 {
            return Poll::Ready(self.bytes);
        }
        self.polls_left -= 1;
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

async fn index_later(options: OpenOptions, bytes: &[u8], random: &mut Random) -> Result<File, Error> {
    let mut indexer = options.indexer(bytes.len() as u64);
    while let Some(wanted) = indexer.wants() {
        let piece = Later { bytes: part(bytes, wanted), polls_left: random.below(3) }.await;
        indexer.give(piece);
    }
    indexer.finish()
}

/// Polls a future until it is ready, which must not take for ever.
fn polled<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..1_000_000 {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
    }
    panic!("the future is never ready");
}

/// All ways agree on these bytes, with some read-ahead.
fn assert_all_agree(bytes: &[u8], random: &mut Random, what: &str) {
    let mut options = damaged();
    if random.below(2) == 0 {
        options.read_ahead(random.below(5000) as u64, random.below(5000) as u64);
    }
    let expected = told(options.bytes(bytes.to_vec()));
    assert_eq!(told(options.source(Bucket(Object::of(bytes)))), expected, "{what}, from a source");
    let indexer = given_in_pieces(&options, bytes, random);
    assert_eq!(told(indexer.finish_on(Bucket(Object::of(bytes)))), expected, "{what}, in pieces");
    // Without its data, a file can be listed as a stream can.
    let listed = told(options.stream(bytes));
    assert_eq!(told(polled(index_later(options, bytes, random))), listed, "{what}, later");
}

#[test]
fn every_way_gives_what_opening_the_path_gives() {
    let mut random = Random(1);
    for folder in ["interop", "compressed", "broken", "checks"] {
        for path in popef_files(folder) {
            let bytes = fs::read(&path).unwrap();
            assert_eq!(told(damaged().bytes(bytes.clone())), told(damaged().open(&path)), "{path:?}");
            assert_all_agree(&bytes, &mut random, &format!("{path:?}"));
        }
    }
}

#[test]
fn every_way_gives_the_same_of_a_file_that_is_cut_off() {
    let mut random = Random(2);
    for path in popef_files("interop") {
        let bytes = fs::read(&path).unwrap();
        // Of the large ones, whose data is most of them, fewer lengths.
        let step = 1 + bytes.len() / 700;
        for len in (0..bytes.len()).step_by(step) {
            assert_all_agree(&bytes[..len], &mut random, &format!("{path:?} cut to {len}"));
        }
    }
}

#[test]
fn data_is_that_of_the_file() {
    let mut random = Random(3);
    for path in popef_files("interop").into_iter().chain(popef_files("compressed")) {
        let bytes = fs::read(&path).unwrap();
        let opened = damaged().open(&path).unwrap();
        let indexer = given_in_pieces(&damaged(), &bytes, &mut random);
        let from_source = damaged().source(Bucket(Object::of(&bytes))).unwrap();
        let from_indexer = indexer.finish_on(Bucket(Object::of(&bytes))).unwrap();
        let from_handle = damaged().file(fs::File::open(&path).unwrap()).unwrap();
        for file in [from_source, from_indexer, from_handle] {
            assert_eq!(file.size(), opened.size());
            for (blob, expected) in file.blobs().zip(opened.blobs()) {
                let data = expected.data().read().unwrap();
                assert_eq!(blob.data().read().unwrap(), data);
                let mut copied = Vec::new();
                assert_eq!(blob.data().copy_to(&mut copied).unwrap(), data.len() as u64);
                assert_eq!(copied, *data);
                let (Content::Executable(packed), Content::Executable(expected)) = (blob.content(), expected.content())
                else {
                    continue;
                };
                assert_eq!(unpacked(packed.unpack()), unpacked(expected.unpack()), "{path:?}");
            }
        }
    }
}

/// The unpacked bytes, or the words of the error and as many bytes as came before it.
fn unpacked(unpack: Result<Unpack<'_>, Error>) -> (Vec<u8>, Option<String>) {
    let mut bytes = Vec::new();
    let error = unpack.and_then(|mut unpack| {
        unpack.read_to_end(&mut bytes).map(drop).map_err(|e| e.downcast::<Error>().expect("an error of the library"))
    });
    (bytes, error.err().map(|error| error.reason()))
}

/// A reader that gives its bytes in odd pieces.
struct Dribble<'a>(&'a [u8], Random);

impl Read for Dribble<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let most = 1 + self.1.below(700);
        let len = buf.len().min(most);
        self.0.read(&mut buf[..len])
    }
}

#[test]
fn a_reader_of_the_callers_is_unpacked_as_a_blob_is() {
    let limits = Limits::default();
    let mut compared = 0;
    for path in popef_files("compressed").into_iter().chain(popef_files("interop")).chain(popef_files("broken")) {
        let file = damaged().open(&path).unwrap();
        for executable in file.executables().filter(ExecutableBlob::is_compressed) {
            let (data, size) = (executable.data().read().unwrap(), executable.uncompressed_size());
            let (bytes, error) = unpacked(executable.unpack());
            // How many bytes a reader has left is not counted.
            let surplus = |error: &str| error.find("bytes follow the end").unwrap_or_default();
            let expected = (bytes, error.map(|error| error[surplus(&error)..].to_owned()));
            let found = unpacked(Unpack::from_reader(Dribble(&data, Random(4)), size, &limits));
            assert_eq!(found, expected, "{path:?}");
            compared += 1;
        }
    }
    assert!(compared > 20, "{compared} compressed executables");
    let error = Unpack::from_reader(io::empty(), 10, &limits).unwrap_err();
    assert_eq!(error.code(), ErrorCode::CompressedDataMissing);
    let error = Unpack::from_reader(&b"what is this?"[..], 10, &limits).unwrap_err();
    assert_eq!((error.code(), error.blob()), (ErrorCode::UnknownCompression, None));
}

/// A reader that fails is not taken for damage.
#[test]
fn a_reader_that_fails_is_no_damaged_data() {
    struct Fails;
    impl Read for Fails {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::ErrorKind::ConnectionReset.into())
        }
    }
    let file = File::open(common::testdata("interop/compressed-zlib.popef")).unwrap();
    let data = file.executable("z").unwrap().data().read().unwrap();
    for len in [0, 30] {
        let (_, error) = unpacked(Unpack::from_reader(data[..len].chain(Fails), 1 << 20, &Limits::default()));
        assert_eq!(error.unwrap(), "cannot read the compressed data: connection reset");
    }
}

#[test]
fn errors_name_the_source_and_tell_a_change() {
    let object = Object::of(&common::read("interop/executable.popef"));
    let file = OpenOptions::new().source(Bucket(object.clone())).unwrap();
    assert_eq!(file.path(), Some(Path::new("s3://models/a.popef")));
    let weights = file.tensor("input_parameter").unwrap();
    let error = weights.elements().unwrap().range(0..9).unwrap_err();
    assert!(error.to_string().starts_with("s3://models/a.popef: blob "), "{error}");

    object.replaced.store(true, Ordering::Relaxed);
    for error in [
        file.check_unchanged().unwrap_err(),
        weights.data().read().unwrap_err(),
        weights.data().copy_to(&mut Vec::new()).unwrap_err(),
        OpenOptions::new().source(Bucket(object.clone())).unwrap_err(),
    ] {
        assert_eq!(error.code(), ErrorCode::FileChanged, "{error}");
        assert_eq!(error.path(), Some(Path::new("s3://models/a.popef")));
    }
}

/// A source that cannot be read gives its own error, and no listing of a part.
#[test]
fn a_source_that_fails_is_no_damaged_file() {
    struct Fails;
    impl ReadAt for Fails {
        fn size(&self) -> u64 {
            1000
        }
        fn read_exact_at(&self, _: &mut [u8], _: u64) -> io::Result<()> {
            Err(io::Error::new(io::ErrorKind::PermissionDenied, "the token has expired"))
        }
    }
    let error = damaged().source(Fails).unwrap_err();
    assert_eq!(error.code(), ErrorCode::PermissionDenied);
    assert_eq!(error.to_string(), "blob 0, byte 0: cannot read the file: the token has expired");
}

/// A source that is interrupted at each third reading, as a system can be by signals.
#[test]
fn a_source_that_is_interrupted_is_asked_again() {
    struct Interrupted(Bucket);
    impl ReadAt for Interrupted {
        fn size(&self) -> u64 {
            self.0.size()
        }
        fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
            if (self.0.0.reads.fetch_add(1, Ordering::Relaxed) + 1).is_multiple_of(3) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            self.0.read_exact_at(buf, offset)
        }
    }
    let bytes = common::read("interop/compressed-zlib.popef");
    let mut options = damaged();
    options.read_ahead(0, 0);
    let file = options.source(Interrupted(Bucket(Object::of(&bytes)))).unwrap();
    let whole = File::from_bytes(bytes).unwrap();
    for (blob, expected) in file.blobs().zip(whole.blobs()) {
        assert_eq!(blob.data().read().unwrap(), expected.data().read().unwrap());
    }
    let [found, expected] = [&file, &whole].map(|file| unpacked(file.executable("z").unwrap().unpack()));
    assert_eq!(found, expected);
}

/// An error is given again to who reads on, and is not one after which loops try again.
#[test]
fn who_reads_on_after_an_error_ends() {
    struct WouldBlock;
    impl Read for WouldBlock {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::ErrorKind::WouldBlock.into())
        }
    }
    let file = File::open(common::testdata("interop/compressed-zlib.popef")).unwrap();
    let data = file.executable("z").unwrap().data().read().unwrap();
    let mut unpack = Unpack::from_reader(data[..30].chain(WouldBlock), 1 << 20, &Limits::default()).unwrap();
    let first = io::copy(&mut unpack, &mut io::sink()).unwrap_err();
    assert_eq!(first.kind(), io::ErrorKind::WouldBlock);
    let again = unpack.read(&mut [0; 10]).unwrap_err();
    assert_eq!((again.kind(), again.to_string()), (io::ErrorKind::Other, first.to_string()));
}

#[test]
fn a_reader_without_an_end_ends_with_the_compressed_data() {
    let file = File::open(common::testdata("interop/compressed-zlib.popef")).unwrap();
    let executable = file.executable("z").unwrap();
    let data = executable.data().read().unwrap();
    let endless = data.chain(io::repeat(0));
    let (bytes, error) = unpacked(Unpack::from_reader(endless, executable.uncompressed_size(), &Limits::default()));
    assert_eq!(bytes.len() as u64, executable.uncompressed_size());
    assert!(error.unwrap().starts_with("bytes follow the end of the compressed data"));
}

/// What is wrong with a segment table does not depend on how many of its bytes were read at once.
#[test]
fn a_table_that_is_cut_off_is_told_alike_however_much_is_read_ahead() {
    let mut bytes = Vec::new();
    let mut writer = Writer::stream(&mut bytes);
    writer.write_opaque(&OpaqueInfo::default(), &[0; 7000]).unwrap();
    writer.finish().unwrap();
    // 204 segments, whose table has 824 bytes with its padding, of which 821 are there.
    bytes.extend(203u32.to_le_bytes());
    bytes.resize(bytes.len() + 817, 1);
    let expected = told(OpenOptions::new().bytes(bytes.clone()));
    for ahead in [0, 256, 512, 821, 1000, 4096] {
        let mut options = OpenOptions::new();
        let file = options.read_ahead(ahead, ahead).source(Bucket(Object::of(&bytes)));
        assert_eq!(told(file), expected, "{ahead} bytes ahead");
    }
}

#[test]
fn an_indexer_that_lacks_bytes_gives_no_file() {
    let bytes = common::read("interop/executable.popef");
    let mut indexer = OpenOptions::new().indexer(bytes.len() as u64);
    indexer.give(&bytes[..100]);
    let wanted = indexer.wants().unwrap();
    assert_eq!(wanted.start, 100);
    let error = indexer.finish().unwrap_err();
    assert_eq!(error.code(), ErrorCode::IndexUnfinished);
    assert!(error.reason().contains(&format!("the bytes from 100 to {}", wanted.end)), "{error}");

    // A source of other bytes than those that were indexed.
    let indexer = given_in_pieces(&OpenOptions::new(), &bytes, &mut Random(5));
    let error = indexer.finish_on(Bucket(Object::of(&bytes[1..]))).unwrap_err();
    assert_eq!(error.code(), ErrorCode::FileChanged);

    // Without a source it lists.
    let file = given_in_pieces(&OpenOptions::new(), &bytes, &mut Random(6)).finish().unwrap();
    assert_eq!(file.size(), bytes.len() as u64);
    let error = file.tensor("input_parameter").unwrap().data().read().unwrap_err();
    assert_eq!(error.code(), ErrorCode::DataNotKept);
}

/// 1,000 tensors of 1 KiB.
fn many_small() -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = Writer::stream(&mut bytes);
    for index in 0..1000 {
        let tensor_info = TensorInfo::new(DataType::U8, [1024]);
        writer
            .write_tensor_bytes(&TensorDataInfo { name: format!("{index}").into(), tensor_info }, &[7; 1024])
            .unwrap();
    }
    writer.finish().unwrap();
    bytes
}

#[test]
fn a_source_is_read_in_few_large_pieces() {
    let bytes = many_small();
    let reads = |options: &OpenOptions| {
        let object = Object::of(&bytes);
        options.source(Bucket(object.clone())).unwrap();
        object.reads.load(Ordering::Relaxed)
    };
    // 1.1 MB in pieces of 64, 128 and then 256 KiB.
    assert!(reads(&OpenOptions::new()) <= 8, "{}", reads(&OpenOptions::new()));
    assert_eq!(reads(OpenOptions::new().read_ahead(4 << 20, 0)), 1);
    // As little as a header needs: what is read are headers.
    assert!(reads(OpenOptions::new().read_ahead(0, 0)) >= 1000);
}

/// Two sources without a size can have one address, and are not taken for one.
#[test]
fn blobs_of_sources_without_a_size_are_not_mixed_up() {
    struct Zeros;
    struct Ones;
    fn fill(buf: &mut [u8], offset: u64, value: u8) {
        let mut bytes = many_small();
        bytes.iter_mut().for_each(|byte| {
            if *byte == 7 {
                *byte = value;
            }
        });
        buf.copy_from_slice(&bytes[offset as usize..][..buf.len()]);
    }
    impl ReadAt for Zeros {
        fn size(&self) -> u64 {
            many_small().len() as u64
        }
        fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
            fill(buf, offset, 7);
            Ok(())
        }
    }
    impl ReadAt for Ones {
        fn size(&self) -> u64 {
            many_small().len() as u64
        }
        fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
            fill(buf, offset, 7);
            buf.iter_mut().filter(|byte| **byte == 7).for_each(|byte| *byte = 9);
            Ok(())
        }
    }
    let (zeros, ones) = (OpenOptions::new().source(Zeros).unwrap(), OpenOptions::new().source(Ones).unwrap());
    let mut bytes = Vec::new();
    let mut writer = Writer::stream(&mut bytes);
    writer.copy_all([zeros.blob(0).unwrap(), ones.blob(1).unwrap()]).unwrap();
    writer.finish().unwrap();
    let copy = File::from_bytes(bytes).unwrap();
    let first = |index| copy.blob(index).unwrap().data().as_slice().unwrap()[0];
    assert_eq!((first(0), first(1)), (7, 9));
}

/// A file without a path: the system copies it all the same, where it can.
#[cfg(target_os = "linux")]
#[test]
fn a_file_that_has_no_path_any_more() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.popef");
    let bytes = [many_small(), common::read("interop/executable.popef")].concat();
    fs::write(&path, &bytes).unwrap();
    let mut handle = fs::File::open(&path).unwrap();
    handle.seek(SeekFrom::Start(77)).unwrap();
    let kept = handle.try_clone().unwrap();
    fs::remove_file(&path).unwrap();

    let file = OpenOptions::new().file(handle).unwrap();
    assert_eq!(file.path(), None);
    let copy = folder.path().join("copy.popef");
    let mut writer = Writer::create(&copy).unwrap();
    writer.copy_all(file.blobs()).unwrap();
    writer.finish().unwrap();
    assert_eq!(fs::read(&copy).unwrap(), bytes);
    // The caller's position in the file stayed where it was.
    assert_eq!((&kept).stream_position().unwrap(), 77);

    let folder_handle = fs::File::open(folder.path()).unwrap();
    assert_eq!(OpenOptions::new().file(folder_handle).unwrap_err().code(), ErrorCode::NotRegularFile);
    let named = LocalFile::of(fs::File::open(&copy).unwrap(), Some(Path::new("memory"))).unwrap();
    assert_eq!(OpenOptions::new().source(named).unwrap().path(), Some(Path::new("memory")));
}

#[test]
fn handles_outlive_what_gave_them() {
    fn of_its_own<T: Send + Sync + 'static>(value: T) -> T {
        value
    }
    let path = common::testdata("interop/compressed-zlib.popef");
    let bytes = fs::read(&path).unwrap();
    let ways = [damaged().open(&path), damaged().bytes(bytes.clone()), damaged().source(Bucket(Object::of(&bytes)))];
    for file in ways.map(Result::unwrap) {
        let executable = file.executable("z").unwrap();
        let (data, whole) = (executable.data().read().unwrap().into_owned(), unpacked(executable.unpack()));
        let handle = of_its_own(file.handle(executable.blob().index()).unwrap());
        let other = file.blobs().find(|blob| blob.blob_type() != BlobType::PoplarExecutable);
        assert!(other.is_none_or(|other| file.handle(other.index()).unwrap().unpack().is_none()));
        drop(file);
        let (mut reader, unpack) = (of_its_own(handle.reader()), of_its_own(handle.unpack().unwrap().unwrap()));
        drop(handle);
        let mut found = Vec::new();
        std::thread::spawn(move || reader.read_to_end(&mut found).map(|_| found))
            .join()
            .map(|found| assert_eq!(found.unwrap(), data))
            .unwrap();
        assert_eq!(unpacked(Ok(unpack)), whole);
    }
}

/// What is wrong with the data of a handle is told with the file's name.
#[test]
fn errors_of_handles_name_the_file() {
    let (mut named, mut damaged_ones) = (0, 0);
    for path in popef_files("broken") {
        let file = damaged().open(&path).unwrap();
        for executable in file.executables() {
            let handle = file.handle(executable.blob().index()).unwrap();
            let unpack = |unpack: Result<Unpack<'_>, Error>| -> Option<Error> {
                let mut unpack = match unpack {
                    Ok(unpack) => unpack,
                    Err(error) => return Some(error),
                };
                io::copy(&mut unpack, &mut io::sink()).err().map(|error| error.downcast().unwrap())
            };
            let (borrowed, kept) = (unpack(executable.unpack()), unpack(handle.unpack().unwrap()));
            assert_eq!(borrowed.as_ref().map(Error::to_string), kept.as_ref().map(Error::to_string));
            damaged_ones += usize::from(kept.is_some());
            named += usize::from(kept.is_some_and(|error| error.path() == Some(&*path)));
        }
    }
    assert!(damaged_ones > 5 && named == damaged_ones, "{named} of {damaged_ones}");
}

/// Readers of data do what a cursor over the same bytes does, in all orders of reading and seeking.
#[test]
fn a_reader_is_as_a_cursor() {
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

/// Reading in small pieces costs few calls of the source.
#[test]
fn readers_read_ahead() {
    let object = Object::of(&many_small());
    let file = OpenOptions::new().source(Bucket(object.clone())).unwrap();
    let (opening, mut reader) = (object.reads.load(Ordering::Relaxed), file.blob(0).unwrap().data().reader());
    while reader.read(&mut [0; 10]).unwrap() > 0 {}
    assert_eq!(object.reads.load(Ordering::Relaxed) - opening, 1);
}

#[test]
fn copying_to_what_fails_is_an_error_of_the_system() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let path: PathBuf = common::testdata("interop/executable.popef");
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

#[test]
fn elements_of_bytes_that_are_at_hand() {
    let info = TensorInfo::new(DataType::F32, [2, 2]);
    let bytes: Vec<u8> = [1.0f32, 2.0, 3.0, 4.0, 5.0].into_iter().flat_map(f32::to_le_bytes).collect();
    let elements = Elements::from_bytes(&info, &bytes).unwrap();
    assert_eq!(*elements.to_slice::<f32>().unwrap(), [1.0, 2.0, 3.0, 4.0]);
    let error = Elements::from_bytes(&info, &bytes[..15]).unwrap_err();
    assert_eq!((error.code(), error.needed(), error.found()), (ErrorCode::DataTooShort, Some(16), Some(15)));
    assert_eq!((error.blob(), error.offset()), (None, None));
    let error = elements.to_slice::<f64>().unwrap_err();
    assert_eq!((error.code(), error.offset()), (ErrorCode::WrongElementType, None));
    let negative = TensorInfo::new(DataType::F32, [-1]);
    assert_eq!(Elements::from_bytes(&negative, &bytes).unwrap_err().code(), ErrorCode::NegativeDimension);
}
