//! Blobs are found by index, by type and by name.

use crate::common;

use std::io::{ErrorKind as ErrorKindOfIo, Read as _, Seek as _, SeekFrom};

use common::{testdata, ways};
use popef::error::{ErrorCode, ErrorKind};
use popef::types::{BlobType, FeedDataInfo, TensorDataInfo, Text};
use popef::{DataType, File, OpenOptions, TensorInfo, Writer};

#[test]
fn blobs_are_found_by_index_type_and_name_in_every_way() {
    for (way, file) in ways(&testdata("interop/two-models.popef")) {
        let file = file.unwrap();
        let types: Vec<BlobType> = file.blobs().map(|blob| blob.blob_type()).collect();
        assert_eq!(types.len(), file.len());
        assert_eq!(file.blob(5).unwrap().name().unwrap(), "poptorch", "{way}");
        assert!(file.blob(7).is_none());
        let backwards: Vec<usize> = file.blobs().rev().map(|blob| blob.index()).collect();
        assert_eq!(backwards, [6, 5, 4, 3, 2, 1, 0], "{way}");
        assert_eq!(file.blobs().nth(5).unwrap().name().unwrap(), "poptorch", "{way}");
        assert!(!file.is_empty());

        let names: Vec<String> = file.executables().map(|executable| executable.name().to_string()).collect();
        assert_eq!(names, ["a", "b"], "{way}");
        let described: Vec<String> = file.metadata().rev().map(|m| m.executable().to_string()).collect();
        assert_eq!(described, ["b", "a"], "{way}");

        assert_eq!(file.executable("b").unwrap().blob().index(), 1);
        assert_eq!(file.opaque("tensorflow").unwrap().executable(), "a");
        assert_eq!(file.opaque("poptorch").unwrap().data().len(), 0);
        assert_eq!(file.tensor("größe/вес:0\twith\nnewline").unwrap().blob().index(), 6);
        // Blobs of different types can have the same name.
        assert!(file.tensor("a").is_none() && file.feed("a").is_none() && file.opaque("a").is_none());
    }
}

#[test]
fn the_size_hint_of_blobs_of_a_type_is_right() {
    let file = File::open(testdata("interop/two-models.popef")).unwrap();
    assert_eq!((file.blobs().len(), file.executables().len(), file.feeds().len()), (7, 2, 0));
    let mut metadata = file.metadata();
    assert_eq!(metadata.next_back().unwrap().executable(), "b");
    assert_eq!((metadata.len(), metadata.next().unwrap().executable().to_str()), (1, Ok("a")));
    assert!(metadata.next().is_none() && metadata.next_back().is_none());
    assert_eq!(file.executables().nth(1).unwrap().name(), "b");
    assert!((&file).into_iter().map(|blob| blob.index()).eq(0..7));
}

#[test]
fn a_blob_reads_as_its_own_type_and_no_other() {
    let mut seen = [0; 5];
    for name in ["two-models", "split-feeds", "all-types"] {
        let file = File::open(testdata(&format!("interop/{name}.popef"))).unwrap();
        for blob in &file {
            let is = [
                blob.as_executable().is_some(),
                blob.as_metadata().is_some(),
                blob.as_tensor().is_some(),
                blob.as_feed().is_some(),
                blob.as_opaque().is_some(),
            ];
            let number = usize::from(blob.blob_type().number());
            assert_eq!(is.iter().filter(|&&is| is).count(), 1, "{name} {}", blob.index());
            assert!(is[number], "{name} {}", blob.index());
            assert_eq!(blob.as_data().is_some(), blob.as_tensor().is_some() || blob.as_feed().is_some());
            seen[number] += 1;
        }
    }
    assert!(seen.iter().all(|&count| count > 0), "{seen:?}");
}

#[test]
fn a_shape_iterates_and_equals_slices() {
    let mut bytes = Vec::new();
    let mut writer = Writer::stream(&mut bytes);
    for (name, shape) in [("scalar", vec![]), ("matrix", vec![2, 3])] {
        let info = TensorDataInfo { name: name.into(), tensor_info: TensorInfo::new(DataType::U8, shape) };
        writer
            .write_tensor_bytes(&info, &vec![0; usize::try_from(info.tensor_info.size_in_bytes().unwrap()).unwrap()])
            .unwrap();
    }
    writer.finish().unwrap();
    let file = File::from_bytes(bytes).unwrap();
    let (scalar, matrix) = (file.tensor("scalar").unwrap().shape(), file.tensor("matrix").unwrap().shape());

    let slice: &[i64] = &[2, 3];
    let one_way = [matrix == [2, 3], matrix == vec![2, 3], matrix == slice, matrix == *slice, scalar == [0; 0]];
    let other_way = [[2, 3] == matrix, vec![2, 3] == matrix, slice == matrix, *slice == matrix, [0; 0] == scalar];
    assert_eq!((one_way, other_way), ([true; 5], [true; 5]));
    let different = [matrix == [2, 4], matrix == [2], matrix == [2, 3, 1], matrix == scalar];
    assert_eq!(different, [false; 4]);
    assert_eq!((matrix.get(0), matrix.get(1), matrix.get(2)), (Some(2), Some(3), None));
    assert!(matrix.into_iter().rev().eq([3, 2]) && matrix.iter().len() == 2);
    assert_eq!((format!("{matrix:?}"), scalar.to_string()), ("[2, 3]".to_owned(), "[]".to_owned()));
}

