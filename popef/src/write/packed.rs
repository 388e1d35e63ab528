use std::fmt;
use std::io::{self, Write};
use std::ops::Range;

use super::blob::BlobWriter;
use super::deflate::{COMPRESS, Deflater};
use super::destination::Rewind;
use super::held::{HeldWriter, Refused};
use super::packing::Packing;
use super::problem::WriteProblem;
use super::writer::{Writer, Written};
use crate::error::{Error, Problem};
use crate::len::len_of;

/// An executable that is compressed while it is written.
/// [`Writer::packed_executable`](crate::Writer::packed_executable) opens it. If it is dropped before it is
/// [finished](Self::finish), it is undone.
///
/// It is compressed in blocks, on as many threads as [`Writer::threads`](crate::Writer::threads) says. They end with
/// the executable. There are at most 8 threads, and they take about 5 MiB each. A failure to
/// write may be reported by a later call.
pub struct PackedWriter<W: HeldWriter> {
    blob: BlobWriter<W>,
    /// `None` after a failure, or if the destination panicked. The threads have then ended.
    deflater: Option<Deflater>,
    given: u64,
}

impl<'w, D: Rewind> PackedWriter<&'w mut Writer<D>> {
    pub(super) fn new(mut blob: BlobWriter<&'w mut Writer<D>>, packing: Packing) -> Self {
        let deflater = Deflater::new(packing, blob.writer().thread_count());
        PackedWriter { blob, deflater: Some(deflater), given: 0 }
    }

    /// Ends the blob, and returns its place. Its uncompressed size is the number of bytes that were given.
    pub fn finish(mut self) -> Result<Written, Error> {
        self.end()?;
        self.blob.finish()
    }

    /// Gives the system everything compressed until now, and returns its place. Later bytes follow it. So another
    /// thread can read it back, from the file that [`Writer::read_back_file`](crate::Writer::read_back_file) gives.
    ///
    /// ```
    /// use popef::Writer;
    /// use popef::write::Packing;
    /// use std::io::{Read, Write};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let mut writer = Writer::create(folder.path().join("model.popef"))?;
    /// let mut file = writer.read_back_file()?.expect("it is a file");
    /// let mut blob = writer.packed_executable("model", Packing::default())?;
    /// blob.write_all(&vec![7; 10 << 20])?;
    /// let place = blob.flushed()?;
    /// assert!(file.metadata()?.len() >= place.end);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn flushed(&mut self) -> Result<Range<u64>, Error> {
        self.blob.flushed()
    }

    /// Ends the blob if its data takes fewer than `len` bytes. Otherwise undoes it, and returns `None`.
    ///
    /// ```
    /// use std::io::Write;
    /// use popef::Writer;
    /// use popef::write::Packing;
    ///
    /// let mut writer = Writer::seekable(std::io::Cursor::new(Vec::new()))?;
    /// let mut blob = writer.packed_executable("model", Packing::default())?;
    /// blob.write_all(b"too short to become shorter")?;
    /// assert!(blob.finish_below(27)?.is_none());
    /// assert!(writer.into_inner()?.into_inner().is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn finish_below(mut self, len: u64) -> Result<Option<Written>, Error> {
        self.end()?;
        if self.blob.len() < len { self.blob.finish().map(Some) } else { Ok(None) }
    }
}

/// An executable that owns its writer. [`owning`](Self::owning) opens it.
#[allow(clippy::result_large_err, reason = "the writer comes back by value; how large it is differs by system")]
impl<D: Rewind> PackedWriter<Writer<D>> {
    /// Opens an executable that owns its writer. `open` calls [`Writer::packed_executable`].
    pub fn owning(
        mut writer: Writer<D>,
        open: impl FnOnce(&mut Writer<D>) -> Result<PackedWriter<&mut Writer<D>>, Error>,
    ) -> Result<Self, Refused<D>> {
        let opened = open(&mut writer).map(|packed| (packed.blob.into_open(), packed.deflater, packed.given));
        let (writer, (open, deflater, given)) = Refused::unless(opened, writer)?;
        Ok(PackedWriter { blob: BlobWriter::resumed(writer, open), deflater, given })
    }

    /// Ends the blob, and returns the writer and the blob's place. Its uncompressed size is the number of bytes that
    /// were given.
    pub fn finish(mut self) -> Result<(Writer<D>, Written), Refused<D>> {
        match self.end() {
            Ok(()) => self.blob.finish(),
            Err(error) => Err(Refused { error, writer: self.discard() }),
        }
    }

    /// Undoes the blob, and returns the writer. If that fails, the writer's next call returns the error.
    pub fn discard(self) -> Writer<D> {
        self.blob.discard()
    }
}

impl<W: HeldWriter> PackedWriter<W> {
    /// Compresses and writes the rest.
    fn end(&mut self) -> Result<(), Error> {
        let finished = self.take()?.finish(&mut self.blob);
        finished.map_err(|e| self.failure(e))?;
        self.blob.unpacked(self.given);
        Ok(())
    }

    fn take(&mut self) -> Result<Deflater, Error> {
        self.blob.writer().check_fault()?;
        self.deflater.take().ok_or_else(|| self.blob.writer().refusal(WriteProblem::WriterFailed))
    }

    /// The error of a failed call: an error of this library is from the destination, any other from the compression.
    fn failure(&mut self, error: io::Error) -> Error {
        let compressing = |source| self.blob.writer().fail(Problem::io(COMPRESS, source));
        error.downcast::<Error>().unwrap_or_else(compressing)
    }
}

impl<W: HeldWriter> Write for PackedWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut deflater = self.take()?;
        let count = deflater.push(bytes, &mut self.blob).map_err(|e| self.failure(e))?;
        self.deflater = Some(deflater);
        self.given = self.given.saturating_add(len_of(bytes.get(..count).unwrap_or_default()));
        Ok(count)
    }

    /// Does nothing, because a blob counts only when it is finished.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<W: HeldWriter> fmt::Debug for PackedWriter<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PackedWriter").field("given", &self.given).finish_non_exhaustive()
    }
}
