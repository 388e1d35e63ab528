//! Valid blobs that cost a reader much memory or time for few bytes.

pub mod decoders;
pub mod messages;
#[cfg(all(feature = "popart", feature = "serde", feature = "tensorflow"))]
pub mod payloads;
pub mod pickles;
#[cfg(feature = "poptorch")]
pub mod poptorch;

use super::raw::{bytes_of, executable, message, sized, to_list, to_struct};

/// Blobs that take much memory for few bytes.
pub fn worst_blobs() -> Vec<(&'static str, Vec<u8>)> {
    // The header struct lies over its own root pointer: 24 bytes in all, with the type 0xfffc.
    let smallest = message(&[to_struct(-1, 2, 0), 24]);
    assert_eq!(smallest.len(), 24);
    // There is no version, and the info is one null pointer.
    let header = |blob_type, size| message(&[to_struct(0, 2, 0), blob_type, size]);
    let of_type = |blob_type| [header(blob_type, 48), message(&[0])].concat();
    let mut many_segments = bytes_of(&[510 | 1 << 32]);
    many_segments.resize(511 * 4 + 4, 0);
    many_segments.extend(bytes_of(&[0]));
    vec![
        ("smallest blobs", smallest),
        ("tensors of defaults", of_type(2)),
        ("executables of defaults", of_type(0)),
        ("metadata of defaults", of_type(1)),
        ("bytes taken for anchors", sized(1, &bytes_as(1, 13), &[])),
        ("bytes taken for programs", sized(1, &bytes_as(6, 13), &[])),
        ("as many anchors as words", sized(1, &words_as(1, 20_000, |_| 0), &[])),
        ("anchors of one double far pointer", sized(1, &far_words(1, 1000), &[])),
        ("as many programs as words", sized(1, &words_as(6, 20_000, |_| 0), &[])),
        ("nothing taken for anchors", [header(1, 64), message(&[to_struct(0, 0, 2), 0, to_list(0, 0, 4)])].concat()),
        ("tensors of 511 segments, far pointers", sized(2, &far_tensor(), &[])),
        ("anchors of double far pointers", sized(1, &far_anchors(50), &[])),
        ("infos of 511 segments", sized(2, &many_segments, &[])),
        ("metadata of 511 segments", sized(1, &many_segments, &[])),
        ("anchors of no bytes", sized(1, &anchors_of_no_bytes(13), &[])),
        ("options that share a text", sized(1, &options_that_share(100, 40), &[])),
        ("anchors", sized(1, &anchors(1), &[])),
        ("lists of 50 anchors", sized(1, &anchors(50), &[])),
        ("lists of 8,000 anchors", sized(1, &anchors(8_000), &[])),
        ("lists of 20,000 anchors of one shape", sized(1, &anchors_of_one_shape(20_000), &[])),
        ("texts of 10,000 bytes", sized(4, &long_name(10_000), &[])),
        ("texts of 300,000 bytes", sized(4, &long_name(300_000), &[])),
    ]
}

/// Makes a file of about this many bytes.
pub type Make = fn(usize) -> Vec<u8>;

