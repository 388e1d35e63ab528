use super::{Error, Interval};

/// How [`split_regions`] splits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    /// The number of elements of a part is a multiple of this, except of the last part.
    pub grain: u64,
    /// The number of parts is at most this, unless `max_per_part` needs more.
    pub parts: u64,
    /// The minimum number of elements of a part, if the regions have as many.
    pub min_per_part: u64,
    /// The maximum number of elements of a part, unless `min_per_part` needs more.
    pub max_per_part: Option<u64>,
    /// The maximum number of elements of an interval of a part, rounded down to a multiple of the grain.
    pub max_per_region: Option<u64>,
}

impl Split {
    /// A split into `parts` parts of whole grains.
    pub fn new(grain: u64, parts: u64) -> Self {
        Split { grain, parts, min_per_part: 0, max_per_part: None, max_per_region: None }
    }

    fn check(&self) -> Result<(), Error> {
        if self.grain == 0 {
            return Err(Error::ZeroGrain);
        }
        if self.parts == 0 {
            return Err(Error::Zero { what: "parts" });
        }
        match [self.max_per_part, self.max_per_region].into_iter().flatten().find(|&limit| limit < self.grain) {
            Some(limit) => Err(Error::LimitBelowGrain { limit, grain: self.grain }),
            None => Ok(()),
        }
    }

    /// The number of elements of the longest part when `elements` elements are split.
    pub(super) fn longest_part(&self, elements: u64) -> Result<u64, Error> {
        self.check()?;
        let grains = elements.div_ceil(self.grain);
        let parts = self.parts_of(grains).max(1);
        // The last part has as many grains as any, but its last grain may be incomplete.
        let last = elements - grains.saturating_sub(grains.div_ceil(parts)).saturating_mul(self.grain);
        let others = if grains % parts > 1 { grains.div_ceil(parts) } else { grains / parts };
        let others = if parts > 1 { others.saturating_mul(self.grain) } else { 0 };
        Ok(last.max(others))
    }

    /// The number of elements of each part of one region.
    pub(super) fn parts_of_one(&self, elements: u64) -> Result<impl Iterator<Item = u64> + use<>, Error> {
        self.check()?;
        let (grain, grains) = (self.grain, elements.div_ceil(self.grain));
        let parts = self.parts_of(grains);
        let [each, more] = [grains.checked_div(parts), grains.checked_rem(parts)].map(Option::unwrap_or_default);
        // As for `element_after`, but without a division for each part.
        let (mut end, mut owed, mut begin) = (0_u64, 0_u64, 0_u64);
        Ok((0..parts).map(move |_| {
            end = end.saturating_add(each);
            owed = owed.saturating_add(more);
            if owed >= parts {
                owed -= parts;
                end = end.saturating_add(1);
            }
            let element = end.saturating_mul(grain).min(elements);
            let part = element - begin;
            begin = element;
            part
        }))
    }

    /// The number of parts into which `grains` grains are split.
    fn parts_of(&self, grains: u64) -> u64 {
        let mut most = grains.div_ceil(self.parts);
        if let Some(limit) = self.max_per_part {
            most = most.min(limit / self.grain);
        }
        if self.min_per_part > 0 {
            let parts = grains / self.min_per_part.div_ceil(self.grain);
            most = most.max(grains.div_ceil(parts.max(1)));
        }
        // With at least one grain in all, a part has at least one.
        grains.div_ceil(most.max(1))
    }
}

/// Splits regions into parts that have about the same number of elements, in the order of the regions. This is poplibs'
/// `splitRegions`: it uses as few parts as it can without making the largest one larger.
///
/// A part is a list of intervals: it is cut where a region ends. The example is the one in the comment of poplibs' source. The
/// comment says that the parts have 12, 12, 12 and 6 elements; this is what its code returns.
///
/// ```
/// use poplar_inspect::tiles::{Interval, Split, split_regions};
///
/// let regions = [Interval::new(0, 10)?, Interval::new(15, 20)?, Interval::new(33, 60)?];
/// let parts = split_regions(&regions, &Split { min_per_part: 6, ..Split::new(4, 8) })?;
/// assert_eq!(format!("{parts:?}"), "[[[0, 8)], [[8, 10), [15, 20), [33, 38)], [[38, 50)], [[50, 60)]]");
/// # Ok::<(), poplar_inspect::tiles::Error>(())
/// ```
pub fn split_regions(regions: &[Interval], split: &Split) -> Result<Vec<Vec<Interval>>, Error> {
    let mut parts: Vec<Vec<Interval>> = Vec::new();
    for_each_part(regions, split, |part, interval| {
        if part >= parts.len() {
            parts.push(Vec::new());
        }
        if let Some(last) = parts.last_mut() {
            last.push(interval);
        }
    })?;
    Ok(parts)
}

/// Calls `each` with the number of a part and an interval of it, in order.
pub(super) fn for_each_part(
    regions: &[Interval],
    split: &Split,
    mut each: impl FnMut(usize, Interval),
) -> Result<(), Error> {
    split.check()?;
    let sum = |sum: u64, region: &Interval| sum.checked_add(region.len());
    let total = regions.iter().try_fold(0, sum).ok_or(Error::TooLarge { what: "number of elements" })?;
    if total == 0 {
        return Ok(());
    }
    let grains = total.div_ceil(split.grain);
    let parts = split.parts_of(grains);
    let longest = split.max_per_region.map_or(u64::MAX, |limit| limit / split.grain * split.grain);
    let mut rest = Rest { regions: regions.iter().copied(), region: Interval::first(0) };
    for (part, number) in (0..parts).enumerate() {
        let end = |number| element_after(number, parts, grains, split.grain).min(total);
        let mut left = end(number + 1) - end(number);
        while left > 0 {
            let interval = rest.take(left.min(longest));
            left -= interval.len();
            each(part, interval);
        }
    }
    Ok(())
}

/// The element after the first `number` parts, or any one after the last.
fn element_after(number: u64, parts: u64, grains: u64, grain: u64) -> u64 {
    let element = u128::from(number) * u128::from(grains) / u128::from(parts.max(1)) * u128::from(grain);
    u64::try_from(element).unwrap_or(u64::MAX)
}

/// The regions that are still to be taken.
struct Rest<I> {
    regions: I,
    region: Interval,
}

impl<I: Iterator<Item = Interval>> Rest<I> {
    /// Takes at most `most` elements, of one region. Prerequisite: elements are left.
    fn take(&mut self, most: u64) -> Interval {
        while self.region.is_empty() {
            match self.regions.next() {
                Some(region) => self.region = region,
                None => break,
            }
        }
        let begin = self.region.begin();
        let end = begin + self.region.len().min(most);
        self.region = Interval::between(end, self.region.end());
        Interval::between(begin, end)
    }
}
