use std::fmt;
use std::io::{self, BufRead, Read, Seek, SeekFrom};
use std::sync::Arc;

use super::buffer::Buffer;
use super::data::Data;
use crate::error::Error;
use crate::len::len_of;

impl<'a> Data<'a> {
    /// Returns a reader that starts at the first byte.
    ///
    /// ```
    /// # let file = popef::File::open("examples/data/executable.popef")?;
    /// let opaque = file.opaque("popart").expect("the file has it");
    /// let copied = std::io::copy(&mut opaque.data().reader(), &mut std::io::sink())?;
    /// assert_eq!(copied, opaque.data().len());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn reader(&self) -> DataReader<'a> {
        DataReader::of(Of::Data(*self))
    }
}

/// A reader of [`Data`] that can seek. An [`Error`] of this library is wrapped in the `io::Error`.
///
/// The reader has its own buffer, so another one around it is not needed.
#[derive(Clone)]
pub struct DataReader<'a> {
    of: Of<'a>,
    /// The position of the next byte. If the buffer is not empty, its first byte is that byte.
    position: u64,
    buffer: Buffer,
}

/// What a reader reads: borrowed data, or data that it keeps available.
#[derive(Clone)]
pub(super) enum Of<'a> {
    Data(Data<'a>),
    Kept(Arc<dyn KeepsData>),
}

/// The owner of data.
pub(super) trait KeepsData: Send + Sync {
    fn data(&self) -> Data<'_>;
}

impl Of<'_> {
    fn data(&self) -> Data<'_> {
        match self {
            Of::Data(data) => *data,
            Of::Kept(owner) => owner.data(),
        }
    }

    /// Sets the file that the error is about.
    pub(super) fn error_in_file(&self, error: Error) -> Error {
        self.data().error_in_file(error)
    }
}

impl<'a> DataReader<'a> {
    pub(super) fn of(of: Of<'a>) -> Self {
        DataReader { of, position: 0, buffer: Buffer::default() }
    }

    /// Returns the number of bytes that are still to be read.
    pub fn left(&self) -> u64 {
        self.of.data().len().saturating_sub(self.position)
    }

    /// Skips `len` bytes. `None` if fewer are left.
    pub(super) fn skip(&mut self, len: u64) -> Option<()> {
        self.left().checked_sub(len)?;
        self.buffer.consume(usize::try_from(len).unwrap_or(usize::MAX));
        self.position = self.position.saturating_add(len);
        Some(())
    }

    /// Returns the next bytes without consuming them: at least `len`, fewer only at the end.
    pub(super) fn peek(&mut self, len: usize) -> Result<&[u8], Error> {
        let data = self.of.data();
        if let Some(bytes) = data.as_slice() {
            let position = usize::try_from(self.position).unwrap_or(usize::MAX);
            return Ok(bytes.get(position..).unwrap_or_default());
        }
        let held = len_of(self.buffer.held());
        let behind = self.position.saturating_add(held);
        let left = data.len().saturating_sub(behind);
        if held < u64::try_from(len).unwrap_or(u64::MAX) && left > 0 {
            let room = self.buffer.room(left).map_err(|problem| data.error(problem))?;
            data.read_at(behind, room)?;
            self.buffer.advance_to_end();
        }
        Ok(self.buffer.held())
    }

    /// Reads into `buf` without the buffer. `None` if the buffer should be used.
    fn read_directly(&mut self, buf: &mut [u8]) -> Result<Option<usize>, Error> {
        let data = self.of.data();
        let left = usize::try_from(data.len().saturating_sub(self.position)).unwrap_or(usize::MAX);
        let len = left.min(buf.len());
        let buf = buf.get_mut(..len).unwrap_or_default();
        if buf.len() < Buffer::LARGEST || !self.buffer.held().is_empty() {
            return Ok(None);
        }
        data.read_at(self.position, buf)?;
        self.position = self.position.saturating_add(len_of(buf));
        Ok(Some(buf.len()))
    }
}

impl Read for DataReader<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if let Some(count) = self.read_directly(buf)? {
            return Ok(count);
        }
        let count = self.fill_buf()?.read(buf)?;
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for DataReader<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        Ok(self.peek(1)?)
    }

    fn consume(&mut self, count: usize) {
        self.buffer.consume(count);
        self.position = self.position.saturating_add(u64::try_from(count).unwrap_or(u64::MAX));
    }
}

impl Seek for DataReader<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::End(by) => self.of.data().len().checked_add_signed(by),
            SeekFrom::Current(by) => self.position.checked_add_signed(by),
        };
        let position = position.ok_or(io::ErrorKind::InvalidInput)?;
        let forwards = position.checked_sub(self.position).unwrap_or(u64::MAX);
        self.buffer.consume(usize::try_from(forwards).unwrap_or(usize::MAX));
        self.position = position;
        Ok(position)
    }
}

impl fmt::Debug for DataReader<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DataReader").field("data", &self.of.data()).field("position", &self.position).finish()
    }
}
