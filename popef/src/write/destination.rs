use std::fmt;
use std::fs;
use std::io::{self, BufWriter, Cursor, Read, Seek, SeekFrom, Take, Write};
use std::path::Path;

use super::problem::{Left, WriteProblem};
use crate::error::Problem;
use crate::len::len_of;

/// The destination of a [`Writer`](crate::Writer): a [`Stream`], [`Seekable`], [`NewFile`](crate::write::NewFile),
/// [`Appended`](crate::write::Appended) or [`Nowhere`](crate::write::Nowhere), one of these that is
/// [`Watched`](crate::write::Watched), or a box of one of them, which
/// [`Writer::map_destination`](crate::Writer::map_destination) makes.
///
/// This trait is sealed: other crates cannot implement it.
pub trait Destination: Sink + fmt::Debug {}

/// A [`Destination`] that can go back. It allows blobs of unknown length, and several feeds at once.
pub trait Rewind: Destination {}

pub(super) mod sink {
    use super::{Left, Path, Problem, Take, fs, io};

    /// The problem of a failed operation.
    #[derive(Debug)]
    pub struct Failure(pub(crate) Problem);

    impl<P: Into<Problem>> From<P> for Failure {
        fn from(problem: P) -> Self {
            Failure(problem.into())
        }
    }

    /// What could not be undone after a failure, and why.
    #[derive(Debug)]
    pub struct Remains(pub(crate) Left, pub(crate) io::Error);

    /// The operations of a destination.
    pub trait Sink {
        /// Writes all the bytes at a position. For a stream, this is always its current position.
        fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()>;

        /// Writes the rest of another file at a position. The system does the copying if it can.
        fn copy_at(&mut self, at: u64, from: &mut Take<fs::File>) -> io::Result<()>;

        /// Removes everything from a position on.
        fn cut(&mut self, len: u64) -> Result<(), Failure>;

        /// Makes everything that was written permanent. `end` is its end.
        fn commit(&mut self, end: u64) -> Result<(), Failure>;

        /// Cleans up after a failure: restores the old state, or keeps only the complete blobs, which end at `end`. If
        /// that fails, returns what could not be undone.
        fn abandon(&mut self, end: u64) -> Result<(), Remains>;

        /// Hands over to the system all that is buffered.
        fn flush(&mut self) -> Result<(), Failure> {
            Ok(())
        }

        /// Does the part of [`commit`](Self::commit) that others cannot see, so that `commit` itself is quick.
        fn prepare(&mut self) -> Result<(), Failure> {
            Ok(())
        }

        /// Opens what was written until now, to read it. `None` if it cannot be read.
        fn read_back(&mut self) -> Result<Option<fs::File>, Failure> {
            Ok(None)
        }

        /// The path that the caller gave.
        fn path(&self) -> Option<&Path> {
            None
        }

        /// Whether this file is the one being written.
        fn is_file(&self, _file: &fs::File) -> bool {
            false
        }

        /// The descriptors of the files that are locked.
        fn locked(&self) -> Vec<i32> {
            Vec::new()
        }
    }
}

use sink::{Failure, Remains, Sink};

impl<D: Destination + ?Sized> Destination for Box<D> {}
impl<D: Rewind + ?Sized> Rewind for Box<D> {}

impl<D: Sink + ?Sized> Sink for Box<D> {
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        (**self).write_at(at, bytes)
    }

    fn copy_at(&mut self, at: u64, from: &mut Take<fs::File>) -> io::Result<()> {
        (**self).copy_at(at, from)
    }

    fn cut(&mut self, len: u64) -> Result<(), Failure> {
        (**self).cut(len)
    }

    fn commit(&mut self, end: u64) -> Result<(), Failure> {
        (**self).commit(end)
    }

    fn abandon(&mut self, end: u64) -> Result<(), Remains> {
        (**self).abandon(end)
    }

    fn flush(&mut self) -> Result<(), Failure> {
        (**self).flush()
    }

    fn prepare(&mut self) -> Result<(), Failure> {
        (**self).prepare()
    }

    fn read_back(&mut self) -> Result<Option<fs::File>, Failure> {
        (**self).read_back()
    }

    fn path(&self) -> Option<&Path> {
        (**self).path()
    }

    fn is_file(&self, file: &fs::File) -> bool {
        (**self).is_file(file)
    }

    fn locked(&self) -> Vec<i32> {
        (**self).locked()
    }
}

