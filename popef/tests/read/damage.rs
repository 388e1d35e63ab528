//! Errors of damaged files: the exact words and the exact byte, the same in every way in.

use crate::common;

use common::{patch, read, testdata, without_path};
use popef::error::ErrorKind;
use popef::read::Blobs;
use popef::{Error, File, OpenOptions};

/// The offset of blob 1 in this file, which has a header, 1.2 KB of info and no data.
const METADATA: usize = 1648;
/// The offset of the root pointer in a message of one segment.
const ROOT: usize = 8;

/// The error of these bytes. Every way in must find the same.
fn error_of(bytes: &[u8]) -> Error {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged.popef");
    std::fs::write(&path, bytes).unwrap();
    let error = Blobs::new(bytes).find_map(Result::err).expect("an error");
    let text = without_path(&error);
    assert_eq!(Blobs::new(bytes).filter(Result::is_err).count(), 1);
    let streamed = File::from_stream(bytes).unwrap_err();
    assert_eq!(without_path(&streamed), text);
    let in_parts = File::open(&path).unwrap_err();
    assert_eq!(without_path(&in_parts), text);
    assert_eq!(in_parts.path(), Some(path.as_path()));
    assert_eq!(in_parts.to_string(), format!("{}: {error}", path.display()));
    // SAFETY: nobody changes the file while the test reads it.
    assert_eq!(without_path(&unsafe { File::map(&path) }.unwrap_err()), text);
    assert_eq!(without_path(&File::from_bytes(bytes.to_vec()).unwrap_err()), text);
    error
}

fn assert_error(bytes: &[u8], blob: usize, offset: u64, figures: (Option<u64>, Option<u64>), reason: &str) {
    let error = error_of(bytes);
    assert_eq!(error.kind(), ErrorKind::Damaged, "{error}");
    assert_eq!((error.blob(), error.offset()), (Some(blob), Some(offset)), "{error}");
    assert_eq!((error.needed(), error.found()), figures, "{error}");
    assert_eq!(error.reason(), reason);
    assert_eq!(error.to_string(), format!("blob {blob}, byte {offset}: {reason}"));
}

fn executable() -> Vec<u8> {
    read("interop/executable.popef")
}

/// The file with another size of blob 1, which is 1288.
fn with_size(size: u64) -> Vec<u8> {
    let mut bytes = executable();
    patch(&mut bytes[METADATA..METADATA + 48], 1288u64.to_le_bytes(), size.to_le_bytes());
    bytes
}

fn put(bytes: &mut [u8], at: usize, new: &[u8]) {
    bytes[at..at + new.len()].copy_from_slice(new);
}

#[test]
fn a_truncated_header_is_an_error() {
    assert_error(
        &executable()[..METADATA + 10],
        1,
        1648,
        (Some(48), Some(10)),
        "the header is cut off: it needs 48 bytes, the file has 10 left",
    );
}

/// Before the first blob there is nothing to keep.
#[test]
fn a_truncated_first_blob_has_no_blobs_before_it() {
    let again = "";
    let header = format!("the header is cut off: it needs 48 bytes, the file has 10 left{again}");
    assert_error(&executable()[..10], 0, 0, (Some(48), Some(10)), &header);
    let blob = format!("the blob is incomplete: its header gives it 1648 bytes, the file has 100 left{again}");
    assert_error(&executable()[..100], 0, 0, (Some(1648), Some(100)), &blob);
}

#[test]
fn a_size_smaller_than_header_and_info_is_an_error() {
    for size in [0, 47, 48, 55, 56, 1287] {
        let needed = match size {
            ..48 => 48,
            48..56 => 56,
            _ => 1288,
        };
        assert_error(
            &with_size(size),
            1,
            if size < 48 { 1648 } else { 1648 + 48 },
            (Some(needed), Some(size)),
            &format!(
                "the header gives the blob {size} bytes, but its header and info alone need {needed}; \
                 the size was never filled in or was overwritten"
            ),
        );
    }
}

