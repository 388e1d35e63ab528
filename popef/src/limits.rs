/// The longest header message. It holds a version, a type and a size, so what claims to be longer is none.
pub(crate) const HEADER_BYTES: u64 = 64 << 10;

/// What reading may cost, as numbers that a caller can change.
///
/// A file's lengths are claims. Nothing is allocated or read by a claim alone: it has to fit into the bytes that
/// are there, and into these limits. While a file is open, headers and infos take at most four times their length and
/// 64 KiB. Unpacking an executable takes at most 320 KiB for zlib and gzip, 9 MiB for LZ4, and for zstd what
/// [`unpack_window`](Self::unpack_window) says; each takes as much only if the data holds as much.
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
    /// The longest info message. Only that of Metadata grows with the model; 100,000 anchors take some 15 MB.
    /// 256 MiB unless changed.
    pub info_bytes: u64,
    /// How often the words of a message may be visited, counted in message lengths: pointers may share what they
    /// point to, and a small message can so claim to be a large one. 4 unless changed.
    pub visits: u32,
    /// How deep pointers may nest; the format itself needs 4. 8 unless changed.
    pub nesting: u16,
    /// How far back zstd data may refer (its window). Unpacking takes up to three times as much memory, and 3 MiB; 15 MiB
    /// in all if nothing is changed. The other formats have limits of their own. 8 MiB unless changed, which the zstd
    /// format asks of every decoder; `zstd --ultra` and `--long` make larger ones.
    pub unpack_window: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { info_bytes: 256 << 20, visits: 4, nesting: 8, unpack_window: 8 << 20 }
    }
}