/// A destination that cannot go back: a pipe, a socket, a compressor.
///
/// A blob that is left unfinished after its first byte cannot be undone, so the writer then fails.
pub struct Stream<W> {
    inner: W,
    at: u64,
}

impl<W: Write> Stream<W> {
    pub(super) fn new(inner: W) -> Self {
        Stream { inner, at: 0 }
    }

    pub(super) fn into_inner(self) -> W {
        self.inner
    }
}

impl<W: Write> Destination for Stream<W> {}

impl<W: Write> Sink for Stream<W> {
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        debug_assert_eq!(at, self.at, "a stream goes forward");
        // Counted before the write, because it is unknown whether a failed write took some of the bytes.
        self.at = at.saturating_add(len_of(bytes));
        self.inner.write_all(bytes)
    }

    fn copy_at(&mut self, at: u64, from: &mut Take<fs::File>) -> io::Result<()> {
        debug_assert_eq!(at, self.at, "a stream goes forward");
        self.at = at.saturating_add(from.limit());
        copy_all(from, at, &mut self.inner)
    }

    fn cut(&mut self, len: u64) -> Result<(), Failure> {
        if len == self.at { Ok(()) } else { Err(WriteProblem::NotUndone.into()) }
    }

    fn commit(&mut self, _end: u64) -> Result<(), Failure> {
        self.inner.flush().map_err(|source| Problem::io("flush the stream", source).into())
    }

    fn abandon(&mut self, _end: u64) -> Result<(), Remains> {
        Ok(())
    }
}

impl<W> fmt::Debug for Stream<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").field("at", &self.at).finish_non_exhaustive()
    }
}

/// An output that can be truncated, so that an unfinished blob can be undone.
///
/// ```
/// use std::io::Cursor;
///
/// let mut bytes = Cursor::new(vec![1, 2, 3]);
/// popef::write::Truncate::truncate(&mut bytes, 2)?;
/// assert_eq!(bytes.into_inner(), [1, 2]);
/// # Ok::<(), std::io::Error>(())
/// ```
pub trait Truncate {
    /// Truncates the output to `len` bytes. The position of the next write is unspecified.
    fn truncate(&mut self, len: u64) -> io::Result<()>;
}

impl Truncate for fs::File {
    fn truncate(&mut self, len: u64) -> io::Result<()> {
        self.set_len(len)
    }
}

impl Truncate for Cursor<Vec<u8>> {
    fn truncate(&mut self, len: u64) -> io::Result<()> {
        self.get_mut().truncate(usize::try_from(len).unwrap_or(usize::MAX));
        Ok(())
    }
}

impl Truncate for Cursor<&mut Vec<u8>> {
    fn truncate(&mut self, len: u64) -> io::Result<()> {
        self.get_mut().truncate(usize::try_from(len).unwrap_or(usize::MAX));
        Ok(())
    }
}

impl<W: Write + Truncate> Truncate for BufWriter<W> {
    fn truncate(&mut self, len: u64) -> io::Result<()> {
        self.flush()?;
        self.get_mut().truncate(len)
    }
}

impl<W: Truncate + ?Sized> Truncate for &mut W {
    fn truncate(&mut self, len: u64) -> io::Result<()> {
        (**self).truncate(len)
    }
}

/// A destination that can go back and be truncated: an opened file, a `Cursor<Vec<u8>>`.
///
/// To write a whole file, [`Writer::create`](crate::Writer::create) is safer, because it never leaves an incomplete
/// one.
pub struct Seekable<W> {
    inner: W,
    /// The position of the first blob. All other positions are relative to it.
    base: u64,
    at: u64,
}

