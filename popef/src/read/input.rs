//! The bytes that decoders are given.

use std::io::{self, BufRead, Read};
use std::ops::Range;

use super::blobs::len_of;
use super::data::{Data, DataReader};
use crate::error::Error;

/// A buffered reader of which one can ask how much is left, and what the next bytes are.
pub(super) struct Input<'a> {
    data: DataReader<'a>,
    buffer: Box<[u8]>,
    held: Range<usize>,
    ended: bool,
    /// Decoders wrap an error of their input in ways of their own, so it is kept here too.
    failure: Option<Error>,
}

impl<'a> Input<'a> {
    const BUFFER: usize = 32 << 10;

    pub(super) fn of(data: Data<'a>) -> Self {
        let buffer = vec![0; Self::BUFFER].into();
        Input { data: data.reader(), buffer, held: 0..0, ended: false, failure: None }
    }

    fn held(&self) -> &[u8] {
        self.buffer.get(self.held.clone()).unwrap_or_default()
    }

    /// How many bytes are still to come.
    pub(super) fn left(&self) -> u64 {
        self.data.left().saturating_add(len_of(self.held()))
    }

    /// The next bytes, `len` of them or more, fewer only at the end.
    pub(super) fn peek(&mut self, len: usize) -> Result<&[u8], Error> {
        if self.held.len() < len {
            self.buffer.copy_within(self.held.clone(), 0);
            self.held = 0..self.held.len();
            let room = self.buffer.get_mut(self.held.end..).unwrap_or_default();
            self.held.end = self.held.end.saturating_add(self.data.read_data(room)?);
        }
        Ok(self.held())
    }

    /// Passes over so many bytes, if there are so many.
    pub(super) fn skip(&mut self, len: u64) -> Option<()> {
        let behind = self.left().checked_sub(len)?;
        match self.data.left().checked_sub(behind) {
            Some(in_data) => {
                self.held = 0..0;
                self.data.skip(in_data);
            }
            None => self.consume(usize::try_from(len).ok()?),
        }
        Some(())
    }

    /// Whether more was asked for than there is.
    pub(super) fn is_exceeded(&self) -> bool {
        self.ended
    }

    pub(super) fn take_failure(&mut self) -> Option<Error> {
        self.failure.take()
    }
}

impl BufRead for Input<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if let Err(error) = self.peek(1) {
            self.failure = Some(error);
            return Err(io::Error::other("the compressed data cannot be read"));
        }
        self.ended |= self.held.is_empty();
        Ok(self.held())
    }

    fn consume(&mut self, count: usize) {
        self.held.start = self.held.start.saturating_add(count).min(self.held.end);
    }
}

impl Read for Input<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buf)?;
        self.consume(count);
        Ok(count)
    }
}
