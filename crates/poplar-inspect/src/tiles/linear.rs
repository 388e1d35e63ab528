use super::split::for_each_part;
use super::{Error, Interval, Mapping, Split};

/// The direction in which tiles are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
pub enum Order {
    /// From low to high tile numbers.
    #[default]
    Ascending,
    /// From high to low tile numbers.
    Descending,
}

/// How a tensor is spread evenly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Linear {
    /// The number of elements on each tile is a multiple of this, except on the last one.
    pub grain: u64,
    /// The minimum number of elements on a tile, if the tensor has as many.
    pub min_elements: u64,
    /// Where the first tile is, counted from tile 0, or from the last tile if the order is descending.
    pub offset: u32,
    /// The direction in which tiles are taken.
    pub order: Order,
}

impl Linear {
    /// Spreads from tile 0 upwards. [`Target::linear`](super::Target::linear) has the grain and the minimum that are usual for a type.
    pub fn new(grain: u64, min_elements: u64) -> Self {
        Linear { grain, min_elements, offset: 0, order: Order::Ascending }
    }

    /// Sets the first tile and the direction.
    #[must_use]
    pub fn from(self, offset: u32, order: Order) -> Self {
        Linear { offset, order, ..self }
    }
}

/// Spreads a tensor evenly over tiles: poplibs' `calcLinearTileMapping`.
///
/// ```
/// use poplar_inspect::tiles::{Linear, Order, calc_linear_tile_mapping};
///
/// let from_3_down = Linear::new(16, 0).from(0, Order::Descending);
/// let mapping = calc_linear_tile_mapping(4, &[10, 5], &from_3_down)?;
/// assert_eq!(format!("{mapping:?}"), "4 tiles {0: [48, 50), 1: [32, 48), 2: [16, 32), 3: [0, 16)}");
/// # Ok::<(), poplar_inspect::tiles::Error>(())
/// ```
pub fn calc_linear_tile_mapping(tiles: u32, shape: &[u64], linear: &Linear) -> Result<Mapping, Error> {
    map_linearly(tiles, number_of_elements(shape)?, linear)
}

/// Spreads a flat tensor evenly over tiles.
pub(super) fn map_linearly(tiles: u32, elements: u64, linear: &Linear) -> Result<Mapping, Error> {
    if tiles == 0 {
        return Err(Error::Zero { what: "tiles" });
    }
    let split = Split { min_per_part: linear.min_elements, ..Split::new(linear.grain, u64::from(tiles)) };
    let mut pieces = Vec::new();
    let mut tile = first_tile(tiles, linear);
    let mut last_part = 0;
    for_each_part(&[Interval::first(elements)], &split, |part, interval| {
        if part != last_part {
            tile = next_tile(tile, tiles, linear.order);
            last_part = part;
        }
        pieces.push((tile, interval));
    })?;
    Ok(Mapping::of_disjoint(tiles, pieces))
}

fn first_tile(tiles: u32, linear: &Linear) -> u32 {
    let offset = linear.offset.checked_rem(tiles).unwrap_or_default();
    match linear.order {
        Order::Ascending => offset,
        Order::Descending => tiles.saturating_sub(1).saturating_sub(offset),
    }
}

fn next_tile(tile: u32, tiles: u32, order: Order) -> u32 {
    match order {
        Order::Ascending if tile.saturating_add(1) == tiles => 0,
        Order::Ascending => tile.saturating_add(1),
        Order::Descending => tile.checked_sub(1).unwrap_or(tiles.saturating_sub(1)),
    }
}

