//! The text of a manifest, read byte by byte.

use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

use popef::read::{LocalFile, ReadAt as _};

use crate::error::Error;

/// The position in a source, and the limit for it. The parser owns the source, so its caller looks here.
#[derive(Debug)]
pub(super) struct Position {
    at: Cell<u64>,
    end: Cell<u64>,
}

impl Default for Position {
    fn default() -> Self {
        Position { at: Cell::new(0), end: Cell::new(u64::MAX) }
    }
}

impl Position {
    /// The longest member of an object, other than a list of files or blobs. It is held in memory.
    const LONGEST: u64 = 16 << 20;

    pub(super) fn at(&self) -> u64 {
        self.at.get()
    }

    /// Lets the next member be read.
    pub(super) fn next_member(&self) {
        self.end.set(self.at.get().saturating_add(Self::LONGEST));
    }
}

/// Reads a file through a buffer, and says where it is.
pub(super) struct Source<'m> {
    text: &'m LocalFile,
    position: Rc<Position>,
    buffer: Vec<u8>,
    used: usize,
    /// The number of bytes to read next.
    next: usize,
}

impl<'m> Source<'m> {
    /// The number of bytes read first after a jump: about one blob.
    const LEAST: usize = 1 << 10;
    const MOST: usize = 64 << 10;

    pub(super) fn new(text: &'m LocalFile) -> Self {
        Source { text, position: Rc::default(), buffer: Vec::new(), used: 0, next: Self::MOST }
    }

    /// Its position, also while a parser borrows it.
    pub(super) fn position(&self) -> Rc<Position> {
        self.position.clone()
    }

    /// Goes on at an offset.
    pub(super) fn seek(&mut self, offset: u64) {
        if offset == self.position.at() {
            return;
        }
        self.position.at.set(offset);
        self.used = 0;
        self.buffer.clear();
        self.next = Self::LEAST;
    }

    /// The next byte; `None` at the end.
    pub(super) fn peek(&mut self) -> io::Result<Option<u8>> {
        if self.used >= self.buffer.len() {
            self.fill()?;
        }
        Ok(self.buffer.get(self.used).copied())
    }

    fn fill(&mut self) -> io::Result<()> {
        let left = self.text.size().saturating_sub(self.position.at());
        let len = usize::try_from(left).unwrap_or(usize::MAX).min(self.next);
        self.used = 0;
        self.buffer.resize(len, 0);
        self.next = self.next.saturating_mul(2).min(Self::MOST);
        self.text.read_exact_at(&mut self.buffer, self.position.at())
    }

    fn pass(&mut self, len: usize) {
        self.used = self.used.saturating_add(len);
        self.position.at.set(self.position.at().saturating_add(u64::try_from(len).unwrap_or(u64::MAX)));
    }

    /// Skips whitespace. Returns the byte after it; `None` at the end.
    pub(super) fn peek_behind_whitespace(&mut self) -> Result<Option<u8>, Error> {
        self.peek_behind(|byte| byte.is_ascii_whitespace())
    }

    /// Skips some bytes. Returns the one after them; `None` at the end.
    pub(super) fn peek_behind(&mut self, is_passed: impl Fn(u8) -> bool) -> Result<Option<u8>, Error> {
        loop {
            match self.peek().map_err(|error| Error::io("read the manifest", error))? {
                Some(byte) if is_passed(byte) => self.pass(1),
                other => return Ok(other),
            }
        }
    }
}

impl Read for Source<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.peek()?.is_none() {
            return Ok(0);
        }
        if self.position.at() >= self.position.end.get() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a member is too long"));
        }
        let len = self.buffer.get(self.used..).unwrap_or_default().read(buf)?;
        self.pass(len);
        Ok(len)
    }
}
