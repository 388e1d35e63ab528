//! Unpacks zstd frames (RFC 8878). ruzstd unpacks their blocks.
//!
//! ruzstd gives no bytes of a frame until it has unpacked the whole frame, or more than its window. That is too much
//! work if only a few bytes are wanted. So the headers are read here, and ruzstd gets a smaller window in that case.

use std::io::{self, BufRead as _, Read as _};

use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::fault::{Fault, NO_DICTIONARY, ODD_BLOCK, ODD_HEADER, OTHER_CONTENT, OTHER_LENGTH, TOO_EARLY, part};
use crate::read::input::Input;

/// Unpacks one frame.
pub(super) struct Frame<'a> {
    input: Input<'a>,
    /// Made for one frame only: a reused decoder would allocate the whole window that the next frame claims.
    decoder: FrameDecoder,
    memory: Memory,
    content_size: Option<u64>,
    given: u64,
    /// The number of bytes that must be ready before any are given, unless the frame ends earlier.
    enough: usize,
}

impl<'a> Frame<'a> {
    /// Reads a frame's header. `limit` is the largest window, and `wanted` the most bytes that the caller will read.
    pub(super) fn start(mut input: Input<'a>, limit: u64, wanted: u64) -> Result<Self, Fault> {
        let bytes = input.peek(LONGEST_HEADER).map_err(Fault::Input)?;
        let (header, len) = Header::parse(bytes)?;
        input.consume(len);
        if header.window > limit {
            return Err(Fault::Window(header.window));
        }
        let (window, enough) = if header.window.saturating_sub(BLOCK) > wanted {
            // No bytes are given until all wanted ones are ready. So all are still in the buffer, and blocks can refer
            // to them in spite of the smaller window.
            (BLOCK, wanted.saturating_add(1))
        } else {
            (header.window, 1)
        };
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(u64::MAX);
        decoder
            .init(header.with_window(window).as_slice())
            .map_err(|e| Fault::Data(ODD_HEADER, Some(io::Error::other(e))))?;
        let enough = usize::try_from(enough).unwrap_or(usize::MAX);
        let memory = Memory::of(window);
        Ok(Frame { input, decoder, memory, content_size: header.content_size, given: 0, enough })
    }

    /// Reads the next bytes. Returns 0 at the end of the frame, after checking its checksum and length.
    pub(super) fn read(&mut self, buf: &mut [u8]) -> Result<usize, Fault> {
        while self.decoder.can_collect() < self.enough && !self.decoder.is_finished() {
            if has_too_many_literals(self.input.peek(6).map_err(Fault::Input)?) {
                return Err(ODD_BLOCK.into());
            }
            self.memory.check()?;
            let decoded = self.decoder.decode_blocks(&mut self.input, BlockDecodingStrategy::UptoBlocks(1));
            decoded.map_err(|error| Fault::of(io::Error::other(error), &mut self.input, ODD_BLOCK))?;
        }
        self.enough = 1;
        let count = self.decoder.read(buf).map_err(|error| Fault::Data(ODD_BLOCK, Some(error)))?;
        if count == 0 {
            self.check_end()?;
        }
        self.given = self.given.saturating_add(u64::try_from(count).unwrap_or(u64::MAX));
        Ok(count)
    }

    /// Compares the length and the checksum of what was unpacked with those in the frame, which ruzstd does not.
    fn check_end(&self) -> Result<(), Fault> {
        if self.content_size.is_some_and(|size| size != self.given) {
            return Err(OTHER_LENGTH.into());
        }
        let (stated, found) = (self.decoder.get_checksum_from_data(), self.decoder.get_calculated_checksum());
        if stated.is_none() || stated == found { Ok(()) } else { Err(OTHER_CONTENT.into()) }
    }

    pub(super) fn input(&mut self) -> &mut Input<'a> {
        &mut self.input
    }

    pub(super) fn into_input(self) -> Input<'a> {
        self.input
    }
}

