//! A file cut off anywhere gives the blobs before the cut, then one error, then nothing.

use crate::common;

use common::{description, patch, popef_files, without_path};
use popef::error::ErrorKind;
use popef::read::Blobs;
use popef::types::OpaqueInfo;
use popef::{File, OpenOptions, Writer};

/// The end of each blob of a whole file.
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

/// Two blobs whose headers and infos are longer than what is read at once.
fn long_heads() -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = Writer::stream(&mut bytes);
    writer.version("v".repeat(40_000));
    for letter in ["a", "b"] {
        let info = OpaqueInfo { name: letter.repeat(50_000).into(), ..Default::default() };
        writer.write_opaque(&info, b"data").unwrap();
    }
    writer.finish().unwrap();
    bytes
}

/// Files that end in the segment table of a header or an info. Reading in parts gets a part of the table first.
fn tables_across_reads() -> [Vec<u8>; 2] {
    // The table has the number of segments less one, 100 lengths of one word each, and padding: 408 bytes.
    let table: Vec<u8> = [99].into_iter().chain([1; 100]).chain([0]).flat_map(u32::to_le_bytes).collect();
    let mut empty = Vec::new();
    let mut writer = Writer::stream(&mut empty);
    writer.write_opaque(&OpaqueInfo::default(), &[]).unwrap();
    writer.finish().unwrap();
    let mut header = Blobs::new(&empty).next().unwrap().unwrap().header_bytes().read().unwrap().into_owned();
    let size = (header.len() + table.len()) as u64;
    patch(&mut header, (empty.len() as u64).to_le_bytes(), size.to_le_bytes());
    [Vec::new(), header].map(|header| {
        let mut bytes = Vec::new();
        let mut writer = Writer::stream(&mut bytes);
        let data = vec![0; 8192 - 300 - empty.len() - header.len()];
        writer.write_opaque(&OpaqueInfo::default(), &data).unwrap();
        writer.finish().unwrap();
        [bytes, header, table.clone()].concat()
    })
}

/// The lengths tried are those at which something changes.
#[test]
fn all_ways_in_agree_on_a_file_that_is_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("cut.popef");
    let interop = popef_files("interop").into_iter().map(|path| std::fs::read(path).unwrap());
    for bytes in interop.chain([long_heads()]).chain(tables_across_reads()) {
        let mut lengths = vec![0, 1, 7, 8, 40, 90, bytes.len() as u64];
        for blob in Blobs::new(&bytes).map_while(Result::ok) {
            let header_end = blob.offset() + blob.header_bytes().len();
            let ends = [header_end, blob.data_offset(), blob.offset() + blob.size()];
            lengths.extend(ends.iter().flat_map(|end| [end - 1, *end, end + 1, end + 9, end + 60]));
        }
        for len in lengths.into_iter().map(|len| len as usize).filter(|&len| len <= bytes.len()) {
            std::fs::write(&target, &bytes[..len]).unwrap();
            let [in_parts, mapped, in_memory] = common::ways(&target).map(|(_, file)| description(&file.unwrap()));
            let streamed = description(&OpenOptions::new().damaged(true).stream(&bytes[..len]).unwrap());
            let what = format!("{len} of {} bytes", bytes.len());
            assert!(in_parts == in_memory, "{what}: {in_parts} in parts, {in_memory} in memory");
            assert!(mapped == in_memory, "{what}: {mapped} mapped, {in_memory} in memory");
            // The compression is seen in the data, so the description of a stream lacks it.
            if !in_memory.contains("uncompressed_size: Some") {
                assert!(streamed == in_memory, "{what}: {streamed} as a stream, {in_memory} in memory");
            }
        }
    }
}

#[test]
fn a_damaged_file_opens_if_asked_for_with_its_whole_blobs() {
    let bytes = common::read("interop/executable.popef");
    let cut = bytes[..bytes.len() - 1].to_vec();

    let error = File::from_bytes(cut.clone()).unwrap_err();
    let file = OpenOptions::new().damaged(true).bytes(cut).unwrap();
    assert_eq!((file.len(), file.end()), (3, 66_722));
    let damage = file.damage().cloned().unwrap();
    assert_eq!(without_path(&damage), without_path(&error));
    assert_eq!(file.executable("3284579348837926701").unwrap().data().read().unwrap().len(), 63_682);
}

#[test]
fn an_empty_file_is_valid_and_has_no_blobs() {
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