#[test]
fn a_text_equals_strings_from_either_side() {
    let (text, string) = (Text::from("name"), String::from("name"));
    let one_way = [text == "name", text == *"name", text == string];
    let other_way = ["name" == text, *"name" == text, string == text];
    assert_eq!((one_way, other_way), ([true; 3], [true; 3]));
    assert!(text != "names" && "nam" != text && Text::from(&b"caf\xe9"[..]) != "caf\u{fffd}");
}

/// There are enough blobs that every way in keeps them in more than one piece.
#[test]
#[cfg_attr(miri, ignore = "its thousands of blobs take minutes there")]
fn many_blobs_are_told_apart_in_every_way_in() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("many.popef");
    let info = |index: usize| TensorDataInfo {
        name: format!("{index} {}", "x".repeat(index % 97)).into(),
        tensor_info: TensorInfo::new(DataType::U64, vec![1; 1 + index % 3]),
    };
    let mut writer = Writer::create(&path).unwrap();
    for index in 0..3000 {
        writer.write_tensor(&info(index), &[index as u64]).unwrap();
    }
    writer.finish().unwrap();
    for (way, file) in ways(&path) {
        let file = file.unwrap();
        assert_eq!(file.len(), 3000, "{way}");
        for (index, tensor) in file.tensors().enumerate() {
            assert_eq!(tensor.info(), info(index), "{way}");
            let found = file.tensor(tensor.name()).unwrap();
            assert_eq!(found.blob().index(), index, "{way}");
            let again = file.blob(index).unwrap();
            assert_eq!((again.offset(), again.name()), (tensor.blob().offset(), Some(tensor.name())), "{way}");
            if index % 100 == 0 {
                assert_eq!(*found.elements().unwrap().to_slice::<u64>().unwrap(), [index as u64], "{way}");
            }
        }
    }
}

#[test]
fn the_name_of_one_blob_finds_another() {
    let file = File::open(testdata("interop/two-models.popef")).unwrap();
    for metadata in file.metadata() {
        assert_eq!(file.executable(metadata.executable()).unwrap().name(), metadata.executable());
    }
    let names: Vec<_> = file.tensors().filter_map(|tensor| tensor.name().into_str().ok()).collect();
    assert_eq!(names, ["größe/вес:0\twith\nnewline"]);
}

#[test]
fn data_is_read_at_any_offset_and_not_beyond_its_end() {
    for (way, file) in ways(&testdata("interop/executable.popef")) {
        let file = file.unwrap();
        let data = file.tensor("input_parameter").unwrap().data();
        let mut reader = data.reader();
        let mut bytes = Vec::new();
        reader.seek(SeekFrom::End(-4)).unwrap();
        assert_eq!(reader.read_to_end(&mut bytes).unwrap(), 4, "{way}");
        reader.seek(SeekFrom::End(5)).unwrap();
        assert_eq!(reader.read_to_end(&mut bytes).unwrap(), 0, "{way}");
        assert!(reader.seek(SeekFrom::Current(-100)).is_err(), "{way}");

        let error = data.range(10..17).unwrap_err();
        assert_eq!(
            (error.code(), error.needed(), error.found()),
            (ErrorCode::NoSuchBytes, Some(17), Some(16)),
            "{way}"
        );
        assert_eq!(error.reason(), "the bytes from 10 to 17 were asked for, but there are 16");
        assert!(data.range(16..16).unwrap().is_empty() && !data.is_empty());
    }
}

#[test]
fn the_size_hint_of_the_items_of_a_feed_is_right() {
    let items = 100;
    let info = FeedDataInfo {
        name: "feed".into(),
        tensor_info: TensorInfo::new(DataType::U8, vec![1; items]),
        num_tensors: items as u32,
    };
    let mut bytes = std::io::Cursor::new(Vec::new());
    let mut writer = Writer::seekable(&mut bytes).unwrap();
    writer.write_feed_bytes(&info, &vec![7; items]).unwrap();
    writer.finish().unwrap();
    let file = File::from_bytes(bytes.into_inner()).unwrap();
    let feed = file.feed("feed").unwrap();
    assert!(feed.items().all(|item| *item.unwrap().to_slice::<u8>().unwrap() == [7]));

    // Damage would end the items early, so only one is certain.
    let mut left = feed.items();
    for count in (1..=items).rev() {
        assert_eq!(left.size_hint(), (1, Some(count)));
        assert_eq!(left.next().unwrap().unwrap().values().unwrap().size_hint(), (1, Some(1)));
    }
    assert_eq!((left.size_hint(), left.next().is_none()), ((0, Some(0)), true));
}

