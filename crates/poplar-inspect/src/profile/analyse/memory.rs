//! The memory of tiles.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::select::{Row, Selection};
use crate::profile::graph::GraphProfile;
use crate::profile::memory::{Category, Memory, Overlap};

/// Bytes on a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct TileBytes {
    /// The bytes.
    pub bytes: u64,
    /// The tile.
    pub tile: u32,
}

/// Statistics of the bytes on each tile.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct TileStatistics {
    /// The fullest tiles. If two are equal, the lower number is first.
    pub fullest: Vec<TileBytes>,
    /// The bytes on the fullest tile.
    pub max: u64,
    /// The fullest tile.
    pub max_tile: u32,
    /// The mean.
    pub mean: f64,
    /// The median. For an even number of tiles, it is the mean of the two in the middle.
    pub median: f64,
    /// The bytes on all tiles.
    pub sum: u64,
}

impl TileStatistics {
    /// The statistics of a list with a number for each tile, with at most `limit` tiles. `None` if the list is empty.
    pub fn of(bytes: &[u64], limit: usize) -> Option<Self> {
        let mut tiles: Vec<TileBytes> =
            (0..).zip(bytes).map(|(tile, bytes)| TileBytes { bytes: *bytes, tile }).collect();
        tiles.sort_by_key(|tile| Reverse(tile.bytes));
        let sum = bytes.iter().fold(0_u64, |sum, bytes| sum.saturating_add(*bytes));
        let fullest = *tiles.first()?;
        let middle = |nth: usize| tiles.get(nth).map_or(0.0, |tile| float(tile.bytes));
        let median = f64::midpoint(middle(tiles.len() / 2), middle((tiles.len() - 1) / 2));
        let mean = float(sum) / float(tiles.len() as u64);
        tiles.truncate(limit);
        Some(TileStatistics { fullest: tiles, max: fullest.bytes, max_tile: fullest.tile, mean, median, sum })
    }
}

/// An integer as a fraction. Integers above 2⁵³ are rounded.
#[expect(clippy::cast_precision_loss, reason = "fractions need no more")]
pub(in crate::profile) fn float(value: u64) -> f64 {
    value as f64
}

/// Bytes on all tiles, by region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct Regions {
    /// Interleaved memory.
    pub interleaved: u64,
    /// Other memory.
    pub non_interleaved: u64,
    /// What does not fit.
    pub overflowed: u64,
}

/// Tiles that need more memory than they have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct OverMemory {
    /// Whether all fits, in each region of memory. `None` if the report does not say what tiles need, or have, or contradicts itself.
    pub fits: Option<bool>,
    /// The bytes that do not fit, on all tiles.
    pub overflowed_bytes: u64,
    /// Tiles whose data with the gaps between it is too large. This is what decides whether a program fits.
    pub with_gaps: Vec<u32>,
    /// Tiles whose data alone is too large.
    pub without_gaps: Vec<u32>,
}

/// Bytes of a category on all tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct CategorySums {
    /// In interleaved memory.
    pub interleaved: Overlap,
    /// In other memory.
    pub non_interleaved: Overlap,
    /// What does not fit.
    pub overflowed: Overlap,
    /// All of it.
    pub total: u64,
}

/// The memory of a graph as a whole.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct MemorySums {
    /// The bytes of each category.
    pub by_category: BTreeMap<String, CategorySums>,
    /// The bytes of each region.
    pub by_region: Regions,
    /// Tiles that are too full.
    pub over_memory: OverMemory,
    /// What each tile needs, with the gaps between its data.
    pub with_gaps: Option<TileStatistics>,
    /// The data of each tile alone.
    pub without_gaps: Option<TileStatistics>,
}

fn sum(values: &[u64]) -> u64 {
    values.iter().fold(0, |sum, value| sum.saturating_add(*value))
}

