//! Blobs copied with another name, version or info keep everything else.

use crate::common::{popef_files, testdata, writing};

use std::fs;
use std::io::{Cursor, Write};
use std::path::Path;

use popef::error::*;
use popef::read::*;
use popef::types::*;
use popef::write::*;
use writing::{Place, in_memory, opaque, tensor};

/// The file, opened in each way.
fn each_way(path: &Path) -> [File; 3] {
    // SAFETY: no test writes to it while it is mapped.
    #[expect(unsafe_code, reason = "copies out of a mapping go another way")]
    let mapped = unsafe { File::map(path) }.unwrap();
    [File::open(path).unwrap(), mapped, File::from_bytes(fs::read(path).unwrap()).unwrap()]
}

fn copied<'b>(copies: impl IntoIterator<Item = BlobCopy<'b>>) -> File {
    File::from_bytes(in_memory(|writer| writer.copy_all(copies).unwrap())).unwrap()
}

/// The blobs of the file under other names, written from their values. Compressed executables and blobs with a surplus
/// are left out.
fn written_renamed(file: &File) -> Vec<u8> {
    in_memory(|writer| {
        writer.version("edited");
        for blob in file.blobs() {
            let data = blob.data().read().unwrap();
            let name = renamed(&blob);
            let written = match blob.content() {
                Content::Executable(_) => writer.write_executable(name, &data),
                Content::Metadata(metadata) => writer.write_metadata(&metadata.read().unwrap()),
                Content::Tensor(tensor) => {
                    writer.write_tensor_bytes(&TensorDataInfo { name: name.into_owned(), ..tensor.info() }, &data)
                }
                Content::Feed(feed) => {
                    writer.write_feed_bytes(&FeedDataInfo { name: name.into_owned(), ..feed.info() }, &data)
                }
                Content::Opaque(opaque) => {
                    writer.write_opaque(&OpaqueInfo { name: name.into_owned(), ..opaque.info() }, &data)
                }
                _ => panic!("{blob:?}"),
            };
            written.unwrap();
        }
    })
}

fn renamed(blob: &Blob<'_>) -> Text<'static> {
    format!("another name, and longer, for {}", blob.name().unwrap_or_default()).into()
}

#[test]
fn a_copy_with_another_name_equals_a_blob_written_from_its_values() {
    let plain = |blob: &Blob<'_>| match blob.content() {
        Content::Executable(executable) => !executable.is_compressed(),
        Content::Tensor(tensor) => tensor.surplus() == 0,
        Content::Feed(feed) => feed.surplus() == 0,
        _ => true,
    };
    let all = |path: &Path| File::open(path).unwrap().blobs().all(|blob| plain(&blob));
    // The first file has Metadata in several segments, which become one when it is written anew.
    let files: Vec<_> =
        popef_files("interop").into_iter().filter(|path| !path.ends_with("many-anchors.popef")).collect();
    let files: Vec<_> = files.iter().filter(|path| all(path)).collect();
    assert!(files.len() > 3, "{files:?}");
    for path in files {
        for file in each_way(path) {
            let edited = file.blobs().map(|blob| {
                let copy = BlobCopy::of(&blob).version("edited");
                if blob.name().is_some() { copy.name(renamed(&blob)) } else { copy }
            });
            let bytes = in_memory(|writer| writer.copy_all(edited).unwrap());
            assert!(bytes == written_renamed(&file), "{}", path.display());
        }
    }
}

/// pycapnp wrote the expected file. Fields that a later version added stay in header and info.
#[test]
fn fields_of_a_later_version_stay() {
    let expected = fs::read(testdata("later/renamed.popef")).unwrap();
    for file in each_way(&testdata("later/tensor.popef")) {
        let copy = BlobCopy::of(&file.blob(0).unwrap()).name("the weights of the first layer").version("10.0-rc.1");
        assert!(in_memory(|writer| writer.copy(copy).unwrap()) == expected);
    }
}

/// pycapnp wrote the expected file here too.
#[test]
fn packing_and_unpacking_keep_fields_of_a_later_version() {
    let expected = fs::read(testdata("later/unpacked.popef")).unwrap();
    for file in each_way(&testdata("later/compressed.popef")) {
        assert!(in_memory(|writer| unpack(writer, &file)) == expected);
        let repacked = in_memory(|writer| {
            let old = file.executable("model").unwrap();
            let mut blob = writer.repacked_executable(&old, Packing::Gzip(1)).unwrap();
            std::io::copy(&mut old.unpack().unwrap(), &mut blob).unwrap();
            blob.finish().unwrap();
        });
        let repacked = File::from_bytes(repacked).unwrap();
        assert_eq!(repacked.executable("model").unwrap().compression().unwrap(), Some(Compression::Gzip));
        assert!(in_memory(|writer| unpack(writer, &repacked)) == expected);
    }
}