impl<W: Write + Seek + Truncate> Seekable<W> {
    pub(super) fn new(mut inner: W) -> io::Result<Self> {
        let base = inner.stream_position()?;
        Ok(Seekable { inner, base, at: 0 })
    }

    pub(super) fn into_inner(self) -> W {
        self.inner
    }

    fn go_to(&mut self, at: u64) -> io::Result<()> {
        if at != self.at {
            self.inner.seek(SeekFrom::Start(self.base.saturating_add(at)))?;
        }
        Ok(())
    }

    /// Removes everything behind a position, also what was there before: readers would take it for blobs, because PopEF has no end mark.
    fn end_at(&mut self, at: u64) -> io::Result<()> {
        self.at = at;
        let end = self.base.saturating_add(at);
        if self.inner.seek(SeekFrom::End(0))? > end {
            self.inner.truncate(end)?;
        }
        self.inner.seek(SeekFrom::Start(end)).map(drop)
    }

    /// Updates the position after bytes were written at `at`. Fails for a file that was opened for appending, which
    /// writes at its end instead.
    fn arrived(&mut self, at: u64, end: u64) -> io::Result<()> {
        let went_back = at != self.at;
        self.at = end;
        if went_back && self.inner.stream_position()? != self.base.saturating_add(end) {
            return Err(io::Error::other("it does not write at the position it was told; was it opened to append?"));
        }
        Ok(())
    }
}

impl<W: Write + Seek + Truncate> Destination for Seekable<W> {}
impl<W: Write + Seek + Truncate> Rewind for Seekable<W> {}

impl<W: Write + Seek + Truncate> Sink for Seekable<W> {
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.go_to(at)?;
        self.inner.write_all(bytes)?;
        self.arrived(at, at.saturating_add(len_of(bytes)))
    }

    fn copy_at(&mut self, at: u64, from: &mut Take<fs::File>) -> io::Result<()> {
        let end = at.saturating_add(from.limit());
        self.go_to(at)?;
        copy_all(from, self.base.saturating_add(at), &mut self.inner)?;
        self.arrived(at, end)
    }

    fn cut(&mut self, len: u64) -> Result<(), Failure> {
        self.end_at(len).map_err(|source| Problem::io("undo an unfinished blob", source).into())
    }

    fn commit(&mut self, end: u64) -> Result<(), Failure> {
        let committed = self.end_at(end).and_then(|()| self.inner.flush());
        committed.map_err(|source| Problem::io("flush what was written", source).into())
    }

    fn abandon(&mut self, end: u64) -> Result<(), Remains> {
        let old_len = self.base.saturating_add(end);
        self.inner.truncate(old_len).map_err(|e| Remains(Left::Tail { old_len }, e))
    }
}

impl<W> fmt::Debug for Seekable<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seekable").field("base", &self.base).field("at", &self.at).finish_non_exhaustive()
    }
}

/// Copies as many bytes as the limit of `from` to `to`, whose position is `at`. Fails if `from` has fewer.
pub(super) fn copy_all(from: &mut Take<fs::File>, at: u64, to: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let needed = from.limit();
    let mut copied = 0u64;
    for border in BORDERS {
        let before = before_border(from.get_mut().stream_position()?, at.saturating_add(copied), border);
        copied = copied.saturating_add(io::copy(&mut from.by_ref().take(before), to)?);
    }
    copied = copied.saturating_add(io::copy(from, to)?);
    if copied == needed { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// The boundaries at which a new copy operation begins, if they are boundaries in both files. File systems that can
/// share blocks between files share only whole blocks, nearly always of 4 KiB. Others copy faster from the start of the
/// system's large pages.
const BORDERS: [u64; 2] = [4 << 10, 1 << 20];

/// The number of bytes before a boundary of both files. 0 if they have no common one, or are at it.
fn before_border(from: u64, at: u64, border: u64) -> u64 {
    let behind = at.checked_rem(border).unwrap_or_default();
    let same = from.checked_rem(border) == Some(behind);
    if same && behind > 0 { border.saturating_sub(behind) } else { 0 }
}
