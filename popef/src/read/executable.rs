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

    /// The name by which metadata and opaque blobs refer to it.
    pub fn name(&self) -> Text<'a> {
        self.blob.text(self.name)
    }

    /// Name and uncompressed size as a value of its own.
    pub fn info(&self) -> ExecutableInfo {
        ExecutableInfo { name: self.name().into_owned(), uncompressed_size: self.uncompressed_size }
    }

    /// Whether the executable is compressed.
    pub fn is_compressed(&self) -> bool {
        self.uncompressed_size.is_some()
    }

    /// How many bytes the executable has once unpacked.
    pub fn uncompressed_size(&self) -> u64 {
        self.uncompressed_size.unwrap_or(self.data().len())
    }

    /// The bytes as they lie in the file, compressed or not.
    pub fn data(&self) -> Data<'a> {
        self.blob.data()
    }

    /// How it is compressed, by the data's first bytes; none if it is not. An error if they are of no known kind.
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

    /// As many of the data's bytes as there are from `start` on and fit.
    fn bytes_at<'b>(&self, start: u64, buf: &'b mut [u8]) -> Result<&'b [u8], Error> {
        let data = self.data();
        let left = usize::try_from(data.len().saturating_sub(start)).unwrap_or(usize::MAX);
        let bytes = buf.get_mut(..left.min(buf.len())).unwrap_or_default();
        if !bytes.is_empty() {
            data.read_at(start, bytes)?;
        }
        Ok(bytes)
    }

    /// A reader of the executable's own bytes, unpacked if they are compressed.
    ///
    /// It never gives more bytes than [`uncompressed_size`](Self::uncompressed_size); data that unpacks to more or
    /// to fewer ends in an error.
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

    /// Reads the data as `of` gives it. No more than `wanted` bytes will be read, if there are more.
    fn unpack_of<'b>(&self, of: Of<'b>, wanted: u64) -> Result<Unpack<'b>, Error> {
        match (self.compression()?, self.uncompressed_size) {
            (Some(compression), Some(size)) => {
                let at = self.blob.at(self.blob.data_offset()).without_file();
                Unpack::packed(of, compression, [size, wanted], self.blob.limits().unpack_window, at)
            }
            _ => Ok(Unpack::stored(of)),
        }
    }

    /// The library's own error in one that reading [`unpack`](Self::unpack) gave.
    pub(crate) fn unpack_error(&self, error: std::io::Error) -> Error {
        self.blob.at(self.blob.data_offset()).unwrap_io(error)
    }

    /// The header that Poplar puts before its executables; none if the bytes do not begin with one.
    pub fn poplar_header(&self) -> Result<Option<PoplarHeader>, Error> {
        let mut bytes = Vec::with_capacity(PoplarHeader::LEN);
        let limit = u64::try_from(PoplarHeader::LEN).unwrap_or(u64::MAX);
        let data = self.data();
        // So that of what is not compressed nothing behind the header is read.
        let first = if self.is_compressed() { data } else { data.range(0..limit.min(data.len()))? };
        let read = self.unpack_of(Of::Data(first), limit)?.take(limit).read_to_end(&mut bytes);
        read.map_err(|e| self.unpack_error(e))?;
        Ok(PoplarHeader::parse(&bytes))
    }
}

impl BlobHandle {
    /// A reader of the executable's own bytes that keeps the file open; see [`ExecutableBlob::unpack`]. None if it is
    /// the blob of no executable.
    pub fn unpack(&self) -> Option<Result<Unpack<'static>, Error>> {
        let executable = self.blob().content().into_executable()?;
        Some(executable.unpack_of(Of::Handle(self.clone()), u64::MAX))
    }
}

/// How an executable is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Compression {
    /// A zlib stream (RFC 1950).
    Zlib,
    /// One or more gzip members (RFC 1952).
    Gzip,
    /// One or more zstd frames (RFC 8878), and skippable ones.
    Zstd,
    /// One or more LZ4 frames, and skippable ones.
    Lz4,
}

named!(Compression, "a kind of compression": Zlib = "zlib", Gzip = "gzip", Zstd = "zstd", Lz4 = "lz4");

/// Of more frames to be skipped before the first one, what the data is compressed with is not looked for.
const MOST_SKIPPED: usize = 8;

impl Compression {
    /// How many bytes the marks have, at most.
    pub(crate) const MARK: usize = 4;

    /// How many bytes a frame to be skipped has before its content: a mark and a length.
    pub(super) const SKIPPABLE_HEADER: usize = 8;

    /// The length of the frame that the data begins with, if it is one of those of zstd and LZ4 that hold what is not
    /// for the decoder.
    pub(super) fn skippable_frame(data: &[u8]) -> Option<u64> {
        let (header, _) = data.split_first_chunk::<{ Self::SKIPPABLE_HEADER }>()?;
        let [.., a, b, c, d] = *header;
        Self::may_skip(data).then(|| u64::from(u32::from_le_bytes([a, b, c, d])).saturating_add(8))
    }

    /// Whether the data begins with the mark of such a frame.
    fn may_skip(data: &[u8]) -> bool {
        matches!(data, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..])
    }

    /// Whether compressed data can begin so.
    pub(crate) fn may_begin(data: &[u8]) -> bool {
        Compression::of(data).is_some() || Compression::may_skip(data)
    }

    /// The name that people know it by, for texts.
    pub(super) fn name(self) -> &'static str {
        match self {
            Compression::Lz4 => "LZ4",
            other => other.as_str(),
        }
    }

    /// The kind of compression of what is to be unpacked. Frames that are to be skipped are passed over.
    pub(super) fn of_input(input: &mut Input<'_>) -> Result<Compression, Error> {
        let mark = FirstBytes::of(input.peek(Self::MARK)?);
        for _ in 0..MOST_SKIPPED {
            let Some(len) = Compression::skippable_frame(input.peek(Self::SKIPPABLE_HEADER)?) else { break };
            input.skip(len)?;
        }
        Compression::of(input.peek(Self::MARK)?).ok_or_else(|| mark.unknown().into())
    }

    /// The kind of compression whose mark the data begins with.
    pub(super) fn of(data: &[u8]) -> Option<Compression> {
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
/// and both together a multiple of 31. The usual ones are 78 01, 78 5e, 78 9c and 78 da.
fn is_zlib(first: u8, second: u8) -> bool {
    let preset_dictionary = second & 0x20 != 0;
    first & 0x0f == 8 && first >> 4 <= 7 && !preset_dictionary && u16::from_be_bytes([first, second]).is_multiple_of(31)
}

/// What Poplar says at the start of its executables: how large the two parts behind are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct PoplarHeader {
    /// The format: 1, 2 or 3, from the mark `GC_EXE_1`, `GC_EXE_2` or `GC_EXE_3`.
    pub format: u8,
    /// The bytes of the archive once unpacked.
    pub archive_size: u64,
    /// The bytes of the archive in the executable.
    pub archive_compressed_size: u64,
    /// The bytes of Poplar's own metadata once unpacked.
    pub metadata_size: u64,
    /// The bytes of Poplar's own metadata in the executable.
    pub metadata_compressed_size: u64,
}

impl PoplarHeader {
    /// How many bytes the header takes: a mark and four sizes of 8 bytes each.
    pub const LEN: usize = 40;

    /// The header that an executable's bytes begin with, if they do.
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