/// Checks that there is memory for the window. ruzstd aborts the process if there is none, so the same amount is
/// reserved and freed beforehand.
struct Memory {
    /// The size of the window, which is only a claim.
    window: u64,
    /// The number of blocks that may still be unpacked before the check: the first ones take little memory.
    blocks: u8,
}

impl Memory {
    fn of(window: u64) -> Self {
        Memory { window, blocks: 4 }
    }

    /// Must be called before each block.
    fn check(&mut self) -> Result<(), Fault> {
        match self.blocks.checked_sub(1) {
            Some(0) => {
                self.blocks = 0;
                // While ruzstd's buffer grows, the old one of half the size is still in memory.
                let needed = self.window.saturating_add(self.window / 2);
                let needed = usize::try_from(needed).unwrap_or(usize::MAX);
                Vec::<u8>::new().try_reserve_exact(needed).map_err(|_| Fault::Memory(needed))
            }
            Some(blocks) => {
                self.blocks = blocks;
                Ok(())
            }
            None => Ok(()),
        }
    }
}

/// The largest size of an unpacked block.
const BLOCK: u64 = 128 << 10;

/// Whether the next block claims more literals than the format allows. ruzstd would unpack up to 1 MiB of them.
fn has_too_many_literals(block: &[u8]) -> bool {
    const COMPRESSED: u8 = 2;
    const LONG: u8 = 3;
    let &[header, _, _, a, b, c, ..] = block else { return false };
    // The length has 20 bits if the literals are raw or one repeated byte, otherwise 18.
    let mask = if a & 2 == 0 { 0xf_ffff } else { 0x3_ffff };
    let literals = u32::from_le_bytes([a, b, c, 0]) >> 4 & mask;
    header >> 1 & 3 == COMPRESSED && a >> 2 & 3 == LONG && u64::from(literals) > BLOCK
}

const LONGEST_HEADER: usize = 18;

/// The fields of a frame's header.
struct Header {
    /// How far back blocks may refer.
    window: u64,
    content_size: Option<u64>,
    has_checksum: bool,
}

impl Header {
    /// Parses a header, which begins with its magic number. Also returns its length.
    fn parse(bytes: &[u8]) -> Result<(Header, usize), Fault> {
        let mut rest = bytes.get(4..).unwrap_or_default();
        let [flags] = part(&mut rest)?;
        let is_one_segment = flags >> 5 & 1 == 1;
        let window = if is_one_segment { None } else { Some(window_of(part(&mut rest)?)) };
        let dictionary = match flags & 3 {
            3 => number(&mut rest, 4)?,
            len => number(&mut rest, len.into())?,
        };
        let content_size = match flags >> 6 {
            0 if is_one_segment => Some(number(&mut rest, 1)?),
            0 => None,
            1 => Some(number(&mut rest, 2)?.saturating_add(256)),
            2 => Some(number(&mut rest, 4)?),
            _ => Some(number(&mut rest, 8)?),
        };
        if flags >> 3 & 1 == 1 {
            return Err(ODD_HEADER.into());
        }
        if dictionary != 0 {
            return Err(NO_DICTIONARY.into());
        }
        let window = window.or(content_size).unwrap_or_default();
        let header = Header { window, content_size, has_checksum: flags >> 2 & 1 == 1 };
        Ok((header, bytes.len().saturating_sub(rest.len())))
    }

    /// Makes the header of a frame without a content size, whose window is at least `bytes`.
    fn with_window(&self, bytes: u64) -> [u8; 6] {
        let window = (0..u8::MAX).find(|window| window_of([*window]) >= bytes).unwrap_or(u8::MAX);
        [0x28, 0xb5, 0x2f, 0xfd, u8::from(self.has_checksum) << 2, window]
    }
}

/// Decodes the window size from its byte.
fn window_of([byte]: [u8; 1]) -> u64 {
    let eighths = 8 | u64::from(byte & 7);
    eighths << 7 << (byte >> 3)
}

fn number(bytes: &mut &[u8], len: usize) -> Result<u64, Fault> {
    let (number, rest) = bytes.split_at_checked(len).ok_or(TOO_EARLY)?;
    *bytes = rest;
    Ok(number.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}