#[test]
fn a_size_past_the_end_of_the_file_is_an_error() {
    for size in [65_211, 1 << 63, u64::MAX] {
        assert_error(
            &with_size(size),
            1,
            1648,
            (Some(size), Some(65_210)),
            &format!("the blob is incomplete: its header gives it {size} bytes, the file has 65210 left"),
        );
    }
}

#[test]
fn a_false_segment_table_is_an_error() {
    let mut bytes = executable();
    put(&mut bytes, METADATA, &511u32.to_le_bytes());
    assert_error(
        &bytes,
        1,
        1648,
        (None, Some(512)),
        "the header message claims 512 segments, more than the 511 that any reader accepts; \
         this is not a PopEF file, or its bytes were overwritten here",
    );

    let mut bytes = executable();
    put(&mut bytes, METADATA + 4, &u32::MAX.to_le_bytes());
    let claimed = 8 + u64::from(u32::MAX) * 8;
    assert_error(
        &bytes,
        1,
        1648,
        (Some(claimed), Some(65_536)),
        &format!(
            "the header message's segment table claims {claimed} bytes where a header has at most 65536; \
             this is not a PopEF file, or its bytes were overwritten here"
        ),
    );

    let mut bytes = executable();
    put(&mut bytes, METADATA + 48 + 4, &0x10_0000u32.to_le_bytes());
    assert_error(
        &bytes,
        1,
        1648 + 48,
        (Some(8_388_616), Some(1240)),
        "the info message's segment table claims 8388616 bytes, more than the rest of the file; \
         the blob has 1240 left for it, and its bytes were overwritten here",
    );
}

#[test]
fn pointers_that_leave_their_message_are_an_error() {
    let mut bytes = executable();
    // A struct pointer whose target begins 1,000 words after it.
    put(&mut bytes, METADATA + ROOT, &(1000u32 << 2).to_le_bytes());
    assert_error(
        &bytes,
        1,
        1648,
        (None, None),
        "the header message cannot be read at its root: message contains out-of-bounds pointer; \
         its bytes were overwritten or written by a faulty program",
    );

    let mut bytes = executable();
    put(&mut bytes, METADATA + 48 + ROOT, &(1000u32 << 2).to_le_bytes());
    assert_error(
        &bytes,
        1,
        1648 + 48,
        (None, None),
        "the info message cannot be read at its root: message contains out-of-bounds pointer; \
         its bytes were overwritten or written by a faulty program",
    );
    let error = error_of(&bytes);
    let source = std::error::Error::source(&error).expect("capnp's own error");
    assert!(source.downcast_ref::<capnp::Error>().is_some());
}

/// Every struct and list of Metadata is looked at on opening, not only when it is used.
#[test]
fn damage_deep_in_metadata_is_found_on_opening() {
    let bytes = executable();
    let handle = bytes.windows(22).position(|window| window == b"h2d_input_parameter\0\0\0").unwrap();
    let mut without_end = bytes;
    // The text fills its last word, so that no NUL ends it.
    put(&mut without_end, handle + 19, b"!");
    assert_error(
        &without_end,
        1,
        1648 + 48,
        (None, None),
        "the info message cannot be read at an anchor's handle: message contains text that is not NUL-terminated; \
         its bytes were overwritten or written by a faulty program",
    );
}

#[test]
fn other_file_formats_are_reported_as_no_popef_file() {
    let error = error_of(b"PK\x03\x04 this is a ZIP archive and nothing else");
    assert_eq!(error.offset(), Some(0));
    assert!(error.reason().contains("this is not a PopEF file"), "{error}");
    let error = error_of(b"tiny");
    assert_eq!((error.needed(), error.found()), (Some(8), Some(4)));
}

#[test]
fn a_limit_can_be_changed_and_its_error_says_so() {
    let bytes = executable();
    let mut limits = popef::read::Limits::default();
    limits.info_bytes = 1000;
    let error = OpenOptions::new().limits(limits).bytes(bytes.clone()).unwrap_err();
    assert_eq!((error.kind(), error.needed(), error.found()), (ErrorKind::Limit, Some(1240), Some(1000)));
    assert_eq!(error.to_string(), "blob 1, byte 1696: the info message has 1240 bytes, more than the limit of 1000");
    limits.info_bytes = 1240;
    assert!(OpenOptions::new().limits(limits).bytes(bytes.clone()).is_ok());
    limits.nesting = 2;
    let error = OpenOptions::new().limits(limits).bytes(bytes).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert!(error.reason().contains("pointers nest deeper than 2"), "{error}");
}

