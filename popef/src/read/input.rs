//! The input of decoders.

use std::io::{self, BufRead, Read};
use std::sync::{Mutex, PoisonError};

use super::buffer::Buffer;
use super::reader::{DataReader, Of};
use super::source::uninterrupted;
use crate::error::{Error, Problem};
use crate::len::len_of;

/// A buffered reader of compressed bytes that can look ahead.
pub(super) struct Input<'a> {
    bytes: Supply<'a>,
    ended: bool,
    /// An error of the input. It is kept here because decoders wrap it in their own ways.
    failure: Option<Error>,
}

enum Supply<'a> {
    Data(DataReader<'a>),
    Reader(Reader<'a>),
}

/// A reader that the caller gave. The mutex only makes this type `Sync`; it is never locked.
struct Reader<'a> {
    reader: Mutex<Box<dyn Read + Send + 'a>>,
    buffer: Buffer,
}

impl<'a> Input<'a> {
    pub(super) fn of(of: Of<'a>) -> Self {
        Input { bytes: Supply::Data(DataReader::of(of)), ended: false, failure: None }
    }

    pub(super) fn from_reader(reader: impl Read + Send + 'a) -> Self {
        let reader = Reader { reader: Mutex::new(Box::new(reader)), buffer: Buffer::default() };
        Input { bytes: Supply::Reader(reader), ended: false, failure: None }
    }

    /// The number of bytes that are left, if known.
    pub(super) fn left(&self) -> Option<u64> {
        match &self.bytes {
            Supply::Data(data) => Some(data.left()),
            Supply::Reader(_) => None,
        }
    }

    /// Returns the next bytes without consuming them: at least `len`, fewer only at the end.
    pub(super) fn peek(&mut self, len: usize) -> Result<&[u8], Error> {
        match &mut self.bytes {
            Supply::Data(data) => data.peek(len),
            Supply::Reader(reader) => reader.peek(len),
        }
    }

    /// Skips `len` bytes. `None` if fewer are left.
    pub(super) fn skip(&mut self, len: u64) -> Result<Option<()>, Error> {
        match &mut self.bytes {
            Supply::Data(data) => Ok(data.skip(len)),
            Supply::Reader(reader) => Ok((reader.pass(len)? == len).then_some(())),
        }
    }

    /// Whether a decoder tried to read beyond the end.
    pub(super) fn is_exceeded(&self) -> bool {
        self.ended
    }

    pub(super) fn take_failure(&mut self) -> Option<Error> {
        self.failure.take()
    }
}

impl Reader<'_> {
    /// Reads once. Returns whether any bytes came.
    fn read_on(&mut self) -> Result<bool, Error> {
        let room = self.buffer.room(u64::MAX)?;
        let reader = self.reader.get_mut().unwrap_or_else(PoisonError::into_inner);
        let count = uninterrupted(|| reader.read(room)).map_err(|error| match error.downcast::<Error>() {
            Ok(error) => error,
            Err(source) => Problem::io("read the compressed data", source).into(),
        })?;
        self.buffer.advance(count);
        Ok(count > 0)
    }

    fn peek(&mut self, len: usize) -> Result<&[u8], Error> {
        while self.buffer.held().len() < len && self.read_on()? {}
        Ok(self.buffer.held())
    }

    /// Skips up to `len` bytes. Returns how many were skipped.
    fn pass(&mut self, len: u64) -> Result<u64, Error> {
        let mut passed = 0_u64;
        while passed < len {
            let held = len_of(self.peek(1)?).min(len.saturating_sub(passed));
            if held == 0 {
                break;
            }
            self.buffer.consume(usize::try_from(held).unwrap_or(usize::MAX));
            passed = passed.saturating_add(held);
        }
        Ok(passed)
    }
}

impl BufRead for Input<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let (ended, failure) = (&mut self.ended, &mut self.failure);
        let held = match &mut self.bytes {
            Supply::Data(data) => data.peek(1),
            Supply::Reader(reader) => reader.peek(1),
        };
        match held {
            Ok(held) => {
                *ended |= held.is_empty();
                Ok(held)
            }
            Err(error) => {
                *failure = Some(error);
                Err(io::Error::other("the compressed data cannot be read"))
            }
        }
    }

    fn consume(&mut self, count: usize) {
        match &mut self.bytes {
            Supply::Data(data) => data.consume(count),
            Supply::Reader(reader) => reader.buffer.consume(count),
        }
    }
}

impl Read for Input<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buf)?;
        self.consume(count);
        Ok(count)
    }
}