/// Files with many things of several kinds. Work for each thing of one kind must not go through all things of another.
pub fn worst_files() -> Vec<(&'static str, Make)> {
    vec![
        ("one list of anchors", |bytes| sized(1, &anchors(bytes as u64 / 72), &[])),
        ("one list of anchors of one shape", |bytes| sized(1, &anchors_of_one_shape(bytes as u64 / 40), &[])),
        ("one list of anchors of a word", |bytes| sized(1, &words_as(1, bytes as u64 / 8, |_| 0), &[])),
        ("one list of programs of one index", |bytes| sized(1, &words_as(6, bytes as u64 / 8, |_| 0), &[])),
        ("one list of options that share a text", |bytes| sized(1, &options_that_share(bytes as u64 / 16, 6), &[])),
        ("one anchor of many programs", |bytes| sized(1, &many_programs(bytes as u64 / 8), &[])),
        ("one name", |bytes| sized(4, &long_name(bytes as u64), &[])),
        ("anchors of one name, a tensor of many dimensions", |bytes| anchors_and_dimensions(2, bytes as u64)),
        ("anchors of one name, a feed of many dimensions", |bytes| anchors_and_dimensions(3, bytes as u64)),
        ("tensors and feeds of one name", |bytes| {
            let [tensor, feed] = [2, 3].map(|blob_type| data_of(blob_type, 1));
            [&tensor[..], &feed[..]].concat().repeat(bytes / (tensor.len() + feed.len()))
        }),
        ("feeds of four billion tensors of no elements", |bytes| {
            let words = [to_struct(0, 1, 2), u32::MAX.into(), 0, to_struct(0, 1, 1), 3, to_list(0, 5, 1), 0];
            let feed = sized(3, &message(&words), &[]);
            feed.repeat(bytes / feed.len())
        }),
        ("a pickle of marks", |bytes| pickle(b"(", bytes)),
        ("a pickle of memos", |bytes| pickle(b"}q\0h\0", bytes)),
        ("a pickle of one name", |bytes| pickle(b"cos\nsystem\n", bytes)),
        ("a pickle of names", |bytes| {
            let names = (0..bytes / 14).flat_map(|number| format!("cm\n{number:09}\n").into_bytes());
            pickle(&names.collect::<Vec<_>>(), bytes)
        }),
        ("a pickle of texts in each other", |bytes| pickle(b"\x8c\x01a\x8c\x01b\x93", bytes)),
        ("small pickles", |bytes| {
            let small = pickle(b"cos\nsystem\n", 11);
            small.repeat(bytes / small.len())
        }),
        ("small packed executables", |bytes| {
            let packed = executable(0, &[0x78, 0x9c, 3, 0, 0, 0, 0, 1]);
            packed.repeat(bytes / packed.len())
        }),
        ("metadata, executables and opaques of one name", |bytes| {
            let metadata = sized(1, &metadata(0, |offset| to_list(offset, 2, 2), &[0x61]), &[]);
            let executable = sized(0, &message(&[to_struct(0, 1, 1), u64::MAX, to_list(0, 2, 2), 0x61]), &[]);
            let popart = u64::from_le_bytes(*b"popart\0\0");
            let opaque =
                sized(4, &message(&[to_struct(0, 0, 2), to_list(1, 2, 7), to_list(1, 2, 2), popart, 0x61]), &[]);
            let all = [metadata, executable, opaque].map(|blob| blob.repeat(bytes / 3 / blob.len()));
            all.concat()
        }),
    ]
}

/// An opaque blob with a pickle that repeats an operation as often as fits.
fn pickle(operation: &[u8], bytes: usize) -> Vec<u8> {
    let operations = operation.repeat(bytes / operation.len());
    sized(4, &message(&[to_struct(0, 0, 2), 0, 0]), &[b"\x80\x04".as_slice(), &operations, b"."].concat())
}

/// Half of the bytes are anchors that share a name and a shape. The other half is the shape of data of that name.
fn anchors_and_dimensions(blob_type: u64, bytes: u64) -> Vec<u8> {
    let count = bytes / 2 / 40;
    let mut behind = vec![to_struct(count as i32, 1, 4)];
    for anchor in 0..count {
        let left = 5 * (count - anchor);
        behind.extend([0, to_list(left - 2, 2, 2), 0, 0, to_struct((left - 4) as i32, 1, 1)]);
    }
    behind.extend([0x61, 3, to_list(0, 5, 2), 1, 1]);
    let anchors = sized(1, &metadata(1, |offset| to_list(offset, 7, 5 * count), &behind), &[]);
    [anchors, data_of(blob_type, bytes / 16)].concat()
}

/// A tensor or feed named "a" of one float32 with this many dimensions.
fn data_of(blob_type: u64, dimensions: u64) -> Vec<u8> {
    let mut words = match blob_type {
        3 => vec![to_struct(0, 1, 2), 1],
        _ => vec![to_struct(0, 0, 2)],
    };
    words.extend([to_list(1, 2, 2), to_struct(1, 1, 1), 0x61, 3, to_list(0, 5, dimensions)]);
    words.resize(words.len() + dimensions as usize, 1);
    sized(blob_type, &message(&words), &[0; 4])
}

/// One anchor with as many programs as fit, all the same.
fn many_programs(words: u64) -> Vec<u8> {
    let mut behind = vec![to_struct(1, 1, 4), 0, 0, to_list(2, 4, 2 * words), 0, 0];
    behind.resize(behind.len() + words as usize, 0);
    metadata(1, |offset| to_list(offset, 7, 5), &behind)
}

/// Metadata whose pointer with this index leads to `behind`.
fn metadata(pointer: usize, to_behind: impl Fn(u64) -> u64, behind: &[u64]) -> Vec<u8> {
    let mut words = vec![to_struct(0, 3, 7), 0, 0, 0];
    words.extend([0; 7]);
    words[4 + pointer] = to_behind(6 - pointer as u64);
    words.extend(behind);
    message(&words)
}

fn anchors_of_no_bytes(count: i32) -> Vec<u8> {
    metadata(1, |offset| to_list(offset, 7, 0), &[to_struct(count, 0, 0)])
}

fn options_that_share(options: u64, text: u64) -> Vec<u8> {
    let mut behind = vec![to_struct(options as i32, 0, 2)];
    for option in 0..options {
        behind.extend([to_list(2 * (options - option) - 1, 2, text), 0]);
    }
    behind.resize(behind.len() + text.div_ceil(8) as usize, 0);
    metadata(3, |offset| to_list(offset, 7, 2 * options), &behind)
}

