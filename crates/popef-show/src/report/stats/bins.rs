//! A histogram that is made in one pass, without knowing the least and the greatest element before.

/// The number of elements in each of some ranges of equal width.
///
/// The width is a power of two, and each range begins at a multiple of it. So two neighbouring ranges make one of twice the
/// width, and the result does not depend on the order of the elements: the width is the smallest with which at most
/// [`MOST`](Bins::MOST) ranges go from the least to the greatest element.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bins {
    /// The width is 2 to the power of this. It has no meaning before the first element.
    exponent: i32,
    /// The first range begins at this multiple of the width.
    first: i64,
    pub(crate) counts: Vec<u64>,
}

/// The use of the elements besides their sums: nothing, or a histogram.
pub(crate) trait Histogram: Default + Send {
    /// Adds the elements of a block, finite or not. `min` and `max` are its least and greatest finite elements.
    fn add(&mut self, elements: impl Iterator<Item = f64>, min: f64, max: f64);

    /// Adds the counts of another one.
    fn merge(&mut self, later: &Self);

    /// The histogram, if there is one.
    fn bins(&self) -> Option<Bins>;
}

impl Histogram for () {
    fn add(&mut self, _elements: impl Iterator<Item = f64>, _min: f64, _max: f64) {}

    fn merge(&mut self, _later: &()) {}

    fn bins(&self) -> Option<Bins> {
        None
    }
}

impl Histogram for Bins {
    fn add(&mut self, elements: impl Iterator<Item = f64>, min: f64, max: f64) {
        // False if none is finite.
        if min <= max {
            self.cover(min, max);
            let (scale, first) = (scale(self.exponent), self.first);
            for element in elements.filter(|element| element.is_finite()) {
                self.count(place(element, scale).wrapping_sub(first), 1);
            }
        }
    }

    fn merge(&mut self, later: &Bins) {
        let Some(last) = later.last() else { return };
        if self.counts.is_empty() {
            self.clone_from(later);
            return;
        }
        let (mut first, mut last, mut exponent) = (later.first, last, later.exponent);
        // Both get the same width, with which everything fits.
        while exponent < self.exponent {
            (first, last, exponent) = (first >> 1, last >> 1, exponent + 1);
        }
        self.widen_to(exponent);
        while !self.fits(first, last) {
            (first, last, exponent) = (first >> 1, last >> 1, exponent + 1);
            self.widen_to(exponent);
        }
        self.extend(first, last);
        let shift = exponent.abs_diff(later.exponent);
        for (place, &count) in (later.first..).zip(&later.counts) {
            self.count((place >> shift.min(63)).wrapping_sub(self.first), count);
        }
    }

    fn bins(&self) -> Option<Bins> {
        (!self.counts.is_empty()).then(|| self.clone())
    }
}

impl Bins {
    /// The maximum number of ranges.
    pub(crate) const MOST: usize = 48;
    /// The minimum width is the greatest magnitude divided by 2 to the power of this, so that places are small integers.
    const DIGITS: i32 = 40;
    /// The smallest exponent. With a smaller one, [`scale`] could overflow.
    const LEAST: i32 = -1000;

    /// Where the first range begins.
    pub(crate) fn start(&self) -> f64 {
        self.first as f64 * self.width()
    }

    /// How wide each range is.
    pub(crate) fn width(&self) -> f64 {
        2f64.powi(self.exponent)
    }

    fn last(&self) -> Option<i64> {
        let more = i64::try_from(self.counts.len()).ok()?.checked_sub(1).filter(|&more| more >= 0)?;
        self.first.checked_add(more)
    }

    /// Makes the ranges go from `min` to `max` at least.
    fn cover(&mut self, min: f64, max: f64) {
        let least = (exponent_of(min.abs().max(max.abs())) - Self::DIGITS).max(Self::LEAST);
        let mut exponent = if self.counts.is_empty() { least } else { self.exponent.max(least) };
        loop {
            self.widen_to(exponent);
            let scale = scale(exponent);
            let (first, last) = (place(min, scale), place(max, scale));
            if self.fits(first, last) {
                self.extend(first, last);
                return;
            }
            exponent += 1;
        }
    }

    /// Whether the ranges between these places, together with the existing ones, are few enough.
    fn fits(&self, first: i64, last: i64) -> bool {
        let (first, last) = match self.last() {
            Some(own_last) => (first.min(self.first), last.max(own_last)),
            None => (first, last),
        };
        usize::try_from(last.abs_diff(first)).is_ok_and(|more| more < Self::MOST)
    }

    /// Adds empty ranges at both ends. They fit.
    fn extend(&mut self, first: i64, last: i64) {
        let Some(own_last) = self.last() else {
            self.first = first;
            self.counts = vec![0; usize::try_from(last.abs_diff(first)).unwrap_or(0) + 1];
            return;
        };
        let after = usize::try_from(last.saturating_sub(own_last)).unwrap_or(0);
        self.counts.resize(self.counts.len() + after, 0);
        let before = usize::try_from(self.first.saturating_sub(first)).unwrap_or(0);
        self.counts.splice(0..0, std::iter::repeat_n(0, before));
        self.first = self.first.min(first);
    }