/// The memory of a graph as a whole, with at most `limit` of the fullest tiles. `None` if the report does not have it.
pub fn memory(graph: &GraphProfile, limit: usize) -> Option<MemorySums> {
    let memory = graph.memory.as_ref()?;
    let mut sums = MemorySums { by_category: categories_of(memory), ..MemorySums::default() };
    if let Some(tiles) = &memory.by_tile {
        sums.by_region = Regions {
            interleaved: sum(&tiles.interleaved),
            non_interleaved: sum(&tiles.non_interleaved),
            overflowed: sum(&tiles.overflowed),
        };
        let (overflowed_bytes, with_gaps) = (sum(&tiles.overflowed), over(graph, &tiles.total_including_gaps));
        let is_known = graph.target.bytes_per_tile.is_some() && !tiles.total_including_gaps.is_empty();
        let without_gaps = over(graph, &tiles.total);
        let fits = with_gaps.is_empty() && overflowed_bytes == 0;
        // A report may say that a tile needs less than its data.
        let is_clear = is_known && without_gaps.is_empty();
        sums.over_memory = OverMemory {
            // Known overflow decides, whatever else is unknown.
            fits: (is_clear || !fits).then_some(fits),
            overflowed_bytes,
            with_gaps,
            without_gaps,
        };
        sums.with_gaps = TileStatistics::of(&tiles.total_including_gaps, limit);
        sums.without_gaps = TileStatistics::of(&tiles.total, limit);
    }
    Some(sums)
}

/// The tiles that have more bytes than a tile has.
fn over(graph: &GraphProfile, bytes: &[u64]) -> Vec<u32> {
    let Some(most) = graph.target.bytes_per_tile else { return Vec::new() };
    (0..).zip(bytes).filter(|(_, bytes)| **bytes > most).map(|(tile, _)| tile).collect()
}

fn categories_of(memory: &Memory) -> BTreeMap<String, CategorySums> {
    let sums = |category: &Category| CategorySums {
        interleaved: category.interleaved,
        non_interleaved: category.non_interleaved,
        overflowed: category.overflowed,
        total: sum(&category.total),
    };
    memory.by_category.iter().map(|category| (category.name.to_string(), sums(category))).collect()
}

/// A category of memory.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct CategoryRow<'g> {
    /// Its name.
    pub category: &'g str,
    /// The bytes on all tiles.
    pub size: u64,
    /// Its share of the data on all tiles.
    pub share: f64,
    /// The bytes on the tile that has most of it.
    pub most: u64,
    /// The tile that has most of it.
    pub most_tile: u32,
    /// The tiles that have any of it.
    pub tiles: u32,
    /// The bytes that variables share.
    pub overlapped: u64,
    /// The bytes that do not fit.
    pub overflowed: u64,
}

impl Row for CategoryRow<'_> {
    fn name(&self) -> Option<&str> {
        Some(self.category)
    }

    fn number(&self) -> Option<u32> {
        None
    }

    fn weight(&self) -> u64 {
        self.size
    }
}

/// The categories of memory.
pub fn categories<'g>(graph: &'g GraphProfile, selection: &Selection<'_>) -> Vec<CategoryRow<'g>> {
    let all = graph.memory.iter().flat_map(|memory| &memory.by_category);
    let whole = all.clone().fold(0_u64, |whole, category| whole.saturating_add(sum(&category.total)));
    let row = |category: &'g Category| {
        let sums = crate::profile::RowSums::of(category.total.iter().copied());
        let regions = [category.interleaved, category.non_interleaved, category.overflowed];
        CategoryRow {
            category: &category.name,
            size: sums.sum,
            share: if whole == 0 { 0.0 } else { float(sums.sum) / float(whole) },
            most: sums.most,
            most_tile: sums.most_tile,
            tiles: sums.tiles,
            overlapped: regions.iter().fold(0, |sum, region| sum.saturating_add(region.overlapped)),
            overflowed: category.overflowed.non_overlapped.saturating_add(category.overflowed.overlapped),
        }
    };
    selection.choose(all.map(row))
}

/// The memory of a tile.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct TileRow<'g> {
    /// The tile.
    pub tile: u32,
    /// The IPU that it is on, if the report says how many tiles one has.
    pub ipu: Option<u64>,
    /// What it needs, with the gaps between its data.
    pub size: u64,
    /// Its data alone.
    pub data_size: u64,
    /// What does not fit into its memory.
    pub overflowed: u64,
    /// What is always live.
    pub always_live: Option<u64>,
    /// The maximum of the rest that is live at once.
    pub max_not_always_live: Option<u64>,
    /// The categories with the most bytes on it.
    pub largest_categories: Vec<CategoryBytes<'g>>,
}

