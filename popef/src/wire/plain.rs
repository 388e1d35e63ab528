//! The fast reader of header and info messages, for the form that writers make: one segment, near pointers, plain
//! lists.
//!
//! Listing a file of many tensors consists mostly of reading these, and this reader takes a quarter of the time of the
//! general one. It answers only if the general reader would give the same answer. Everything unusual or wrong is left
//! to [`decode`](super::decode).

use byteorder::{ByteOrder, LittleEndian};

use super::message::Frame;
use super::parts::{HeaderFields, InfoFields, InfoMessage, Span};
use crate::limits::Limits;
use crate::types::{BlobType, DataType};

/// The nesting of the messages that are read here: root, TensorInfo, shape.
const NESTING: u16 = 3;
/// Maximum number of times that reading can visit a word: the words of the root, the TensorInfo, the shape and the name
/// can be the same.
const VISITS: u32 = 4;

/// Reads a header message. `bytes` are exactly the message.
pub(super) fn header(bytes: &[u8], frame: Frame, limits: &Limits) -> Option<HeaderFields> {
    let root = Segment::of(bytes, 0, frame, limits)?.structure(0)?;
    Some(HeaderFields { size: root.u64(1), blob_type: BlobType::from_number(root.u16()), version: root.text(0)? })
}

/// Reads an info message.
pub(super) fn info(message: InfoMessage<'_>, limits: &Limits) -> Option<InfoFields> {
    let start = message.bytes.as_ptr().addr().checked_sub(message.blob.as_ptr().addr())?;
    let root = Segment::of(message.bytes, start, message.frame, limits)?.structure(0)?;
    Some(match message.blob_type {
        BlobType::PoplarExecutable => InfoFields::executable(root.text(0)?, root.u64(0)),
        BlobType::DataTensor => {
            let (shape, data_type) = root.tensor_info(1)?;
            InfoFields::Tensor { name: root.text(0)?, shape, data_type }
        }
        BlobType::DataFeed => {
            let (shape, data_type) = root.tensor_info(1)?;
            InfoFields::Feed { name: root.text(0)?, shape, data_type, num_tensors: root.u32() }
        }
        BlobType::Opaque => InfoFields::Opaque { name: root.text(0)?, executable: root.text(1)? },
        _ => return None,
    })
}

const WORD: usize = 8;

/// The only segment of a message.
#[derive(Clone, Copy)]
struct Segment<'a> {
    bytes: &'a [u8],
    /// Where the segment begins, relative to the blob's first byte.
    start: usize,
}

/// A struct whose data and pointers are known to be within the segment.
#[derive(Clone, Copy)]
struct Struct<'a> {
    segment: Segment<'a>,
    data: &'a [u8],
    /// The word of the first pointer.
    pointers: usize,
    pointer_count: usize,
}

impl<'a> Segment<'a> {
    fn of(message: &'a [u8], start: usize, frame: Frame, limits: &Limits) -> Option<Self> {
        let bytes = frame.only_segment(message).filter(|_| limits.nesting > NESTING && limits.visits >= VISITS)?;
        let table = message.len().checked_sub(bytes.len())?;
        Some(Segment { bytes, start: start.checked_add(table)? })
    }

    fn word(self, index: usize) -> Option<u64> {
        let rest = self.bytes.get(index.checked_mul(WORD)?..)?;
        Some(u64::from_le_bytes(*rest.first_chunk()?))
    }

    fn words(self, index: usize, count: usize) -> Option<&'a [u8]> {
        self.bytes.get(index.checked_mul(WORD)?..)?.get(..count.checked_mul(WORD)?)
    }

    /// Follows the pointer at a word, if it is of this kind and not null. Returns the target's word and the pointer's
    /// upper half.
    fn follow(self, at: usize, kind: u32) -> Option<(usize, u32)> {
        let pointer = self.word(at)?;
        let (low, high) = halves(pointer);
        if pointer == 0 || low & 3 != kind {
            return None;
        }
        let offset = isize::try_from(low.cast_signed() >> 2).ok()?;
        Some((at.checked_add(1)?.checked_add_signed(offset)?, high))
    }

    fn structure(self, at: usize) -> Option<Struct<'a>> {
        let (target, sections) = self.follow(at, 0)?;
        let data_words = usize::try_from(sections & 0xffff).ok()?;
        let pointer_count = usize::try_from(sections >> 16).ok()?;
        let pointers = target.checked_add(data_words)?;
        self.words(pointers, pointer_count)?;
        Some(Struct { segment: self, data: self.words(target, data_words)?, pointers, pointer_count })
    }

    /// Reads a pointer to a list of plain numbers. Returns the byte at which the elements begin, and their number.
    fn list(self, at: usize, element_size: u32) -> Option<(usize, usize)> {
        let (target, rest) = self.follow(at, 1)?;
        (rest & 7 == element_size).then_some((target.checked_mul(WORD)?, usize::try_from(rest >> 3).ok()?))
    }

    fn span(self, at: usize, len: usize) -> Option<Span> {
        let start = u32::try_from(self.start.checked_add(at)?).ok()?;
        Some(Span::new(start, u32::try_from(len).ok()?))
    }
}

/// The lower and upper half of a word.
fn halves(word: u64) -> (u32, u32) {
    let bytes = word.to_le_bytes();
    (LittleEndian::read_u32(&bytes), LittleEndian::read_u32(bytes.last_chunk::<4>().unwrap_or(&[0; 4])))
}

