//! Clones of mappings on other tiles.

use std::collections::BTreeMap;

use super::interval::joined;
use super::linear::{map_linearly, new_offset};
use super::{Error, Interval, Linear, Mapping, Order, Target};

/// Puts every element on the tile with the same number within another IPU: poplibs' `cloneToIpu`.
///
/// ```
/// use poplar_inspect::tiles::{Interval, Mapping, Target, clone_to_ipu};
///
/// let target = Target::new(4, 2)?;
/// let mapping = Mapping::new(8, [(1, Interval::new(0, 8)?), (6, Interval::new(8, 16)?)])?;
/// let clone = clone_to_ipu(&target, &mapping, 1)?;
/// assert_eq!(format!("{clone:?}"), "8 tiles {5: [0, 8), 6: [8, 16)}");
/// # Ok::<(), poplar_inspect::tiles::Error>(())
/// ```
pub fn clone_to_ipu(target: &Target, mapping: &Mapping, ipu: u32) -> Result<Mapping, Error> {
    target.check(mapping)?;
    if ipu >= target.ipus() {
        return Err(Error::NoSuchIpu { ipu, ipus: target.ipus() });
    }
    let per_ipu = target.tiles_per_ipu();
    let first = ipu.saturating_mul(per_ipu);
    Ok(mapping.moved(|tile| first.saturating_add(tile.checked_rem(per_ipu).unwrap_or_default())))
}

/// A copy of a tensor to another IPU.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
pub struct IpuCopy {
    /// Where the elements of the copy are.
    pub mapping: Mapping,
    /// The elements that are sent from tile to tile, by source. Elements that stay on their tile are copied there.
    pub transfers: Vec<Transfer>,
}

/// Elements that are sent from a tile to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
pub struct Transfer {
    /// The tile that has the elements.
    pub from: u32,
    /// The tile of the copy.
    pub to: u32,
    /// The number of elements.
    pub elements: u64,
}

/// Clones a tensor to another IPU, and says what is sent: poplibs' `copyToIpu`.
pub fn copy_to_ipu(target: &Target, mapping: &Mapping, ipu: u32) -> Result<IpuCopy, Error> {
    let clone = clone_to_ipu(target, mapping, ipu)?;
    let per_ipu = target.tiles_per_ipu();
    let first = ipu.saturating_mul(per_ipu);
    let transfers = mapping.counts().map(|(from, elements)| Transfer {
        from,
        to: first.saturating_add(from.checked_rem(per_ipu).unwrap_or_default()),
        elements,
    });
    let transfers = transfers.filter(|transfer| transfer.from != transfer.to).collect();
    Ok(IpuCopy { mapping: clone, transfers })
}

/// Puts every element on the tile with the same number of another graph: poplibs' `cloneToGraph`. Fails if that graph does not
/// have a tile that is used.
pub fn clone_to_graph(mapping: &Mapping, target: &Target) -> Result<Mapping, Error> {
    mapping.with_tiles(target.tiles())
}

/// Clones a tensor in which elements occur several times, so that none does: poplibs' `cloneAndExpandAliasing`.
///
/// `view` lists the elements of a variable that make up the tensor, in order. `mapping` is that of the variable. Where an
/// element occurs first, it stays on its tile. All other occurrences are spread evenly from the offset of `linear` upwards.
/// Returns the mapping of the clone, whose elements are numbered as in the view, and the new offset.
///
/// poplibs decides by an order that is not public which occurrence stays on its tile. It is the first one in its test.
///
/// ```
/// use poplar_inspect::tiles::{Interval, Linear, Mapping, Order, clone_and_expand_aliasing};
///
/// let [a, b, c] = [Interval::new(0, 1)?, Interval::new(1, 2)?, Interval::new(2, 3)?];
/// let mapping = Mapping::new(8, [(0, a), (1, b), (2, c)])?;
/// let linear = Linear::new(2, 32).from(3, Order::Ascending);
/// let (clone, offset) = clone_and_expand_aliasing(&mapping, &[a, b, a, c], &linear)?;
/// assert_eq!(format!("{clone:?}"), "8 tiles {0: [0, 1), 1: [1, 2), 2: [3, 4), 3: [2, 3)}");
/// assert_eq!(offset, 4);
/// # Ok::<(), poplar_inspect::tiles::Error>(())
/// ```
pub fn clone_and_expand_aliasing(
    mapping: &Mapping,
    view: &[Interval],
    linear: &Linear,
) -> Result<(Mapping, u32), Error> {
    let occurrences = Occurrences::of(view)?;
    let by_element = mapping.by_element();
    let mut pieces = Vec::new();
    for &(element, place) in &occurrences.first {
        let start = by_element.partition_point(|piece| piece.1.end() <= element.begin());
        let on_tiles = by_element.iter().skip(start).take_while(|piece| piece.1.begin() < element.end());
        pieces.extend(on_tiles.map(|&(tile, interval)| (tile, moved(interval.common(element), element, place))));
    }
    let linear = linear.from(linear.offset, Order::Ascending);
    let expanded = map_linearly(mapping.tiles(), occurrences.later.iter().map(|at| at.len()).sum(), &linear)?;
    pieces.extend(placed(&expanded, &occurrences.later));
    Ok((Mapping::of_disjoint(mapping.tiles(), pieces), new_offset(&expanded, linear.offset)))
}