/// The bytes of a category on a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct CategoryBytes<'g> {
    /// The category.
    pub category: &'g str,
    /// The bytes.
    pub size: u64,
}

impl Row for TileRow<'_> {
    fn name(&self) -> Option<&str> {
        None
    }

    fn number(&self) -> Option<u32> {
        Some(self.tile)
    }

    fn weight(&self) -> u64 {
        self.size
    }
}

/// The tiles of a graph, each with at most `categories` of its largest categories.
pub fn tiles<'g>(graph: &'g GraphProfile, selection: &Selection<'_>, categories: usize) -> Vec<TileRow<'g>> {
    let Some(memory) = &graph.memory else { return Vec::new() };
    let Some(by_tile) = &memory.by_tile else { return Vec::new() };
    let liveness = memory.liveness.as_ref();
    let tiles = by_tile.total_including_gaps.len().max(by_tile.total.len());
    let row = |(number, tile): (u32, usize)| TileRow {
        tile: number,
        ipu: graph.target.tiles_per_ipu.and_then(|tiles| u64::from(number).checked_div(tiles)),
        size: at(&by_tile.total_including_gaps, tile),
        data_size: at(&by_tile.total, tile),
        overflowed: at(&by_tile.overflowed, tile),
        always_live: liveness.and_then(|live| live.always_live_by_tile.get(tile).copied()),
        max_not_always_live: liveness.and_then(|live| live.max_not_always_live_by_tile.get(tile).copied()),
        largest_categories: Vec::new(),
    };
    let mut rows = selection.choose((0_u32..).zip(0..tiles).map(row));
    // Only for the rows that are wanted.
    for row in &mut rows {
        row.largest_categories = largest(memory, row.tile, categories);
    }
    rows
}

fn at(list: &[u64], index: usize) -> u64 {
    list.get(index).copied().unwrap_or_default()
}

/// The categories with the most bytes on a tile.
pub(in crate::profile) fn largest(memory: &Memory, tile: u32, limit: usize) -> Vec<CategoryBytes<'_>> {
    let bytes = |category: &Category| at(&category.total, tile as usize);
    let all =
        memory.by_category.iter().map(|category| CategoryBytes { category: &category.name, size: bytes(category) });
    let mut all: Vec<_> = all.filter(|category| category.size > 0).collect();
    all.sort_by_key(|category| Reverse(category.size));
    all.truncate(limit);
    all
}

/// A range of bytes, and the tiles that need a number of bytes in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Bucket {
    /// The smallest number of bytes.
    pub from: u64,
    /// One more than the largest number of bytes.
    pub to: u64,
    /// The number of tiles.
    pub tiles: u64,
}

/// The tiles by the memory that they need, in at most `buckets` ranges of the same width, from 0 on. Empty if the report does not have the
/// memory of tiles.
pub fn histogram(graph: &GraphProfile, buckets: u32) -> Vec<Bucket> {
    let by_tile = graph.memory.as_ref().and_then(|memory| memory.by_tile.as_ref());
    let bytes = by_tile.map(|tiles| tiles.total_including_gaps.as_slice()).unwrap_or_default();
    let most = bytes.iter().copied().max().unwrap_or_default();
    let width = most.checked_div(u64::from(buckets)).unwrap_or(most).saturating_add(1);
    let mut tiles = BTreeMap::new();
    for bytes in bytes {
        let bucket: &mut u64 = tiles.entry(bytes.checked_div(width).unwrap_or_default()).or_default();
        *bucket = bucket.saturating_add(1);
    }
    let last = if bytes.is_empty() { 0 } else { most.checked_div(width).unwrap_or_default().saturating_add(1) };
    let bucket = |nth: u64| Bucket {
        from: nth.saturating_mul(width),
        to: nth.saturating_add(1).saturating_mul(width),
        tiles: tiles.get(&nth).copied().unwrap_or_default(),
    };
    (0..last).map(bucket).collect()
}
