use std::io::Read;

use byteorder::{ByteOrder, LittleEndian};

use super::blob::Blob;
use super::data::{Data, Of};
use super::handle::BlobHandle;
use super::input::Input;
use super::unpack::{FirstBytes, Unpack};
use crate::error::Error;
use crate::names::named;
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

    /// The blob itself.
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
        let mut buf = [0; Compression::SKIPPABLE_HEADER];
        let mut start = 0;
        let mut first = self.bytes_at(start, &mut buf)?;
        let mark = FirstBytes::of(first);
        for _ in 0..MOST_SKIPPED {
            let Some(len) = Compression::skippable_frame(first) else { break };
            start = len.saturating_add(start);
            first = self.bytes_at(start, &mut buf)?;
        }
        let unknown = || self.blob.error(mark.unknown(), self.blob.data_offset());
        let compression = Compression::of(first).ok_or_else(unknown);
        compression.map(Some)
    }

    /// Reads the data from `start` into `buf`, as far as there is data. Returns the part of `buf` that was filled.
    fn bytes_at<'b>(&self, start: u64, buf: &'b mut [u8]) -> Result<&'b [u8], Error> {
        let data = self.data();
        let left = usize::try_from(data.len().saturating_sub(start)).unwrap_or(usize::MAX);
        let bytes = buf.get_mut(..left.min(buf.len())).unwrap_or_default();
        if !bytes.is_empty() {
            data.read_at(start, bytes)?;
        }
        Ok(bytes)
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
    fn unpack_of<'b>(&self, of: Of<'b>, wanted: u64) -> Result<Unpack<'b>, Error> {
        match (self.compression()?, self.uncompressed_size) {
            (Some(compression), Some(size)) => {
                let at = self.blob.at(self.blob.data_offset()).without_file();
                Unpack::packed(of, compression, [size, wanted], self.blob.limits().unpack_window, at)
            }
            _ => Ok(Unpack::stored(of)),
        }
    }

    /// Converts an error from the reader of [`unpack`](Self::unpack) to one of this library.
    pub(crate) fn unpack_error(&self, error: std::io::Error) -> Error {
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

impl BlobHandle {
    /// Returns a reader like [`ExecutableBlob::unpack`] that keeps the file open. `None` if the blob is not an
    /// executable.
    pub fn unpack(&self) -> Option<Result<Unpack<'static>, Error>> {
        let executable = self.blob().content().into_executable()?;
        Some(executable.unpack_of(Of::Handle(self.clone()), u64::MAX))
    }
}

/// The format in which an executable is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Compression {
    /// A zlib stream (RFC 1950).
    Zlib,
    /// One or more gzip members (RFC 1952).
    Gzip,
    /// One or more zstd frames (RFC 8878), possibly with skippable frames.
    Zstd,
    /// One or more LZ4 frames, possibly with skippable frames.
    Lz4,
}

named!(Compression, "a kind of compression": Zlib = "zlib", Gzip = "gzip", Zstd = "zstd", Lz4 = "lz4");

/// How many leading skippable frames are skipped in the search for the format of compression.
const MOST_SKIPPED: usize = 8;

impl Compression {
    /// The length of the longest magic number.
    pub(crate) const MARK: usize = 4;

    /// The length of a skippable frame's header: a magic number and a length.
    pub(super) const SKIPPABLE_HEADER: usize = 8;

    /// The length of the skippable frame at the start of the data, if there is one. zstd and LZ4 have such frames,
    /// whose content is not for the decoder.
    pub(super) fn skippable_frame(data: &[u8]) -> Option<u64> {
        let (header, _) = data.split_first_chunk::<{ Self::SKIPPABLE_HEADER }>()?;
        let [.., a, b, c, d] = *header;
        Self::may_skip(data).then(|| u64::from(u32::from_le_bytes([a, b, c, d])).saturating_add(8))
    }

    /// Whether the data begins with the magic number of a skippable frame.
    fn may_skip(data: &[u8]) -> bool {
        matches!(data, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..])
    }

    /// Whether compressed data can begin with these bytes.
    pub(crate) fn may_begin(data: &[u8]) -> bool {
        Compression::of(data).is_some() || Compression::may_skip(data)
    }

    /// The usual name of the format, for messages.
    pub(super) fn name(self) -> &'static str {
        match self {
            Compression::Lz4 => "LZ4",
            other => other.as_str(),
        }
    }

    /// Finds the format of an input, and skips leading skippable frames.
    pub(super) fn of_input(input: &mut Input<'_>) -> Result<Compression, Error> {
        let mark = FirstBytes::of(input.peek(Self::MARK)?);
        for _ in 0..MOST_SKIPPED {
            let Some(len) = Compression::skippable_frame(input.peek(Self::SKIPPABLE_HEADER)?) else { break };
            input.skip(len)?;
        }
        Compression::of(input.peek(Self::MARK)?).ok_or_else(|| mark.unknown().into())
    }

    /// Finds the format by the magic number at the start of the data.
    pub(crate) fn of(data: &[u8]) -> Option<Compression> {
        match data {
            [first, second, ..] if is_zlib(*first, *second) => Some(Compression::Zlib),
            [0x1f, 0x8b, ..] => Some(Compression::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Compression::Zstd),
            [0x04, 0x22, 0x4d, 0x18, ..] => Some(Compression::Lz4),
            _ => None,
        }
    }
}

/// Whether these are the first two bytes of a zlib stream: deflate with a window of up to 32 KiB, no preset dictionary,
/// and a multiple of 31 as a big-endian number. The usual ones are 78 01, 78 5e, 78 9c and 78 da.
fn is_zlib(first: u8, second: u8) -> bool {
    let preset_dictionary = second & 0x20 != 0;
    first & 0x0f == 8 && first >> 4 <= 7 && !preset_dictionary && u16::from_be_bytes([first, second]).is_multiple_of(31)
}

/// The header at the start of Poplar's executables, with the sizes of the two parts that follow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct PoplarHeader {
    /// The format: 1, 2 or 3, from the mark `GC_EXE_1`, `GC_EXE_2` or `GC_EXE_3`.
    pub format: u8,
    /// The size of the unpacked archive in bytes.
    pub archive_size: u64,
    /// The size of the archive in the executable, in bytes.
    pub archive_compressed_size: u64,
    /// The size of Poplar's own unpacked metadata in bytes.
    pub metadata_size: u64,
    /// The size of Poplar's own metadata in the executable, in bytes.
    pub metadata_compressed_size: u64,
}

impl PoplarHeader {
    /// The length of the header in bytes: a mark and four sizes of 8 bytes each.
    pub const LEN: usize = 40;

    /// Parses the header at the start of an executable's bytes. Returns `None` if there is none.
    pub fn parse(executable: &[u8]) -> Option<PoplarHeader> {
        let (mark, sizes) = executable.get(..Self::LEN)?.split_at_checked(8)?;
        let format = match mark {
            b"GC_EXE_1" => 1,
            b"GC_EXE_2" => 2,
            b"GC_EXE_3" => 3,
            _ => return None,
        };
        let mut numbers = [0; 4];
        LittleEndian::read_u64_into(sizes, &mut numbers);
        let [archive_size, archive_compressed_size, metadata_size, metadata_compressed_size] = numbers;
        Some(PoplarHeader { format, archive_size, archive_compressed_size, metadata_size, metadata_compressed_size })
    }
}
