//! Copies of the header and info messages of a file whose bytes are not in memory.

use super::chunks::Chunks;
use super::problem::ReadProblem;
use crate::error::Problem;

/// Many short byte strings in few allocations. Each is contiguous, and none is ever moved.
#[derive(Default)]
pub(super) struct Heads {
    chunks: Vec<Vec<u8>>,
    places: Chunks<Slot>,
    total: usize,
}

/// Where a head begins. The index has its length.
#[derive(Clone, Copy)]
struct Slot {
    chunk: u32,
    start: u32,
}

impl Heads {
    const SMALLEST_CHUNK: usize = 1 << 10;
    const LARGEST_CHUNK: usize = 1 << 20;

    /// Keeps a copy of the next blob's head.
    pub(super) fn push(&mut self, head: &[u8]) -> Result<(), Problem> {
        let room = self.chunks.last().map_or(0, |chunk| chunk.capacity().saturating_sub(chunk.len()));
        if room < head.len() {
            // Chunks grow with the total, so that their unused ends stay a small part of it.
            let capacity = (self.total / 16).clamp(Self::SMALLEST_CHUNK, Self::LARGEST_CHUNK).max(head.len());
            let mut chunk = Vec::new();
            Problem::in_memory(capacity, chunk.try_reserve_exact(capacity).and_then(|()| self.chunks.try_reserve(1)))?;
            self.chunks.push(chunk);
        }
        let chunk_index = self.chunks.len().saturating_sub(1);
        let Some(chunk) = self.chunks.last_mut() else { return Ok(()) };
        let (Ok(index), Ok(start)) = (u32::try_from(chunk_index), u32::try_from(chunk.len())) else {
            return Err(ReadProblem::TooManyBlobs.into());
        };
        chunk.extend_from_slice(head);
        Problem::in_memory(size_of::<Slot>(), self.places.push(Slot { chunk: index, start }))?;
        self.total = self.total.saturating_add(head.len());
        Ok(())
    }

    /// The head of a blob, followed by other bytes.
    pub(super) fn get(&self, blob: usize) -> &[u8] {
        let bytes = |place: &Slot| {
            self.chunks.get(usize::try_from(place.chunk).ok()?)?.get(usize::try_from(place.start).ok()?..)
        };
        self.places.get(blob).and_then(bytes).unwrap_or_default()
    }
}
