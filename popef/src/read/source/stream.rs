//! Headers out of a stream.

use std::io::{self, Read};
use std::ops::Range;

use super::uninterrupted;
use crate::error::{Problem, SystemProblem};
use crate::len::len_of;
use crate::read::fetch::Fetch;

/// Reads headers from a stream, ahead of what is asked for, and passes over the data.
pub(in crate::read) struct Stream<R> {
    reader: R,
    /// Where the first byte that is held lies in the stream.
    start: u64,
    bytes: Vec<u8>,
    /// Which of `bytes` were read and not passed over yet.
    held: Range<usize>,
    ended: bool,
}

impl<R: Read> Stream<R> {
    /// What is read at a time; this much is held whatever the stream holds.
    const PIECE: usize = 32 << 10;

    pub(in crate::read) fn new(reader: R) -> Self {
        Stream { reader, start: 0, bytes: Vec::new(), held: 0..0, ended: false }
    }

    fn held(&self) -> &[u8] {
        self.bytes.get(self.held.clone()).unwrap_or_default()
    }

    /// Makes room for some of the next `missing` bytes behind those that are held.
    fn make_room(&mut self, missing: u64) -> Result<(), Problem> {
        // Once for each head: a long one that comes in small pieces must not be moved for each of them.
        if self.held.start > 0 {
            self.bytes.copy_within(self.held.clone(), 0);
            self.held = 0..self.held.len();
        }
        if self.held.end < self.bytes.len() {
            return Ok(());
        }
        // How much is missing is a claim. And a buffer that doubles would hold up to three times what came.
        let most = Self::PIECE.max(self.bytes.len() / 2);
        let more = usize::try_from(missing).unwrap_or(usize::MAX).clamp(Self::PIECE, most);
        let len = self.bytes.len().saturating_add(more);
        let needed = u64::try_from(len).unwrap_or(u64::MAX);
        self.bytes.try_reserve_exact(more).map_err(|_| SystemProblem::OutOfMemory { needed })?;
        self.bytes.resize(len, 0);
        Ok(())
    }

    /// Reads once; `missing` bytes are wanted beyond those that are held.
    fn read_on(&mut self, missing: u64) -> Result<(), Problem> {
        self.make_room(missing)?;
        let room = self.bytes.get_mut(self.held.end..).unwrap_or_default();
        let count = uninterrupted(|| self.reader.read(room)).map_err(stream_error)?;
        self.held.end = self.held.end.saturating_add(count.min(room.len()));
        self.ended = count == 0;
        Ok(())
    }
}

fn stream_error(source: io::Error) -> Problem {
    Problem::io("read the stream", source)
}

impl<R: Read> Fetch for Stream<R> {
    fn room(&self, _at: u64) -> u64 {
        if self.ended { len_of(self.held()) } else { u64::MAX }
    }

    fn fetch(&mut self, at: u64, len: u64) -> Result<Option<&[u8]>, Problem> {
        debug_assert_eq!(at, self.start, "a stream is walked from blob to blob");
        while let missing @ 1.. = len.saturating_sub(len_of(self.held()))
            && !self.ended
        {
            self.read_on(missing)?;
        }
        Ok(Some(self.held()))
    }

    fn reach(&mut self, end: u64) -> Result<u64, Problem> {
        loop {
            let left = end.saturating_sub(self.start);
            let passed = usize::try_from(left).unwrap_or(usize::MAX).min(self.held.len());
            self.held.start = self.held.start.saturating_add(passed);
            self.start = self.start.saturating_add(u64::try_from(passed).unwrap_or(u64::MAX));
            if self.start >= end || self.ended {
                return Ok(self.start);
            }
            self.read_on(0)?;
        }
    }

    fn measure(&mut self, len: u64) -> Result<u64, Problem> {
        let held = len_of(self.held());
        let rest = len.saturating_sub(held);
        let passed = io::copy(&mut self.reader.by_ref().take(rest), &mut io::sink()).map_err(stream_error)?;
        Ok(held.saturating_add(passed))
    }
}
