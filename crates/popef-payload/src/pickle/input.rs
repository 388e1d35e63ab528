use std::borrow::Cow;
use std::mem;
use std::ops::Range;

use super::halt::Halt;
use popef::read::Data;
use popef::seam::{as_u64, as_usize};

pub(super) const CUT: Halt = Halt::Fault("it ends in the middle");

/// Bytes in the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// `None` if they are in a copy, which a text was decoded to.
    pub(super) offset: Option<u64>,
    pub(super) len: u64,
}

/// The bytes of pickles: all of them if they are in memory, or a window that moves over a file.
pub(super) struct PickleBytes<'a> {
    data: Data<'a>,
    window: Cow<'a, [u8]>,
    window_start: u64,
    /// These are not the data itself, but what a text in it was decoded to.
    is_copy: bool,
}

impl<'a> PickleBytes<'a> {
    const WINDOW: u64 = 64 << 10;
    /// Data up to this length is read in one go, because archives are read back and forth.
    const WHOLE: u64 = 96 << 10;
    /// The window keeps this many bytes that were read: both lines of an import are needed at its end.
    const BEHIND: u64 = 8 << 10;

    pub(super) fn new(data: Data<'a>) -> Self {
        let window = Cow::Borrowed(data.as_slice().unwrap_or_default());
        PickleBytes { data, window, window_start: 0, is_copy: false }
    }

    pub(super) fn copy(data: Data<'a>) -> Self {
        PickleBytes { is_copy: true, ..PickleBytes::new(data) }
    }

    /// All of it.
    pub(super) fn input(&mut self) -> PickleReader<'_, 'a> {
        let end = self.data.len();
        PickleReader { source: self, position: 0, end }
    }

    /// Returns the bytes of a range, which must be within the data.
    fn bytes(&mut self, range: Range<u64>) -> Result<&[u8], Halt> {
        if self.windowed(&range).is_none() {
            self.move_window(&range)?;
        }
        self.windowed(&range).ok_or(CUT)
    }

    fn windowed(&self, range: &Range<u64>) -> Option<&[u8]> {
        let start = range.start.checked_sub(self.window_start)?;
        let end = range.end.checked_sub(self.window_start)?;
        self.window.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
    }

    /// Moves the window to the range and what comes after it. Bytes that it already has are not read again.
    fn move_window(&mut self, range: &Range<u64>) -> Result<(), Halt> {
        let range = if self.data.len() <= Self::WHOLE { &(0..self.data.len()) } else { range };
        let mut window = match mem::take(&mut self.window) {
            Cow::Owned(window) => window,
            Cow::Borrowed(_) => Vec::new(),
        };
        let known = self.window_start..self.window_start.saturating_add(as_u64(window.len()));
        let start = if (known.start..=known.end).contains(&range.start) {
            range.start.saturating_sub(Self::BEHIND).max(known.start)
        } else {
            window.clear();
            range.start
        };
        window.drain(..as_usize(start.saturating_sub(known.start)).min(window.len()));
        let len = window.len();
        let end = range.start.saturating_add(Self::WINDOW).min(self.data.len()).max(range.end);
        let more = as_usize(end.saturating_sub(start)).saturating_sub(len);
        window.try_reserve_exact(more)?;
        window.resize(len.saturating_add(more), 0);
        self.data.read_at(start.saturating_add(as_u64(len)), window.get_mut(len..).unwrap_or_default())?;
        self.window = Cow::Owned(window);
        self.window_start = start;
        Ok(())
    }
}

/// A part of a source, read from start to end.
pub(super) struct PickleReader<'s, 'a> {
    source: &'s mut PickleBytes<'a>,
    position: u64,
    end: u64,
}

