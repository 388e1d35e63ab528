//! Cap'n Proto messages in stream framing: a table of segment lengths, then the segments.
//!
//! ```text
//! u32 segments - 1 | u32 words of segment 0 | u32 words of segment 1 | ... | u32 0 as padding to 8 bytes if needed
//! segment 0 | segment 1 | ...                                                each a multiple of 8 bytes
//! ```

use byteorder::{ByteOrder, LittleEndian};
use capnp::message::{Reader, ReaderOptions, ReaderSegments};

use super::Stop;
use super::problem::{Message, WireProblem};
use crate::limits::Limits;

/// The largest number of segments that the Rust and C++ readers of Cap'n Proto accept.
const MAX_SEGMENTS: usize = 511;

const WORD: u64 = 8;

/// Why capnp did not read a message.
#[derive(Debug)]
pub enum Refusal {
    /// Reading would visit more words than allowed.
    Visits,
    /// Pointers nest too deep.
    Nesting,
    /// The message is malformed.
    Malformed(capnp::Error),
}

impl From<capnp::Error> for Refusal {
    fn from(error: capnp::Error) -> Self {
        match error.kind {
            capnp::ErrorKind::ReadLimitExceeded => Refusal::Visits,
            capnp::ErrorKind::MessageIsTooDeeplyNested
            | capnp::ErrorKind::MessageIsTooDeeplyNestedOrContainsCycles
            | capnp::ErrorKind::NestingLimitExceeded => Refusal::Nesting,
            _ => Refusal::Malformed(error),
        }
    }
}

/// The length of the longest segment table.
pub const LONGEST_TABLE: usize = (MAX_SEGMENTS / 2 + 1) * 8;

/// Returns the length of a message by the segment table at its start, including the table. `None` if the bytes do not
/// begin with a table, or the message has no content.
pub fn message_len(bytes: &[u8]) -> Option<u64> {
    let frame = Frame::parse(bytes, Message::Header).ok()?;
    (!frame.is_empty()).then_some(frame.len)
}

/// The lengths that a message's segment table states.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    table: u64,
    /// The number of segments.
    pub segments: u64,
    /// The length of the message in bytes, including the table.
    pub len: u64,
}

/// The reason why a segment table could not be read.
#[derive(Clone, Copy, Debug)]
pub enum FrameFault {
    /// The bytes end before the table does.
    Cut {
        /// The length of the table.
        needed: u64,
    },
    /// The message has more segments than readers accept.
    TooManySegments {
        /// Their number.
        found: u64,
    },
}

impl Frame {
    /// Reads the segment table of a header or an info message at the start of `bytes`.
    ///
    /// The caller must check that the message's own bytes are present.
    pub(super) fn parse(bytes: &[u8], message: Message) -> Result<Frame, Stop> {
        Frame::of_table(bytes).map_err(|fault| match fault {
            FrameFault::Cut { needed } => Stop::Need(needed),
            FrameFault::TooManySegments { found } => WireProblem::TooManySegments { message, found }.into(),
        })
    }

    /// Reads the segment table at the start of `bytes`, like [`parse`](Self::parse).
    pub fn of_table(bytes: &[u8]) -> Result<Frame, FrameFault> {
        let first_word = bytes.first_chunk::<8>().ok_or(FrameFault::Cut { needed: WORD })?;
        let segments = u64::from(LittleEndian::read_u32(first_word)).saturating_add(1);
        if to_index(segments) > MAX_SEGMENTS {
            return Err(FrameFault::TooManySegments { found: segments });
        }
        let table = table_len(segments);
        // Demand the whole table with its padding, so that the error does not depend on how many bytes were read ahead.
        let words = bytes.get(..to_index(table)).ok_or(FrameFault::Cut { needed: table })?;
        let words =
            words.get(4..).and_then(|rest| rest.get(..to_index(segments.saturating_mul(4)))).unwrap_or_default();
        // At most 511 numbers of 32 bits: the sum cannot wrap.
        let words: u64 = words.chunks_exact(4).map(|word| u64::from(LittleEndian::read_u32(word))).sum();
        Ok(Frame { table, segments, len: table.saturating_add(words.saturating_mul(WORD)) })
    }

    /// The message's segment, if it has only one.
    pub(super) fn only_segment(self, bytes: &[u8]) -> Option<&[u8]> {
        if self.segments == 1 { bytes.get(to_index(self.table)..to_index(self.len)) } else { None }
    }

    /// Whether the message has no content. A valid header is never empty, but zeros look like an empty message. They
    /// occur where a blob was not finished, as a writer that appends writes the blob's first bytes last.
    pub(super) fn is_empty(&self) -> bool {
        self.len == self.table
    }

    /// Makes a reader of the message. `bytes` are the whole message.
    pub fn reader<'a>(self, bytes: &'a [u8], limits: &Limits) -> Reader<Segments<'a>> {
        let visits = usize::try_from(limits.visits.max(1)).unwrap_or(usize::MAX);
        let options = ReaderOptions {
            traversal_limit_in_words: Some(to_index(self.words()).saturating_mul(visits).saturating_add(64)),
            nesting_limit: limits.nesting.into(),
        };
        Reader::new(Segments::new(bytes, self), options)
    }

    /// The length of the message in words, including the table.
    pub fn words(self) -> u64 {
        self.len / WORD
    }
}

/// The length of a segment table in bytes: the count and one length per segment, padded to a word.
fn table_len(segments: u64) -> u64 {
    (segments / 2).saturating_add(1).saturating_mul(WORD)
}

/// Converts a length that is known to be small to an index.
fn to_index(len: u64) -> usize {
    usize::try_from(len).unwrap_or(usize::MAX)
}

/// The segments of a message, borrowed. Nothing is allocated.
#[expect(clippy::large_enum_variant, reason = "lives on the stack, while one message is read")]
#[allow(missing_debug_implementations, missing_docs, reason = "a reader has it, and nobody looks into it")]
pub enum Segments<'a> {
    One(&'a [u8]),
    /// The bytes after the table, and for each segment the word in them at which it ends.
    Many {
        body: &'a [u8],
        ends: [u32; MAX_SEGMENTS],
        count: usize,
    },
}

impl<'a> Segments<'a> {
    fn new(bytes: &'a [u8], frame: Frame) -> Self {
        if let Some(segment) = frame.only_segment(bytes) {
            return Segments::One(segment);
        }
        let (table, body) = bytes.split_at_checked(to_index(frame.table)).unwrap_or_default();
        let mut ends = [0; MAX_SEGMENTS];
        let mut end = 0u32;
        let lengths = table.get(4..).unwrap_or_default().chunks_exact(4).map(LittleEndian::read_u32);
        for (slot, length) in ends.iter_mut().zip(lengths) {
            end = end.saturating_add(length);
            *slot = end;
        }
        Segments::Many { body, ends, count: to_index(frame.segments) }
    }
}

impl ReaderSegments for Segments<'_> {
    fn get_segment(&self, index: u32) -> Option<&[u8]> {
        let index = usize::try_from(index).ok()?;
        match self {
            Segments::One(segment) => (index == 0).then_some(*segment),
            Segments::Many { body, ends, count } => {
                let ends = ends.get(..*count)?;
                let at = |word: u32| usize::try_from(u64::from(word).saturating_mul(WORD)).ok();
                let start = index.checked_sub(1).map_or(Some(0), |before| ends.get(before).copied())?;
                body.get(at(start)?..at(*ends.get(index)?)?)
            }
        }
    }

    fn len(&self) -> usize {
        match self {
            Segments::One(_) => 1,
            Segments::Many { count, .. } => *count,
        }
    }
}