/// The elements `interval`, numbered as if `from` began at `place`.
fn moved(interval: Interval, from: Interval, place: u64) -> Interval {
    let begin = interval.begin() - from.begin() + place;
    Interval::between(begin, begin + interval.len())
}

/// A mapping of the elements of `places`, one after the other, as a mapping of the tensor that has these places.
fn placed(mapping: &Mapping, places: &[Interval]) -> Vec<(u32, Interval)> {
    let mut pieces = mapping.by_element().into_iter().peekable();
    let mut placed = Vec::new();
    let mut begin = 0;
    for &place in places {
        let here = Interval::between(begin, begin + place.len());
        while let Some(&(tile, interval)) = pieces.peek().filter(|piece| piece.1.begin() < here.end()) {
            placed.push((tile, moved(interval.common(here), here, place.begin())));
            if interval.end() > here.end() {
                break;
            }
            pieces.next();
        }
        begin = here.end();
    }
    placed
}

/// Where the elements of a variable occur in a view.
#[derive(Default)]
struct Occurrences {
    /// The elements that occurred already: the end of each interval by its begin. They are disjoint.
    seen: BTreeMap<u64, u64>,
    /// Elements of the variable, and the place in the view where they occur first.
    first: Vec<(Interval, u64)>,
    /// The places in the view of all other occurrences, in order.
    later: Vec<Interval>,
}

impl Occurrences {
    fn of(view: &[Interval]) -> Result<Self, Error> {
        let mut occurrences = Occurrences::default();
        let mut place = 0_u64;
        for &elements in view {
            let end = place.checked_add(elements.len()).ok_or(Error::TooLarge { what: "number of elements" })?;
            occurrences.add(elements, place);
            place = end;
        }
        occurrences.later = joined(std::mem::take(&mut occurrences.later));
        Ok(occurrences)
    }

    /// Adds elements that occur at a place.
    fn add(&mut self, elements: Interval, place: u64) {
        let mut begin = elements.begin();
        for known in self.take_seen(elements) {
            self.add_first(Interval::between(begin, known.begin()), elements, place);
            self.later.push(moved(known.common(elements), elements, place));
            begin = known.end();
        }
        self.add_first(Interval::between(begin, elements.end()), elements, place);
    }

    /// The intervals that occurred and have some of these elements. They and the elements become one interval.
    fn take_seen(&mut self, elements: Interval) -> Vec<Interval> {
        let before = self.seen.range(..elements.begin()).next_back().filter(|(_, end)| **end > elements.begin());
        let known = before.into_iter().chain(self.seen.range(elements.begin()..elements.end()));
        let known: Vec<_> = known.map(|(&begin, &end)| Interval::between(begin, end)).collect();
        for interval in &known {
            self.seen.remove(&interval.begin());
        }
        let all = known
            .iter()
            .fold(elements, |all, other| Interval::between(all.begin().min(other.begin()), all.end().max(other.end())));
        if !all.is_empty() {
            self.seen.insert(all.begin(), all.end());
        }
        known
    }

    fn add_first(&mut self, interval: Interval, elements: Interval, place: u64) {
        if !interval.is_empty() {
            self.first.push((interval, moved(interval, elements, place).begin()));
        }
    }
}