impl<'a> Struct<'a> {
    /// The word of pointer `index`. `None` if the pointer is missing or null: its field then has the default value.
    fn pointer(self, index: usize) -> Option<usize> {
        let at = self.pointers.checked_add(index)?;
        (index < self.pointer_count && self.segment.word(at)? != 0).then_some(at)
    }

    /// Reads a text, without its terminating NUL. Empty if the pointer is null.
    fn text(self, index: usize) -> Option<Span> {
        const BYTES: u32 = 2;
        let Some(at) = self.pointer(index) else { return Some(Span::default()) };
        let (start, len) = self.segment.list(at, BYTES)?;
        let text = self.segment.bytes.get(start..)?.get(..len)?;
        let (end, text) = text.split_last()?;
        if *end != 0 {
            return None;
        }
        self.segment.span(start, text.len())
    }

    /// Reads the shape's bytes and the data type of a TensorInfo.
    fn tensor_info(self, index: usize) -> Option<(Span, DataType)> {
        const WORDS: u32 = 5;
        let info = self.segment.structure(self.pointer(index)?)?;
        let data_type = DataType::from_number(info.u16());
        let Some(at) = info.pointer(0) else { return Some((Span::default(), data_type)) };
        let (start, len) = self.segment.list(at, WORDS)?;
        let len = len.checked_mul(WORD)?;
        self.segment.bytes.get(start..)?.get(..len)?;
        Some((self.segment.span(start, len)?, data_type))
    }

    /// A word of the data section. Zero if the section is shorter.
    fn u64(self, index: usize) -> u64 {
        let at = index.saturating_mul(WORD);
        self.data.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |word| u64::from_le_bytes(*word))
    }

    /// The lower half of the first data word.
    fn u32(self) -> u32 {
        halves(self.u64(0)).0
    }

    /// The lowest quarter of the first data word.
    fn u16(self) -> u16 {
        LittleEndian::read_u16(&self.u64(0).to_le_bytes())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::problem::Message;
    use super::super::{Head, decode};
    use super::*;

    /// The header and info bytes of all blobs in some files of testdata.
    fn blobs() -> Vec<Vec<u8>> {
        let mut blobs = Vec::new();
        for name in ["two-models", "all-types", "split-feeds", "executable"] {
            let path = format!("../testdata/interop/{name}.popef");
            let file = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
            let mut rest = file.as_slice();
            while !rest.is_empty() {
                let head = Head::parse(rest, rest.len() as u64, &Limits::default()).unwrap();
                let (blob, after) = rest.split_at(usize::try_from(head.size).unwrap());
                blobs.push(blob[..head.len as usize].to_vec());
                rest = after;
            }
        }
        blobs
    }

    /// Asserts that the general reader gives the same answers. Counts the answers of the fast one.
    fn compare(head: &[u8], header_len: usize, blob_type: BlobType, limits: &Limits, answers: &mut usize) {
        let (header_bytes, info_bytes) = head.split_at(header_len);
        if let Ok(frame) = Frame::parse(header_bytes, Message::Header)
            && frame.len <= header_bytes.len() as u64
            && let Some(plain) = header(header_bytes, frame, limits)
        {
            assert_eq!(plain, decode::header(header_bytes, frame, limits).unwrap());
            *answers += 1;
        }
        if let Ok(frame) = Frame::parse(info_bytes, Message::Info)
            && frame.len <= info_bytes.len() as u64
        {
            let message = InfoMessage { blob: head, bytes: info_bytes, frame, blob_type };
            if let Some(plain) = info(message, limits) {
                assert_eq!(plain, decode::info(message, limits).unwrap());
                *answers += 1;
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "every value of every byte takes hours there")]
    fn the_general_reader_gives_the_same_wherever_this_one_answers() {
        let mut answers = 0;
        for blob in blobs() {
            let head = Head::parse(&blob, u64::MAX, &Limits::default()).unwrap();
            let (header_len, blob_type) = (head.header_len as usize, head.blob_type());
            if blob_type == BlobType::Metadata {
                continue;
            }
            let mut bytes = blob.clone();
            for (nesting, visits) in (0..6).flat_map(|nesting| (0..6).map(move |visits| (nesting, visits))) {
                let limits = Limits { nesting, visits, ..Limits::default() };
                compare(&bytes, header_len, blob_type, &limits, &mut answers);
            }
            for at in 0..bytes.len() {
                let old = bytes[at];
                for new in 0..=255 {
                    bytes[at] = new;
                    compare(&bytes, header_len, blob_type, &Limits::default(), &mut answers);
                }
                bytes[at] = old;
            }
        }
        assert!(answers > 100_000, "only {answers} answers were compared");
    }

    #[test]
    fn what_writers_make_is_answered_here() {
        for blob in blobs() {
            let limits = Limits::default();
            let head = Head::parse(&blob, u64::MAX, &limits).unwrap();
            let (header_bytes, info_bytes) = blob.split_at(head.header_len as usize);
            let frame = Frame::parse(header_bytes, Message::Header).unwrap();
            assert!(header(header_bytes, frame, &limits).is_some());
            let frame = Frame::parse(info_bytes, Message::Info).unwrap();
            let message = InfoMessage { blob: &blob, bytes: info_bytes, frame, blob_type: head.blob_type() };
            assert_eq!(info(message, &limits).is_some(), head.blob_type() != BlobType::Metadata);
        }
    }
}
