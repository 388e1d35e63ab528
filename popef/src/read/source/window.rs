//! Headers out of a file that is read by position.

use std::ops::Range;

use crate::error::{Problem, SystemProblem};
use crate::len::len_of;
use crate::read::fetch::Fetch;

/// What is held of a file while its headers are walked: little where blobs lie far apart, more where they lie dense.
///
/// It reads nothing itself. It says what is [missing](Window::missing), and is given that.
pub(in crate::read) struct Window {
    /// The size of the file.
    size: u64,
    ahead: ReadAhead,
    start: u64,
    bytes: Vec<u8>,
    /// How many of `bytes` have come.
    come: usize,
    /// How much is to be held.
    wanted: u64,
}

/// How much is read at a time: the least, and the most.
#[derive(Clone, Copy, Debug)]
pub(in crate::read) struct ReadAhead {
    pub(in crate::read) least: u64,
    pub(in crate::read) most: u64,
}

impl ReadAhead {
    /// A page is what the system reads anyway. Beyond 32 KiB, larger reads are hardly faster, and so much is held
    /// whatever the file holds.
    pub(in crate::read) const LOCAL: ReadAhead = ReadAhead { least: 4 << 10, most: 32 << 10 };
    /// A request to another machine takes longer than some more bytes.
    pub(in crate::read) const REMOTE: ReadAhead = ReadAhead { least: 64 << 10, most: 256 << 10 };
}

impl Window {
    const PAGE: u64 = 4 << 10;

    pub(in crate::read) fn new(size: u64, ahead: ReadAhead) -> Self {
        Window { size, ahead, start: 0, bytes: Vec::new(), come: 0, wanted: ahead.least }
    }

    /// The range of the file that is missing; empty if nothing is.
    pub(in crate::read) fn missing(&self) -> Range<u64> {
        let come = u64::try_from(self.come).unwrap_or(u64::MAX);
        self.start.saturating_add(come)..self.end()
    }

    /// Where what is missing belongs.
    pub(in crate::read) fn gap(&mut self) -> &mut [u8] {
        self.bytes.get_mut(self.come..).unwrap_or_default()
    }

    /// Tells that `count` more bytes have come into the gap.
    pub(in crate::read) fn came(&mut self, count: usize) {
        self.come = self.come.saturating_add(count).min(self.bytes.len());
    }

    fn end(&self) -> u64 {
        self.start.saturating_add(len_of(&self.bytes))
    }

    /// All bytes of the window from `at` on, if those are `len` or more.
    fn held(&self, at: u64, len: u64) -> Option<&[u8]> {
        let from = usize::try_from(at.checked_sub(self.start)?).ok()?;
        self.bytes.get(from..).filter(|bytes| len_of(bytes) >= len)
    }

    fn move_to(&mut self, at: u64, len: u64) -> Result<(), Problem> {
        let dense = at >= self.start && at <= self.end().saturating_add(self.wanted);
        self.wanted = if dense { self.wanted.saturating_mul(2).min(self.ahead.most) } else { self.ahead.least };
        // To the end of a page, if that is enough: of the next one the system would read all.
        let end = at.saturating_add(len.max(self.wanted));
        let end = Some(end & !(Self::PAGE - 1)).filter(|&page| page >= at.saturating_add(len)).unwrap_or(end);
        let len = end.saturating_sub(at).min(self.size.saturating_sub(at));
        let len = usize::try_from(len).map_err(|_| SystemProblem::AddressSpace { needed: len })?;
        // Not emptied and grown: both windows would be held for a moment.
        if self.bytes.capacity() < len || self.bytes.capacity() / 2 > len {
            self.bytes = Vec::new();
        }
        let more = len.saturating_sub(self.bytes.len());
        let needed = u64::try_from(len).unwrap_or(u64::MAX);
        self.bytes.try_reserve_exact(more).map_err(|_| SystemProblem::OutOfMemory { needed })?;
        self.bytes.resize(len, 0);
        self.start = at;
        self.come = 0;
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
}
