//! Many short byte strings in few allocations.

use super::problem::ReadProblem;
use crate::error::Problem;

/// Byte strings in chunks. Each is contiguous, and none is ever moved.
#[derive(Default)]
pub(super) struct Arena {
    chunks: Vec<Vec<u8>>,
    /// The length of all chunks except the last.
    total: usize,
}

/// Where a byte string begins. Its length must be known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    chunk: u32,
    start: u32,
}

impl Arena {
    const SMALLEST_CHUNK: usize = 1 << 10;
    const LARGEST_CHUNK: usize = 1 << 20;

    /// Returns the place of a byte string of `len` bytes, and what it is to be appended to.
    pub(super) fn next(&mut self, len: usize) -> Result<(Slot, &mut Vec<u8>), Problem> {
        if self.chunks.last().is_none_or(|chunk| chunk.capacity().saturating_sub(chunk.len()) < len) {
            self.add_chunk(len)?;
        }
        let chunk = u32::try_from(self.chunks.len().saturating_sub(1));
        let Some(last) = self.chunks.last_mut() else { return Err(ReadProblem::TooManyBlobs.into()) };
        let (Ok(chunk), Ok(start)) = (chunk, u32::try_from(last.len())) else {
            return Err(ReadProblem::TooManyBlobs.into());
        };
        Ok((Slot { chunk, start }, last))
    }

    fn add_chunk(&mut self, least: usize) -> Result<(), Problem> {
        // Chunks grow with the total, so that their unused ends stay a small part of it.
        self.total = self.total.saturating_add(self.chunks.last().map_or(0, Vec::len));
        let capacity = (self.total / 16).clamp(Self::SMALLEST_CHUNK, Self::LARGEST_CHUNK).max(least);
        let mut chunk = Vec::new();
        Problem::in_memory(capacity, chunk.try_reserve_exact(capacity).and_then(|()| self.chunks.try_reserve(1)))?;
        self.chunks.push(chunk);
        Ok(())
    }

    /// A byte string, followed by others.
    pub(super) fn get(&self, slot: Slot) -> &[u8] {
        let chunk = usize::try_from(slot.chunk).ok().and_then(|chunk| self.chunks.get(chunk));
        let start = usize::try_from(slot.start).unwrap_or(usize::MAX);
        chunk.and_then(|chunk| chunk.get(start..)).unwrap_or_default()
    }
}
