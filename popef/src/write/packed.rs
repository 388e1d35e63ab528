use std::fmt;
use std::io::{self, Write};

use super::blob::BlobWriter;
use super::deflate::{COMPRESS, Deflater};
use super::destination::{Destination, Rewind, len_of};
use super::packing::Packing;
use super::problem::WriteProblem;
use super::writer::Written;
use crate::error::{Error, Problem};

/// An executable that is compressed while it is written; see
/// [`Writer::packed_executable`](crate::Writer::packed_executable). If it is dropped before it is
/// [finished](Self::finish), it is undone.
///
/// It is compressed in blocks, by as many threads as [`Writer::threads`](crate::Writer::threads) says, which end with it.
/// Memory stays small: a few blocks of a MiB for each thread. Whether it fails to be written may show only later.
pub struct PackedWriter<'w, D: Destination> {
    blob: BlobWriter<'w, D>,
    /// None after a failure, or where the destination panicked: then the threads have ended.
    deflater: Option<Deflater>,
    given: u64,
}

impl<'w, D: Rewind> PackedWriter<'w, D> {
    pub(super) fn new(blob: BlobWriter<'w, D>, packing: Packing) -> Self {
        let deflater = Deflater::new(packing, blob.writer.thread_count());
        PackedWriter { blob, deflater: Some(deflater), given: 0 }
    }

    /// Ends the blob, with how many bytes were compressed as its uncompressed size, and says where it is.
    pub fn finish(mut self) -> Result<Written, Error> {
        let finished = self.take()?.finish(&mut self.blob);
        finished.map_err(|e| self.failure(e))?;
        self.blob.unpacked(self.given);
        self.blob.finish()
    }
}

impl<D: Destination> PackedWriter<'_, D> {
    fn take(&mut self) -> Result<Deflater, Error> {
        self.blob.writer.check_fault()?;
        self.deflater.take().ok_or_else(|| self.blob.writer.refusal(WriteProblem::WriterFailed))
    }

    /// The library's own error of the destination; or else it is the compressing that failed.
    fn failure(&mut self, error: io::Error) -> Error {
        let compressing = |source| self.blob.writer.fail(Problem::io(COMPRESS, source));
        error.downcast::<Error>().unwrap_or_else(compressing)
    }
}

impl<D: Destination> Write for PackedWriter<'_, D> {
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

impl<D: Destination> fmt::Debug for PackedWriter<'_, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PackedWriter").field("given", &self.given).finish_non_exhaustive()
    }
}
