use std::fmt;
use std::io::{self, Write};

use flate2::write::{GzEncoder, ZlibEncoder};

use super::blob::BlobWriter;
use super::destination::{Destination, Rewind, len_of};
use super::writer::Written;
use crate::error::{Error, Problem};

/// How to compress an executable, with a level from 0, which only wraps, over 1, the fastest, to 9, the smallest.
///
/// What the vendor's library uses is not known; zlib is the likeliest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Packing {
    /// A zlib stream (RFC 1950) of this level.
    Zlib(u32),
    /// One gzip member (RFC 1952) of this level, without a file name.
    Gzip(u32),
}

/// zlib at level 6: what zlib itself takes for the usual one.
impl Default for Packing {
    fn default() -> Self {
        Packing::Zlib(6)
    }
}

impl Packing {
    fn level(self) -> u32 {
        let (Packing::Zlib(level) | Packing::Gzip(level)) = self;
        level
    }

    pub(super) fn check(self) -> Result<(), Problem> {
        let level = self.level();
        if level <= 9 { Ok(()) } else { Err(Problem::Level { level }) }
    }

    /// All the bytes, compressed.
    pub(super) fn pack(self, data: &[u8]) -> Result<Vec<u8>, Problem> {
        self.check()?;
        let failed = |source| Problem::Io { doing: "compress", source };
        let mut encoder = Encoder::new(Vec::new(), self);
        encoder.write().write_all(data).map_err(failed)?;
        encoder.finish().map_err(failed)
    }
}

enum Encoder<W: Write> {
    Zlib(ZlibEncoder<W>),
    Gzip(GzEncoder<W>),
}

impl<W: Write> Encoder<W> {
    fn new(to: W, packing: Packing) -> Self {
        let level = flate2::Compression::new(packing.level());
        match packing {
            Packing::Zlib(_) => Encoder::Zlib(ZlibEncoder::new(to, level)),
            Packing::Gzip(_) => Encoder::Gzip(GzEncoder::new(to, level)),
        }
    }

    fn write(&mut self) -> &mut dyn Write {
        match self {
            Encoder::Zlib(encoder) => encoder,
            Encoder::Gzip(encoder) => encoder,
        }
    }

    fn finish(self) -> io::Result<W> {
        match self {
            Encoder::Zlib(encoder) => encoder.finish(),
            Encoder::Gzip(encoder) => encoder.finish(),
        }
    }
}

/// An executable that is compressed while it is written; see
/// [`Writer::packed_executable`](crate::Writer::packed_executable). Memory stays small. If it is dropped before it is
/// [finished](Self::finish), it is undone.
pub struct PackedWriter<'w, D: Destination> {
    encoder: Encoder<BlobWriter<'w, D>>,
    given: u64,
}

impl<'w, D: Rewind> PackedWriter<'w, D> {
    pub(super) fn new(blob: BlobWriter<'w, D>, packing: Packing) -> Self {
        PackedWriter { encoder: Encoder::new(blob, packing), given: 0 }
    }

    /// Ends the blob, with how many bytes were compressed as its uncompressed size, and says where it is.
    pub fn finish(self) -> Result<Written, Error> {
        let mut blob = self.encoder.finish().map_err(unwrap_io)?;
        blob.unpacked(self.given)?;
        blob.finish()
    }
}

/// The library's own error in the one of `std::io` that came through the encoder.
fn unwrap_io(error: io::Error) -> Error {
    error.downcast::<Error>().unwrap_or_else(|source| Problem::Io { doing: "compress", source }.into())
}

impl<D: Destination> Write for PackedWriter<'_, D> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.encoder.write().write(bytes)?;
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