fn unpack(writer: &mut Writer<impl Destination>, file: &File) {
    let old = file.executable("model").unwrap();
    let mut blob = writer.unpacked_executable(&old).unwrap();
    std::io::copy(&mut old.unpack().unwrap(), &mut blob).unwrap();
    blob.finish().unwrap();
}

#[test]
fn executables_that_would_grow_leave_nothing_behind() {
    let bytes = in_memory(|writer| {
        for (packed_len, kept) in [(0, false), (27, false), (28, true)] {
            let mut blob = writer.packed_executable("model", Packing::Zlib(0)).unwrap();
            blob.write_all(b"sixteen of bytes").unwrap();
            assert_eq!(blob.finish_below(packed_len).unwrap().is_some(), kept, "{packed_len}");
        }
    });
    let file = File::from_bytes(bytes).unwrap();
    assert_eq!((file.len(), file.executable("model").unwrap().data().len()), (1, 27));
}

/// pycapnp wrote the expected file. Elements of lists are added, removed, moved and renamed, and keep what is theirs.
#[test]
fn fields_of_a_later_version_stay_in_new_metadata() {
    let expected = File::open(testdata("later/metadata-set.popef")).unwrap();
    let expected_bytes = fs::read(expected.path().unwrap()).unwrap();
    let new = expected.metadata().next().unwrap().read().unwrap();
    // The anchors have new names, so only the caller knows which they were.
    for file in each_way(&testdata("later/metadata.popef")) {
        let old = file.metadata().next().unwrap();
        let by_name = ElementSources::by_name(&old.read().unwrap(), &new);
        let sources = ElementSources { anchors: vec![Some(1), Some(2)], ..by_name };
        let copy = BlobCopy::of(old.blob()).info(&new).sources(&sources);
        assert!(in_memory(|writer| writer.copy(copy).unwrap()) == expected_bytes);
    }
}

#[test]
fn an_info_that_changes_nothing_leaves_every_field_of_a_later_version() {
    let file = File::open(testdata("later/metadata-set.popef")).unwrap();
    let blob = file.metadata().next().unwrap();
    let same = blob.read().unwrap();
    let unchanged = ElementSources::unchanged(&same);
    for copy in [BlobCopy::of(blob.blob()), BlobCopy::of(blob.blob()).sources(&unchanged)] {
        assert!(in_memory(|writer| writer.copy(copy.info(&same)).unwrap()) == fs::read(file.path().unwrap()).unwrap());
    }
    let tensor = File::open(testdata("later/renamed.popef")).unwrap();
    let tensor = tensor.tensors().next().unwrap();
    let info = tensor.info();
    let copy = in_memory(|writer| writer.copy(BlobCopy::of(tensor.blob()).info(&info)).unwrap());
    assert!(copy == fs::read(testdata("later/renamed.popef")).unwrap());
}

#[test]
fn edited_copies_keep_surplus_and_compression() {
    let file = File::open(testdata("interop/executable.popef")).unwrap();
    let old = file.tensor("input_parameter").unwrap();
    let info = TensorDataInfo { name: "flat".into(), tensor_info: TensorInfo::new(DataType::U16, [4]) };
    let copies = copied([BlobCopy::of(old.blob()).name("renamed"), BlobCopy::of(old.blob()).info(&info)]);
    for (name, shape) in [("renamed", vec![2]), ("flat", vec![4])] {
        let new = copies.tensor(name).unwrap();
        assert_eq!((new.surplus(), old.surplus(), new.shape().to_vec()), (8, 8, shape));
        assert_eq!(new.blob().data().read().unwrap(), old.blob().data().read().unwrap());
    }

    for name in ["zlib-6", "gzip", "zstd", "lz4"] {
        let file = File::open(testdata("compressed").join(name).with_extension("popef")).unwrap();
        let old = file.executable("model").unwrap();
        let same = ExecutableInfo { name: "with an info".into(), ..old.info() };
        let copies = copied([BlobCopy::of(old.blob()).name("renamed"), BlobCopy::of(old.blob()).info(&same)]);
        for name in ["renamed", "with an info"] {
            let new = copies.executable(name).unwrap();
            assert_eq!(new.uncompressed_size(), old.uncompressed_size());
            assert!(new.is_compressed());
            assert_eq!(new.data().read().unwrap(), old.data().read().unwrap());
        }
    }
}

