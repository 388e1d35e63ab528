use super::bins::Histogram;
use super::{Part, best_of, count};

/// The sums of some integers.
pub(crate) struct Integers<H> {
    pub(super) count: u64,
    pub(super) zeros: u64,
    pub(super) min: i128,
    pub(super) max: i128,
    sum: i128,
    pub(super) histogram: H,
}

impl<H: Default> Default for Integers<H> {
    fn default() -> Self {
        Integers { count: 0, zeros: 0, min: i128::MAX, max: i128::MIN, sum: 0, histogram: H::default() }
    }
}

impl<H: Histogram> Part for Integers<H> {
    fn merge(&mut self, later: Integers<H>) {
        self.count += later.count;
        self.zeros += later.zeros;
        self.min = self.min.min(later.min);
        self.max = self.max.max(later.max);
        self.sum += later.sum;
        self.histogram.merge(&later.histogram);
    }
}

/// An integer that a block can be made of. A block's sum fits into `Sum`.
pub(super) trait Integer: Copy + Ord + Default + Into<Self::Sum> + Into<i128> {
    type Sum: std::iter::Sum<Self::Sum> + Into<i128>;
}

macro_rules! integer {
    ($( $integer:ty, $sum:ty; )*) => { $( impl Integer for $integer { type Sum = $sum; } )* };
}

integer! {
    i8, i32;
    u8, i32;
    i16, i32;
    u16, i32;
    i32, i64;
    u32, i64;
    i64, i128;
    u64, i128;
}

impl<H: Histogram> Integers<H> {
    /// Adds a block of at most some thousand integers.
    pub(super) fn add<T: Integer>(&mut self, block: &[T]) {
        let Some(&first) = block.first() else { return };
        self.count += block.len() as u64;
        self.zeros += count(block, |x| x == T::default());
        let (least, greatest): (i128, i128) =
            (best_of(block, first, T::min).into(), best_of(block, first, T::max).into());
        let to_f64 = |x: T| -> f64 { Into::<i128>::into(x) as f64 };
        self.histogram.add(block.iter().map(|&x| to_f64(x)), least as f64, greatest as f64);
        self.min = self.min.min(least);
        self.max = self.max.max(greatest);
        self.sum += block.iter().map(|&x| -> T::Sum { x.into() }).sum::<T::Sum>().into();
    }

    pub(super) fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }
}
