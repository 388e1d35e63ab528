//! The ELF file of a tile.

use std::cmp::Reverse;

use object::LittleEndian as LE;
use object::elf::{self, FileHeader32, SectionHeader32, Sym32};
use object::read::elf::{FileHeader, SectionHeader, Sym};
use popef::types::Text;

use super::input::len_of;
use super::sizes::{SectionKind, Sizes};

/// The machine of a tile's ELF file: `EM_GRAPHCORE_IPU` in binutils.
const MACHINE: u16 = 248;

/// The longest name of a section or a symbol that is shown.
const LONGEST_NAME: usize = 256;

/// Returns the kind of a section. The order of the decisions is that of `size`.
fn kind_of(section: &SectionHeader32<LE>) -> SectionKind {
    let kind = section.sh_type(LE);
    let flags = section.sh_flags(LE);
    let has = |flag: elf::SectionFlags| flags.0 & flag.0 != 0;
    if !has(elf::SHF_ALLOC) {
        let tables = [elf::SHT_SYMTAB, elf::SHT_SYMTAB_SHNDX, elf::SHT_STRTAB, elf::SHT_REL, elf::SHT_RELA];
        return if tables.contains(&kind) { SectionKind::Table } else { SectionKind::Other };
    }
    if has(elf::SHF_EXECINSTR) {
        SectionKind::Code
    } else if !has(elf::SHF_WRITE) {
        SectionKind::Constants
    } else if kind == elf::SHT_NOBITS {
        SectionKind::Zeroed
    } else {
        SectionKind::Data
    }
}

/// A section of a tile's ELF file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct Section<'a> {
    /// The name, cut after 256 bytes.
    pub name: Text<'a>,
    /// What the section is.
    pub kind: SectionKind,
    /// The address in the memory of the tile.
    pub address: u32,
    /// The size in bytes.
    pub size: u32,
    /// How many of these bytes are in the file.
    pub file_bytes: u32,
}

/// What a symbol names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub enum SymbolKind {
    /// Code.
    Function,
    /// Data.
    Object,
    /// A section.
    Section,
    /// The name of a source file.
    File,
    /// Something else, or the file does not say.
    Other,
}

/// A symbol of a tile's ELF file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct Symbol<'a> {
    /// The name, cut after 256 bytes.
    pub name: Text<'a>,
    /// What the symbol names.
    pub kind: SymbolKind,
    /// The number of the section that it is in, counted from 0 as in [`TileFile::sections`].
    pub section: Option<u32>,
    /// The address in the memory of the tile; in a file that is not linked, the offset in the section.
    pub address: u32,
    /// The size in bytes, or 0 if it is unknown.
    pub size: u32,
}

/// The largest sections and symbols of a tile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct Largest {
    /// The largest sections, tables of the ELF file left out. Equally large ones are in the order of the file.
    pub sections: Vec<Section<'static>>,
    /// The number of sections that are not in the list.
    pub more_sections: usize,
    /// The largest symbols whose size is known.
    pub symbols: Vec<Symbol<'static>>,
    /// The number of symbols with a size that are not in the list.
    pub more_symbols: usize,
}

/// The ELF file of one tile. All tables were checked: nothing in them lies outside the file.
#[derive(Clone, Copy, Debug)]
pub struct TileFile<'a> {
    name: &'a [u8],
    position: usize,
    bytes: &'a [u8],
    /// Without the empty one at the start.
    sections: &'a [SectionHeader32<LE>],
    section_names: &'a [u8],
    /// Without the empty one at the start.
    symbols: &'a [Sym32<LE>],
    symbol_names: &'a [u8],
}

/// What is wrong with an ELF file, and at which byte.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) what: &'static str,
    pub(super) offset: u64,
}

/// Whether this is a 32-bit little-endian ELF file for an IPU.
pub(super) fn is_tile(bytes: &[u8]) -> bool {
    let Ok(header) = FileHeader32::<LE>::parse(bytes) else { return false };
    header.e_ident.data == elf::ELFDATA2LSB && header.e_machine.get(LE).0 == MACHINE
}

/// Whether this begins like any ELF file.
pub(super) fn is_elf(bytes: &[u8]) -> bool {
    bytes.starts_with(&elf::ELFMAG)
}

