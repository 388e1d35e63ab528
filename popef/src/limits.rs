/// What reading may cost, as numbers that a caller can change.
///
/// A file's lengths are claims. Nothing is allocated or read by a claim alone: it has to fit into the bytes that
/// are there, and into these limits.
///
/// ```
/// let mut limits = popef::Limits::default();
/// limits.info_bytes = 1 << 30;
/// let file = popef::OpenOptions::new().limits(limits).open("../testdata/interop/executable.popef")?;
/// # Ok::<(), popef::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The longest header message. It holds a version, a type and a size. 64 KiB unless changed.
    pub header_bytes: u64,
    /// The longest info message. Only that of Metadata grows with the model; 100,000 anchors take some 15 MB.
    /// 256 MiB unless changed.
    pub info_bytes: u64,
    /// How often the words of a message may be visited, counted in message lengths: pointers may share what they
    /// point to, and a small message can so claim to be a large one. 4 unless changed.
    pub visits: u32,
    /// How deep pointers may nest; the format itself needs 4. 8 unless changed.
    pub nesting: u16,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { header_bytes: 64 << 10, info_bytes: 256 << 20, visits: 4, nesting: 8 }
    }
}