#[test]
fn a_new_name_takes_precedence_over_that_of_a_new_info() {
    let bytes = in_memory(|writer| {
        writer.write_metadata(&Metadata { executable: "old".into(), ..Metadata::default() }).unwrap();
        writer.write_opaque(&OpaqueInfo { name: "popart".into(), executable: "old".into() }, b"data").unwrap();
        let tensor_info = TensorInfo::new(DataType::F32, [2, 3]);
        let feed = FeedDataInfo { name: "samples".into(), tensor_info, num_tensors: 4 };
        writer.write_feed_bytes(&feed, &[1; 96]).unwrap();
    });
    let file = File::from_bytes(bytes).unwrap();
    let [metadata, opaque, feed] = [0, 1, 2].map(|index| file.blob(index).unwrap());
    let new_metadata = Metadata { executable: "new".into(), num_ipus: 4, ..Metadata::default() };
    let new_opaque = OpaqueInfo { name: "popart".into(), executable: "new".into() };
    let tensor_info = TensorInfo::new(DataType::F16, [12]);
    let new_feed = FeedDataInfo { name: "unused".into(), tensor_info, num_tensors: 4 };
    let copies = copied([
        BlobCopy::of(&metadata).info(&new_metadata),
        BlobCopy::of(&opaque).info(&new_opaque),
        BlobCopy::of(&feed).name("halves").info(&new_feed),
        BlobCopy::of(&feed),
    ]);
    assert_eq!(copies.metadata().next().unwrap().read().unwrap(), new_metadata);
    assert_eq!(copies.opaque("popart").unwrap().info(), new_opaque);
    assert_eq!(copies.feed("halves").unwrap().info(), FeedDataInfo { name: "halves".into(), ..new_feed });
    assert_eq!(copies.feed("halves").unwrap().blob().data().read().unwrap(), feed.data().read().unwrap());
    assert_eq!(copies.blob(3).unwrap().info_bytes().read().unwrap(), feed.info_bytes().read().unwrap());
}

/// The blob has more bytes than its shape needs.
#[test]
fn an_info_that_does_not_fit_the_data_is_refused() {
    let with_surplus = File::open(testdata("interop/executable.popef")).unwrap();
    let with_surplus = with_surplus.tensor("input_parameter").unwrap();
    let cases = [
        (DataType::F32, vec![2], true),
        (DataType::U8, vec![2, 2, 2], true),
        // This shape needs all bytes, so that there is no surplus.
        (DataType::F32, vec![4], true),
        (DataType::F32, vec![1], false),
        (DataType::F32, vec![3], false),
        (DataType::F32, vec![5], false),
    ];
    for (data_type, shape, fits) in cases {
        let info = tensor(data_type, &shape);
        let copy = BlobCopy::of(with_surplus.blob()).info(&info);
        let mut writer = Writer::stream(Vec::new());
        match writer.copy(copy) {
            Ok(_) => assert!(fits, "{shape:?}"),
            Err(error) => {
                assert!(!fits, "{shape:?}: {error}");
                let needed = info.tensor_info.size_in_bytes().unwrap();
                assert_eq!((error.needed(), error.found()), (Some(needed), Some(16)));
                assert_eq!(error.code(), ErrorCode::WrongDataLength);
                assert!(writer.into_inner().unwrap().is_empty());
            }
        }
    }
}

#[test]
fn a_wrong_info_can_be_replaced_by_one_that_fits() {
    let mut bytes = in_memory(|writer| writer.write_tensor(&tensor(DataType::F32, &[2]), &[1.5f32, 2.5]).unwrap());
    let shape = bytes.len() - 16;
    assert_eq!(bytes[shape..][..8], 2i64.to_le_bytes());
    for wrong in [3i64, -1, i64::MAX] {
        bytes[shape..][..8].copy_from_slice(&wrong.to_le_bytes());
        let file = File::from_bytes(bytes.clone()).unwrap();
        assert!(file.tensor("weights").unwrap().elements().is_err());
        let info = tensor(DataType::F32, &[2]);
        let mended = copied([BlobCopy::of(&file.blob(0).unwrap()).info(&info)]);
        assert_eq!(*mended.tensor("weights").unwrap().elements().unwrap().to_slice::<f32>().unwrap(), [1.5, 2.5]);
    }
}

