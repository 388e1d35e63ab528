//! Compressed executables that cost much time or memory for few bytes.

use std::io::Read as _;

use popef::read::{Blobs, ExecutableBlob};
use popef::{Content, Error};

use super::super::cost::{Bound, GZIP, LZ4, Worst, ZLIB, ZSTD};
use super::executable;

/// Makes compressed data of about this many bytes. For 0 bytes it makes the smallest.
type Make = Box<dyn Fn(usize) -> Vec<u8>>;
type Inputs = Vec<(&'static str, Make)>;

pub fn worst_decoders() -> Vec<Worst> {
    let mut all = of(ZLIB, unpack, behind(b"\x78\x9c", deflate()));
    all.extend(of(GZIP, unpack, behind(MEMBER, deflate())));
    all.extend(of(GZIP, unpack, members()));
    all.extend(of(ZSTD, unpack, zstd()));
    all.extend(of(ZSTD, unpack_in_vain, zstd_in_vain()));
    all.extend(of(LZ4, unpack, lz4()));
    all.extend(of(LZ4, unpack_in_vain, lz4_in_vain()));
    all
}

fn of(bound: Bound, work: fn(&[u8]) -> u64, inputs: Inputs) -> Vec<Worst> {
    // No input unpacks to this many bytes.
    let claimed = u64::MAX - 1;
    let worst = |(name, data): (_, Make)| {
        let make = Box::new(move |size| executable(claimed, &data(size)));
        Worst { bound, name, make, work }
    };
    inputs.into_iter().map(worst).collect()
}

/// Unpacks the one executable and returns the number of bytes that came out.
fn unpack(file: &[u8]) -> u64 {
    let (given, error) = unpack_until_error(file);
    // The data lacks its end, so that it can stop anywhere and needs no checksum.
    let reason = error.reason();
    assert!(reason.contains("it ends too early") || reason.contains("the data unpacks to"), "{reason}");
    given
}

/// Unpacks data that is damaged at its end.
fn unpack_in_vain(file: &[u8]) -> u64 {
    let (given, error) = unpack_until_error(file);
    assert!(error.reason().contains("a block cannot be unpacked"), "{error}");
    given
}

fn unpack_until_error(file: &[u8]) -> (u64, Error) {
    let blob = Blobs::new(file).next().unwrap().unwrap();
    let Content::Executable(executable) = blob.content() else { panic!("no executable") };
    let mut given = 0;
    let error = read_all(&executable, &mut given).expect_err("nothing has so many bytes");
    (given, error)
}

fn read_all(executable: &ExecutableBlob<'_>, given: &mut u64) -> Result<(), Error> {
    let mut unpack = executable.unpack()?;
    let mut buffer = [0; 8192];
    loop {
        match unpack.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => *given += count as u64,
            Err(error) => return Err(error.downcast().unwrap()),
        }
    }
}

/// Repeats a piece.
fn repeated(piece: impl AsRef<[u8]>) -> Make {
    within([], piece, [])
}

/// Repeats a piece between a start and an end.
fn within(head: impl AsRef<[u8]>, piece: impl AsRef<[u8]>, tail: impl AsRef<[u8]>) -> Make {
    let [head, piece, tail] = [head.as_ref(), piece.as_ref(), tail.as_ref()].map(<[u8]>::to_vec);
    Box::new(move |size| [&head, &piece.repeat(size.div_ceil(piece.len()).max(1)), &tail].map(Vec::as_slice).concat())
}

fn behind(head: &'static [u8], inputs: Inputs) -> Inputs {
    let behind = |data: Make| -> Make { Box::new(move |size| [head, &data(size)].concat()) };
    inputs.into_iter().map(|(name, data)| (name, behind(data))).collect()
}

// ---- deflate: zlib and gzip ---------------------------------------------------------------------------------------------

/// The header of a gzip member.
const MEMBER: &[u8] = &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];

/// The symbol for the end of a block.
const END: usize = 256;

