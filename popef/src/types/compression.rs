use crate::names::named;

named! {
    /// The format in which an executable is compressed.
    #[derive(Hash)]
    #[non_exhaustive]
    pub enum Compression("a kind of compression") {
        /// A zlib stream (RFC 1950).
        Zlib = "zlib",
        /// One or more gzip members (RFC 1952).
        Gzip = "gzip",
        /// One or more zstd frames (RFC 8878), possibly with skippable frames.
        Zstd = "zstd",
        /// One or more LZ4 frames, possibly with skippable frames.
        Lz4 = "lz4",
    }
}

impl Compression {
    /// The length of the longest magic number.
    pub(crate) const MARK: usize = 4;

    /// The maximum number of leading skippable frames that are skipped while looking for the format.
    pub(crate) const MOST_SKIPPED: usize = 8;

    /// The length of a skippable frame's header: a magic number and a length.
    pub(crate) const SKIPPABLE_HEADER: usize = 8;

    /// The length of the skippable frame at the start of the data, if there is one. zstd and LZ4 have such frames,
    /// whose content is not for the decoder.
    pub(crate) fn skippable_frame(data: &[u8]) -> Option<u64> {
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
    pub(crate) fn name(self) -> &'static str {
        match self {
            Compression::Lz4 => "LZ4",
            other => other.as_str(),
        }
    }

    /// Finds the format by the magic number at the start of the data.
    pub fn of(data: &[u8]) -> Option<Compression> {
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
