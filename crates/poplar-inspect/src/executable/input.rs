use std::io::{self, BufReader, Read};

use crate::error::{Error, Part};

/// A reader that knows its place and what it reads.
pub(super) struct Input<R> {
    reader: BufReader<R>,
    offset: u64,
    part: Part,
}

impl<R: Read> Input<R> {
    pub(super) fn new(reader: R, offset: u64, part: Part) -> Self {
        Input { reader: BufReader::with_capacity(64 << 10, reader), offset, part }
    }

    pub(super) fn part(&self) -> Part {
        self.part
    }

    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Fills the buffer. Returns how many bytes there were: fewer only at the end.
    pub(super) fn fill(&mut self, buf: &mut [u8]) -> Result<usize, Error> {
        let filled = fill(&mut self.reader, buf).map_err(|error| self.failed(error))?;
        self.offset = self.offset.saturating_add(len_of(filled));
        Ok(filled)
    }

    /// Appends `len` bytes to the buffer. Returns how many there were. The buffer grows with the bytes that come.
    pub(super) fn append(&mut self, len: u64, buf: &mut Vec<u8>) -> Result<u64, Error> {
        let result = self.reader.by_ref().take(len).read_to_end(buf);
        self.passed(result.map(len_of))
    }

    /// Skips `len` bytes. Returns how many there were.
    pub(super) fn skip(&mut self, len: u64) -> Result<u64, Error> {
        let result = io::copy(&mut self.reader.by_ref().take(len), &mut io::sink());
        self.passed(result)
    }

    /// Calls `each` with every piece of the rest.
    pub(super) fn for_each_piece(&mut self, mut each: impl FnMut(&[u8])) -> Result<(), Error> {
        let mut buf = [0; 4096];
        loop {
            let count = self.fill(&mut buf)?;
            each(buf.get(..count).unwrap_or_default());
            if count < buf.len() {
                return Ok(());
            }
        }
    }

    fn passed(&mut self, result: io::Result<u64>) -> Result<u64, Error> {
        let count = result.map_err(|error| self.failed(error))?;
        self.offset = self.offset.saturating_add(count);
        Ok(count)
    }

    fn failed(&self, error: io::Error) -> Error {
        Error::unreadable(error, self.part, self.offset)
    }
}

/// Fills the buffer. Returns how many bytes there were: fewer only at the end.
pub(super) fn fill(mut reader: impl Read, buf: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(room) = buf.get_mut(filled..).filter(|room| !room.is_empty()) {
        match reader.read(room) {
            Ok(0) => break,
            Ok(count) => filled = filled.saturating_add(count),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

pub(super) fn len_of(len: usize) -> u64 {
    u64::try_from(len).unwrap_or(u64::MAX)
}