impl<'a> TileFile<'a> {
    /// Checks all tables of a tile's ELF file.
    pub(super) fn parse(name: &'a [u8], position: usize, bytes: &'a [u8]) -> Result<Self, Fault> {
        let at = |what, offset| Fault { what, offset };
        let header = FileHeader32::<LE>::parse(bytes).map_err(|_| at("its header is damaged", 0))?;
        let table = u64::from(header.e_shoff.get(LE));
        let all = header.section_headers(LE, bytes).map_err(|_| at("the table of sections is not inside it", table))?;
        let names_at = header.section_strings_index(LE, bytes).ok();
        let Some((_, sections)) = all.split_first() else { return Err(at("it has no sections", table)) };
        let names = names_at.and_then(|index| all.get(index.0)).and_then(|names| names.data(LE, bytes).ok());
        let Some(section_names) = names else { return Err(at("the names of its sections are not inside it", table)) };
        let mut file = TileFile { name, position, bytes, sections, section_names, symbols: &[], symbol_names: &[] };
        file.check_sections(table)?;
        file.find_symbols(all, table)?;
        Ok(file)
    }

    fn check_sections(&self, table: u64) -> Result<(), Fault> {
        for (index, section) in (1..).zip(self.sections) {
            let fault = |what| Fault { what, offset: entry(table, index) };
            if section.data(LE, self.bytes).is_err() {
                return Err(fault("a section is not inside it"));
            }
            if name_at(self.section_names, section.sh_name(LE)).is_none() {
                return Err(fault("the name of a section is not inside the table of names"));
            }
        }
        Ok(())
    }

    /// An ELF file has at most one table of symbols.
    fn find_symbols(&mut self, all: &'a [SectionHeader32<LE>], table: u64) -> Result<(), Fault> {
        let mut numbered = (0..).zip(all);
        let Some((index, section)) = numbered.find(|(_, section)| section.sh_type(LE) == elf::SHT_SYMTAB) else {
            return Ok(());
        };
        let fault = |what| Fault { what, offset: entry(table, index) };
        let symbols = section.data_as_array(LE, self.bytes);
        let symbols: &[Sym32<LE>] = symbols.map_err(|_| fault("the table of symbols is not whole"))?;
        let names = all.get(section.link(LE).0).and_then(|names| names.data(LE, self.bytes).ok());
        self.symbol_names = names.ok_or_else(|| fault("the names of its symbols are not inside it"))?;
        self.symbols = symbols.get(1..).unwrap_or_default();
        let outside = |symbol: &Sym32<LE>| name_at(self.symbol_names, symbol.st_name(LE)).is_none();
        if self.symbols.iter().any(outside) {
            return Err(fault("the name of a symbol is not inside the table of names"));
        }
        Ok(())
    }

    /// The name of the archive's member, cut after 1,024 bytes.
    pub fn name(&self) -> Text<'a> {
        self.name.into()
    }

    /// The place among the archive's tiles, counted from 0.
    pub fn position(&self) -> usize {
        self.position
    }

    /// The ELF file itself.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The sections, without the empty one at the start of each ELF file.
    pub fn sections(&self) -> impl ExactSizeIterator<Item = Section<'a>> + use<'a> {
        let names = self.section_names;
        self.sections.iter().map(move |section| section_of(section, names))
    }

    /// The symbols, without the empty one at the start of each table.
    pub fn symbols(&self) -> impl ExactSizeIterator<Item = Symbol<'a>> + use<'a> {
        let names = self.symbol_names;
        self.symbols.iter().map(move |symbol| symbol_of(symbol, names))
    }

    /// The bytes of all sections by kind.
    pub fn sizes(&self) -> Sizes {
        let mut sizes = Sizes::default();
        for section in self.sections() {
            sizes.add(section.kind, section.size.into());
        }
        sizes
    }

    /// The bytes of stacks in memory, as far as names show: the sections whose names contain `stack`, and in other
    /// sections the data symbols with such names. `None` if there are neither.
    ///
    /// Which names Poplar gives is not documented.
    pub fn stack(&self) -> Option<u64> {
        let counts = |section: &Section<'_>| section.kind.is_in_memory() && says_stack(&section.name);
        let sections = self.sections().filter(counts).map(|section| u64::from(section.size));
        let mut spans = Vec::new();
        for symbol in self.symbols().filter(|symbol| symbol.kind == SymbolKind::Object && symbol.size > 0) {
            let Some((index, section)) = symbol.section.and_then(|index| Some((index, self.section(index)?))) else {
                continue;
            };
            if section.kind.is_in_memory() && says_stack(&symbol.name) && !says_stack(&section.name) {
                spans.push((index, u64::from(symbol.address), u64::from(symbol.size.min(section.size))));
            }
        }
        sections.chain(joined(spans)).reduce(u64::saturating_add)
    }

    /// The number in the name of the member: 12 of `tile12.elf`. It is the tile's if the names of all tiles are alike: see
    /// [`Numbering`](super::Numbering).
    pub fn number_in_name(&self) -> Option<u32> {
        super::number::number_in(self.name).map(|(_, number, _)| number)
    }

    /// The `count` largest sections and as many symbols.
    pub fn largest(&self, count: usize) -> Largest {
        let sections = self.sections().map(|it| if it.kind == SectionKind::Table { 0 } else { it.size });
        let (sections, more_sections) = largest_of(sections, count);
        let (symbols, more_symbols) = largest_of(self.symbols().map(|symbol| symbol.size), count);
        let section = |index: usize| Some(section_of(self.sections.get(index)?, self.section_names).into_owned());
        let symbol = |index: usize| Some(symbol_of(self.symbols.get(index)?, self.symbol_names).into_owned());
        Largest {
            sections: sections.into_iter().filter_map(section).collect(),
            more_sections,
            symbols: symbols.into_iter().filter_map(symbol).collect(),
            more_symbols,
        }
    }

    fn section(&self, index: u32) -> Option<Section<'a>> {
        let section = self.sections.get(usize::try_from(index).ok()?)?;
        Some(section_of(section, self.section_names))
    }

    pub(super) fn functions(&self) -> usize {
        self.symbols.iter().filter(|symbol| symbol.st_type() == elf::STT_FUNC).count()
    }
}

