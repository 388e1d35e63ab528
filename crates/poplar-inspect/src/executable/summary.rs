use popef::types::Text;
use popef_findings::{Chips, chips, tile_memory};

use super::metadata::MetadataPart;
use super::sizes::{SectionKind, Sizes};

use crate::error::Error;

/// What was found in an executable: the result of [`read`](super::read).
///
/// If [`damage`](Self::damage) is present, the rest describes only what was read: see [`is_complete`](Self::is_complete).
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct Summary {
    /// What the tiles were in.
    pub container: Container,
    /// Whether the format is documented. It is for `archive.a`. What is inside a Poplar executable is an inference that
    /// no public sample confirms.
    pub verified: bool,
    /// The tiles, in the order of the archive.
    pub tiles: Vec<Tile>,
    /// Where the numbers of the tiles come from.
    pub numbering: Numbering,
    /// The contents of the tiles. Equal tiles share an entry.
    pub contents: Vec<Content>,
    /// The sections of all tiles by name and kind, largest first.
    pub sections: Vec<SectionTotal>,
    /// How many sections are not among `sections`, because there are too many names.
    pub sections_left_out: u64,
    /// The first 1,000 members that are not among the tiles. Tables of names and symbols do not count as members.
    pub other_members: Vec<OtherMember>,
    /// How many members are not among the tiles.
    pub other_members_count: u64,
    /// Poplar's own metadata in its executable. `None` if the executable has no metadata, or if it was not reached.
    pub metadata: Option<MetadataPart>,
    /// How many bytes follow the last part of a Poplar executable.
    pub bytes_after: u64,
    /// The first thing that is damaged or could not be read.
    pub damage: Option<Error>,
}

/// The container of the tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase", tag = "kind"))]
#[non_exhaustive]
pub enum Container {
    /// A Unix archive: Poplar's `archive.a`.
    Archive,
    /// A Poplar executable: what `poplar::Executable::serialize` writes.
    Executable {
        /// The number in its mark: 3 of `GC_EXE_3`.
        format: u8,
    },
}

/// Where the numbers of tiles come from. Both ways are an inference, as Poplar's names are not documented.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub enum Numbering {
    /// The names of the members are equal but for a number, and no two have the same one.
    Names,
    /// The place among the archive's tiles, counted from 0.
    Positions,
}

/// A tile.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct Tile {
    /// The number of the tile: see [`Summary::numbering`].
    pub number: u32,
    /// The name of the archive's member, cut after 64 bytes.
    pub name: Text<'static>,
    /// The index of its content in [`Summary::contents`].
    pub content: u32,
}

/// The content of a tile, or of several equal tiles.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct Content {
    /// The number of tiles with this content. Their ELF files are equal in every byte.
    pub tiles: u32,
    /// The size of the ELF file in bytes.
    pub file_bytes: u64,
    /// The bytes of the sections.
    pub sizes: Sizes,
    /// The bytes of stacks, as far as names show: see [`TileFile::stack`](super::TileFile::stack).
    pub stack: Option<u64>,
    /// The number of sections.
    pub sections: u32,
    /// The number of symbols.
    pub symbols: u32,
    /// The number of symbols that name code.
    pub functions: u32,
}

/// The sections of one name and kind in all tiles.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct SectionTotal {
    /// The name.
    pub name: Text<'static>,
    /// What the sections are.
    pub kind: SectionKind,
    /// How many there are. Equal tiles each count.
    pub count: u64,
    /// Their bytes together.
    pub bytes: u64,
    /// The bytes of the largest.
    pub largest: u64,
}

/// A member of the archive that is not among the tiles.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct OtherMember {
    /// The name, cut after 64 bytes.
    pub name: Text<'static>,
    /// The size in bytes.
    pub bytes: u64,
    /// Why it is not among the tiles.
    pub reason: NotATile,
}

/// Why a member is not among the tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub enum NotATile {
    /// It is not an ELF file.
    NotElf,
    /// It is an ELF file for another machine.
    OtherElf,
    /// It is the ELF file of a tile, and damaged.
    Damaged,
    /// It is too long to be read.
    TooLong,
}

/// A range of a histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct Bucket {
    /// The smallest number of bytes of memory.
    pub from: u64,
    /// The largest number of bytes of memory.
    pub to: u64,
    /// The number of tiles in this range.
    pub tiles: u64,
}

