//! Unpacks LZ4 frames (<https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md>). lz4_flex unpacks their blocks.
//!
//! A frame's header says how large its blocks may be. That is a claim, so buffers grow with what the blocks really
//! hold. The buffers are reused for the next frame, so that many small frames cost no more than their bytes.

use std::hash::Hasher as _;
use std::io::{self, BufRead as _, Read as _};
use std::ops::Range;

use lz4_flex::block::{decompress_into, decompress_into_with_dict};
use twox_hash::XxHash32;

use super::fault::{Fault, NO_DICTIONARY, ODD_BLOCK, ODD_HEADER, OTHER_CONTENT, OTHER_LENGTH, TOO_EARLY, part};
use crate::len::len_of;
use crate::read::input::Input;

/// Unpacks frames, one after the other.
pub(super) struct Frames<'a> {
    input: Input<'a>,
    /// `None` between two frames.
    frame: Option<Frame>,
    /// A buffer for a block as it is in the input.
    packed: Vec<u8>,
    unpacked: Unpacked,
}

impl<'a> Frames<'a> {
    pub(super) fn of(input: Input<'a>) -> Self {
        Frames { input, frame: None, packed: Vec::new(), unpacked: Unpacked::default() }
    }

    /// Reads the next bytes of a frame. Returns 0 at its end, where the next frame may begin.
    pub(super) fn read(&mut self, buf: &mut [u8]) -> Result<usize, Fault> {
        let mut frame = match self.frame.take() {
            Some(frame) => frame,
            None => self.header()?,
        };
        while self.unpacked.left.is_empty() {
            if !self.next_block(&mut frame)? {
                frame.check_end(&mut self.input)?;
                return Ok(0);
            }
        }
        self.frame = Some(frame);
        Ok(self.unpacked.give(buf))
    }

    fn header(&mut self) -> Result<Frame, Fault> {
        let bytes = self.input.peek(LONGEST_HEADER).map_err(Fault::Input)?;
        let (frame, len) = Frame::parse(bytes)?;
        self.input.consume(len);
        self.unpacked.left = 0..0;
        Ok(frame)
    }

    /// Unpacks a block. Returns `false` at the end mark of the frame.
    fn next_block(&mut self, frame: &mut Frame) -> Result<bool, Fault> {
        let size = number(&mut self.input)?;
        if size == 0 {
            return Ok(false);
        }
        let len = usize::try_from(size & !STORED).unwrap_or(usize::MAX);
        if len > frame.block_size {
            return Err(ODD_BLOCK.into());
        }
        let packed = fetch(&mut self.input, &mut self.packed, len)?;
        if frame.has_block_checksums && number(&mut self.input)? != XxHash32::oneshot(0, packed) {
            return Err("a block does not match its checksum".into());
        }
        let bytes = if size & STORED == 0 {
            self.unpacked.decompress(packed, frame)?
        } else {
            self.unpacked.copy(packed, frame.links_blocks)?
        };
        frame.given = frame.given.saturating_add(len_of(bytes));
        if let Some(hash) = &mut frame.content_hash {
            hash.write(bytes);
        }
        Ok(true)
    }

    pub(super) fn input(&mut self) -> &mut Input<'a> {
        &mut self.input
    }

    pub(super) fn into_input(self) -> Input<'a> {
        self.input
    }
}

/// The bit of a block's length that says that the block is not compressed.
const STORED: u32 = 1 << 31;

fn number(input: &mut Input<'_>) -> Result<u32, Fault> {
    let bytes = input.peek(4).map_err(Fault::Input)?.first_chunk();
    let number = u32::from_le_bytes(*bytes.ok_or(TOO_EARLY)?);
    input.consume(4);
    Ok(number)
}

/// Reads the next `len` bytes into `buffer`.
fn fetch<'b>(input: &mut Input<'_>, buffer: &'b mut Vec<u8>, len: usize) -> Result<&'b [u8], Fault> {
    if u64::try_from(len).is_ok_and(|len| input.left().is_some_and(|left| len > left)) {
        return Err(TOO_EARLY.into());
    }
    if len > buffer.len() {
        // Free the old buffer first: its content is not needed any more.
        *buffer = Vec::new();
        buffer.try_reserve_exact(len).map_err(|_| Fault::Memory(len))?;
        buffer.resize(len, 0);
    }
    let bytes = buffer.get_mut(..len).unwrap_or_default();
    input.read_exact(bytes).map_err(|error| Fault::of(error, input, TOO_EARLY))?;
    Ok(bytes)
}

/// The fields of a frame's header, and the state of unpacking it.
struct Frame {
    /// Whether blocks refer to previous ones.
    links_blocks: bool,
    has_block_checksums: bool,
    /// The largest size of a block, packed or unpacked.
    block_size: usize,
    content_size: Option<u64>,
    /// Present if a checksum follows the frame.
    content_hash: Option<XxHash32>,
    given: u64,
}

const LONGEST_HEADER: usize = 19;

