//! A destination that reports how much was written, and that can be stopped.

use std::fmt;
use std::fs;
use std::io::{self, Take};
use std::ops::ControlFlow;
use std::path::Path;

use super::destination::sink::{Failure, Remains, Sink};
use super::destination::{Destination, Rewind};
use super::problem::WriteProblem;
use super::writer::Writer;
use crate::error::Error;
use crate::len::len_of;

/// A [`Destination`] that reports how much was written, and that can be stopped. [`Writer::watched`] makes it.
pub struct Watched<D, F> {
    to: D,
    watch: F,
}

/// The number of bytes that the system copies at a time. It is a multiple of the blocks that file systems share between
/// files.
const PIECE: u64 = 64 << 20;

impl<D: Destination> Writer<D> {
    /// Calls `watch` after each piece that is written, with its length in bytes. If `watch` returns
    /// [`Break`](ControlFlow::Break), writing fails with the code [`Stopped`](crate::error::ErrorCode::Stopped), and
    /// what was written is discarded as after any failure.
    ///
    /// A piece is at most 64 MiB of a copy, or what one call has written.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use popef::Writer;
    ///
    /// let file = popef::File::open("examples/data/executable.popef")?;
    /// let mut written = 0;
    /// let mut writer = Writer::seekable(std::io::Cursor::new(Vec::new()))?.watched(|bytes| {
    ///     written += bytes;
    ///     ControlFlow::Continue(())
    /// });
    /// writer.copy_all(file.blobs())?;
    /// writer.finish()?;
    /// assert_eq!(written, file.size());
    /// # Ok::<(), popef::Error>(())
    /// ```
    pub fn watched<F: FnMut(u64) -> ControlFlow<()>>(self, watch: F) -> Writer<Watched<D, F>> {
        self.map_destination(|to| Watched { to, watch })
    }
}

impl<D, F: FnMut(u64) -> ControlFlow<()>> Watched<D, F> {
    fn tell(&mut self, bytes: u64) -> io::Result<()> {
        match (self.watch)(bytes) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::from(WriteProblem::Stopped).into()),
        }
    }
}

impl<D: Destination, F: FnMut(u64) -> ControlFlow<()>> Destination for Watched<D, F> {}
impl<D: Rewind, F: FnMut(u64) -> ControlFlow<()>> Rewind for Watched<D, F> {}

impl<D: Destination, F: FnMut(u64) -> ControlFlow<()>> Sink for Watched<D, F> {
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.to.write_at(at, bytes)?;
        self.tell(len_of(bytes))
    }

    fn copy_at(&mut self, mut at: u64, from: &mut Take<fs::File>) -> io::Result<()> {
        let mut left = from.limit();
        while left > 0 {
            let piece = left.min(PIECE);
            from.set_limit(piece);
            self.to.copy_at(at, from)?;
            self.tell(piece)?;
            at = at.saturating_add(piece);
            left = left.saturating_sub(piece);
        }
        Ok(())
    }

    fn cut(&mut self, len: u64) -> Result<(), Failure> {
        self.to.cut(len)
    }

    fn commit(&mut self, end: u64) -> Result<(), Failure> {
        self.to.commit(end)
    }

    fn abandon(&mut self, end: u64) -> Result<(), Remains> {
        self.to.abandon(end)
    }

    fn flush(&mut self) -> Result<(), Failure> {
        self.to.flush()
    }

    fn prepare(&mut self) -> Result<(), Failure> {
        self.to.prepare()
    }

    fn read_back(&mut self) -> Result<Option<fs::File>, Failure> {
        self.to.read_back()
    }

    fn path(&self) -> Option<&Path> {
        self.to.path()
    }

    fn is_file(&self, file: &fs::File) -> bool {
        self.to.is_file(file)
    }
}

impl<D: fmt::Debug, F> fmt::Debug for Watched<D, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watched").field("to", &self.to).finish_non_exhaustive()
    }
}
