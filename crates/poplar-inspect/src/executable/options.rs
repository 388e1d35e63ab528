/// How to read an executable, and what this may cost.
///
/// ```
/// use poplar_inspect::executable::Options;
///
/// let mut options = Options::default();
/// options.strings = 100;
/// assert_eq!(options.member_bytes, 64 << 20);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// The longest ELF file of a tile that is read, in bytes. It is held in memory. A tile has at most 624 KiB of memory,
    /// but its ELF file can have symbols and other tables besides. The default is 64 MiB.
    pub member_bytes: u64,
    /// The maximum number of tiles. The largest systems with one address space have 64 IPUs of 1,472 tiles. The default is 131,072.
    pub tiles: usize,
    /// How many names of sections are kept apart in [`Summary::sections`](super::Summary::sections). The default is
    /// 4,096.
    pub section_names: usize,
    /// How many printable strings of Poplar's own metadata are kept. The default is 0.
    pub strings: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options { member_bytes: 64 << 20, tiles: 1 << 17, section_names: 4096, strings: 0 }
    }
}