#[test]
fn a_repeated_name_finds_the_first_blob() {
    let once = common::read("interop/split-tensors.popef");
    let file = File::from_bytes([once.clone(), once.clone(), once].concat()).unwrap();
    assert_eq!(file.tensors().count(), 3);
    assert_eq!(file.tensor("input_parameter").unwrap().blob().index(), 0);
}

#[test]
fn surplus_data_is_no_part_of_a_feed() {
    let info = FeedDataInfo { name: "feed".into(), tensor_info: TensorInfo::new(DataType::U8, [3]), num_tensors: 2 };
    let mut bytes = Vec::new();
    let mut writer = Writer::stream(&mut bytes);
    writer.write_feed_bytes(&info, &[1, 2, 3, 4, 5, 6]).unwrap();
    writer.finish().unwrap();
    let size = bytes.len() as u64;
    common::patch(&mut bytes[..48], size.to_le_bytes(), (size + 5).to_le_bytes());
    bytes.extend([9; 5]);
    let file = File::from_bytes(bytes).unwrap();
    let feed = file.feed("feed").unwrap();
    assert_eq!((feed.surplus(), feed.blob().data().len(), feed.items().count()), (5, 11, 2));
    assert_eq!(*feed.item(1).unwrap().to_slice::<u8>().unwrap(), [4, 5, 6]);
    assert!(!feed.shape().is_empty() && feed.shape().len() == 1);
}

#[test]
fn surplus_data_is_no_part_of_the_tensor() {
    for (way, file) in ways(&testdata("interop/executable.popef")) {
        let file = file.unwrap();
        let tensor = file.tensor("input_parameter").unwrap();
        assert_eq!((tensor.surplus(), tensor.blob().data().len()), (8, 16), "{way}");
        assert_eq!(*tensor.elements().unwrap().to_slice::<f32>().unwrap(), [1.5, -2.25], "{way}");
        assert_eq!(tensor.elements().unwrap().data().len(), 8, "{way}");
    }
}

#[test]
fn data_that_is_too_short_is_an_error_when_it_is_read() {
    let mut bytes = common::read("interop/split-tensors.popef");
    let shape = bytes.windows(8).rposition(|w| w == 2u64.to_le_bytes()).unwrap();
    for (extent, size, reason) in [
        (3i64, Some(12), "the data is too short: shape and type call for 12 bytes, the blob holds 8"),
        (-1, None, "dimension 0 of the shape is -1, which no tensor can have"),
        (i64::MAX, None, "the shape calls for more bytes than 64 bits can count"),
    ] {
        bytes[shape..shape + 8].copy_from_slice(&extent.to_le_bytes());
        let file = File::from_bytes(bytes.clone()).unwrap();
        let tensor = file.tensor("input_parameter").unwrap();
        assert_eq!(tensor.shape().to_vec(), [extent]);
        assert_eq!(tensor.size_in_bytes().ok(), size);
        let error = tensor.elements().unwrap_err();
        assert_eq!((error.kind(), error.blob(), error.reason().as_str()), (ErrorKind::Damaged, Some(0), reason));
    }
}

#[test]
fn a_stream_lists_everything_and_keeps_no_data() {
    let bytes = common::read("interop/executable.popef");
    let file = File::from_stream(&*bytes).unwrap();
    assert_eq!((file.len(), file.size()), (4, bytes.len() as u64));
    let tensor = file.tensor("input_parameter").unwrap();
    assert_eq!(tensor.shape().to_string(), "[2]");
    let error = tensor.elements().unwrap().to_slice::<f32>().unwrap_err();
    assert_eq!((error.code(), error.kind()), (ErrorCode::DataNotKept, ErrorKind::Unsupported));
    assert!(error.reason().starts_with("the data was passed over, only headers and infos were read"), "{error}");
}

/// A stream that fails after some bytes, once or at every call from then on.
struct Failing<'b> {
    bytes: &'b [u8],
    kind: ErrorKindOfIo,
    for_ever: bool,
    left: usize,
}

impl std::io::Read for Failing<'_> {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        if self.left == 0 {
            self.left = if self.for_ever { 0 } else { usize::MAX };
            return Err(self.kind.into());
        }
        let count = buf.len().min(self.left).min(self.bytes.len());
        buf[..count].copy_from_slice(&self.bytes[..count]);
        self.bytes = &self.bytes[count..];
        self.left -= count;
        Ok(count)
    }
}

#[test]
#[cfg_attr(miri, ignore = "streams of all lengths take minutes there")]
fn a_failing_stream_is_no_damaged_file_and_an_interrupted_one_goes_on() {
    let bytes = common::read("interop/executable.popef");
    // The stream fails in a header, in an info, in data and at the end.
    for left in [0, 20, 100, 1700, 5000, bytes.len()] {
        let failing = |kind, for_ever| Failing { bytes: &bytes, kind, for_ever, left };
        for damaged in [false, true] {
            let mut options = OpenOptions::new();
            options.damaged(damaged);
            let error = options.stream(failing(ErrorKindOfIo::ConnectionReset, true)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Io, "after {left} bytes: {error}");
            assert_eq!(options.stream(failing(ErrorKindOfIo::Interrupted, false)).unwrap().len(), 4);
        }
    }
}
