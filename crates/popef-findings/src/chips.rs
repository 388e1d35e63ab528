//! The kinds of IPUs, as far as their tiles differ.

/// A generation of IPUs, as far as tiles differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub enum Generation {
    /// The Mk1 IPU (GC2): Poplar's target `ipu1`.
    Ipu1,
    /// The Mk2 IPU (GC200) and the Bow IPU: Poplar's targets `ipu2` and `ipu21`.
    Ipu2,
}

impl Generation {
    /// All generations.
    pub const ALL: &'static [Generation] = &[Generation::Ipu1, Generation::Ipu2];

    /// The generation of the IPUs with this version, as a PopEF file's metadata has it: `None` if that is unknown.
    pub const fn of_ipu_version(version: u32) -> Option<Generation> {
        match version {
            1 => Some(Generation::Ipu1),
            2 | 21 => Some(Generation::Ipu2),
            _ => None,
        }
    }

    /// The number of tiles of a chip.
    pub const fn tiles(self) -> u32 {
        match self {
            Generation::Ipu1 => 1216,
            Generation::Ipu2 => 1472,
        }
    }

    /// The bytes of memory of a tile.
    pub const fn tile_memory(self) -> u64 {
        match self {
            Generation::Ipu1 => 256 << 10,
            Generation::Ipu2 => 624 << 10,
        }
    }
}

/// Chips that have a certain number of tiles together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct Chips {
    /// The generation of the chips.
    pub generation: Generation,
    /// The number of chips.
    pub ipus: u64,
}

/// Returns which chips have exactly this number of tiles. The list can be empty, and rarely has two kinds.
///
/// ```
/// use popef_findings::{Generation, chips};
///
/// let [chips] = chips(2 * 1472)[..] else { panic!("only one generation has that many tiles") };
/// assert_eq!((chips.generation, chips.ipus), (Generation::Ipu2, 2));
/// ```
pub fn chips(tiles: u64) -> Vec<Chips> {
    let whole = |generation: &Generation| {
        let each = u64::from(generation.tiles());
        let ipus = tiles.checked_div(each).filter(|&ipus| ipus > 0 && tiles.is_multiple_of(each));
        ipus.map(|ipus| Chips { generation: *generation, ipus })
    };
    Generation::ALL.iter().filter_map(whole).collect()
}

/// Returns the bytes of memory of a tile, if the generation follows from the number of tiles.
///
/// ```
/// use popef_findings::tile_memory;
///
/// assert_eq!(tile_memory(1216), Some(256 * 1024));
/// assert_eq!(tile_memory(4 * 1472), Some(624 * 1024));
/// assert_eq!(tile_memory(1000), None);
/// ```
pub fn tile_memory(tiles: u64) -> Option<u64> {
    match chips(tiles)[..] {
        [Chips { generation, .. }] => Some(generation.tile_memory()),
        _ => None,
    }
}