impl Frame {
    /// Parses a header, which begins with its magic number. Also returns its length.
    fn parse(bytes: &[u8]) -> Result<(Frame, usize), Fault> {
        let described = bytes.get(4..).unwrap_or_default();
        let mut rest = described;
        let [flags, sizes] = part(&mut rest)?;
        let is_set = |bit: u8| flags >> bit & 1 == 1;
        let content_size = if is_set(3) { Some(u64::from_le_bytes(part(&mut rest)?)) } else { None };
        let dictionary: Option<[u8; 4]> = if is_set(0) { Some(part(&mut rest)?) } else { None };
        let described = described.get(..described.len().saturating_sub(rest.len())).unwrap_or_default();
        let [checksum] = part(&mut rest)?;

        const VERSION: u8 = 1;
        let has_odd_bits = is_set(1) || sizes & 0b1000_1111 != 0;
        let block_size = match sizes >> 4 {
            4 => 64 << 10,
            5 => 256 << 10,
            6 => 1 << 20,
            7 => 4 << 20,
            _ => return Err(ODD_HEADER.into()),
        };
        if flags >> 6 != VERSION || has_odd_bits {
            return Err(ODD_HEADER.into());
        }
        let [_, found, ..] = XxHash32::oneshot(0, described).to_le_bytes();
        if found != checksum {
            return Err("the header of a frame does not match its checksum".into());
        }
        if dictionary.is_some() {
            return Err(NO_DICTIONARY.into());
        }
        let frame = Frame {
            links_blocks: !is_set(5),
            has_block_checksums: is_set(4),
            block_size,
            content_size,
            content_hash: is_set(2).then(|| XxHash32::with_seed(0)),
            given: 0,
        };
        Ok((frame, bytes.len().saturating_sub(rest.len())))
    }

    /// Compares the length and the checksum of what was unpacked with those in the frame.
    fn check_end(&self, input: &mut Input<'_>) -> Result<(), Fault> {
        if self.content_size.is_some_and(|size| size != self.given) {
            return Err(OTHER_LENGTH.into());
        }
        match &self.content_hash {
            Some(hash) if number(input)? != hash.finish_32() => Err(OTHER_CONTENT.into()),
            _ => Ok(()),
        }
    }
}

/// How far back linked blocks can refer.
const REACH: usize = 64 << 10;

/// The unpacked bytes of blocks.
#[derive(Default)]
struct Unpacked {
    /// The last unpacked bytes of the frame, followed by unused room.
    bytes: Vec<u8>,
    /// The range of the bytes that the caller has not received yet. It has received all before them.
    left: Range<usize>,
}

impl Unpacked {
    /// Copies as many of the bytes that are left as fit into `buf`.
    fn give(&mut self, buf: &mut [u8]) -> usize {
        let mut left = self.bytes.get(self.left.clone()).unwrap_or_default();
        let count = left.read(buf).unwrap_or_default();
        self.left.start = self.left.start.saturating_add(count);
        count
    }

    fn decompress(&mut self, packed: &[u8], frame: &Frame) -> Result<&[u8], Fault> {
        /// Maximum number of bytes that one packed byte can stand for, which is that of a byte in the length of a
        /// match.
        const MOST_OF_A_BYTE: usize = 255;
        let most = packed.len().saturating_mul(MOST_OF_A_BYTE).min(frame.block_size);
        let (before, room) = self.room(most, frame.links_blocks)?;
        let unpacked = match before {
            [] => decompress_into(packed, room),
            _ => decompress_into_with_dict(packed, room, before),
        };
        match unpacked {
            Ok(count) => Ok(self.add(count)),
            Err(error) => Err(Fault::Data(ODD_BLOCK, Some(io::Error::other(error)))),
        }
    }

    fn copy(&mut self, stored: &[u8], keeps: bool) -> Result<&[u8], Fault> {
        let (_, room) = self.room(stored.len(), keeps)?;
        room.copy_from_slice(stored);
        Ok(self.add(stored.len()))
    }

    /// Adds the first `count` bytes of the room to those that are left.
    fn add(&mut self, count: usize) -> &[u8] {
        self.left.end = self.left.end.saturating_add(count);
        self.bytes.get(self.left.clone()).unwrap_or_default()
    }

    /// Returns the bytes that the next block may refer to, if any, and room for `most` bytes after them. No bytes may
    /// be left.
    fn room(&mut self, most: usize, keeps: bool) -> Result<(&[u8], &mut [u8]), Fault> {
        let mut start = if keeps { self.left.end } else { 0 };
        // Move only after at least as many new bytes as are moved, so that moving costs little.
        if start >= 2 * REACH && start.saturating_add(most) > self.bytes.len() {
            self.bytes.copy_within(start.saturating_sub(REACH)..start, 0);
            start = REACH;
        }
        self.left = start..start;
        self.make_room(start, most)?;
        let (before, room) = self.bytes.split_at_mut_checked(start).unwrap_or_default();
        let before = before.get(start.saturating_sub(REACH)..).unwrap_or_default();
        Ok((before, room.get_mut(..most).unwrap_or_default()))
    }

    /// Grows the buffer if it has no room for `most` bytes after the first `kept`.
    fn make_room(&mut self, kept: usize, most: usize) -> Result<(), Fault> {
        const LONGEST: usize = 2 * REACH + (4 << 20);
        let needed = kept.saturating_add(most);
        if needed > self.bytes.len() {
            // Double the length, so that this happens seldom, but never beyond what can be needed.
            let len = self.bytes.len().saturating_mul(2).min(LONGEST).max(needed);
            // Free what need not be kept before more is taken.
            self.bytes.truncate(kept);
            self.bytes.shrink_to_fit();
            let more = len.saturating_sub(kept);
            self.bytes.try_reserve_exact(more).map_err(|_| Fault::Memory(more))?;
            self.bytes.resize(len, 0);
        }
        Ok(())
    }
}
