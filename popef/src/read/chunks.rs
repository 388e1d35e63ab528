//! A list that can get long and must not take more memory than its elements while it does.

use std::collections::TryReserveError;

/// Elements in chunks: none is moved when more come, so old and new place never exist side by side.
pub(super) struct Chunks<T> {
    /// All but the last one are full.
    chunks: Vec<Vec<T>>,
    len: usize,
}

impl<T> Chunks<T> {
    /// Few enough that a started chunk is small beside what any file may take.
    const LEN: usize = 128;

    pub(super) fn push(&mut self, element: T) -> Result<(), TryReserveError> {
        match self.chunks.last_mut().filter(|last| last.len() < Self::LEN) {
            Some(last) => {
                last.try_reserve(1)?;
                last.push(element);
            }
            None => {
                // Most files fit into the first chunk, which grows as it needs.
                let len = if self.chunks.is_empty() { 1 } else { Self::LEN };
                let mut chunk = Vec::new();
                chunk.try_reserve_exact(len)?;
                chunk.push(element);
                self.chunks.try_reserve(1)?;
                self.chunks.push(chunk);
            }
        }
        self.len = self.len.saturating_add(1);
        Ok(())
    }

    pub(super) fn get(&self, index: usize) -> Option<&T> {
        self.chunks.get(index / Self::LEN)?.get(index % Self::LEN)
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }
}

impl<T> Default for Chunks<T> {
    fn default() -> Self {
        Chunks { chunks: Vec::new(), len: 0 }
    }
}
