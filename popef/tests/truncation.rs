//! A file cut off anywhere gives the blobs before the cut, then one error, then nothing.

mod common;

use common::{description, popef_files, without_path};
use popef::{Blobs, ErrorKind, File, OpenOptions};

/// Where each blob of a whole file ends.
fn ends(bytes: &[u8]) -> Vec<usize> {
    Blobs::new(bytes).map(|blob| blob.unwrap()).map(|blob| (blob.offset() + blob.size()) as usize).collect()
}

#[test]
fn every_length_gives_the_blobs_before_the_cut_and_one_error() {
    for path in popef_files("interop") {
        let bytes = std::fs::read(&path).unwrap();
        let ends = ends(&bytes);
        for len in 0..bytes.len() {
            let cut = &bytes[..len];
            let whole = ends.iter().filter(|&&end| end <= len).count();
            let at_boundary = len == 0 || ends.contains(&len);

            let mut blobs = Blobs::new(cut);
            for index in 0..whole {
                assert_eq!(blobs.next().unwrap().unwrap().index(), index);
            }
            if !at_boundary {
                let error = blobs.next().unwrap().unwrap_err();
                let start = whole.checked_sub(1).map_or(0, |last| ends[last]);
                let (needed, found) = (error.needed().unwrap(), error.found().unwrap());
                assert_eq!(error.kind(), ErrorKind::Damaged, "{path:?} cut to {len}: {error}");
                assert_eq!((error.blob(), error.offset()), (Some(whole), Some(start as u64)), "{error}");
                assert_eq!(found, (len - start) as u64, "{error}");
                assert!(needed > found && needed as usize <= bytes.len() - start, "{error}");
            }
            assert!(blobs.next().is_none(), "{path:?} cut to {len}");
            assert!(blobs.next().is_none(), "{path:?} cut to {len}");
        }
    }
}

/// The other ways in see the same, at the lengths where something changes.
#[test]
fn all_ways_in_agree_on_a_file_that_is_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("cut.popef");
    for path in popef_files("interop") {
        let bytes = std::fs::read(&path).unwrap();
        let mut lengths: Vec<usize> =
            ends(&bytes).into_iter().flat_map(|end| [end - 1, end, end + 1, end + 9, end + 60]).collect();
        lengths.extend([0, 1, 7, 8, 40, 90]);
        for len in lengths.into_iter().filter(|&len| len <= bytes.len()) {
            std::fs::write(&target, &bytes[..len]).unwrap();
            let [in_parts, mapped, in_memory] = common::ways(&target).map(|(_, file)| description(&file.unwrap()));
            let streamed = description(&OpenOptions::new().damaged(true).stream(&bytes[..len]).unwrap());
            assert_eq!(in_parts, in_memory, "{path:?} cut to {len}");
            assert_eq!(mapped, in_memory, "{path:?} cut to {len}");
            // A stream is not described with its compression, which is seen in the data.
            if !in_memory.contains("uncompressed_size: Some") {
                assert_eq!(streamed, in_memory, "{path:?} cut to {len}");
            }
        }
    }
}

#[test]
fn a_damaged_file_opens_only_on_demand_and_keeps_what_is_whole() {
    let bytes = common::read("interop/executable.popef");
    let cut = bytes[..bytes.len() - 1].to_vec();

    let error = File::from_bytes(cut.clone()).unwrap_err();
    let mut file = OpenOptions::new().damaged(true).bytes(cut).unwrap();
    assert_eq!((file.len(), file.end()), (3, 66_722));
    let damage = file.take_damage().unwrap();
    assert_eq!(without_path(&damage), without_path(&error));
    assert!(file.damage().is_none());
    assert_eq!(file.executable("3284579348837926701").unwrap().data().read().unwrap().len(), 63_682);
}

#[test]
fn no_bytes_are_a_valid_file_without_blobs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("empty.popef");
    std::fs::write(&path, []).unwrap();
    for (way, file) in common::ways(&path) {
        let file = file.unwrap();
        assert!(file.is_empty() && file.damage().is_none(), "{way}");
        assert_eq!(file.blobs().len(), 0, "{way}");
    }
    assert!(File::from_stream(std::io::empty()).unwrap().is_empty());
}