/// Like [`calc_linear_tile_mapping`], and returns the offset for the next tensor too, one tile after the last one that
/// is used.
///
/// ```
/// use poplar_inspect::tiles::{Linear, calc_linear_tile_mapping_and_new_offset};
///
/// let (mapping, offset) = calc_linear_tile_mapping_and_new_offset(8, &[128], &Linear::new(2, 32), 6)?;
/// assert_eq!(format!("{mapping:?}"), "8 tiles {0: [64, 96), 1: [96, 128), 6: [0, 32), 7: [32, 64)}");
/// assert_eq!(offset, 2);
/// # Ok::<(), poplar_inspect::tiles::Error>(())
/// ```
pub fn calc_linear_tile_mapping_and_new_offset(
    tiles: u32,
    shape: &[u64],
    linear: &Linear,
    offset: u32,
) -> Result<(Mapping, u32), Error> {
    let mapping = calc_linear_tile_mapping(tiles, shape, &linear.from(offset, Order::Ascending))?;
    let offset = new_offset(&mapping, offset);
    Ok((mapping, offset))
}

/// The tile after the last one that a mapping from `offset` upwards uses.
pub(super) fn new_offset(mapping: &Mapping, offset: u32) -> u32 {
    let tiles = u64::from(mapping.tiles());
    let next = u64::from(offset).saturating_add(u64::from(mapping.used_tiles()));
    next.checked_rem(tiles).and_then(|tile| u32::try_from(tile).ok()).unwrap_or_default()
}

/// The number of elements of a shape.
pub fn number_of_elements(shape: &[u64]) -> Result<u64, Error> {
    if shape.contains(&0) {
        return Ok(0);
    }
    let product = shape.iter().try_fold(1, |product: u64, &size| product.checked_mul(size));
    product.ok_or(Error::TooLarge { what: "number of elements" })
}

/// How many elements more than expected the fullest tile has: poplibs' `getTileImbalance`.
///
/// Expected is an even spread over all tiles of the mapping's target, but at least `min_elements` and `grain`. poplibs' function
/// of a bare mapping takes the length of its list for the number of tiles, which may be only the used ones:
/// [`with_tiles`](Mapping::with_tiles) gives such a mapping.
pub fn tile_imbalance(mapping: &Mapping, min_elements: u64, grain: u64) -> u64 {
    mapping.most().saturating_sub(balanced(mapping.elements(), mapping.tiles(), min_elements, grain))
}

/// The number of elements that a tile is expected to have.
pub(super) fn balanced(elements: u64, tiles: u32, min_elements: u64, grain: u64) -> u64 {
    elements.div_ceil(u64::from(tiles).max(1)).max(min_elements).max(grain)
}

/// The number of elements on the fullest tile of a linear mapping, without the mapping.
///
/// ```
/// use poplar_inspect::tiles::{Linear, fullest_of_linear};
///
/// assert_eq!(fullest_of_linear(1472, 7840, &Linear::new(4, 64)), Ok(68));
/// ```
pub fn fullest_of_linear(tiles: u32, elements: u64, linear: &Linear) -> Result<u64, Error> {
    if tiles == 0 {
        return Err(Error::Zero { what: "tiles" });
    }
    let split = Split { min_per_part: linear.min_elements, ..Split::new(linear.grain, u64::from(tiles)) };
    split.longest_part(elements)
}

/// Each tile of a linear mapping with the number of elements on it, in the order in which tiles are taken, without the mapping.
///
/// ```
/// use poplar_inspect::tiles::{Linear, Order, linear_counts};
///
/// let linear = Linear::new(2, 32).from(6, Order::Ascending);
/// assert_eq!(linear_counts(8, 100, &linear)?.collect::<Vec<_>>(), [(6, 32), (7, 34), (0, 34)]);
/// # Ok::<(), poplar_inspect::tiles::Error>(())
/// ```
pub fn linear_counts(
    tiles: u32,
    elements: u64,
    linear: &Linear,
) -> Result<impl Iterator<Item = (u32, u64)> + use<>, Error> {
    if tiles == 0 {
        return Err(Error::Zero { what: "tiles" });
    }
    let split = Split { min_per_part: linear.min_elements, ..Split::new(linear.grain, u64::from(tiles)) };
    let (mut tile, order) = (first_tile(tiles, linear), linear.order);
    Ok(split.parts_of_one(elements)?.map(move |count| {
        let this = tile;
        tile = next_tile(tile, tiles, order);
        (this, count)
    }))
}

