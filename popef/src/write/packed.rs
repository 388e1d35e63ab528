use std::fmt;
use std::io::{self, Write};

use super::blob::BlobWriter;
use super::deflate::{COMPRESS, Deflater};
use super::destination::Rewind;
use super::held::{HeldWriter, Refused};
use super::packing::Packing;
use super::problem::WriteProblem;
use super::writer::{Writer, Written};
use crate::error::{Error, Problem};
use crate::len::len_of;

/// An executable that is compressed while it is written; see
/// [`Writer::packed_executable`](crate::Writer::packed_executable). If it is dropped before it is
/// [finished](Self::finish), it is undone.
///
/// It is compressed in blocks, by as many threads as [`Writer::threads`](crate::Writer::threads) says, which end with it.
/// Memory stays small: a few blocks of a MiB for each thread. Whether it fails to be written may show only later.
pub struct PackedWriter<W: HeldWriter> {
    blob: BlobWriter<W>,
    /// None after a failure, or where the destination panicked: then the threads have ended.
    deflater: Option<Deflater>,
    given: u64,
}

impl<'w, D: Rewind> PackedWriter<&'w mut Writer<D>> {
    pub(super) fn new(mut blob: BlobWriter<&'w mut Writer<D>>, packing: Packing) -> Self {
        let deflater = Deflater::new(packing, blob.writer().thread_count());
        PackedWriter { blob, deflater: Some(deflater), given: 0 }
    }

    /// Ends the blob, with how many bytes were compressed as its uncompressed size, and says where it is.
    pub fn finish(mut self) -> Result<Written, Error> {
        self.end()?;
        self.blob.finish()
    }
}

/// An executable that owns its writer: it is opened by [`owning`](Self::owning).
#[allow(clippy::result_large_err, reason = "the writer comes back by value; how large it is differs by system")]
impl<D: Rewind> PackedWriter<Writer<D>> {
    /// Opens an executable as `open` does, and gives the writer to it.
    pub fn owning(
        mut writer: Writer<D>,
        open: impl FnOnce(&mut Writer<D>) -> Result<PackedWriter<&mut Writer<D>>, Error>,
    ) -> Result<Self, Refused<D>> {
        let opened = open(&mut writer).map(|packed| (packed.blob.into_open(), packed.deflater, packed.given));
        let (writer, (open, deflater, given)) = Refused::unless(opened, writer)?;
        Ok(PackedWriter { blob: BlobWriter::resumed(writer, open), deflater, given })
    }

    /// Ends the blob, with how many bytes were compressed as its uncompressed size, gives the writer back, and says where
    /// the blob is.
    pub fn finish(mut self) -> Result<(Writer<D>, Written), Refused<D>> {
        match self.end() {
            Ok(()) => self.blob.finish(),
            Err(error) => Err(Refused { error, writer: self.discard() }),
        }
    }

    /// Undoes the blob, and gives the writer back. If it could not be undone, the writer's next call says so.
    pub fn discard(self) -> Writer<D> {
        self.blob.discard()
    }
}

impl<W: HeldWriter> PackedWriter<W> {
    /// Writes what is still to be compressed.
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

    /// The library's own error of the destination; or else it is the compressing that failed.
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

    /// Nothing: what is written counts only once all of it is finished.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<W: HeldWriter> fmt::Debug for PackedWriter<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PackedWriter").field("given", &self.given).finish_non_exhaustive()
    }
}
