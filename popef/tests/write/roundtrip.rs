//! Blobs written in every way are read back in every way.

use crate::common::writing;

use std::io::{Read, Write};

use popef::read::*;
use popef::types::*;
use popef::write::*;
use proptest::prelude::*;
use writing::models::{self, Planned, What};
use writing::{copy_each, in_memory, write_anew, write_planned};

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(128)
    })]

    #[test]
    fn every_way_in_reads_what_every_way_of_writing_wrote(planned in models::blobs(true), split in any::<prop::sample::Index>()) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.popef");

        let bytes = in_memory(|writer| check_written(&write_planned(writer, &planned), 0));
        let mut writer = Writer::create(&path).unwrap();
        write_planned(&mut writer, &planned);
        let written = writer.finish().unwrap();
        prop_assert_eq!(written.size, u64::try_from(bytes.len()).unwrap());
        prop_assert!(std::fs::read(&path).unwrap() == bytes, "a created file differs from one in memory");

        let (first, second) = planned.split_at(split.index(planned.len() + 1));
        std::fs::write(&path, in_memory(|writer| write_planned(writer, first))).unwrap();
        let mut writer = Writer::append(&path).unwrap();
        for blob in second {
            drop_blobs(&mut writer);
            blob.write(&mut writer);
        }
        drop_blobs(&mut writer);
        writer.finish().unwrap();
        prop_assert!(std::fs::read(&path).unwrap() == bytes, "a file that was appended to differs");

        check_all_readers(&path, &bytes, &planned);
        check_forward(&bytes, &planned);
        check_rewriting(&path, &bytes);
    }
}

/// Begins blobs of every kind and drops them. They must leave no trace.
fn drop_blobs<D: Rewind>(writer: &mut Writer<D>) {
    let info = FeedDataInfo { name: "dropped".into(), num_tensors: 2, ..Default::default() };
    writer.opaque(&OpaqueInfo::default()).unwrap().write_all(&[1; 1000]).unwrap();
    writer.packed_executable("dropped", Packing::Zlib(1)).unwrap().write_all(&[2; 1000]).unwrap();
    writer.feed(&info).unwrap().write_all(&[1]).unwrap();
    writer.feeds(&[info.clone(), info]).unwrap().push(1, &[true]).unwrap();
}

/// The blobs follow each other.
fn check_written(written: &[Written], start: u64) {
    let mut end = start;
    for blob in written {
        assert_eq!(blob.offset, end);
        end += blob.size;
    }
}

fn check_all_readers(path: &std::path::Path, bytes: &[u8], planned: &[Planned]) {
    check_file(&File::open(path).unwrap(), planned);
    // SAFETY: nobody else knows this file, and it is not changed before the mapping is gone.
    #[expect(unsafe_code, reason = "mapping is one of the ways to read")]
    check_file(&unsafe { File::map(path) }.unwrap(), planned);
    let file = File::from_bytes(bytes.to_vec()).unwrap();
    check_file(&file, planned);
    let walked: Vec<_> = Blobs::new(bytes).map(|blob| format!("{:?}", blob.unwrap())).collect();
    let streamed = File::from_stream(bytes).unwrap();
    let listed = |file: &File| file.blobs().map(|blob| format!("{blob:?}")).collect::<Vec<_>>();
    assert_eq!(walked, listed(&file));
    assert_eq!(walked, listed(&streamed));
}

fn check_file(file: &File, planned: &[Planned]) {
    let mut blobs = file.blobs();
    for plan in planned {
        for part in parts(&plan.what) {
            let blob = blobs.next().expect("a blob is missing");
            assert_eq!(blob.version(), plan.version);
            check_blob(&blob, &part);
        }
    }
    assert!(blobs.next().is_none(), "there is a blob too many");
}

/// The blobs of a plan. Feeds that are written at once are several.
fn parts(what: &What) -> Vec<What> {
    match what {
        What::Feeds(feeds) => feeds.iter().map(|feed| What::Feeds(vec![feed.clone()])).collect(),
        other => vec![other.clone()],
    }
}

fn check_blob(blob: &Blob<'_>, what: &What) {
    match (blob.content(), what) {
        (Content::Executable(found), What::Executable { name, data, packing }) => {
            let uncompressed_size = packing.map(|_| u64::try_from(data.len()).unwrap());
            assert_eq!(found.info(), ExecutableInfo { name: name.clone(), uncompressed_size });
            let mut unpacked = Vec::new();
            found.unpack().unwrap().read_to_end(&mut unpacked).unwrap();
            assert_eq!(unpacked, *data);
        }
        (Content::Metadata(found), What::Metadata(metadata)) => assert_eq!(found.read().unwrap(), **metadata),
        (Content::Tensor(found), What::Tensor(info, data)) => {
            assert_eq!((found.info(), found.surplus()), (info.clone(), 0));
            assert_eq!(*found.elements().unwrap().data().read().unwrap(), **data);
        }
        (Content::Feed(found), What::Feeds(feeds)) => {
            assert_eq!((found.info(), found.surplus()), (feeds[0].0.clone(), 0));
            let items: Vec<u8> =
                found.items().flat_map(|item| item.unwrap().data().read().unwrap().into_owned()).collect();
            assert_eq!(items, feeds[0].1);
        }
        (Content::Opaque(found), What::Opaque(info, data)) => {
            assert_eq!(found.info(), *info);
            assert_eq!(*found.data().read().unwrap(), **data);
        }
        (found, what) => panic!("{found:?} was written as {what:?}"),
    }
}

/// A stream gets the same bytes as a file.
fn check_forward(bytes: &[u8], planned: &[Planned]) {
    let mut streamed = Vec::new();
    let mut writer = Writer::stream(&mut streamed);
    let written: Vec<_> = planned.iter().flat_map(|blob| blob.write_forward(&mut writer)).collect();
    check_written(&written, 0);
    writer.finish().unwrap();
    assert!(streamed == bytes, "what a stream gets differs");
}

/// Verbatim copies have the same bytes, and so have blobs that are written from their values.
fn check_rewriting(path: &std::path::Path, bytes: &[u8]) {
    let file = File::from_bytes(bytes.to_vec()).unwrap();
    // SAFETY: nobody else knows this file, and it is not changed before the mapping is gone.
    #[expect(unsafe_code, reason = "mapping is one of the ways to read")]
    let mapped = unsafe { File::map(path) }.unwrap();
    for file in [&file, &mapped, &File::open(path).unwrap()] {
        let (mut each, mut all) = (Vec::new(), Vec::new());
        assert!(in_memory(|writer| each = copy_each(writer, file).unwrap()) == bytes, "verbatim copies differ");
        assert!(in_memory(|writer| all = writer.copy_all(file.blobs()).unwrap()) == bytes, "copies at once differ");
        assert_eq!(all, each);
    }
    assert!(in_memory(|writer| write_anew(writer, &file).unwrap()) == bytes, "values written again differ");
    let mut streamed = Vec::new();
    let mut writer = Writer::stream(&mut streamed);
    copy_each(&mut writer, &file).unwrap();
    writer.finish().unwrap();
    assert!(streamed == bytes, "verbatim copies to a stream differ");
}