/// The smallest anchors that have a shape and a program.
fn anchors(count: u64) -> Vec<u8> {
    let mut behind = vec![to_struct(count as i32, 1, 4)];
    let infos = 5 * count;
    for anchor in 0..count {
        // Word 2 of 5 points to the program, word 4 to the TensorInfo. Both are after all anchors.
        let to_program = infos - 5 * anchor - 3 + 4 * anchor + 3;
        let to_info = infos - 5 * anchor - 5 + 4 * anchor;
        behind.extend([0, 0, to_list(to_program, 4, 1), 0, to_struct(to_info as i32, 1, 1)]);
    }
    for _ in 0..count {
        behind.extend([3, to_list(0, 5, 1), 1, 0]);
    }
    metadata(1, |offset| to_list(offset, 7, 5 * count), &behind)
}

/// Anchors that share one program and one shape. Each of these lists takes more memory as a `Vec`.
fn anchors_of_one_shape(count: u64) -> Vec<u8> {
    let mut behind = vec![to_struct(count as i32, 1, 4)];
    for anchor in 0..count {
        let left = 5 * (count - anchor);
        behind.extend([0, 0, to_list(left - 3, 4, 1), 0, to_struct((left - 5) as i32, 1, 1)]);
    }
    behind.extend([3, to_list(0, 5, 1), 1]);
    metadata(1, |offset| to_list(offset, 7, 5 * count), &behind)
}

/// A list of bytes in place of a list of structs, which Cap'n Proto allows. Each byte is an element.
fn bytes_as(pointer: usize, count: u64) -> Vec<u8> {
    metadata(pointer, |offset| to_list(offset, 2, count), &vec![0; count.div_ceil(8) as usize])
}

/// A list of words in place of a list of structs. Each word is an element with one pointer.
fn words_as(pointer: usize, count: u64, to: impl Fn(u64) -> u64) -> Vec<u8> {
    metadata(pointer, |offset| to_list(offset, 6, count), &(0..count).map(to).collect::<Vec<_>>())
}

fn segments(segments: &[Vec<u64>]) -> Vec<u8> {
    let mut table = vec![segments.len() as u32 - 1];
    table.extend(segments.iter().map(|segment| segment.len() as u32));
    table.resize(table.len().next_multiple_of(2), 0);
    let table = table.iter().flat_map(|number| number.to_le_bytes());
    table.chain(segments.iter().flat_map(|segment| bytes_of(segment))).collect()
}

const fn far(segment: u64, word: u64, double: bool) -> u64 {
    2 | (double as u64) << 2 | word << 3 | segment << 32
}

/// A tensor whose parts each lie in a segment of their own, the last ones of 511.
fn far_tensor() -> Vec<u8> {
    let mut all = vec![Vec::new(); 511];
    all[0] = vec![far(510, 0, false)];
    all[510] = vec![to_struct(0, 0, 2), far(509, 0, false), far(508, 0, false)];
    all[509] = vec![to_list(0, 2, 2), 0x77];
    all[508] = vec![to_struct(0, 1, 1), 3, far(507, 0, false)];
    all[507] = vec![to_list(0, 5, 1), 1];
    segments(&all)
}

/// Anchors whose texts are all behind the same two far pointers.
fn far_anchors(count: u64) -> Vec<u8> {
    let text = far(510, 0, true);
    let mut words = vec![to_struct(0, 3, 7), 0, 0, 0, 0, to_list(5, 7, 5 * count), 0, 0, 0, 0, 0];
    words.push(to_struct(count as i32, 1, 4));
    (0..count).for_each(|_| words.extend([0, text, 0, text, 0]));
    let mut all = vec![Vec::new(); 511];
    all[0] = words;
    all[510] = vec![far(509, 0, false), to_list(0, 2, 2)];
    all[509] = vec![0x61];
    segments(&all)
}

/// A list of pointers in place of a list of structs. Each is a double far pointer to the same text.
fn far_words(pointer: usize, count: u64) -> Vec<u8> {
    let mut words = vec![to_struct(0, 3, 7), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    words[4 + pointer] = to_list(6 - pointer as u64, 6, count);
    words.resize(words.len() + count as usize, far(1, 0, true));
    segments(&[words, vec![far(2, 0, false), to_list(0, 2, 2)], vec![0x61]])
}

fn long_name(len: u64) -> Vec<u8> {
    let mut words = vec![to_struct(0, 0, 2), to_list(1, 2, len), 0];
    words.resize(words.len() + len.div_ceil(8) as usize, 0);
    message(&words)
}
