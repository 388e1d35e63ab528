//! The bytes of a document, a buffer at a time.

use std::io::{self, Read};

/// The number of bytes that are read at once.
const BUFFER: usize = 64 << 10;

/// A reader with a visible buffer and its position in the document.
pub(super) struct Bytes<'r> {
    reader: &'r mut dyn Read,
    buffer: Box<[u8]>,
    /// The next byte in the buffer.
    at: usize,
    /// The end of the bytes in the buffer.
    end: usize,
    /// The number of bytes before the buffer.
    before: u64,
}

impl<'r> Bytes<'r> {
    pub(super) fn new(reader: &'r mut dyn Read) -> Self {
        Bytes { reader, buffer: vec![0; BUFFER].into_boxed_slice(), at: 0, end: 0, before: 0 }
    }

    /// The number of bytes that were taken.
    pub(super) fn position(&self) -> u64 {
        self.before.saturating_add(self.at as u64)
    }

    /// The bytes in the buffer, which is empty only at the end of the document.
    #[inline]
    pub(super) fn rest(&mut self) -> io::Result<&[u8]> {
        if self.at >= self.end {
            self.fill()?;
        }
        Ok(self.buffer.get(self.at..self.end).unwrap_or_default())
    }

    /// Takes bytes that [`rest`](Self::rest) returned.
    #[inline]
    pub(super) fn take(&mut self, count: usize) {
        self.at = self.at.saturating_add(count).min(self.end);
    }

    #[inline]
    pub(super) fn peek(&mut self) -> io::Result<Option<u8>> {
        Ok(self.rest()?.first().copied())
    }

    #[inline]
    pub(super) fn next(&mut self) -> io::Result<Option<u8>> {
        let byte = self.peek()?;
        self.take(1);
        Ok(byte)
    }

    #[cold]
    fn fill(&mut self) -> io::Result<()> {
        self.before = self.before.saturating_add(self.end as u64);
        (self.at, self.end) = (0, 0);
        loop {
            match self.reader.read(&mut self.buffer) {
                Ok(len) => {
                    self.end = len.min(self.buffer.len());
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}