#[test]
fn limits_on_opening_also_hold_for_reading_metadata_later() {
    let mut limits = popef::read::Limits::default();
    limits.visits = 100;
    let path = testdata("broken/amplify-shared-text.popef");
    let file = OpenOptions::new().limits(limits).open(path).unwrap();
    let error = file.metadata().next().unwrap().read().unwrap_err();
    // What it may take in memory follows from the length of the message, not from the limits.
    assert!(error.reason().contains("bytes of memory, out of proportion"), "{error}");
}

/// Elements without bytes take no space in the message, but each costs time and memory to read.
#[test]
fn elements_without_bytes_do_not_amplify() {
    let error = error_of(&metadata_of_empty_options(1000));
    assert_eq!((error.kind(), error.blob(), error.offset()), (ErrorKind::Limit, Some(0), Some(40)));
    assert!(error.reason().contains("claim 1000 elements, more than its message has words (264)"), "{error}");
    assert!(File::from_bytes(metadata_of_empty_options(10)).unwrap().metadata().next().unwrap().read().is_ok());
}

/// A Metadata blob with this many engine options of zero words each.
fn metadata_of_empty_options(options: u64) -> Vec<u8> {
    let struct_pointer = |offset: u64, data: u64, pointers: u64| offset << 2 | data << 32 | pointers << 48;
    let mut words = vec![struct_pointer(0, 4, 7)];
    words.extend([0; 4 + 3]);
    // A list of structs of zero words: only its tag, which has the number of elements.
    words.push(1 | 3 << 2 | 7 << 32);
    words.extend([0; 3]);
    words.push(struct_pointer(options, 0, 0));
    // The padding keeps the visits that capnp counts within its limit.
    words.resize(words.len() + options as usize / 4, 0);
    let info: Vec<u8> = [(words.len() as u64) << 32].into_iter().chain(words).flat_map(u64::to_le_bytes).collect();
    let header = |size: u64| [4u64 << 32, struct_pointer(0, 2, 1), 1, size, 0].map(u64::to_le_bytes).concat();
    let size = header(0).len() as u64 + info.len() as u64;
    [header(size), info].concat()
}

/// Pointers share one text, so that they claim many times the length of the message.
#[test]
fn texts_shared_by_many_pointers_do_not_amplify() {
    let text = vec![b'x'; 8191];
    let bytes = shared_text_metadata(400, &text);
    let error = error_of(&bytes);
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert!(error.reason().contains("would visit more than 4 times its length"), "{error}");
}

/// A Metadata blob with this many engine options that share one name.
fn shared_text_metadata(options: u64, text: &[u8]) -> Vec<u8> {
    let words_of_text = text.len() as u64 / 8 + 1;
    let struct_pointer = |offset: u64, data: u64, pointers: u64| offset << 2 | data << 32 | pointers << 48;
    let list_pointer = |offset: u64, size: u64, len: u64| 1 | offset << 2 | size << 32 | len << 35;
    // Root with 4 data words and 7 pointers. engineOptions is pointer 3.
    let mut words = vec![struct_pointer(0, 4, 7)];
    words.extend([0; 4 + 3]);
    words.push(list_pointer(3, 7, options * 2));
    words.extend([0; 3]);
    words.push(struct_pointer(options, 0, 2));
    for option in 0..options {
        // The name points past the rest of the list to the text. There is no value.
        let to_text = 2 * (options - option) - 1;
        words.extend([list_pointer(to_text, 2, text.len() as u64 + 1), 0]);
    }
    let segment_words = words.len() as u64 + words_of_text;
    let mut info = (segment_words << 32).to_le_bytes().to_vec();
    info.extend(words.into_iter().flat_map(u64::to_le_bytes));
    info.extend(text);
    info.resize(8 + segment_words as usize * 8, 0);

    let header = |size: u64| [4u64 << 32, struct_pointer(0, 2, 1), 1, size, 0].map(u64::to_le_bytes).concat();
    let size = header(0).len() as u64 + info.len() as u64;
    [header(size), info].concat()
}

