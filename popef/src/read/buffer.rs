//! Bytes that were read ahead.

use std::ops::Range;

use crate::error::Problem;

/// A buffer that is filled behind and emptied in front. It starts small, because many who read want no more than the
/// first bytes.
#[derive(Clone, Default)]
pub(super) struct Buffer {
    bytes: Vec<u8>,
    held: Range<usize>,
}

impl Buffer {
    const SMALLEST: usize = 8 << 10;
    /// Who reads more at once needs no buffer.
    pub(super) const LARGEST: usize = 64 << 10;

    /// The bytes that were not consumed yet.
    pub(super) fn held(&self) -> &[u8] {
        self.bytes.get(self.held.clone()).unwrap_or_default()
    }

    /// Room behind what is held, for up to `most` bytes. There is some unless the buffer is full.
    pub(super) fn room(&mut self, most: u64) -> Result<&mut [u8], Problem> {
        self.bytes.copy_within(self.held.clone(), 0);
        self.held = 0..self.held.len();
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let size = if self.bytes.is_empty() { Self::SMALLEST } else { Self::LARGEST };
        let size = size.min(self.held.end.saturating_add(most));
        let more = size.saturating_sub(self.bytes.len());
        Problem::in_memory(more, self.bytes.try_reserve_exact(more))?;
        // Shorter than before where less is left: all of the room is to be filled.
        self.bytes.resize(size, 0);
        Ok(self.bytes.get_mut(self.held.end..).unwrap_or_default())
    }

    /// All of the room was filled.
    pub(super) fn came(&mut self) {
        self.held.end = self.bytes.len();
    }

    /// Tells that `count` bytes have come into the room.
    pub(super) fn came_in_part(&mut self, count: usize) {
        self.held.end = self.held.end.saturating_add(count).min(self.bytes.len());
    }

    /// Passes over so many of the bytes that are held, or all of them.
    pub(super) fn consume(&mut self, count: usize) {
        self.held.start = self.held.start.saturating_add(count).min(self.held.end);
    }
}
