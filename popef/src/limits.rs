/// The longest header message. A header holds a version, a type and a size, so a longer one cannot be a header.
pub(crate) const HEADER_BYTES: u64 = 64 << 10;

/// Limits on what reading may cost. A caller can change them.
///
/// A length in a file is a claim. Nothing is allocated or read on a claim alone: it has to fit into the bytes that
/// exist, and into these limits. While a file is open, headers and infos take at most four times their length plus 64
/// KiB. Unpacking an executable takes at most 320 KiB for zlib and gzip, 9 MiB for LZ4, and for zstd what
/// [`unpack_window`](Self::unpack_window) says. Small data takes less.
///
/// ```
/// let mut limits = popef::read::Limits::default();
/// limits.info_bytes = 1 << 30;
/// let file = popef::OpenOptions::new().limits(limits).open("examples/data/executable.popef")?;
/// # Ok::<(), popef::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The longest info message, in bytes. Only that of Metadata grows with the model: 100,000 anchors take about 15
    /// MB. The default is 256 MiB.
    pub info_bytes: u64,
    /// How many words may be visited while a message is read, as a multiple of the message's length. Pointers may share
    /// their targets, so a small message can claim to be a large one. The default is 4.
    pub visits: u32,
    /// How deep pointers may nest. The format itself needs 4. The default is 8.
    pub nesting: u16,
    /// The largest window of zstd data, in bytes: how far back the data may refer. Unpacking takes at most three times
    /// this plus 3 MiB of memory, and at most 15 MiB with the default. The default is 8 MiB, which the zstd format asks
    /// every decoder to support; `zstd --ultra` and `--long` make larger windows. Other formats have fixed limits.
    pub unpack_window: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { info_bytes: 256 << 20, visits: 4, nesting: 8, unpack_window: 8 << 20 }
    }
}