fn deflate() -> Inputs {
    // Each length is used once, and the last twice, so that the codes are complete and as long as possible.
    let ladder = [15, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1];
    let (mut long, mut short) = ([0; 257], [0; 257]);
    long[257 - ladder.len()..].copy_from_slice(&ladder);
    short[END] = 1;
    let mut literals = vec![0; 257];
    (literals[0], literals[END]) = (1, 1);
    // A match of 3 or of 258 bytes takes two bits.
    let matches = |symbol: usize| {
        let mut lengths = vec![0; symbol + 1];
        (lengths[0], lengths[END], lengths[symbol]) = (2, 2, 1);
        lengths
    };
    vec![
        ("empty stored blocks", repeated([0, 0, 0, 0xff, 0xff])),
        ("stored blocks of a byte", repeated([0, 1, 0, 0xfe, 0xff, 0])),
        // A block takes ten bits: three for its kind, and its end.
        ("empty fixed blocks", blocks(|bits| bits.push((0b010, 10)))),
        ("empty dynamic blocks", blocks(move |bits| bits.empty_block(&SHORT_CODES, &short, &[1]))),
        ("dynamic blocks of long codes", blocks(move |bits| bits.empty_block(&LONG_CODES, &long, &ladder))),
        ("literals of a bit", symbols(literals, 0)),
        ("matches of 3 bytes", symbols(matches(257), 257)),
        ("matches of 258 bytes", symbols(matches(285), 285)),
    ]
}

fn blocks(block: impl Fn(&mut Bits) + 'static) -> Make {
    Box::new(move |size| {
        let mut bits = Bits::default();
        while bits.bytes.is_empty() || bits.bytes.len() < size {
            block(&mut bits);
        }
        bits.bytes
    })
}

/// A literal, and then one symbol repeated: a literal, or a match of the byte before.
fn symbols(lengths: Vec<u8>, symbol: usize) -> Make {
    Box::new(move |size| {
        let mut bits = Bits::default();
        let [codes, distances] = bits.block(&LONG_CODES, &lengths, &[1]);
        bits.push(codes[0]);
        while bits.bytes.len() < size {
            bits.push(codes[symbol]);
            if symbol > END {
                bits.push(distances[0]);
            }
        }
        bits.bytes
    })
}

/// Lengths of the codes for lengths that use two symbols, "1" and "many zeros".
const SHORT_CODES: [u8; 19] = of_lengths([1, MANY_ZEROS], 1);

/// Lengths of the codes for lengths that use sixteen symbols.
const LONG_CODES: [u8; 19] = of_lengths([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15], 4);

const MANY_ZEROS: usize = 18;

const fn of_lengths<const N: usize>(symbols: [usize; N], length: u8) -> [u8; 19] {
    let mut lengths = [0; 19];
    let mut index = 0;
    while index < N {
        lengths[symbols[index]] = length;
        index += 1;
    }
    lengths
}

/// A code and its number of bits. The first bit is the lowest.
type Code = (u64, u32);

/// A stream of bits. Each byte is filled from its lowest bit on, as in deflate.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    pending: u64,
    count: u32,
}

impl Bits {
    fn push(&mut self, (code, len): Code) {
        self.pending |= code << self.count;
        self.count += len;
        while self.count >= 8 {
            self.bytes.push(self.pending as u8);
            self.pending >>= 8;
            self.count -= 8;
        }
    }

    /// Begins a block with codes of its own and returns them.
    fn block(&mut self, of_lengths: &[u8; 19], lengths: &[u8], distances: &[u8]) -> [Vec<Code>; 2] {
        const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
        let used = ORDER.iter().rposition(|&symbol| of_lengths[symbol] > 0).unwrap() + 1;
        self.push((0b100, 3));
        self.push((lengths.len() as u64 - 257, 5));
        self.push((distances.len() as u64 - 1, 5));
        self.push((used as u64 - 4, 4));
        ORDER[..used].iter().for_each(|&symbol| self.push((of_lengths[symbol].into(), 3)));
        let codes = codes(of_lengths);
        let all = [lengths, distances].concat();
        let mut rest = &all[..];
        while let Some((&length, behind)) = rest.split_first() {
            let zeros = rest.iter().take_while(|&&length| length == 0).count().min(138);
            if zeros >= 11 && of_lengths[MANY_ZEROS] > 0 {
                self.push(codes[MANY_ZEROS]);
                self.push((zeros as u64 - 11, 7));
                rest = &rest[zeros..];
            } else {
                self.push(codes[usize::from(length)]);
                rest = behind;
            }
        }
        [self::codes(lengths), self::codes(distances)]
    }