/// Blobs with damaged infos are left out, wherever they are, and those after them are found in all ways in.
#[test]
fn blobs_behind_damaged_infos_are_found() {
    let whole = read("elements/elements.popef");
    let places: Vec<_> = {
        let file = File::from_bytes(whole.clone()).unwrap();
        file.blobs().map(|blob| (blob.offset(), blob.size(), blob.header_bytes().len())).collect()
    };
    for damaged in [&[0][..], &[3], &[1, 2, 3, 7], &[places.len() - 1], &(0..places.len()).collect::<Vec<_>>()] {
        let mut bytes = whole.clone();
        for (offset, _, header) in damaged.iter().map(|&at| places[at]) {
            let info = (offset + header) as usize;
            bytes[info + ROOT..info + 2 * ROOT].fill(0xff);
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("damaged.popef");
        std::fs::write(&path, &bytes).unwrap();
        let mut options = OpenOptions::new();
        options.damaged(true);
        // SAFETY: nobody changes the file while the test reads it.
        let mapped = unsafe { options.map(&path) }.unwrap();
        for file in [options.open(&path).unwrap(), options.bytes(bytes.clone()).unwrap(), mapped] {
            let mut lost = Vec::new();
            let found = file.past_damage(&mut |error| lost.push(error)).unwrap();
            assert_eq!(lost.iter().filter_map(Error::blob).collect::<Vec<_>>(), damaged);
            let ranges: Vec<_> = lost.iter().filter_map(Error::blob_range).collect();
            let expected: Vec<_> = damaged.iter().map(|&at| places[at].0..places[at].0 + places[at].1).collect();
            assert_eq!(ranges, expected);
            assert!(lost.iter().all(|error| error.path() == file.path()));
            let kept = places.iter().enumerate().filter(|(at, _)| !damaged.contains(at)).map(|(_, place)| place);
            let found_at: Vec<_> = found.blobs().map(|blob| (blob.offset(), blob.size())).collect();
            assert_eq!(found_at, kept.map(|&(offset, size, _)| (offset, size)).collect::<Vec<_>>());
            assert!(found.damage().is_none(), "{:?}", found.damage());
            for (at, blob) in found.blobs().enumerate() {
                let (start, end) = (blob.offset() as usize, (blob.offset() + blob.size()) as usize);
                assert_eq!(*blob.data().read().unwrap(), whole[start..end][blob.head_bytes().len() as usize..]);
                assert_eq!(found.blob(at).unwrap().offset(), blob.offset());
            }
        }
        let streamed = options.stream(&bytes[..]).unwrap();
        assert!(streamed.past_damage(&mut |_| ()).is_err());
    }
}

/// Bytes are not searched: what a damaged header says is not believed unless a blob is there.
#[test]
fn the_list_ends_where_no_blob_begins() {
    let mut bytes = executable();
    let sizes: Vec<_> = File::from_bytes(bytes.clone()).unwrap().blobs().map(|blob| blob.size()).collect();
    put(&mut bytes, METADATA + 48 + ROOT, &[0xff; 8]);
    let next = METADATA + 1288;
    put(&mut bytes, next, &[0; 8]);
    let file = OpenOptions::new().damaged(true).bytes(bytes).unwrap();
    assert_eq!(file.damage().unwrap().blob_range(), Some(1648..next as u64));
    let mut lost = 0;
    let found = file.past_damage(&mut |_| lost += 1).unwrap();
    assert_eq!((found.len(), lost, found.end()), (1, 1, sizes[0]));
    let damage = found.damage().unwrap();
    assert_eq!((damage.blob(), damage.offset(), damage.blob_range()), (Some(2), Some(next as u64), None));
}
