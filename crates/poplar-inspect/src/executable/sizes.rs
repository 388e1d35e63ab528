/// The kind of a section, by its type and flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub enum SectionKind {
    /// Loaded and executable. Poplar may put everything into such a section: see [`Sizes`].
    Code,
    /// Loaded and read-only.
    Constants,
    /// Loaded and writable.
    Data,
    /// In memory, writable, and zero at the start. It has no bytes in the file.
    Zeroed,
    /// Not in memory, such as notes and debug information.
    Other,
    /// A table of the ELF file itself: symbols, names, relocations.
    Table,
}

impl SectionKind {
    /// Whether a section of this kind is in the memory of the tile.
    pub const fn is_in_memory(self) -> bool {
        matches!(self, SectionKind::Code | SectionKind::Constants | SectionKind::Data | SectionKind::Zeroed)
    }
}

/// Bytes of sections, by kind.
///
/// The kinds follow from the flags of a section, as for the command `size`. They say what the linker was given, not what
/// the bytes are: according to TensorFlow's documentation, Poplar puts all memory of a tile into a section `.text`, which
/// counts as code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct Sizes {
    /// Executable sections.
    pub code: u64,
    /// Read-only sections.
    pub constants: u64,
    /// Writable sections.
    pub data: u64,
    /// Writable sections that are zero at the start, and so have no bytes in the file.
    pub zeroed: u64,
    /// Sections that are not loaded into memory, such as notes and debug information.
    pub other: u64,
    /// The tables of the ELF file itself: symbols, names, relocations. `size` does not count them.
    pub tables: u64,
}

impl Sizes {
    /// The bytes in the memory of the tile.
    pub fn memory(&self) -> u64 {
        [self.code, self.constants, self.data, self.zeroed].into_iter().fold(0, u64::saturating_add)
    }

    /// What `size -A` shows as the total: memory, and sections that are not loaded.
    pub fn total(&self) -> u64 {
        self.memory().saturating_add(self.other)
    }

    pub(super) fn add(&mut self, kind: SectionKind, bytes: u64) {
        let sum = match kind {
            SectionKind::Code => &mut self.code,
            SectionKind::Constants => &mut self.constants,
            SectionKind::Data => &mut self.data,
            SectionKind::Zeroed => &mut self.zeroed,
            SectionKind::Other => &mut self.other,
            SectionKind::Table => &mut self.tables,
        };
        *sum = sum.saturating_add(bytes);
    }

    /// Adds what `times` tiles of these sizes have.
    pub(super) fn add_times(&mut self, sizes: &Sizes, times: u64) {
        for (kind, bytes) in sizes.by_kind() {
            self.add(kind, bytes.saturating_mul(times));
        }
    }

    /// Each kind with its bytes.
    pub fn by_kind(&self) -> [(SectionKind, u64); 6] {
        [
            (SectionKind::Code, self.code),
            (SectionKind::Constants, self.constants),
            (SectionKind::Data, self.data),
            (SectionKind::Zeroed, self.zeroed),
            (SectionKind::Other, self.other),
            (SectionKind::Table, self.tables),
        ]
    }
}
