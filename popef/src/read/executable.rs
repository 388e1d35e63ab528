use std::io::Read;

use super::blob::Blob;
use super::data::Data;
use super::reader::Of;
use super::unpack::{FirstBytes, Unpack};
use crate::error::Error;
use crate::types::Compression;
use crate::types::PoplarHeader;
use crate::types::{ExecutableInfo, Text};
use crate::wire::Span;

/// A blob with a Poplar executable.
#[derive(Clone, Copy, Debug)]
pub struct ExecutableBlob<'a> {
    blob: Blob<'a>,
    name: Span,
    uncompressed_size: Option<u64>,
}

impl<'a> ExecutableBlob<'a> {
    pub(super) fn new(blob: Blob<'a>, name: Span, uncompressed_size: Option<u64>) -> Self {
        ExecutableBlob { blob, name, uncompressed_size }
    }

    /// Returns the blob itself.
    pub fn blob(&self) -> &Blob<'a> {
        &self.blob
    }

    /// Returns the name by which metadata and opaque blobs refer to the executable.
    pub fn name(&self) -> Text<'a> {
        self.blob.text(self.name)
    }

    /// Returns the name and the uncompressed size as an owned value.
    pub fn info(&self) -> ExecutableInfo {
        ExecutableInfo { name: self.name().into_owned(), uncompressed_size: self.uncompressed_size }
    }

    /// Returns whether the executable is compressed.
    pub fn is_compressed(&self) -> bool {
        self.uncompressed_size.is_some()
    }

    /// Returns the size of the unpacked executable in bytes, as the file states it.
    pub fn uncompressed_size(&self) -> u64 {
        self.uncompressed_size.unwrap_or(self.data().len())
    }

    /// Returns the bytes as they are in the file, compressed or not.
    pub fn data(&self) -> Data<'a> {
        self.blob.data()
    }

    /// Finds the format of compression from the data's first bytes. Returns `None` if the executable is not compressed,
    /// and fails if the format is unknown.
    pub fn compression(&self) -> Result<Option<Compression>, Error> {
        if !self.is_compressed() {
            return Ok(None);
        }
        let data = self.data();
        let mut buf = [0; Compression::SKIPPABLE_HEADER];
        let mut start = 0;
        let mut first = data.read_up_to(start, &mut buf)?;
        let mark = FirstBytes::of(first);
        for _ in 0..Compression::MOST_SKIPPED {
            let Some(len) = Compression::skippable_frame(first) else { break };
            start = len.saturating_add(start);
            first = data.read_up_to(start, &mut buf)?;
        }
        let unknown = || self.blob.error(mark.unknown(), self.blob.data_offset());
        let compression = Compression::of(first).ok_or_else(unknown);
        compression.map(Some)
    }

    /// Returns a reader of the executable's own bytes, which unpacks them if they are compressed.
    ///
    /// The reader never gives more bytes than [`uncompressed_size`](Self::uncompressed_size). Data that unpacks to more
    /// or fewer bytes ends in an error.
    ///
    /// ```
    /// let file = popef::File::open("examples/data/compressed-zlib.popef")?;
    /// let executable = file.executable("z").expect("the file has one");
    /// let bytes = std::io::copy(&mut executable.unpack()?, &mut std::io::sink())?;
    /// assert_eq!(bytes, executable.uncompressed_size());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn unpack(&self) -> Result<Unpack<'a>, Error> {
        self.unpack_of(Of::Data(self.data()), u64::MAX)
    }

    /// Returns a reader of the data from `of`. The caller promises to read at most `wanted` bytes.
    pub(super) fn unpack_of<'b>(&self, of: Of<'b>, wanted: u64) -> Result<Unpack<'b>, Error> {
        match (self.compression()?, self.uncompressed_size) {
            (Some(compression), Some(size)) => {
                let at = self.blob.at(self.blob.data_offset()).without_file();
                Unpack::packed(of, compression, [size, wanted], self.blob.limits().unpack_window, at)
            }
            _ => Ok(Unpack::stored(of)),
        }
    }

    /// Converts an error from the reader of [`unpack`](Self::unpack) to one of this library.
    #[doc(hidden)]
    pub fn unpack_error(&self, error: std::io::Error) -> Error {
        self.blob.at(self.blob.data_offset()).unwrap_io(error)
    }

    /// Reads the header that Poplar puts before its executables. Returns `None` if the bytes do not begin with one.
    pub fn poplar_header(&self) -> Result<Option<PoplarHeader>, Error> {
        let mut bytes = Vec::with_capacity(PoplarHeader::LEN);
        let limit = u64::try_from(PoplarHeader::LEN).unwrap_or(u64::MAX);
        let data = self.data();
        // If the data is not compressed, nothing after the header is read.
        let first = if self.is_compressed() { data } else { data.range(0..limit.min(data.len()))? };
        let read = self.unpack_of(Of::Data(first), limit)?.take(limit).read_to_end(&mut bytes);
        read.map_err(|e| self.unpack_error(e))?;
        Ok(PoplarHeader::parse(&bytes))
    }
}
