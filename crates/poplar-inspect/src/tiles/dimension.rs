//! How a mapping cuts a dimension of a tensor.

use popef::DataType;

use super::interval::joined;
use super::linear::DEFAULT_SEED;
use super::{
    Error, Graph, Interval, Mapping, Method, Resolve, Target, TensorUseTracker, choose_mapping_offset,
    number_of_elements,
};

/// A dimension of a tensor whose elements are in row-major order.
#[derive(Clone, Copy)]
struct Dimension {
    /// Its size.
    size: u64,
    /// The number of elements between two neighbours along it.
    stride: u64,
}

impl Dimension {
    fn of(shape: &[u64], dimension: usize) -> Result<Self, Error> {
        let inner = shape.get(dimension..).and_then(<[u64]>::split_first);
        let (&size, inner) = inner.ok_or(Error::NoSuchDimension { dimension, rank: shape.len() })?;
        Ok(Dimension { size, stride: number_of_elements(inner)? })
    }
}

/// Returns whether elements that differ only in this dimension are on different tiles: poplibs' `dimIsSplitOverTiles`.
///
/// Elements without a tile count as on a tile of their own.
///
/// ```
/// use poplar_inspect::tiles::{Interval, Mapping, dim_is_split_over_tiles};
///
/// // Two rows of four elements, each on a tile.
/// let mapping = Mapping::new(2, [(0, Interval::new(0, 4)?), (1, Interval::new(4, 8)?)])?;
/// assert!(dim_is_split_over_tiles(&mapping, &[2, 4], 0)?);
/// assert!(!dim_is_split_over_tiles(&mapping, &[2, 4], 1)?);
/// # Ok::<(), poplar_inspect::tiles::Error>(())
/// ```
pub fn dim_is_split_over_tiles(mapping: &Mapping, shape: &[u64], dimension: usize) -> Result<bool, Error> {
    is_split(mapping, shape, dimension, |tile| tile)
}

/// Returns whether elements that differ only in this dimension are on different IPUs: poplibs' `dimIsSplitOverIPUs`.
pub fn dim_is_split_over_ipus(
    target: &Target,
    mapping: &Mapping,
    shape: &[u64],
    dimension: usize,
) -> Result<bool, Error> {
    target.check(mapping)?;
    let is_split = is_split(mapping, shape, dimension, |tile| target.ipu_of(tile))?;
    Ok(target.ipus() > 1 && is_split)
}

fn is_split(mapping: &Mapping, shape: &[u64], dimension: usize, key: impl Fn(u32) -> u32) -> Result<bool, Error> {
    let elements = number_of_elements(shape)?;
    mapping.check_range(elements)?;
    let dimension = Dimension::of(shape, dimension)?;
    if elements == 0 || dimension.size == 1 {
        return Ok(false);
    }
    let runs = runs(mapping, elements, key);
    // Each element is compared with the next one along the dimension, a run at a time.
    let block = dimension.size.saturating_mul(dimension.stride);
    let compared = block.saturating_sub(dimension.stride);
    let (mut here, mut there) = (runs.iter().peekable(), runs.iter().peekable());
    let mut element = 0;
    loop {
        while here.next_if(|run| run.0.end() <= element).is_some() {}
        while there.next_if(|run| run.0.end() - element <= dimension.stride).is_some() {}
        let (Some(left), Some(right)) = (here.peek(), there.peek()) else { return Ok(false) };
        let end = left.0.end().min(right.0.end() - dimension.stride);
        // The last row of a block has no next one.
        let first = if element % block < compared {
            element
        } else {
            (element / block).saturating_add(1).saturating_mul(block)
        };
        if left.1 != right.1 && first < end {
            return Ok(true);
        }
        element = end;
    }
}

/// The elements in order, in runs with the same key. Elements without a tile have none.
fn runs(mapping: &Mapping, elements: u64, key: impl Fn(u32) -> u32) -> Vec<(Interval, Option<u32>)> {
    let mut runs = Vec::new();
    let mut end = 0;
    for (tile, interval) in mapping.by_element() {
        runs.push((Interval::between(end, interval.begin()), None));
        runs.push((interval, Some(key(tile))));
        end = interval.end();
    }
    runs.push((Interval::between(end, elements), None));
    runs.retain(|run| !run.0.is_empty());
    runs
}

/// The mapping of a tensor with one dimension that is used together with `dimension` of another one, such as a bias: poplibs'
/// `createBroadcastOperand`.
///
/// Each element is on one of the tiles that have elements of the other tensor with the same index in this dimension. If the
/// other tensor is not mapped, the new one is spread evenly. With `dither`, all tiles are moved by an offset that depends on the
/// other tensor's shape.
pub fn create_broadcast_operand(
    target: &Target,
    full: &Mapping,
    shape: &[u64],
    element_type: DataType,
    dimension: usize,
    dither: bool,
) -> Result<Mapping, Error> {
    target.check(full)?;
    full.check_range(number_of_elements(shape)?)?;
    let dimension = Dimension::of(shape, dimension)?;
    let mut graph = Graph::new(*target);
    let operand = graph.add_variable(element_type, &[dimension.size])?;
    let mut tracker = TensorUseTracker::new(target.tiles())?;
    for tile in full.by_tile() {
        let indices = tile.intervals().flat_map(|interval| indices(interval, dimension)).collect();
        for interval in joined(indices) {
            tracker.add(tile.tile(), operand, interval)?;
        }
    }
    if tracker.is_empty() {
        graph.map_tensor_linearly(operand, None)?;
    } else {
        let mut how = Resolve::new(target.vector_width(element_type)?, 0);
        how.method = Method::ConstrainMappingToUsedTiles;
        tracker.map_tensors_by_use(&mut graph, &how)?;
    }
    let mapping = graph.variable(operand)?.mapping().ok_or(Error::NoSuchVariable { variable: operand })?.clone();
    if !dither {
        return Ok(mapping);
    }
    let tiles = target.tiles();
    let offset = choose_mapping_offset(tiles, shape, DEFAULT_SEED)?;
    Ok(mapping.moved(|tile| rotated(tile, offset, tiles)))
}

/// The tile that is `offset` tiles after another one, around the end.
fn rotated(tile: u32, offset: u32, tiles: u32) -> u32 {
    let room = tiles.saturating_sub(offset);
    if tile < room { tile.saturating_add(offset) } else { tile.saturating_sub(room) }
}

/// The indices in a dimension that an interval of elements has, as at most two intervals.
fn indices(interval: Interval, dimension: Dimension) -> [Interval; 2] {
    let none = Interval::first(0);
    let Some(first) = interval.begin().checked_div(dimension.stride) else { return [none, none] };
    // Rows are numbered through all blocks of the dimension.
    let rows = interval.end().div_ceil(dimension.stride) - first;
    if rows >= dimension.size {
        return [Interval::first(dimension.size), none];
    }
    let begin = first.checked_rem(dimension.size).unwrap_or_default();
    let end = begin + rows;
    match end.checked_sub(dimension.size) {
        None | Some(0) => [Interval::between(begin, end), none],
        Some(wrapped) => [Interval::between(begin, dimension.size), Interval::first(wrapped)],
    }
}
