//! Poplar executables, by themselves and in PopEF files.

use popef::write::Packing;
use popef::{File, Writer};
use poplar_inspect::ErrorCode;
use poplar_inspect::executable::{Container, Options, Summary, read, read_blob};

use crate::common::{fixture, summary};

fn tiles_of(summary: &Summary) -> (Vec<u32>, String) {
    let numbers = summary.tiles.iter().map(|tile| tile.number).collect();
    (numbers, format!("{:?} {:?}", summary.contents, summary.sections))
}

#[test]
fn the_archive_in_an_executable_is_read_as_outside() {
    let inside = summary(&fixture("poplar-3.gc_exe")).unwrap();
    assert_eq!(inside.container, Container::Executable { format: 3 });
    assert!(!inside.verified && !inside.overview().verified, "no sample is public");
    assert!(inside.is_complete());
    assert_eq!(inside.bytes_after, 0);
    assert_eq!(tiles_of(&inside), tiles_of(&summary(&fixture("tiles.a")).unwrap()));
}

#[test]
fn older_formats_are_read_too() {
    let inside = summary(&fixture("poplar-1.gc_exe")).unwrap();
    assert_eq!(inside.container, Container::Executable { format: 1 });
    assert_eq!(tiles_of(&inside), tiles_of(&summary(&fixture("kinds.a")).unwrap()));
    let metadata = inside.metadata.unwrap();
    assert_eq!((metadata.bytes, metadata.message), (0, None));
}

/// The sizes are those that lz4 and pycapnp gave.
#[test]
fn the_metadata_is_described_and_not_interpreted() {
    let inside = summary(&fixture("poplar-3.gc_exe")).unwrap();
    let metadata = inside.metadata.unwrap();
    assert_eq!((metadata.packed_bytes, metadata.bytes), (11_703, 21_288));
    let message = metadata.message.unwrap();
    assert_eq!((message.segments, message.bytes), (3, 21_288));
    assert!(metadata.is_one_message());
    assert!(metadata.strings.is_empty(), "nobody asked for them");
}

#[test]
fn strings_of_the_metadata_are_given_on_request() {
    let mut options = Options::default();
    options.strings = 3;
    let metadata = read(&fixture("poplar-3.gc_exe")[..], &options).unwrap().metadata.unwrap();
    assert_eq!(metadata.strings, ["not what Poplar writes", "option0", "option1"]);
    assert_eq!(metadata.strings_left_out, 398);
}

#[test]
fn a_part_that_is_no_archive_is_not_guessed_at() {
    let inside = summary(&fixture("poplar-no-archive.gc_exe")).unwrap();
    let damage = inside.damage.unwrap();
    assert_eq!(damage.code(), ErrorCode::PartUnknown);
    assert_eq!(
        damage.to_string(),
        "archive, byte 0: this part was assumed to be a Unix archive, but begins with 0x736f6d657468696e"
    );
    assert!(inside.metadata.unwrap().is_one_message(), "the other part is read");
}

#[test]
fn executables_of_popef_files_are_read_in_every_compression() {
    let executable = fixture("poplar-3.gc_exe");
    let mut bytes = Vec::new();
    let mut writer = Writer::stream(&mut bytes);
    writer.write_executable("stored", &executable).unwrap();
    writer.write_packed_executable("zlib", &executable, Packing::default()).unwrap();
    writer.write_packed_executable("gzip", &executable, Packing::Gzip(6)).unwrap();
    let size = executable.len() as u64;
    writer.write_compressed_executable("lz4", &lz4(&executable), size).unwrap();
    writer.write_compressed_executable("zstd", &zstd(&executable), size).unwrap();
    writer.finish().unwrap();

    let file = File::from_bytes(bytes).unwrap();
    let outside = format!("{:?}", summary(&executable).unwrap());
    let executables: Vec<_> = file.executables().collect();
    assert_eq!(executables.len(), 5);
    for executable in executables {
        let inside = read_blob(&executable, &Options::default()).unwrap();
        assert_eq!(format!("{inside:?}"), outside, "{}", executable.name());
    }
}

/// A frame with one block that is stored.
fn lz4(bytes: &[u8]) -> Vec<u8> {
    let size = u32::try_from(bytes.len()).unwrap() | 1 << 31;
    [b"\x04\x22\x4d\x18\x60\x70\x73", &size.to_le_bytes()[..], bytes, &[0; 4]].concat()
}

/// A frame with one block that is stored.
fn zstd(bytes: &[u8]) -> Vec<u8> {
    let header = u32::try_from(bytes.len()).unwrap() << 3 | 1;
    [b"\x28\xb5\x2f\xfd\x00\x68", &header.to_le_bytes()[..3], bytes].concat()
}

/// A Poplar executable with an empty archive.
fn with_metadata(metadata: &[u8]) -> Vec<u8> {
    let archive = b"!<arch>\n";
    let parts = [lz4(archive), lz4(metadata)];
    let sizes = [archive.len(), parts[0].len(), metadata.len(), parts[1].len()];
    let sizes = sizes.map(|size| (size as u64).to_le_bytes());
    [b"GC_EXE_3".as_slice(), &sizes.concat(), &parts.concat()].concat()
}

/// The libraries of Cap'n Proto accept 511 segments.
#[test]
fn a_segment_table_is_read_up_to_the_most_segments() {
    for segments in [1, 2, 3, 510, 511, 512_u32] {
        let mut message = (segments - 1).to_le_bytes().to_vec();
        for words in 1..=segments {
            message.extend(words.to_le_bytes());
        }
        message.resize(message.len().next_multiple_of(8), 0);
        message.resize(message.len() + (1..=segments as usize).sum::<usize>() * 8, 7);
        let metadata = summary(&with_metadata(&message)).unwrap().metadata.unwrap();
        assert_eq!(metadata.is_one_message(), segments <= 511, "{segments}");
        assert_eq!(metadata.message.map(|message| message.segments), (segments <= 511).then_some(segments));
        let longer = summary(&with_metadata(&[&message[..], &[0; 8]].concat())).unwrap().metadata.unwrap();
        assert!(!longer.is_one_message(), "{segments}");
    }
}

#[test]
fn strings_have_four_letters_and_are_cut_after_256() {
    let long = "x".repeat(300);
    let bytes = format!("abc\0 wxyz\x7f{long}\0a~ !\nlast");
    let mut options = Options::default();
    options.strings = 10;
    let metadata = read(&with_metadata(bytes.as_bytes())[..], &options).unwrap().metadata.unwrap();
    assert_eq!(metadata.strings, [" wxyz", &long[..256], "a~ !", "last"]);
    assert_eq!(metadata.strings_left_out, 0);
}
