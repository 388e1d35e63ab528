//! Listing a file in memory allocates nothing. Looking up a name allocates only the first time.

use std::io::Write;

use popef::error::ErrorCode;
use popef::read::Blobs;
use popef::types::TensorDataInfo;
use popef::{Content, DataType, File, OpenOptions, TensorInfo, Writer};

use crate::common::read;
#[cfg(feature = "serde")]
use crate::common::testdata;
use crate::costs::heap::taken_by;

/// The bytes of heap that `work` asked for.
fn allocations_of(work: impl FnOnce()) -> u64 {
    taken_by(work).1
}

#[test]
fn a_listing_allocates_nothing() {
    let bytes = read("interop/all-types.popef");
    let mut lengths = 0;
    let allocations = allocations_of(|| {
        for blob in Blobs::new(&bytes) {
            let blob = blob.unwrap();
            lengths += blob.name().unwrap().as_bytes().len();
            if let Content::Tensor(tensor) = blob.content() {
                lengths += tensor.shape().iter().count();
                lengths += usize::try_from(tensor.size_in_bytes().unwrap()).unwrap();
            }
        }
    });
    assert!(lengths > 100);
    assert_eq!(allocations, 0);
}

#[test]
fn messages_of_many_segments_are_checked_without_allocating() {
    let bytes = read("interop/many-anchors.popef");
    let allocations = allocations_of(|| assert_eq!(Blobs::new(&bytes).filter(Result::is_ok).count(), 2));
    assert_eq!(allocations, 0);
}

#[test]
fn looking_up_a_name_allocates_only_the_first_time() {
    let file = File::from_bytes(read("interop/all-types.popef")).unwrap();
    assert!(file.tensor("t_f32").is_some());
    let allocations = allocations_of(|| {
        assert!(file.tensor("t_f16").is_some());
        assert!(file.feed("f_s64").is_some());
        assert!(file.tensor("none").is_none());
    });
    assert_eq!(allocations, 0);
}

/// Counts what is written to it.
#[cfg(feature = "serde")]
struct Sink(usize);

#[cfg(feature = "serde")]
impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(feature = "serde")]
#[test]
fn serialising_a_file_and_its_blobs_allocates_nothing() {
    let names = ["interop/all-types.popef", "interop/many-anchors.popef", "interop/executable.popef"];
    for name in names.iter().chain(&["golden/hostile-names.popef", "golden/unknown-types.popef"]) {
        let file = File::open(testdata(name)).unwrap();
        let mut sink = Sink(0);
        let allocations = allocations_of(|| {
            serde_json::to_writer(&mut sink, &file).unwrap();
            file.blobs().for_each(|blob| serde_json::to_writer(&mut sink, &blob).unwrap());
        });
        assert!(sink.0 > 1000, "{name}");
        assert_eq!(allocations, 0, "{name}");
    }
}

/// The size of data is a claim of the file, so no memory is taken for data that is not there.
#[test]
fn data_that_was_not_kept_takes_no_memory() {
    let tensor_info = TensorInfo::new(DataType::U8, [1 << 40]);
    let mut bytes = Vec::new();
    let mut writer = Writer::stream(&mut bytes);
    let mut open = writer.tensor(&TensorDataInfo { name: "claimed".into(), tensor_info }).unwrap();
    open.write_all(&[0; 300_000]).unwrap();
    drop(open);
    drop(writer);
    let head = bytes.len() as u64 - 300_000;
    let mut indexer = OpenOptions::new().indexer(head + (1 << 40));
    while let Some(wanted) = indexer.wants() {
        let start = usize::try_from(wanted.start).unwrap().min(bytes.len());
        let part = [&bytes[start..], &vec![0; usize::try_from(wanted.end - wanted.start).unwrap()]].concat();
        indexer.give(&part);
    }
    let file = indexer.finish().unwrap();
    let tensor = file.tensor("claimed").unwrap();
    let (error, taken) = taken_by(|| tensor.data().read().unwrap_err());
    assert_eq!(error.code(), ErrorCode::DataNotKept);
    assert!(taken < 4096, "{taken}");
    let (error, taken) = taken_by(|| tensor.elements().unwrap().to_slice::<u8>().unwrap_err());
    assert_eq!(error.code(), ErrorCode::DataNotKept);
    assert!(taken < 4096, "{taken}");
}