#[test]
fn impossible_edits_are_refused_and_the_writer_goes_on() {
    let place = Place::new();
    let file = File::open(&place.path).unwrap();
    let compressed = File::open(testdata("compressed/zlib-6.popef")).unwrap();
    let [metadata, executable, tensor_blob] = [1, 2, 3].map(|index| file.blob(index).unwrap());
    let compressed = compressed.executable("model").unwrap();
    let (opaque, negative) = (opaque("notes"), tensor(DataType::F32, &[-1]));
    let unpacked = ExecutableInfo { name: "model".into(), uncompressed_size: None };
    let larger = ExecutableInfo { name: "model".into(), uncompressed_size: Some(100_001) };
    let long = "x".repeat(1 << 16);
    let mut bytes = Vec::new();
    let mut writer = Writer::stream(&mut bytes);
    writer.write_executable("taken", b"data").unwrap();
    let cases = [
        (BlobCopy::of(&metadata).name("metadata"), ErrorCode::NoName),
        (BlobCopy::of(&metadata).info(&opaque), ErrorCode::WrongInfo),
        (BlobCopy::of(&tensor_blob).info(&opaque), ErrorCode::WrongInfo),
        (BlobCopy::of(&tensor_blob).info(&negative), ErrorCode::ImpossibleShape),
        (BlobCopy::of(compressed.blob()).info(&unpacked), ErrorCode::WrongInfo),
        (BlobCopy::of(compressed.blob()).info(&larger), ErrorCode::WrongInfo),
        (BlobCopy::of(&executable).name(""), ErrorCode::ExecutableUnnamed),
        (BlobCopy::of(&executable).name("taken"), ErrorCode::DuplicateExecutable),
        (BlobCopy::of(&tensor_blob).version(long), ErrorCode::MessageTooLong),
    ];
    let error = writer.copy(cases[0].0.clone()).unwrap_err();
    assert!(error.reason().starts_with("the metadata of executable 3284579348837926701 cannot"), "{error}");
    for (copy, code) in cases {
        let error = writer.copy(copy.clone()).unwrap_err();
        assert_eq!((error.code(), error.blob()), (code, Some(1)), "{error}");
        assert_eq!(writer.copy_all([copy]).unwrap_err().to_string(), error.to_string());
    }
    writer.copy(BlobCopy::of(&executable).name("free")).unwrap();
    assert_eq!(writer.copy(BlobCopy::of(&executable).name("free")).unwrap_err().code(), ErrorCode::DuplicateExecutable);
    writer.finish().unwrap();
    assert_eq!(File::from_bytes(bytes).unwrap().len(), 2);
}

/// The edited blobs are large enough to be copied by the system. Blobs before and behind them are copied unchanged.
#[test]
fn edited_blobs_keep_their_place_among_others() {
    let place = Place::new();
    let mut writer = Writer::create(&place.path).unwrap();
    for (index, len) in [300_000, 100, 0, 200_000, 7000, 150_001].into_iter().enumerate() {
        writer.write_opaque(&opaque("blob"), &vec![u8::try_from(index).unwrap(); len]).unwrap();
    }
    writer.finish().unwrap();
    let to = place.folder.path().join("copy");
    for file in each_way(&place.path) {
        for edited in [0b000001, 0b000010, 0b100100, 0b010101, 0b111111] {
            let is_edited = |index: usize| edited >> index & 1 == 1;
            let copies = file.blobs().map(|blob| {
                let copy = BlobCopy::of(&blob);
                if is_edited(blob.index()) { copy.name("edited").version("2") } else { copy }
            });
            let mut writer = Writer::create(&to).unwrap();
            let written = writer.copy_all(copies).unwrap();
            assert_eq!(writer.finish().unwrap().size, written.iter().map(|written| written.size).sum::<u64>());
            let copy = File::open(&to).unwrap();
            let places: Vec<_> = copy.blobs().map(|blob| (blob.offset(), blob.size())).collect();
            assert_eq!(places, written.iter().map(|written| (written.offset, written.size)).collect::<Vec<_>>());
            for (old, new) in file.blobs().zip(copy.blobs()) {
                let expected = if is_edited(old.index()) { ("edited", "2") } else { ("blob", "") };
                assert_eq!((new.name().unwrap(), new.version()), (expected.0.into(), expected.1.into()));
                assert!(new.data().read().unwrap() == old.data().read().unwrap());
            }
        }
    }
}