/// The seed of [`choose_mapping_offset`] in poplibs.
pub const DEFAULT_SEED: u64 = 0x9e37_79b9;

/// Chooses an offset by a hash of the shape: poplibs' `chooseMappingOffset`. The seed is usually [`DEFAULT_SEED`].
///
/// The hash is that of Boost before version 1.81 on 64-bit systems, which is what poplibs' tests expect. Later versions of Boost
/// give other offsets.
///
/// ```
/// use poplar_inspect::tiles::{DEFAULT_SEED, choose_mapping_offset};
///
/// assert_eq!(choose_mapping_offset(1024, &[4, 64], DEFAULT_SEED)?, 239);
/// # Ok::<(), poplar_inspect::tiles::Error>(())
/// ```
pub fn choose_mapping_offset(tiles: u32, shape: &[u64], seed: u64) -> Result<u32, Error> {
    const MULTIPLIER: u64 = 0xc6a4_a793_5bd1_e995;
    let hash = shape.iter().fold(seed, |hash, &size| {
        let size = size.wrapping_mul(MULTIPLIER);
        let size = (size ^ size >> 47).wrapping_mul(MULTIPLIER);
        (hash ^ size).wrapping_mul(MULTIPLIER).wrapping_add(0xe654_6b64)
    });
    let tile = hash.checked_rem(u64::from(tiles)).ok_or(Error::Zero { what: "tiles" })?;
    u32::try_from(tile).map_err(|_| Error::TooLarge { what: "number of tiles" })
}

/// Renumbers a tile so that a mapping with this offset and order begins at 0 and increases: poplibs' `transformTileIndex`.
///
/// If the order is descending, the tile that becomes 0 is tile `tiles - offset`. poplibs' documentation says
/// `tiles - 1 - offset`, and [`calc_linear_tile_mapping`] begins there. Its code for this function differs by one, and this
/// function follows the code.
///
/// ```
/// use poplar_inspect::tiles::{Order, inv_transform_tile_index, transform_tile_index};
///
/// assert_eq!(transform_tile_index(5, 8, 3, Order::Ascending)?, 2);
/// assert_eq!(inv_transform_tile_index(2, 8, 3, Order::Ascending)?, 5);
/// assert_eq!(transform_tile_index(5, 8, 3, Order::Descending)?, 0);
/// assert_eq!(inv_transform_tile_index(0, 8, 3, Order::Descending)?, 5);
/// # Ok::<(), poplar_inspect::tiles::Error>(())
/// ```
pub fn transform_tile_index(tile: u32, tiles: u32, offset: u32, order: Order) -> Result<u32, Error> {
    let (tile, offset) = check_tile(tile, tiles, offset)?;
    let tiles = u64::from(tiles);
    let index = match order {
        Order::Ascending => tiles + tile - offset,
        Order::Descending => 2 * tiles - offset - tile,
    };
    reduced(index, tiles)
}

/// The inverse of [`transform_tile_index`]: poplibs' `invTransformTileIndex`.
pub fn inv_transform_tile_index(tile: u32, tiles: u32, offset: u32, order: Order) -> Result<u32, Error> {
    match order {
        Order::Descending => transform_tile_index(tile, tiles, offset, order),
        Order::Ascending => {
            let (tile, offset) = check_tile(tile, tiles, offset)?;
            reduced(tile + offset, u64::from(tiles))
        }
    }
}

/// Returns the tile, and the offset as less than the number of tiles.
fn check_tile(tile: u32, tiles: u32, offset: u32) -> Result<(u64, u64), Error> {
    let offset = offset.checked_rem(tiles).ok_or(Error::Zero { what: "tiles" })?;
    if tile < tiles { Ok((u64::from(tile), u64::from(offset))) } else { Err(Error::NoSuchTile { tile, tiles }) }
}

fn reduced(index: u64, tiles: u64) -> Result<u32, Error> {
    let index = index.checked_rem(tiles).ok_or(Error::Zero { what: "tiles" })?;
    u32::try_from(index).map_err(|_| Error::TooLarge { what: "number of tiles" })
}
