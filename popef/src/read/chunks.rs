//! A list that can get long and must not take more memory than its elements while it does.

/// Elements in chunks: none is moved when more come, so old and new place never exist side by side.
pub(super) struct Chunks<T> {
    /// All but the last one are full.
    chunks: Vec<Vec<T>>,
    len: usize,
}

impl<T> Chunks<T> {
    /// Few enough that a started chunk is small beside what any file may take.
    const LEN: usize = 128;

    pub(super) fn push(&mut self, element: T) {
        if let Some(last) = self.chunks.last_mut().filter(|last| last.len() < Self::LEN) {
            last.push(element);
        } else {
            // Most files fit into the first chunk, which grows as it needs.
            let mut chunk = if self.chunks.is_empty() { Vec::new() } else { Vec::with_capacity(Self::LEN) };
            chunk.push(element);
            self.chunks.push(chunk);
        }
        self.len = self.len.saturating_add(1);
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