    /// Joins ranges until their width is 2 to the power of `exponent`.
    fn widen_to(&mut self, exponent: i32) {
        if self.counts.is_empty() {
            self.exponent = exponent;
        }
        while self.exponent < exponent {
            let mut joined = Vec::with_capacity(self.counts.len() / 2 + 1);
            // If the first range is the right one of a pair, it is alone.
            let alone = if self.first & 1 == 0 { 0 } else { 1 };
            let (one, pairs) = self.counts.split_at(alone.min(self.counts.len()));
            joined.extend_from_slice(one);
            joined.extend(pairs.chunks(2).map(|pair| pair.iter().sum::<u64>()));
            self.counts = joined;
            self.first >>= 1;
            self.exponent += 1;
        }
    }

    fn count(&mut self, index: i64, count: u64) {
        let bin = usize::try_from(index).ok().and_then(|index| self.counts.get_mut(index));
        if let Some(bin) = bin {
            *bin += count;
        }
    }
}

/// One divided by the width. A product with it is exact, except of numbers so small that they are all in the ranges beside 0.
fn scale(exponent: i32) -> f64 {
    2f64.powi(-exponent)
}

/// The greatest multiple of the width that is not greater than the number.
fn place(number: f64, scale: f64) -> i64 {
    let scaled = number * scale;
    #[cfg_attr(not(test), expect(clippy::cast_possible_truncation, reason = "it is smaller than 2 to the power of 42"))]
    let towards_zero = scaled as i64;
    if scaled < towards_zero as f64 { towards_zero.wrapping_sub(1) } else { towards_zero }
}

/// The exponent of a number's leading bit, or less for those near 0.
fn exponent_of(number: f64) -> i32 {
    i32::try_from(number.to_bits() >> 52 & 0x7ff).unwrap_or(0) - 1023
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bins(elements: &[f64]) -> Bins {
        let mut bins = Bins::default();
        for block in elements.chunks(7) {
            let finite = || block.iter().copied().filter(|x| x.is_finite());
            let (min, max) = (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
            bins.add(block.iter().copied(), min, max);
        }
        bins
    }

    /// The promised result, computed in two passes.
    fn expected(elements: &[f64]) -> (f64, f64, Vec<u64>) {
        let finite = || elements.iter().copied().filter(|x| x.is_finite());
        let (min, max) = (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
        let mut width = 2f64.powi(-1000).max(2f64.powi(exponent_of(min.abs().max(max.abs())) - 40));
        while (max / width).floor() - (min / width).floor() >= 48.0 {
            width *= 2.0;
        }
        let first = (min / width).floor();
        let mut counts = vec![0; ((max / width).floor() - first) as usize + 1];
        finite().for_each(|x| counts[((x / width).floor() - first) as usize] += 1);
        (first * width, width, counts)
    }

    #[track_caller]
    fn assert_as_expected(elements: &[f64]) {
        let found = bins(elements);
        assert_eq!((found.start(), found.width(), found.counts), expected(elements), "{elements:?}");
    }

    #[test]
    fn one_pass_gives_what_two_would() {
        let mut state = 7u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        };
        for scale in [1e-30, 1.0, 3.7e20] {
            let elements: Vec<f64> = (0..1000).map(|_| random() * random() * scale).collect();
            assert_as_expected(&elements);
            let mut backwards = elements.clone();
            backwards.reverse();
            assert_eq!(bins(&backwards), bins(&elements));
        }
        assert_as_expected(&[1.0, 2.0, 4.0, 1e9, -3.0, 1e-9]);
        assert_as_expected(&[-1.0, f64::NAN, f64::INFINITY, 1.0]);
        assert_as_expected(&[0.0; 9]);
        assert_as_expected(&[0.1; 9]);
        assert_as_expected(&[-0.1, 0.1]);
        assert_as_expected(&[f64::MAX, 1.0]);
        assert_as_expected(&[f64::MIN_POSITIVE / 4.0, 0.0, -f64::MIN_POSITIVE]);
    }

    #[test]
    fn parts_together_give_what_the_whole_gives() {
        let elements: Vec<f64> = (0..300).map(|x| f64::from(x).sin() * 1.5f64.powi(x % 40)).collect();
        for cut in [0, 1, 7, 150, 299, 300] {
            let (left, right) = elements.split_at(cut);
            let mut joined = bins(left);
            joined.merge(&bins(right));
            assert_eq!(joined, bins(&elements), "{cut}");
            let mut other_way = bins(right);
            other_way.merge(&bins(left));
            assert_eq!(other_way, joined, "{cut}");
        }
    }

    #[test]
    fn without_finite_elements_there_is_no_histogram() {
        assert_eq!(bins(&[]).bins(), None);
        assert_eq!(bins(&[f64::NAN, f64::INFINITY]).bins(), None);
    }
}
