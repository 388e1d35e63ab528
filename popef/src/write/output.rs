//! An open file with a buffer, so that small blobs do not need system calls of their own.

use std::fs;
use std::io::{self, Take};

use super::problem::WriteProblem;
use super::storage::Handle;
use crate::error::Error;
use crate::len::len_of;
use crate::read::uninterrupted;

/// The size of the buffer. It is small enough to stay in a processor's cache, and smaller in the tests of faults.
const BUFFER: usize = if cfg!(test) { 64 << 10 } else { 256 << 10 };

/// A full buffer ends at a multiple of this, because systems write whole pages twice as fast as parts of them.
const BORDER: u64 = if cfg!(test) { 64 << 10 } else { 256 << 10 };

pub(super) struct Output {
    handle: Box<dyn Handle>,
    buffer: Vec<u8>,
    /// The position of the buffer's first byte.
    at: u64,
    /// The end of everything that was written to the file.
    reached: u64,
}

impl Output {
    pub(super) fn new(handle: Box<dyn Handle>, len: u64) -> Self {
        Output { handle, buffer: Vec::new(), at: 0, reached: len }
    }

    pub(super) fn handle(&self) -> &dyn Handle {
        &*self.handle
    }

    pub(super) fn handle_mut(&mut self) -> &mut dyn Handle {
        &mut *self.handle
    }

    /// Writes bytes at a position, perhaps later.
    pub(super) fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        if self.at.saturating_add(len_of(&self.buffer)) != at {
            self.flush()?;
            self.at = at;
        }
        match bytes.split_at_checked(self.room()) {
            Some((first, rest)) => self.fill(first, rest),
            None => self.keep(bytes),
        }
    }

    /// The number of bytes that fit into the buffer.
    fn room(&self) -> usize {
        let before = usize::try_from(self.at % BORDER).unwrap_or_default();
        // A buffer that begins after a boundary is longer, not shorter, so that scattered writes stay one write each.
        let size = if before == 0 { BUFFER } else { BUFFER.saturating_mul(2).saturating_sub(before) };
        size.saturating_sub(self.buffer.len())
    }

    /// Fills the buffer and writes it, writes as many whole buffers as follow, and keeps the rest.
    fn fill(&mut self, first: &[u8], rest: &[u8]) -> io::Result<()> {
        self.keep(first)?;
        self.flush()?;
        let whole = rest.len().saturating_sub(rest.len() % BUFFER);
        let (now, rest) = rest.split_at_checked(whole).unwrap_or((rest, &[]));
        self.write_now(self.at, now)?;
        self.at = self.at.saturating_add(len_of(now));
        self.keep(rest)
    }

    fn keep(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.buffer.try_reserve(bytes.len())?;
        self.buffer.extend_from_slice(bytes);
        Ok(())
    }

    pub(super) fn copy_at(&mut self, at: u64, from: &mut Take<fs::File>) -> io::Result<()> {
        self.flush()?;
        self.check_len()?;
        let end = at.saturating_add(from.limit());
        self.reached = self.reached.max(end);
        self.handle.copy_at(at, from)
    }

    /// Writes what is buffered.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        let buffer = std::mem::take(&mut self.buffer);
        self.write_now(self.at, &buffer)?;
        self.at = self.at.saturating_add(len_of(&buffer));
        self.buffer = buffer;
        self.buffer.clear();
        Ok(())
    }

    /// Writes what is buffered, and frees the buffer: many files may be open at once.
    pub(super) fn release(&mut self) -> io::Result<()> {
        self.flush()?;
        self.buffer = Vec::new();
        Ok(())
    }

    /// Fails if the file's length is not that of what was written. This is checked before each write: if another
    /// program has shortened the file, a write beyond its end would leave zeros before it, which could be read as data.
    pub(super) fn check_len(&self) -> io::Result<()> {
        let len = uninterrupted(|| self.handle.len())?;
        if len == self.reached { Ok(()) } else { Err(Error::from(WriteProblem::FileResized).into()) }
    }

    fn write_now(&mut self, mut at: u64, mut bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.check_len()?;
        self.reached = self.reached.max(at.saturating_add(len_of(bytes)));
        while !bytes.is_empty() {
            let count = uninterrupted(|| self.handle.write_at(at, bytes))?;
            let rest = bytes.get(count..).unwrap_or_default();
            if count == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            at = at.saturating_add(len_of(bytes).saturating_sub(len_of(rest)));
            bytes = rest;
        }
        Ok(())
    }

    /// Removes everything from a position on.
    pub(super) fn cut(&mut self, len: u64) -> io::Result<()> {
        if self.at >= len {
            self.buffer.clear();
        } else {
            let keep = usize::try_from(len.saturating_sub(self.at)).unwrap_or(usize::MAX);
            self.buffer.truncate(keep);
        }
        // If another program has shortened the file, `set_len` must not extend it with zeros.
        if self.reached > len && uninterrupted(|| self.handle.len())? > len {
            uninterrupted(|| self.handle.set_len(len))?;
        }
        self.reached = self.reached.min(len);
        Ok(())
    }

    /// Writes the buffer, and flushes the file to disk.
    pub(super) fn sync(&mut self) -> Result<(), (&'static str, io::Error)> {
        self.release().map_err(|e| ("write", e))?;
        self.handle.sync().map_err(|e| ("flush what was written to disk", e))
    }
}
