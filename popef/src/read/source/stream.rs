//! Reads headers from a stream.

use std::io::{self, Read};
use std::ops::Range;

use super::uninterrupted;
use crate::error::{Problem, SystemProblem};
use crate::len::len_of;
use crate::read::fetch::Fetch;

/// Reads headers from a stream with some read-ahead, and skips the data.
pub(in crate::read) struct Stream<R> {
    reader: R,
    /// The position of the first held byte in the stream.
    start: u64,
    bytes: Vec<u8>,
    /// The part of `bytes` that was read and not skipped yet.
    held: Range<usize>,
    ended: bool,
}

impl<R: Read> Stream<R> {
    /// The number of bytes read at a time. Each stream takes this much memory.
    const PIECE: usize = 32 << 10;

    pub(in crate::read) fn new(reader: R) -> Self {
        Stream { reader, start: 0, bytes: Vec::new(), held: 0..0, ended: false }
    }

    fn held(&self) -> &[u8] {
        self.bytes.get(self.held.clone()).unwrap_or_default()
    }

    /// Makes room after the held bytes for some of the `missing` bytes.
    fn make_room(&mut self, missing: u64) -> Result<(), Problem> {
        // This happens once per head, not for each small piece of a long one.
        if self.held.start > 0 {
            self.bytes.copy_within(self.held.clone(), 0);
            self.held = 0..self.held.len();
        }
        if self.held.end < self.bytes.len() {
            return Ok(());
        }
        // `missing` is a claim, so the buffer grows in steps. It grows by half, because a buffer that doubles would
        // take up to three times the memory of what was read.
        let most = Self::PIECE.max(self.bytes.len() / 2);
        let more = usize::try_from(missing).unwrap_or(usize::MAX).clamp(Self::PIECE, most);
        let len = self.bytes.len().saturating_add(more);
        let needed = u64::try_from(len).unwrap_or(u64::MAX);
        self.bytes.try_reserve_exact(more).map_err(|_| SystemProblem::OutOfMemory { needed })?;
        self.bytes.resize(len, 0);
        Ok(())
    }

    /// Reads once. `missing` bytes are wanted after the held ones.
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
