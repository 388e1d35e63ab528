use super::{Part, best_of, count};

/// The sums of some integers.
pub(crate) struct Integers {
    pub(super) count: u64,
    pub(super) zeros: u64,
    pub(super) min: i128,
    pub(super) max: i128,
    sum: i128,
}

impl Default for Integers {
    fn default() -> Self {
        Integers { count: 0, zeros: 0, min: i128::MAX, max: i128::MIN, sum: 0 }
    }
}

impl Part for Integers {
    fn merge(&mut self, later: Integers) {
        self.count += later.count;
        self.zeros += later.zeros;
        self.min = self.min.min(later.min);
        self.max = self.max.max(later.max);
        self.sum += later.sum;
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

impl Integers {
    /// Adds a block of at most some thousand integers.
    pub(super) fn add<T: Integer>(&mut self, block: &[T]) {
        let Some(&first) = block.first() else { return };
        self.count += block.len() as u64;
        self.zeros += count(block, |x| x == T::default());
        self.min = self.min.min(best_of(block, first, T::min).into());
        self.max = self.max.max(best_of(block, first, T::max).into());
        self.sum += block.iter().map(|&x| -> T::Sum { x.into() }).sum::<T::Sum>().into();
    }

    pub(super) fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }
}
