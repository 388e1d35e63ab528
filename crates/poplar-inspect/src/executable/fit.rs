//! Whether the programs of tiles fit their memory.

use popef_findings::Generation;

use super::summary::{Summary, Tile};

/// Whether a program fits the memory of tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub enum Verdict {
    /// Its sections in memory have no more bytes than the memory.
    Fits,
    /// They have more.
    DoesNotFit,
    /// The size of the memory is unknown, or not everything was read.
    Unknown,
}

/// How the memory of a tile is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub enum MemorySource {
    /// The caller gave it.
    Given,
    /// The metadata of the PopEF file says for which IPUs the executable is.
    Metadata,
    /// Only IPUs of one generation have this number of tiles: an inference.
    TileCount,
}

/// Whether the tiles of an executable fit their memory, and how that is known: the result of [`Summary::fit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct Fit {
    /// Whether all tiles fit.
    pub verdict: Verdict,
    /// The bytes of memory of a tile.
    pub tile_memory: Option<u64>,
    /// How that is known.
    pub tile_memory_from: Option<MemorySource>,
    /// How many tiles an IPU has.
    pub tiles_per_ipu: Option<u32>,
    /// How many tiles do not fit, as far as is known.
    pub overfull: u64,
    /// Whether the number of tiles is no whole number of the IPUs that the metadata names: an inference.
    pub contradicts_metadata: bool,
}

impl Fit {
    /// Whether a tile of the same executable fits.
    pub fn of(&self, summary: &Summary, tile: &Tile) -> Verdict {
        match self.tile_memory {
            _ if self.verdict == Verdict::Unknown => Verdict::Unknown,
            Some(memory) if summary.memory(tile) > memory => Verdict::DoesNotFit,
            _ => Verdict::Fits,
        }
    }

    /// The number of the IPU that a tile is on. It is an inference, as the numbers of tiles are.
    pub fn ipu(&self, tile: &Tile) -> Option<u32> {
        tile.number.checked_div(self.tiles_per_ipu?)
    }
}

impl Summary {
    /// Whether the tiles fit. What is between sections does not count. `given` is the memory of a tile, and `ipu_version`
    /// what the metadata says, if they are known. There is no verdict if not everything was read, or without tiles.
    ///
    /// ```
    /// use poplar_inspect::executable::{Options, Verdict, read};
    ///
    /// # let archive = &b"!<arch>\n"[..];
    /// let summary = read(archive, &Options::default())?;
    /// assert_eq!(summary.fit(Some(624 << 10), None).verdict, Verdict::Unknown);
    /// # Ok::<(), poplar_inspect::Error>(())
    /// ```
    pub fn fit(&self, given: Option<u64>, ipu_version: Option<u32>) -> Fit {
        let counted = match self.chips()[..] {
            [chips] => Some(chips.generation),
            _ => None,
        };
        let stated = ipu_version.and_then(Generation::of_ipu_version);
        let known = |generation: Option<Generation>, from| Some((generation?.tile_memory(), from));
        let memory = given.map(|bytes| (bytes, MemorySource::Given));
        let memory = memory.or_else(|| known(stated, MemorySource::Metadata));
        let memory = memory.or_else(|| known(counted, MemorySource::TileCount));
        let tile_memory = memory.map(|memory| memory.0);
        let is_over = |tile: &&Tile| tile_memory.is_some_and(|memory| self.memory(tile) > memory);
        let overfull = self.tiles.iter().filter(is_over).fold(0_u64, |count, _| count.saturating_add(1));
        let verdict = match overfull {
            _ if tile_memory.is_none() || !self.is_complete() || self.tiles.is_empty() => Verdict::Unknown,
            0 => Verdict::Fits,
            _ => Verdict::DoesNotFit,
        };
        let tiles_per_ipu = stated.or(counted).map(Generation::tiles);
        let is_all_known = self.is_complete() && !self.tiles.is_empty();
        let is_whole = |of: Generation| self.tiles.len().is_multiple_of(of.tiles() as usize);
        Fit {
            verdict,
            tile_memory,
            tile_memory_from: memory.map(|memory| memory.1),
            tiles_per_ipu,
            overfull,
            contradicts_metadata: is_all_known && stated.is_some_and(|stated| !is_whole(stated)),
        }
    }
}
