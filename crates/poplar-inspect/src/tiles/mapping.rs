use std::fmt;

use super::{Error, Interval};

/// Which elements of a tensor are on which tile of a target.
///
/// Elements are numbered in row-major order. An element is on at most one tile. The intervals of a tile are sorted, and those
/// that touch are one, so two mappings are equal if they put every element on the same tile.
///
/// ```
/// use poplar_inspect::tiles::{Interval, Mapping};
///
/// let mapping = Mapping::new(4, [(2, Interval::new(8, 12)?), (0, Interval::new(0, 8)?)])?;
/// assert_eq!(mapping.counts().collect::<Vec<_>>(), [(0, 8), (2, 4)]);
/// assert_eq!((mapping.elements(), mapping.used_tiles(), mapping.idle_tiles()), (12, 2, 2));
/// # Ok::<(), poplar_inspect::tiles::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Mapping {
    tiles: u32,
    /// Sorted by tile, then by begin.
    pieces: Vec<(u32, Interval)>,
}

impl Mapping {
    /// A mapping onto a target with `tiles` tiles. Fails if an element is mapped twice.
    pub fn new(tiles: u32, pieces: impl IntoIterator<Item = (u32, Interval)>) -> Result<Self, Error> {
        if tiles == 0 {
            return Err(Error::Zero { what: "tiles" });
        }
        let mut pieces: Vec<_> = pieces.into_iter().filter(|(_, interval)| !interval.is_empty()).collect();
        if let Some(&(tile, _)) = pieces.iter().find(|(tile, _)| *tile >= tiles) {
            return Err(Error::NoSuchTile { tile, tiles });
        }
        pieces.sort_unstable_by_key(|(_, interval)| *interval);
        for (left, right) in pieces.iter().zip(pieces.iter().skip(1)) {
            let interval = left.1.common(right.1);
            if !interval.is_empty() {
                return Err(Error::Overlap { interval });
            }
        }
        Ok(Mapping::of_disjoint(tiles, pieces))
    }

    /// A mapping of pieces that are known to be disjoint and on tiles that exist.
    pub(super) fn of_disjoint(tiles: u32, mut pieces: Vec<(u32, Interval)>) -> Self {
        pieces.retain(|(_, interval)| !interval.is_empty());
        pieces.sort_unstable();
        pieces.dedup_by(|next, last| {
            let touches = next.0 == last.0 && next.1.begin() == last.1.end();
            if touches {
                last.1 = Interval::between(last.1.begin(), next.1.end());
            }
            touches
        });
        Mapping { tiles, pieces }
    }

    /// The number of tiles of the target, used or not.
    pub fn tiles(&self) -> u32 {
        self.tiles
    }

    /// All intervals with their tiles, by tile and then by begin.
    pub fn pieces(&self) -> &[(u32, Interval)] {
        &self.pieces
    }

    /// The intervals of a tile, in order.
    pub fn on_tile(&self, tile: u32) -> impl Iterator<Item = Interval> {
        let start = self.pieces.partition_point(|piece| piece.0 < tile);
        let pieces = self.pieces.get(start..).unwrap_or_default();
        pieces.iter().take_while(move |piece| piece.0 == tile).map(|piece| piece.1)
    }

    /// Each tile that is used, with the number of elements on it.
    pub fn counts(&self) -> impl Iterator<Item = (u32, u64)> {
        self.by_tile().map(|tile| (tile.tile(), tile.elements()))
    }

    /// Each tile that is used, with its intervals.
    pub fn by_tile(&self) -> impl Iterator<Item = OnTile<'_>> {
        self.pieces.chunk_by(|left, right| left.0 == right.0).map(OnTile)
    }

    /// The number of elements that are mapped.
    pub fn elements(&self) -> u64 {
        // They are disjoint, so the sum fits.
        self.pieces.iter().map(|piece| piece.1.len()).sum()
    }

    /// The number of elements on the fullest tile.
    pub fn most(&self) -> u64 {
        self.counts().map(|(_, count)| count).max().unwrap_or_default()
    }

    /// The number of tiles that have elements.
    pub fn used_tiles(&self) -> u32 {
        self.by_tile().fold(0, |count, _| count + 1)
    }

    /// The number of tiles that have no elements.
    pub fn idle_tiles(&self) -> u32 {
        self.tiles.saturating_sub(self.used_tiles())
    }

    /// The last tile that is used.
    pub fn last_tile(&self) -> Option<u32> {
        self.pieces.last().map(|piece| piece.0)
    }

    /// The same mapping onto a target with another number of tiles. Fails if a used tile is not among them.
    pub fn with_tiles(&self, tiles: u32) -> Result<Self, Error> {
        if tiles == 0 {
            return Err(Error::Zero { what: "tiles" });
        }
        match self.last_tile().filter(|&tile| tile >= tiles) {
            Some(tile) => Err(Error::NoSuchTile { tile, tiles }),
            None => Ok(Mapping { tiles, pieces: self.pieces.clone() }),
        }
    }

    /// The same mapping with each tile replaced by another one. Two tiles may become one.
    pub(super) fn moved(&self, tile: impl Fn(u32) -> u32) -> Self {
        Mapping::of_disjoint(self.tiles, self.pieces.iter().map(|piece| (tile(piece.0), piece.1)).collect())
    }

    /// The pieces sorted by their elements.
    pub(super) fn by_element(&self) -> Vec<(u32, Interval)> {
        let mut pieces = self.pieces.clone();
        pieces.sort_unstable_by_key(|piece| piece.1);
        pieces
    }

    /// Fails if elements are mapped that a tensor with `elements` elements does not have.
    pub(super) fn check_range(&self, elements: u64) -> Result<(), Error> {
        match self.pieces.iter().find(|piece| piece.1.end() > elements) {
            Some(&(_, interval)) => Err(Error::OutOfRange { interval, elements }),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Mapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} tiles ", self.tiles)?;
        f.debug_map().entries(self.pieces.iter().map(|piece| (piece.0, piece.1))).finish()
    }
}

/// Serialises as a list of `{"tile": t, "intervals": [[begin, end], ...]}`.
#[cfg(feature = "serde")]
impl serde::Serialize for Mapping {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.by_tile())
    }
}

/// A tile that is used, and the elements on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
// Invariant: there is at least one piece, and all have the same tile.
pub struct OnTile<'m>(&'m [(u32, Interval)]);

impl<'m> OnTile<'m> {
    /// The tile.
    pub fn tile(self) -> u32 {
        self.0.first().map_or(0, |piece| piece.0)
    }

    /// Its intervals, in order.
    pub fn intervals(self) -> impl Iterator<Item = Interval> + 'm {
        self.0.iter().map(|piece| piece.1)
    }

    /// The number of elements on it.
    pub fn elements(self) -> u64 {
        self.intervals().map(Interval::len).sum()
    }
}

/// Serialises as `{"tile": t, "intervals": [[begin, end], ...]}`.
#[cfg(feature = "serde")]
impl serde::Serialize for OnTile<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;

        let mut object = serializer.serialize_struct("OnTile", 2)?;
        object.serialize_field("tile", &self.tile())?;
        object.serialize_field("intervals", &Intervals(*self))?;
        object.end()
    }
}

#[cfg(feature = "serde")]
struct Intervals<'m>(OnTile<'m>);

#[cfg(feature = "serde")]
impl serde::Serialize for Intervals<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.intervals())
    }
}
