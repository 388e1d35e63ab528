//! Many short byte strings in few allocations.

use super::problem::ReadProblem;
use crate::error::Problem;

/// Byte strings in chunks. Each is contiguous and never moves.
#[derive(Default)]
pub(super) struct Arena {
    chunks: Vec<Vec<u8>>,
    /// The chunk that is appended to, if there is one.
    open: Option<u32>,
    /// The length of all chunks that were appended to before.
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
    const LONG: usize = 16 << 10;

    /// Returns the place of a byte string of `len` bytes, and what it is to be appended to.
    pub(super) fn next(&mut self, len: usize) -> Result<(Slot, &mut Vec<u8>), Problem> {
        let has_room = |chunk: &mut Vec<u8>| chunk.capacity().saturating_sub(chunk.len()) >= len;
        if !self.opened().is_some_and(has_room) {
            self.add_chunk(len)?;
        }
        let chunk = self.open.ok_or(ReadProblem::TooManyBlobs)?;
        let open = self.opened().ok_or(ReadProblem::TooManyBlobs)?;
        let start = u32::try_from(open.len()).map_err(|_| ReadProblem::TooManyBlobs)?;
        Ok((Slot { chunk, start }, open))
    }

    /// Keeps a byte string, and returns its place. A long one is not copied.
    pub(super) fn keep(&mut self, bytes: Vec<u8>) -> Result<Slot, Problem> {
        if bytes.len() >= Self::LONG {
            return Ok(Slot { chunk: self.push(bytes)?, start: 0 });
        }
        let (slot, kept) = self.next(bytes.len())?;
        kept.extend_from_slice(&bytes);
        Ok(slot)
    }

    fn opened(&mut self) -> Option<&mut Vec<u8>> {
        self.chunks.get_mut(usize::try_from(self.open?).ok()?)
    }

    fn push(&mut self, chunk: Vec<u8>) -> Result<u32, Problem> {
        let number = u32::try_from(self.chunks.len()).map_err(|_| ReadProblem::TooManyBlobs)?;
        Problem::in_memory(size_of::<Vec<u8>>(), self.chunks.try_reserve(1))?;
        self.chunks.push(chunk);
        Ok(number)
    }

    fn add_chunk(&mut self, least: usize) -> Result<(), Problem> {
        // Chunks grow with the total, so that their unused ends stay a small part of it.
        let full = self.opened().map_or(0, |chunk| chunk.len());
        self.total = self.total.saturating_add(full);
        let capacity = (self.total / 16).clamp(Self::SMALLEST_CHUNK, Self::LARGEST_CHUNK).max(least);
        let mut chunk = Vec::new();
        Problem::in_memory(capacity, chunk.try_reserve_exact(capacity))?;
        self.open = Some(self.push(chunk)?);
        Ok(())
    }

    /// A byte string, followed by others.
    pub(super) fn get(&self, slot: Slot) -> &[u8] {
        let chunk = usize::try_from(slot.chunk).ok().and_then(|chunk| self.chunks.get(chunk));
        let start = usize::try_from(slot.start).unwrap_or(usize::MAX);
        chunk.and_then(|chunk| chunk.get(start..)).unwrap_or_default()
    }
}