    fn empty_block(&mut self, of_lengths: &[u8; 19], lengths: &[u8], distances: &[u8]) {
        let [codes, _] = self.block(of_lengths, lengths, distances);
        self.push(codes[END]);
    }
}

/// The codes of the symbols by RFC 1951, section 3.2.2.
fn codes(lengths: &[u8]) -> Vec<Code> {
    let mut codes = vec![(0, 0); lengths.len()];
    let mut next = 0u64;
    for len in 1..=15 {
        next <<= 1;
        for (symbol, _) in lengths.iter().enumerate().filter(|(_, length)| **length == len) {
            codes[symbol] = (next.reverse_bits() >> (64 - u32::from(len)), len.into());
            next += 1;
        }
    }
    codes
}

fn members() -> Inputs {
    let empty = [3, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let with = |flags: u8, fields: &[u8]| {
        let mut member = MEMBER.to_vec();
        member[3] = flags;
        repeated([&member, fields, &empty].concat())
    };
    let (text, extra) = ([&[b'a'; 60_000][..], &[0]].concat(), [&[0xff; 2][..], &[0; 0xffff]].concat());
    let stored = [1, 1, 0, 0xfe, 0xff, 0, 0x8d, 0xef, 0x02, 0xd2, 1, 0, 0, 0];
    vec![
        ("empty members", with(0, &[])),
        ("members with empty fields", with(4 | 8 | 16, &[0, 0, 0, 0])),
        ("members with a name of 60,000 bytes", with(8, &text)),
        ("members with long fields of all kinds", with(4 | 8 | 16, &[extra, text.clone(), text].concat())),
        ("members of a stored byte", repeated([MEMBER, &stored].concat())),
    ]
}

// ---- zstd ---------------------------------------------------------------------------------------------------------------

/// The header of a frame without a size, with windows of 1 KiB, 128 KiB and 8 MiB.
const WINDOW_1_KIB: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd, 0, 0];
const WINDOW_128_KIB: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd, 0, 7 << 3];
const WINDOW_8_MIB: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd, 0, 13 << 3];

#[derive(Clone, Copy)]
enum Kind {
    Stored = 0,
    Run = 1,
    Compressed = 2,
}

fn block_of(kind: Kind, size: usize, content: &[u8]) -> Vec<u8> {
    let header = (size << 3 | (kind as usize) << 1).to_le_bytes();
    [&header[..3], content].concat()
}

fn compressed(content: &[&[u8]]) -> Vec<u8> {
    let content = content.concat();
    block_of(Kind::Compressed, content.len(), &content)
}

fn last(mut block: Vec<u8>) -> Vec<u8> {
    block[0] |= 1;
    block
}

/// Sections of literals: none, one by a Huffman tree of 11 bits, 131,072 zeros, and 1,048,575 zeros.
const NO_LITERALS: &[u8] = &[0];
const ONE_LITERAL: &[u8] = &[0x12, 0x00, 0x02, 138, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10, 0x03];
const LITERALS_128_KIB: &[u8] = &[0x0d, 0x00, 0x20, 0];
const LITERALS_1_MIB: &[u8] = &[0xfd, 0xff, 0xff, 0];

/// A sequence of three bytes, by three tables of one symbol each (512, 256 and 512 entries), and by three tables that
/// every decoder knows.
const BY_LARGE_TABLES: &[u8] = &[1, 0xa8, 0xf4, 0x3f, 0xf3, 0x1f, 0xf4, 0x3f, 0, 0, 0, 4];
const BY_KNOWN_TABLES: &[u8] = &[1, 0, 0, 0, 2];