impl<'a> PickleReader<'_, 'a> {
    pub(super) fn position(&self) -> u64 {
        self.position
    }

    pub(super) fn left(&self) -> u64 {
        self.end.saturating_sub(self.position)
    }

    /// The range of the bytes that are left.
    pub(super) fn all(&self) -> Range<u64> {
        self.position..self.end
    }

    /// Whether the next bytes are those of a pickle that states its protocol.
    pub(super) fn begins_as_pickle(&mut self) -> Result<bool, Halt> {
        Ok(matches!(self.peek(2)?, [0x80, 0..=5]))
    }

    /// Skips the next `len` bytes, and returns their range.
    pub(super) fn skip(&mut self, len: u64) -> Result<Range<u64>, Halt> {
        let start = self.position;
        self.position = start.checked_add(len).filter(|&end| end <= self.end).ok_or(CUT)?;
        Ok(start..self.position)
    }

    pub(super) fn byte(&mut self) -> Result<u8, Halt> {
        self.take(1)?.first().copied().ok_or(CUT)
    }

    /// Reads a number of up to eight bytes, the lowest first.
    pub(super) fn number(&mut self, width: u8) -> Result<u64, Halt> {
        let bytes = self.take(width.into())?;
        Ok(bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    /// Reads bytes. If fewer are left, none are left afterwards.
    fn take(&mut self, len: u64) -> Result<&[u8], Halt> {
        let there = self.position..self.position.saturating_add(len).min(self.end);
        self.position = there.end;
        if there.end.saturating_sub(there.start) < len {
            return Err(CUT);
        }
        self.source.bytes(there)
    }

    /// Reads the bytes up to the next line feed, at most `limit`, and skips the line feed.
    pub(super) fn line(&mut self, limit: u64) -> Result<Range<u64>, Halt> {
        let start = self.position;
        let longest = start.saturating_add(limit).saturating_add(1);
        let end = longest.min(self.end);
        let (mut searched, mut step) = (start, 256);
        while searched < end {
            // The whole line has to be in the window. The step doubles, so few bytes are read twice.
            let until = searched.saturating_add(step).min(end);
            let bytes = self.source.bytes(start..until)?.get(as_usize(searched.saturating_sub(start))..);
            if let Some(len) = bytes.unwrap_or_default().iter().position(|&byte| byte == b'\n') {
                let line = start..searched.saturating_add(as_u64(len));
                self.position = line.end.saturating_add(1);
                return Ok(line);
            }
            searched = until;
            step = step.saturating_mul(2);
        }
        self.position = end;
        Err(if end == longest { Halt::Limit("a line has no end in sight") } else { CUT })
    }

    /// Skips the bytes up to and including the next line feed, without keeping them in the window.
    pub(super) fn skip_line(&mut self) -> Result<Range<u64>, Halt> {
        let start = self.position;
        let mut step = 256;
        while self.position < self.end {
            let until = self.position.saturating_add(step).min(self.end);
            let bytes = self.source.bytes(self.position..until)?;
            if let Some(len) = bytes.iter().position(|&byte| byte == b'\n') {
                let end = self.position.saturating_add(as_u64(len));
                self.position = end.saturating_add(1);
                return Ok(start..end);
            }
            self.position = until;
            step = step.saturating_mul(2).min(PickleBytes::WINDOW);
        }
        Err(CUT)
    }

    /// Returns the next bytes without skipping them: `len`, or fewer at the end.
    pub(super) fn peek(&mut self, len: u64) -> Result<&[u8], Halt> {
        self.source.bytes(self.position..self.position.saturating_add(len).min(self.end))
    }

    /// Returns the bytes of a range that was skipped.
    pub(super) fn bytes(&mut self, range: Range<u64>) -> Result<&[u8], Halt> {
        self.source.bytes(range)
    }

    /// Returns where in the data a range is.
    pub(super) fn place(&self, range: &Range<u64>) -> Place {
        let offset = (!self.source.is_copy).then_some(range.start);
        Place { offset, len: range.end.saturating_sub(range.start) }
    }

    /// Returns a range that was skipped as a separate input.
    pub(super) fn part(&mut self, range: Range<u64>) -> PickleReader<'_, 'a> {
        PickleReader { source: self.source, position: range.start, end: range.end }
    }
}