/// The most important figures of a [`Summary`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct Tiles {
    /// The number of tiles.
    pub count: u64,
    /// The number of tiles that differ from each other.
    pub distinct: u64,
    /// The memory that the fullest tile uses, in bytes.
    pub largest_bytes: u64,
    /// The number of the fullest tile. `None` if there are no tiles.
    pub largest_tile: Option<u32>,
    /// The memory that all tiles use together, in bytes.
    pub total_bytes: u64,
    /// See [`Summary::verified`].
    pub verified: bool,
    /// See [`Summary::is_complete`].
    pub complete: bool,
}

impl Summary {
    /// Whether everything was read. If not, there may be more and larger tiles than are known.
    ///
    /// An archive that was cut off exactly between two members looks complete.
    pub fn is_complete(&self) -> bool {
        self.damage.is_none()
    }

    /// Returns the content of a tile.
    pub fn content(&self, tile: &Tile) -> Option<&Content> {
        self.contents.get(usize::try_from(tile.content).ok()?)
    }

    /// Returns the bytes of memory that a tile uses.
    pub fn memory(&self, tile: &Tile) -> u64 {
        self.content(tile).map_or(0, |content| content.sizes.memory())
    }

    /// Returns the bytes of all tiles by kind.
    pub fn totals(&self) -> Sizes {
        let mut totals = Sizes::default();
        for content in &self.contents {
            totals.add_times(&content.sizes, content.tiles.into());
        }
        totals
    }

    /// Returns the `count` tiles that use the most memory, fullest first. Tiles that use the same amount are in the
    /// order of their numbers.
    pub fn fullest(&self, count: usize) -> Vec<&Tile> {
        let mut tiles: Vec<&Tile> = self.tiles.iter().collect();
        tiles.sort_by_key(|tile| (std::cmp::Reverse(self.memory(tile)), tile.number));
        tiles.truncate(count);
        tiles
    }

    /// Returns the number of tiles by the memory that they use, in at most `buckets` ranges of equal width from the
    /// emptiest to the fullest tile.
    pub fn histogram(&self, buckets: usize) -> Vec<Bucket> {
        let memory = || self.contents.iter().map(|content| content.sizes.memory());
        let (Some(least), Some(most)) = (memory().min(), memory().max()) else { return Vec::new() };
        let buckets = u64::try_from(buckets).unwrap_or(u64::MAX);
        let range = most.saturating_sub(least).saturating_add(1);
        let Some(width) = range.checked_div(buckets).map(|_| range.div_ceil(buckets)) else { return Vec::new() };
        let mut all = Vec::new();
        let mut from = least;
        while from <= most {
            let to = from.saturating_add(width.saturating_sub(1)).min(most);
            all.push(Bucket { from, to, tiles: 0 });
            let Some(next) = to.checked_add(1) else { break };
            from = next;
        }
        for content in &self.contents {
            let index = content.sizes.memory().saturating_sub(least).checked_div(width);
            let bucket = index.and_then(|index| all.get_mut(usize::try_from(index).ok()?));
            if let Some(bucket) = bucket {
                bucket.tiles = bucket.tiles.saturating_add(content.tiles.into());
            }
        }
        all
    }

    /// Returns the most important figures.
    pub fn overview(&self) -> Tiles {
        let fullest = self.fullest(1).first().copied();
        Tiles {
            count: self.count(),
            distinct: u64::try_from(self.contents.len()).unwrap_or(u64::MAX),
            largest_bytes: fullest.map_or(0, |tile| self.memory(tile)),
            largest_tile: fullest.map(|tile| tile.number),
            total_bytes: self.totals().memory(),
            verified: self.verified,
            complete: self.is_complete(),
        }
    }

    /// Returns the chips that have exactly this number of tiles. Empty if not all tiles are known.
    pub fn chips(&self) -> Vec<Chips> {
        if self.is_complete() { chips(self.count()) } else { Vec::new() }
    }

    /// Returns the tiles that use more memory than a tile has, fullest first. `None` if the number of tiles does not
    /// determine how much memory a tile has.
    pub fn overfull(&self) -> Option<Vec<&Tile>> {
        let memory = tile_memory(self.count()).filter(|_| self.is_complete())?;
        let mut tiles = self.fullest(usize::MAX);
        tiles.retain(|tile| self.memory(tile) > memory);
        Some(tiles)
    }

    fn count(&self) -> u64 {
        u64::try_from(self.tiles.len()).unwrap_or(u64::MAX)
    }
}
