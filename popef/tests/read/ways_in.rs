//! Every way in reads the same: a path, memory, a source, an indexer that is given the bytes, and an open file.

use std::fs;
use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use popef::error::{Error, ErrorCode};
use popef::read::{Blob, Blobs, Content, File, OpenOptions};
use popef::types::{FeedDataInfo, OpaqueInfo, TensorDataInfo, Text};
use popef::write::Writer;
use popef::{DataType, Metadata, TensorInfo};

use crate::bucket::{Bucket, Object, Random, damaged, given_in_pieces, outcome, part, unpacked};
use crate::common::{popef_files, read, without_path};

/// Bytes that are pending for a few polls.
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

/// Polls a future until it is ready.
fn polled<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..1_000_000 {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
    }
    panic!("the future is not ready after a million polls");
}

/// Where each blob is and its bytes, and the damage after them.
type Listing = (Vec<(usize, u64, Vec<u8>)>, Option<String>);

fn seen(blob: &Blob<'_>) -> (usize, u64, Vec<u8>) {
    let bytes = [blob.head_bytes(), blob.data()].map(|bytes| bytes.read().unwrap()).concat();
    (blob.index(), blob.offset(), bytes)
}

fn listed(options: &OpenOptions, bytes: &[u8]) -> Listing {
    let file = options.bytes(bytes.to_vec()).unwrap();
    (file.blobs().map(|blob| seen(&blob)).collect(), file.damage().map(without_path))
}

fn visited(options: &OpenOptions, bytes: &[u8]) -> Listing {
    let mut blobs = Vec::new();
    let ended = options.visit(Bucket(Object::of(bytes)), |blob| {
        blobs.push(seen(blob));
        Ok::<(), Error>(())
    });
    (blobs, ended.err().map(|error| without_path(&error)))
}

/// Opens the bytes in every way, with a random read-ahead, and compares what each way reads.
fn assert_all_agree(bytes: &[u8], random: &mut Random, what: &str) {
    let mut options = damaged();
    if random.below(2) == 0 {
        options.read_ahead(random.below(5000) as u64, random.below(5000) as u64);
    }
    let expected = outcome(options.bytes(bytes.to_vec()));
    assert_eq!(outcome(options.source(Bucket(Object::of(bytes)))), expected, "{what}, from a source");
    assert_eq!(visited(&options, bytes), listed(&options, bytes), "{what}, visited");
    let indexer = given_in_pieces(&options, bytes, random);
    assert_eq!(outcome(indexer.finish_on(Bucket(Object::of(bytes)))), expected, "{what}, in pieces");
    // Without a source for the data, a file can be listed as a stream can.
    let listed = outcome(options.stream(bytes));
    assert_eq!(outcome(polled(index_later(options, bytes, random))), listed, "{what}, later");
}

#[test]
fn every_way_in_reads_what_opening_the_path_reads() {
    let mut random = Random(1);
    for folder in ["interop", "compressed", "broken", "checks"] {
        for path in popef_files(folder) {
            let bytes = fs::read(&path).unwrap();
            assert_eq!(outcome(damaged().bytes(bytes.clone())), outcome(damaged().open(&path)), "{path:?}");
            assert_all_agree(&bytes, &mut random, &format!("{path:?}"));
        }
    }
}

#[test]
fn every_way_in_agrees_on_files_that_are_cut_off() {
    let mut random = Random(2);
    for path in popef_files("interop") {
        let bytes = fs::read(&path).unwrap();
        // Large files are mostly data: fewer lengths of them do.
        let step = 1 + bytes.len() / 700;
        for len in (0..bytes.len()).step_by(step) {
            assert_all_agree(&bytes[..len], &mut random, &format!("{path:?} cut to {len}"));
        }
    }
}