/// Sequences of three bytes each. None of them takes a bit.
fn matches_of_3_bytes(count: usize) -> Vec<u8> {
    let [low, high, ..] = (count - 0x7f00).to_le_bytes();
    vec![255, low, high, 0x54, 0, 0, 0, 1]
}

fn zstd() -> Inputs {
    let nothing = block_of(Kind::Stored, 0, &[]);
    let run = block_of(Kind::Run, 128 << 10, &[7]);
    let eight = block_of(Kind::Stored, 8, &[1; 8]);
    let frames = |head: &[u8], block: Vec<u8>| repeated([head, &last(block)].concat());
    let blocks = |head: &[u8], block: &[u8]| within(head, block, last(nothing.clone()));
    let behind_eight = |block: &[u8]| blocks(&[WINDOW_8_MIB, &eight].concat(), block);
    let skipped = |len: u32| {
        let frame = [&[0x50, 0x2a, 0x4d, 0x18][..], &len.to_le_bytes(), &vec![0; len as usize]].concat();
        within([WINDOW_1_KIB, &last(nothing.clone())].concat(), frame, [])
    };
    vec![
        ("empty frames", frames(&[0x28, 0xb5, 0x2f, 0xfd, 0x20, 0], nothing.clone())),
        ("empty frames that claim a window of 8 MiB", frames(WINDOW_8_MIB, nothing.clone())),
        ("frames of a byte", frames(WINDOW_8_MIB, block_of(Kind::Stored, 1, &[1]))),
        ("frames of a literal by a large tree", frames(WINDOW_8_MIB, compressed(&[ONE_LITERAL, &[0]]))),
        ("frames of a run of 128 KiB", frames(WINDOW_8_MIB, run.clone())),
        ("skipped frames of 0 bytes", skipped(0)),
        ("skipped frames of a byte", skipped(1)),
        ("skipped frames of 32 KiB", skipped(32 << 10)),
        ("empty stored blocks", blocks(WINDOW_8_MIB, &nothing)),
        ("stored blocks of a byte", blocks(WINDOW_8_MIB, &block_of(Kind::Stored, 1, &[1]))),
        ("empty compressed blocks", blocks(WINDOW_8_MIB, &compressed(&[NO_LITERALS, &[0]]))),
        ("large trees", blocks(WINDOW_8_MIB, &compressed(&[ONE_LITERAL, &[0]]))),
        ("large tables", behind_eight(&compressed(&[NO_LITERALS, BY_LARGE_TABLES]))),
        ("large trees and tables", behind_eight(&compressed(&[ONE_LITERAL, BY_LARGE_TABLES]))),
        ("known tables", behind_eight(&compressed(&[NO_LITERALS, BY_KNOWN_TABLES]))),
        ("runs of 128 KiB, window of 128 KiB", blocks(WINDOW_128_KIB, &run)),
        ("runs of 128 KiB, window of 8 MiB", blocks(WINDOW_8_MIB, &run)),
        ("literals of 128 KiB", blocks(WINDOW_8_MIB, &compressed(&[LITERALS_128_KIB, &[0]]))),
        ("matches of 3 bytes", behind_eight(&compressed(&[NO_LITERALS, &matches_of_3_bytes(43_690)]))),
    ]
}

/// Data that fills the window before anything is given, a block that claims the most sequences, which is twice as many
/// as it may have, and a block with the most literals.
fn zstd_in_vain() -> Inputs {
    let eight = block_of(Kind::Stored, 8, &[1; 8]);
    let matches = |count| compressed(&[NO_LITERALS, &matches_of_3_bytes(count)]);
    let window = [WINDOW_8_MIB, &eight, &matches(43_690).repeat(63), &[0x07, 0, 0]].concat();
    let sequences = [WINDOW_8_MIB, &eight, &matches(0x7f00 + 0xffff)].concat();
    let literals = [WINDOW_8_MIB, &compressed(&[LITERALS_1_MIB, &[0]])].concat();
    vec![
        ("a block of too many literals", Box::new(move |_| literals.clone())),
        ("matches of a whole window", Box::new(move |_| window.clone())),
        ("a block of too many matches", Box::new(move |_| sequences.clone())),
    ]
}

