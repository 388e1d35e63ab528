//! A buffer for bytes that are read ahead.

use std::ops::Range;

use crate::error::Problem;

/// A buffer that is filled at its end and consumed from its start. It starts small, because many callers read only the
/// first bytes.
#[derive(Clone, Default)]
pub(super) struct Buffer {
    bytes: Vec<u8>,
    held: Range<usize>,
}

impl Buffer {
    const SMALLEST: usize = 8 << 10;
    /// A read of this many bytes or more needs no buffer.
    pub(super) const LARGEST: usize = 64 << 10;

    /// The bytes that are not consumed yet.
    pub(super) fn held(&self) -> &[u8] {
        self.bytes.get(self.held.clone()).unwrap_or_default()
    }

    /// Returns room after the held bytes, for up to `most` bytes. It is not empty unless the buffer is full.
    pub(super) fn room(&mut self, most: u64) -> Result<&mut [u8], Problem> {
        self.bytes.copy_within(self.held.clone(), 0);
        self.held = 0..self.held.len();
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let size = if self.bytes.is_empty() { Self::SMALLEST } else { Self::LARGEST };
        let size = size.min(self.held.end.saturating_add(most));
        let more = size.saturating_sub(self.bytes.len());
        Problem::in_memory(more, self.bytes.try_reserve_exact(more))?;
        // Shrinks the buffer if less is left, because the caller fills all of the room.
        self.bytes.resize(size, 0);
        Ok(self.bytes.get_mut(self.held.end..).unwrap_or_default())
    }

    /// Records that all of the room was filled.
    pub(super) fn advance_to_end(&mut self) {
        self.held.end = self.bytes.len();
    }

    /// Records that the first `count` bytes of the room were filled.
    pub(super) fn advance(&mut self, count: usize) {
        self.held.end = self.held.end.saturating_add(count).min(self.bytes.len());
    }

    /// Consumes up to `count` of the held bytes.
    pub(super) fn consume(&mut self, count: usize) {
        self.held.start = self.held.start.saturating_add(count).min(self.held.end);
    }
}