/// Lengths of texts on both sides of those for which an index has a short form. A walk over bytes keeps no index.
#[test]
fn every_way_in_reads_long_texts_as_a_walk_does() {
    let mut random = Random(4);
    for (version, name, rank) in [(0, 1, 0), (255, 65_535, 31), (256, 1, 2), (1, 65_536, 2), (1, 1, 32), (2100, 300, 0)]
    {
        let [version, name] = [version, name].map(|len| Text::from("v".repeat(len)));
        let mut writer = Writer::seekable(std::io::Cursor::new(Vec::new())).unwrap();
        writer.version(version);
        let tensor_info = TensorInfo::new(DataType::U8, vec![1; rank]);
        let info = TensorDataInfo { name: name.clone(), tensor_info: tensor_info.clone() };
        writer.write_tensor(&info, &[7u8]).unwrap();
        writer.write_feed(&FeedDataInfo { name: name.clone(), tensor_info, num_tensors: 3 }, &[7u8; 3]).unwrap();
        writer.write_opaque(&OpaqueInfo { name: "x".into(), executable: name.clone() }, b"data").unwrap();
        writer.write_executable(name.clone(), b"bytes").unwrap();
        writer.write_metadata(&Metadata { executable: name, ..Metadata::default() }).unwrap();
        let bytes = writer.into_inner().unwrap().into_inner();

        let walked = || Blobs::new(&bytes).map(Result::unwrap);
        let file = File::from_bytes(bytes.clone()).unwrap();
        let parts = OpenOptions::new().source(Bucket(Object::of(&bytes))).unwrap();
        let stream = File::from_stream(&bytes[..]).unwrap();
        for file in [&file, &parts, &stream] {
            let described: Vec<_> = file.blobs().map(|blob| blob.describe()).collect();
            assert_eq!(described, walked().map(|blob| blob.describe()).collect::<Vec<_>>());
        }
        for (blob, walked) in parts.blobs().zip(walked()) {
            assert_eq!(seen(&blob), seen(&walked));
        }
        assert_all_agree(&bytes, &mut random, "long texts");
    }
}

#[test]
fn every_way_in_gives_the_same_data() {
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

#[test]
fn a_truncated_segment_table_is_the_same_error_for_any_read_ahead() {
    let mut bytes = Vec::new();
    let mut writer = Writer::stream(&mut bytes);
    writer.write_opaque(&OpaqueInfo::default(), &[0; 7000]).unwrap();
    writer.finish().unwrap();
    // 204 segments. Their table has 824 bytes with its padding, and 821 of them are present.
    bytes.extend(203u32.to_le_bytes());
    bytes.resize(bytes.len() + 817, 1);
    let expected = outcome(OpenOptions::new().bytes(bytes.clone()));
    for ahead in [0, 256, 512, 821, 1000, 4096] {
        let mut options = OpenOptions::new();
        let file = options.read_ahead(ahead, ahead).source(Bucket(Object::of(&bytes)));
        assert_eq!(outcome(file), expected, "{ahead} bytes ahead");
    }
}

#[test]
fn an_indexer_that_lacks_bytes_gives_no_file() {
    let bytes = read("interop/executable.popef");
    let mut indexer = OpenOptions::new().indexer(bytes.len() as u64);
    indexer.give(&bytes[..100]);
    let wanted = indexer.wants().unwrap();
    assert_eq!(wanted.start, 100);
    let error = indexer.finish().unwrap_err();
    assert_eq!(error.code(), ErrorCode::IndexUnfinished);
    assert!(error.reason().contains(&format!("the bytes from 100 to {}", wanted.end)), "{error}");
}

#[test]
fn an_index_refuses_a_source_of_another_size() {
    let bytes = read("interop/executable.popef");
    let indexer = given_in_pieces(&OpenOptions::new(), &bytes, &mut Random(5));
    let error = indexer.finish_on(Bucket(Object::of(&bytes[1..]))).unwrap_err();
    assert_eq!(error.code(), ErrorCode::FileChanged);
}

#[test]
fn an_index_without_a_source_lists_and_has_no_data() {
    let bytes = read("interop/executable.popef");
    let file = given_in_pieces(&OpenOptions::new(), &bytes, &mut Random(6)).finish().unwrap();
    assert_eq!(file.size(), bytes.len() as u64);
    let error = file.tensor("input_parameter").unwrap().data().read().unwrap_err();
    assert_eq!(error.code(), ErrorCode::DataNotKept);
}
