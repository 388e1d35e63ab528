//! Unpacks members that are compressed with deflate.

use std::ops::Range;

use flate2::{Decompress, FlushDecompress, Status};

use super::super::halt::Halt;
use super::super::input::PickleReader;
use popef::seam::{as_u64, as_usize};

/// The first bytes of a member tell whether the rest is needed.
pub(in super::super) const FIRST: u64 = 512;
/// Maximum number of compressed bytes that are read at a time.
const STEP: u64 = 16 << 10;

const DAMAGED: &str = "its compressed data is damaged, or does not unpack to the length that the archive states";

/// Unpacks the members of all archives in the data.
pub(in super::super) struct Unpacking {
    /// The number of bytes that may still be unpacked.
    left: u64,
    decoder: Option<Box<Decompress>>,
}

impl Unpacking {
    /// For data of `len` bytes.
    pub(in super::super) fn new(len: u64) -> Self {
        Unpacking { left: len.saturating_mul(2).saturating_add(64 << 10), decoder: None }
    }

    /// Unpacks the bytes of a range, which the archive says become `len`. Returns `None` if the first of them are not
    /// wanted, and an error if they cannot be unpacked.
    pub(in super::super) fn unpack(
        &mut self,
        input: &mut PickleReader<'_, '_>,
        range: Range<u64>,
        len: u64,
        is_wanted: impl FnOnce(&[u8]) -> bool,
    ) -> Result<Result<Option<Vec<u8>>, &'static str>, Halt> {
        let decoder = self.decoder.get_or_insert_with(|| Box::new(Decompress::new(false)));
        decoder.reset(false);
        let mut member = Inflated { decoder, range, bytes: Vec::new(), is_at_end: false };
        if !member.fill(input, FIRST.min(len))? {
            return Ok(Err(DAMAGED));
        }
        if !is_wanted(&member.bytes) {
            return Ok(Ok(None));
        }
        let Some(left) = self.left.checked_sub(len) else {
            return Ok(Err("it unpacks to many times the length of the archive"));
        };
        self.left = left;
        let is_whole = member.fill(input, len)? && member.is_whole(input)?;
        Ok(if is_whole { Ok(Some(member.bytes)) } else { Err(DAMAGED) })
    }
}

struct Inflated<'d> {
    decoder: &'d mut Decompress,
    /// The compressed bytes that were not used yet.
    range: Range<u64>,
    bytes: Vec<u8>,
    is_at_end: bool,
}

impl Inflated<'_> {
    /// Unpacks until there are `len` bytes. Returns whether it reached that number.
    fn fill(&mut self, input: &mut PickleReader<'_, '_>, len: u64) -> Result<bool, Halt> {
        let len = as_usize(len);
        self.bytes.try_reserve_exact(len.saturating_sub(self.bytes.len()))?;
        let mut at = self.bytes.len();
        self.bytes.resize(len, 0);
        while at < len && !self.is_at_end {
            let Some(more) = self.step(input, at)? else { break };
            at = at.saturating_add(more);
        }
        self.bytes.truncate(at);
        Ok(at == len)
    }

    /// Unpacks some bytes to a place. Returns their number, or `None` if the data is damaged or ends.
    fn step(&mut self, input: &mut PickleReader<'_, '_>, at: usize) -> Result<Option<usize>, Halt> {
        let end = self.range.start.saturating_add(STEP).min(self.range.end);
        let packed = input.bytes(self.range.start..end)?;
        let (used, made) = (self.decoder.total_in(), self.decoder.total_out());
        let out = self.bytes.get_mut(at..).unwrap_or_default();
        let status = self.decoder.decompress(packed, out, FlushDecompress::None);
        let used = self.decoder.total_in().saturating_sub(used);
        let made = self.decoder.total_out().saturating_sub(made);
        self.range.start = self.range.start.saturating_add(used);
        self.is_at_end = matches!(status, Ok(Status::StreamEnd));
        let is_stuck = used == 0 && made == 0 && !self.is_at_end;
        Ok(if status.is_err() || is_stuck { None } else { Some(as_usize(made)) })
    }

    /// Whether the data ends here too.
    fn is_whole(&mut self, input: &mut PickleReader<'_, '_>) -> Result<bool, Halt> {
        let len = self.bytes.len();
        if !self.is_at_end && self.fill(input, as_u64(len).saturating_add(1))? {
            return Ok(false);
        }
        Ok(self.is_at_end && self.range.is_empty() && self.bytes.len() == len)
    }
}
