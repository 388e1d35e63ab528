//! The bytes that decoders are given.

use std::io::{self, BufRead, Read};
use std::sync::{Mutex, PoisonError};

use super::buffer::Buffer;
use super::data::{DataReader, Of};
use super::source::uninterrupted;
use crate::error::{Error, Problem};
use crate::len::len_of;

/// Compressed bytes, of which one can ask what the next ones are.
pub(super) struct Input<'a> {
    bytes: Supply<'a>,
    ended: bool,
    /// Decoders wrap an error of their input in ways of their own, so it is kept here too.
    failure: Option<Error>,
}

enum Supply<'a> {
    Data(DataReader<'a>),
    Reader(Reader<'a>),
}

/// A reader of the caller's. Its lock is never taken: it makes the reader one that threads can share.
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

    /// How many bytes are still to come, if that is known.
    pub(super) fn left(&self) -> Option<u64> {
        match &self.bytes {
            Supply::Data(data) => Some(data.left()),
            Supply::Reader(_) => None,
        }
    }

    /// The next bytes, `len` of them or more, fewer only at the end.
    pub(super) fn peek(&mut self, len: usize) -> Result<&[u8], Error> {
        match &mut self.bytes {
            Supply::Data(data) => data.peek(len),
            Supply::Reader(reader) => reader.peek(len),
        }
    }

    /// Passes over so many bytes, if there are so many.
    pub(super) fn skip(&mut self, len: u64) -> Result<Option<()>, Error> {
        match &mut self.bytes {
            Supply::Data(data) => Ok(data.skip(len)),
            Supply::Reader(reader) => Ok((reader.pass(len)? == len).then_some(())),
        }
    }

    /// Whether more was asked for than there is.
    pub(super) fn is_exceeded(&self) -> bool {
        self.ended
    }

    pub(super) fn take_failure(&mut self) -> Option<Error> {
        self.failure.take()
    }
}

impl Reader<'_> {
    /// Reads once. Whether anything came.
    fn read_on(&mut self) -> Result<bool, Error> {
        let room = self.buffer.room(u64::MAX)?;
        let reader = self.reader.get_mut().unwrap_or_else(PoisonError::into_inner);
        let count = uninterrupted(|| reader.read(room)).map_err(|error| match error.downcast::<Error>() {
            Ok(error) => error,
            Err(source) => Problem::io("read the compressed data", source).into(),
        })?;
        self.buffer.came_in_part(count);
        Ok(count > 0)
    }

    fn peek(&mut self, len: usize) -> Result<&[u8], Error> {
        while self.buffer.held().len() < len && self.read_on()? {}
        Ok(self.buffer.held())
    }

    /// Passes over so many bytes, or all that are left. How many those were.
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