/// The places of the `count` largest sizes, the largest first, and how many others are not 0.
fn largest_of(sizes: impl Iterator<Item = u32>, count: usize) -> (Vec<usize>, usize) {
    let mut all: Vec<_> = sizes.enumerate().filter(|&(_, size)| size > 0).collect();
    let order = |&(index, size): &(usize, u32)| (Reverse(size), index);
    if count < all.len() {
        all.select_nth_unstable_by_key(count, order);
    }
    let more = all.len().saturating_sub(count);
    all.truncate(count);
    all.sort_unstable_by_key(order);
    (all.into_iter().map(|(index, _)| index).collect(), more)
}

impl Section<'_> {
    fn into_owned(self) -> Section<'static> {
        Section { name: self.name.into_owned(), ..self }
    }
}

impl Symbol<'_> {
    fn into_owned(self) -> Symbol<'static> {
        Symbol { name: self.name.into_owned(), ..self }
    }
}

fn section_of<'a>(section: &SectionHeader32<LE>, names: &'a [u8]) -> Section<'a> {
    let size = section.sh_size(LE);
    Section {
        name: name_at(names, section.sh_name(LE)).unwrap_or_default().into(),
        kind: kind_of(section),
        address: section.sh_addr(LE),
        size,
        file_bytes: if section.sh_type(LE) == elf::SHT_NOBITS { 0 } else { size },
    }
}

fn symbol_of<'a>(symbol: &Sym32<LE>, names: &'a [u8]) -> Symbol<'a> {
    Symbol {
        name: name_at(names, symbol.st_name(LE)).unwrap_or_default().into(),
        kind: match symbol.st_type() {
            elf::STT_FUNC => SymbolKind::Function,
            elf::STT_OBJECT => SymbolKind::Object,
            elf::STT_SECTION => SymbolKind::Section,
            elf::STT_FILE => SymbolKind::File,
            _ => SymbolKind::Other,
        },
        section: symbol.st_shndx(LE).index().and_then(|index| u32::from(index).checked_sub(1)),
        address: symbol.st_value(LE),
        size: symbol.st_size(LE),
    }
}

/// The bytes of spans (section, start, length). Bytes that several spans share count once.
fn joined(mut spans: Vec<(u32, u64, u64)>) -> Option<u64> {
    spans.sort_unstable();
    let mut bytes = None;
    let mut reached = (0, 0);
    for (section, start, len) in spans {
        let end = start.saturating_add(len);
        let from = if reached.0 == section { start.max(reached.1) } else { start };
        let sum: &mut u64 = bytes.get_or_insert(0);
        *sum = sum.saturating_add(end.saturating_sub(from));
        reached = (section, end.max(from));
    }
    bytes
}

fn says_stack(name: &Text<'_>) -> bool {
    name.as_bytes().windows(5).any(|word| word.eq_ignore_ascii_case(b"stack"))
}

/// The place of an entry in the table of sections.
fn entry(table: u64, index: u64) -> u64 {
    index.saturating_mul(len_of(size_of::<SectionHeader32<LE>>())).saturating_add(table)
}

/// A name in a table of names. It reads no further than the longest name, because many names may overlap.
fn name_at(names: &[u8], at: u32) -> Option<&[u8]> {
    // A table can be missing if all names are empty.
    let names = match usize::try_from(at) {
        Ok(0) if names.is_empty() => names,
        Ok(at) => names.get(at..).filter(|rest| !rest.is_empty())?,
        Err(_) => return None,
    };
    let names = names.get(..LONGEST_NAME).unwrap_or(names);
    let end = names.iter().position(|&byte| byte == 0).unwrap_or(names.len());
    names.get(..end)
}
