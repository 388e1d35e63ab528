//! A list that takes hardly more memory than its elements, even while it grows.

use std::collections::TryReserveError;

/// Elements in chunks. Growing moves no elements, so there is never an old and a new copy at the same time.
pub(super) struct Chunks<T> {
    /// All chunks except the last are full.
    chunks: Vec<Vec<T>>,
    len: usize,
}

impl<T> Chunks<T> {
    /// Small enough that a chunk with one element takes little memory compared to what any file may take.
    const LEN: usize = 128;

    pub(super) fn push(&mut self, element: T) -> Result<(), TryReserveError> {
        match self.chunks.last_mut().filter(|last| last.len() < Self::LEN) {
            Some(last) => {
                last.try_reserve(1)?;
                last.push(element);
            }
            None => {
                // Most files fit into the first chunk, which grows on demand.
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

    /// An element and the one after it.
    pub(super) fn get_with_next(&self, index: usize) -> Option<(&T, Option<&T>)> {
        let chunk = index / Self::LEN;
        match self.chunks.get(chunk)?.get(index % Self::LEN..)? {
            [element, next, ..] => Some((element, Some(next))),
            [element] => Some((element, self.chunks.get(chunk.saturating_add(1)).and_then(|chunk| chunk.first()))),
            [] => None,
        }
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