// ---- LZ4 ----------------------------------------------------------------------------------------------------------------

/// The header of a frame of independent and of linked blocks of 4 MiB.
const INDEPENDENT: &[u8] = &[0x04, 0x22, 0x4d, 0x18, 0x60, 0x70, 0x73];
const LINKED: &[u8] = &[0x04, 0x22, 0x4d, 0x18, 0x40, 0x70, 0xdf];
/// The header of a frame with a checksum of each block and of all.
const CHECKED: &[u8] = &[0x04, 0x22, 0x4d, 0x18, 0x74, 0x70, 0x8e];

const END_MARK: &[u8] = &[0; 4];

fn lz4_block(content: &[u8]) -> Vec<u8> {
    [&(content.len() as u32).to_le_bytes(), content].concat()
}

/// A block of one byte and a match at this distance, whose length takes this many bytes.
fn lz4_match(count: usize, back: u16) -> Vec<u8> {
    let literals = vec![0xaa; back.into()];
    let mut content = vec![(back as u8) << 4 | 15];
    content.extend(literals);
    content.extend(back.to_le_bytes());
    content.resize(content.len() + count, 255);
    content.extend([0, 0]);
    content
}

/// Blocks that become a little longer each time, up to 4 MiB.
fn growing(size: usize) -> Vec<u8> {
    let mut data = INDEPENDENT.to_vec();
    for count in (0..16_000).step_by(97).cycle() {
        data.extend(lz4_block(&lz4_match(count, 1)));
        if data.len() >= size {
            return data;
        }
    }
    data
}

fn lz4() -> Inputs {
    let frames = |head: &[u8], rest: &[&[u8]]| repeated([head, &rest.concat()].concat());
    let blocks = |head: &[u8], block: &[u8]| within(head, block, END_MARK);
    let literal = lz4_block(b"\x10x");
    let checked = [&literal[..], &[0xba, 0x3b, 0xc4, 0x0d], END_MARK, &[0xea, 0x30, 0xc4, 0x2e]].concat();
    // A repeated match of four bytes takes three bytes.
    let short = lz4_block(&[&b"\x10x\x01\x00"[..], &b"\x00\x01\x00".repeat(20_000), &[0]].concat());
    let window = lz4_block(&lz4_match(258, 1));
    let literals = lz4_block(&[&[0xf0][..], &[255; 16_380], &[0; 4_176_916]].concat());
    vec![
        ("empty frames", frames(INDEPENDENT, &[END_MARK])),
        ("empty frames of linked blocks", frames(LINKED, &[END_MARK])),
        ("frames of a byte", frames(INDEPENDENT, &[&literal, END_MARK])),
        ("frames of a byte in a linked block", frames(LINKED, &[&literal, END_MARK])),
        ("frames of a byte with checksums", frames(CHECKED, &[&checked])),
        ("stored blocks of a byte", blocks(INDEPENDENT, b"\x01\0\0\x80x")),
        ("blocks of a byte", blocks(INDEPENDENT, &literal)),
        ("linked blocks of a byte behind a window", blocks(&[LINKED, &window].concat(), &literal)),
        ("matches of 4 bytes", blocks(INDEPENDENT, &short)),
        ("runs of 4 MB", blocks(INDEPENDENT, &lz4_block(&lz4_match(16_000, 1)))),
        ("runs of 4 MB in linked blocks", blocks(LINKED, &lz4_block(&lz4_match(16_000, 1)))),
        ("matches of 4 MB, 2 bytes back", blocks(INDEPENDENT, &lz4_block(&lz4_match(16_000, 2)))),
        ("linked blocks of 4 MB of literals", blocks(LINKED, &literals)),
        ("blocks of any length", Box::new(growing)),
    ]
}

/// A block whose last match lacks its distance.
fn lz4_in_vain() -> Inputs {
    let content = [&lz4_match(16_000, 2)[..], &[0, 0]].concat();
    let data = [INDEPENDENT, &lz4_block(&content)].concat();
    vec![("matches of 4 MB, 2 bytes back, and one of no distance", Box::new(move |_| data.clone()))]
}
