use byteorder::{ByteOrder, LittleEndian};

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

    /// Parses the header at the start of an executable's bytes. Returns `None` if the bytes do not start with one.
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