#[test]
fn an_edited_copy_of_a_changed_source_is_an_error() {
    let place = Place::new();
    let source = File::open(&place.path).unwrap();
    let handle = source.handle(0).unwrap();
    fs::write(&place.path, [0; 10]).unwrap();
    let mut writer = Writer::stream(Vec::new());
    let error = writer.copy(BlobCopy::from(&handle).name("renamed")).unwrap_err();
    assert_eq!(error.code(), ErrorCode::FileChanged);
}

/// A file of each compression, and the number of bytes that it unpacks to.
#[test]
fn compressed_bytes_are_written_as_they_are() {
    let built = [("zlib-1", true), ("gzip", true), ("zstd", cfg!(feature = "zstd")), ("lz4", cfg!(feature = "lz4"))];
    for (name, _) in built.into_iter().filter(|(_, is_built)| *is_built) {
        let file = File::open(testdata("compressed").join(name).with_extension("popef")).unwrap();
        let old = file.executable("model").unwrap();
        let (data, size) = (old.data().read().unwrap(), old.uncompressed_size());
        let whole = in_memory(|writer| writer.write_compressed_executable("model", &data, size).unwrap());
        let pieces = in_memory(|writer| {
            let mut blob = writer.sized_compressed_executable("model", data.len() as u64, size).unwrap();
            data.chunks(1).for_each(|piece| blob.write_all(piece).unwrap());
            blob.finish().unwrap()
        });
        assert!(whole == pieces);
        assert!(whole == fs::read(testdata("compressed").join(name).with_extension("popef")).unwrap(), "{name}");
    }
}

#[test]
fn compressed_bytes_that_unpack_to_another_size_are_refused() {
    let file = File::open(testdata("compressed/zlib-6.popef")).unwrap();
    let executable = file.executable("model").unwrap();
    let (data, size) = (executable.data().read().unwrap(), executable.uncompressed_size());
    let mut bytes = Vec::new();
    let mut writer = Writer::stream(&mut bytes);
    let mut refused = |data: &[u8], size| writer.write_compressed_executable("model", data, size).unwrap_err();
    assert_eq!(refused(&data, size - 1).code(), ErrorCode::UnpackedTooLong);
    assert_eq!(refused(&data, size + 1).code(), ErrorCode::UnpackedTooShort);
    assert_eq!(refused(&data[..data.len() - 1], size).code(), ErrorCode::CompressedDataDamaged);
    assert_eq!(refused(&[&*data, b"more"].concat(), size).code(), ErrorCode::CompressedDataSurplus);
    assert_eq!(refused(b"not compressed", 14).code(), ErrorCode::UnknownCompression);
    assert_eq!(refused(b"", 0).code(), ErrorCode::UnknownCompression);
    assert_eq!(refused(&data, u64::MAX).code(), ErrorCode::ImpossibleShape);
    let error = refused(&data, size + 1);
    assert_eq!((error.needed(), error.found()), (Some(size + 1), Some(size)));
    assert_eq!(error.blob(), Some(0), "{error}");

    writer.finish().unwrap();
    assert!(bytes.is_empty());
}

#[test]
fn the_compression_of_bytes_in_pieces_is_known_by_the_first_ones() {
    let mut bytes = Cursor::new(Vec::new());
    let mut writer = Writer::seekable(&mut bytes).unwrap();
    for (len, pieces) in [(4, vec!["PK", "\x03\x04"]), (9, vec!["not", "", " it"]), (1, vec!["x"])] {
        let mut blob = writer.sized_compressed_executable("model", len, 9).unwrap();
        let put = pieces.iter().try_for_each(|piece| blob.write_all(piece.as_bytes()));
        let error = put.unwrap_err().downcast::<Error>().unwrap();
        assert_eq!(error.code(), ErrorCode::UnknownCompression, "{error}");
        assert!(blob.finish().is_err());
    }
    let empty = writer.sized_compressed_executable("model", 0, 9).unwrap();
    assert_eq!(empty.finish().unwrap_err().code(), ErrorCode::UnknownCompression);
    writer.finish().unwrap();
    assert!(bytes.into_inner().is_empty());
}
