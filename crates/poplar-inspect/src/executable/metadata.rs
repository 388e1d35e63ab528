//! Poplar's own metadata in its executables, of which little is known.

use std::io::Read;

use super::input::{Input, len_of};
use crate::error::{Error, Part};

/// What the metadata part of a Poplar executable looks like. What it means is not documented.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct MetadataPart {
    /// The size in the executable, as its header states it.
    pub packed_bytes: u64,
    /// The size after unpacking, as the header states it.
    pub bytes: u64,
    /// How many bytes were unpacked. If there are fewer than `bytes`, the part is damaged.
    pub read_bytes: u64,
    /// The first bytes, read as the segment table of a Cap'n Proto message. `None` if the first bytes cannot be one.
    pub message: Option<Message>,
    /// The first printable strings, if [`Options::strings`](super::Options::strings) asks for any: four or more
    /// characters of ASCII that follow each other, cut after 256.
    pub strings: Vec<String>,
    /// How many more strings there are.
    pub strings_left_out: u64,
}

/// What the segment table of a Cap'n Proto message says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct Message {
    /// The number of segments.
    pub segments: u32,
    /// The length of the message with its table, in bytes.
    pub bytes: u64,
}

impl MetadataPart {
    /// Whether the part is as long as one Cap'n Proto message whose segment table it begins with.
    pub fn is_one_message(&self) -> bool {
        self.read_bytes == self.bytes && self.message.is_some_and(|message| message.bytes == self.bytes)
    }
}

/// The maximum number of segments that the libraries of Cap'n Proto accept.
const SEGMENTS: usize = 511;

/// Reads the unpacked part, which has these sizes, to its end. An error of the reader comes with what was read before
/// it.
pub(super) fn read(
    reader: impl Read,
    [packed_bytes, bytes]: [u64; 2],
    most_strings: usize,
) -> (MetadataPart, Option<Error>) {
    let mut input = Input::new(reader, 0, Part::Metadata);
    let mut table = Vec::new();
    let mut strings = Strings::new(most_strings);
    let error = input.for_each_piece(|piece| {
        let room = LONGEST_TABLE.saturating_sub(table.len());
        table.extend(piece.iter().take(room));
        strings.read(piece);
    });
    strings.end();
    let part = MetadataPart {
        packed_bytes,
        bytes,
        read_bytes: input.offset(),
        message: message(&table),
        strings: strings.kept,
        strings_left_out: strings.left_out,
    };
    (part, error.err())
}

const LONGEST_TABLE: usize = (SEGMENTS + 1) * 4;

fn message(table: &[u8]) -> Option<Message> {
    let (numbers, _) = table.as_chunks::<4>();
    let (count, lengths) = numbers.split_first()?;
    let segments = u32::from_le_bytes(*count).checked_add(1)?;
    let count = usize::try_from(segments).ok().filter(|&count| count <= SEGMENTS)?;
    let words = lengths.get(..count)?.iter().map(|&len| u64::from(u32::from_le_bytes(len)));
    let words = words.fold(0, u64::saturating_add);
    let table = len_of(count.saturating_add(1).saturating_mul(4)).next_multiple_of(8);
    Some(Message { segments, bytes: words.saturating_mul(8).saturating_add(table) })
}

/// Finds printable strings in bytes that come in pieces.
struct Strings {
    most: usize,
    kept: Vec<String>,
    left_out: u64,
    current: String,
    /// The length of the current string, of which only the beginning is kept.
    len: u64,
}

impl Strings {
    const SHORTEST: u64 = 4;
    const LONGEST: usize = 256;

    fn new(most: usize) -> Self {
        Strings { most, kept: Vec::new(), left_out: 0, current: String::new(), len: 0 }
    }

    fn read(&mut self, piece: &[u8]) {
        if self.most == 0 {
            return;
        }
        for &byte in piece {
            if byte == b' ' || byte.is_ascii_graphic() {
                if self.current.len() < Self::LONGEST {
                    self.current.push(byte.into());
                }
                self.len = self.len.saturating_add(1);
            } else {
                self.end();
            }
        }
    }

    fn end(&mut self) {
        if self.len >= Self::SHORTEST {
            if self.kept.len() < self.most {
                self.kept.push(self.current.clone());
            } else {
                self.left_out = self.left_out.saturating_add(1);
            }
        }
        self.current.clear();
        self.len = 0;
    }
}
