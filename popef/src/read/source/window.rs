//! Reads headers from a file that is read by position.

use std::mem;
use std::ops::Range;

use crate::error::{Problem, SystemProblem};
use crate::len::len_of;
use crate::read::fetch::Fetch;

/// The part of a file that is held while its headers are walked: small if headers are far apart, larger if they are
/// close together.
///
/// It reads nothing itself: it says what is [missing](Window::missing), and the caller fills the [gap](Window::gap).
pub(in crate::read) struct Window {
    /// The size of the file.
    size: u64,
    ahead: ReadAhead,
    start: u64,
    bytes: Vec<u8>,
    /// The number of filled bytes in `bytes`.
    filled: usize,
    /// The number of bytes to read at a time.
    wanted: u64,
}

/// The least and the most that is read at a time.
#[derive(Clone, Copy, Debug)]
pub(in crate::read) struct ReadAhead {
    pub(in crate::read) least: u64,
    pub(in crate::read) most: u64,
}

impl ReadAhead {
    /// The system reads whole pages anyway, so that is the least. Reads of more than 32 KiB are hardly faster, and this
    /// memory is taken for any file.
    pub(in crate::read) const LOCAL: ReadAhead = ReadAhead { least: 4 << 10, most: 32 << 10 };
    /// A request to another machine takes longer than more bytes do.
    pub(in crate::read) const REMOTE: ReadAhead = ReadAhead { least: 64 << 10, most: 256 << 10 };
}

impl Window {
    const PAGE: u64 = 4 << 10;

    pub(in crate::read) fn new(size: u64, ahead: ReadAhead) -> Self {
        Window { size, ahead, start: 0, bytes: Vec::new(), filled: 0, wanted: ahead.least }
    }

    /// The range of the file that is missing. Empty if nothing is missing.
    pub(in crate::read) fn missing(&self) -> Range<u64> {
        let filled = u64::try_from(self.filled).unwrap_or(u64::MAX);
        self.start.saturating_add(filled)..self.end()
    }

    /// The buffer for the missing bytes.
    pub(in crate::read) fn gap(&mut self) -> &mut [u8] {
        self.bytes.get_mut(self.filled..).unwrap_or_default()
    }

    /// Records that the first `count` bytes of the gap were filled.
    pub(in crate::read) fn advance(&mut self, count: usize) {
        self.filled = self.filled.saturating_add(count).min(self.bytes.len());
    }

    fn end(&self) -> u64 {
        self.start.saturating_add(len_of(&self.bytes))
    }

    /// All bytes of the window from `at`, if there are at least `len`.
    fn held(&self, at: u64, len: u64) -> Option<&[u8]> {
        let from = usize::try_from(at.checked_sub(self.start)?).ok()?;
        self.bytes.get(from..).filter(|bytes| len_of(bytes) >= len)
    }

    fn move_to(&mut self, at: u64, len: u64) -> Result<(), Problem> {
        let dense = at >= self.start && at <= self.end().saturating_add(self.wanted);
        self.wanted = if dense { self.wanted.saturating_mul(2).min(self.ahead.most) } else { self.ahead.least };
        // End at a page boundary if that is enough, because the system would read all of the next page.
        let end = at.saturating_add(len.max(self.wanted));
        let end = Some(end & !(Self::PAGE - 1)).filter(|&page| page >= at.saturating_add(len)).unwrap_or(end);
        let len = end.saturating_sub(at).min(self.size.saturating_sub(at));
        let len = usize::try_from(len).map_err(|_| SystemProblem::AddressSpace { needed: len })?;
        // Free the old window first, so that the two are never in memory together.
        if self.bytes.capacity() < len || self.bytes.capacity() / 2 > len {
            self.bytes = Vec::new();
        }
        let more = len.saturating_sub(self.bytes.len());
        let needed = u64::try_from(len).unwrap_or(u64::MAX);
        self.bytes.try_reserve_exact(more).map_err(|_| SystemProblem::OutOfMemory { needed })?;
        self.bytes.resize(len, 0);
        self.start = at;
        self.filled = 0;
        Ok(())
    }
}

impl Fetch for Window {
    fn room(&self, at: u64) -> u64 {
        self.size.saturating_sub(at)
    }

    fn fetch(&mut self, at: u64, len: u64) -> Result<Option<&[u8]>, Problem> {
        debug_assert!(self.missing().is_empty(), "the walk waits until nothing is missing");
        if self.held(at, len).is_none() {
            self.move_to(at, len)?;
            return Ok(None);
        }
        Ok(self.held(at, 0))
    }

    fn give_away(&mut self, at: u64, len: u64) -> Option<Vec<u8>> {
        let is_all = at == self.start && len == len_of(&self.bytes) && self.missing().is_empty();
        is_all.then(|| {
            self.filled = 0;
            self.start = self.end();
            mem::take(&mut self.bytes)
        })
    }
}
