use super::Part;

/// What is known of some floats.
pub(crate) struct Floats {
    pub(super) count: u64,
    pub(super) nan: u64,
    pub(super) infinite: u64,
    pub(super) zeros: u64,
    /// Of all but NaN.
    pub(super) min: f64,
    pub(super) max: f64,
    /// Of the finite ones.
    sum: f64,
    /// The same sum made small, for when doubles are so large that `sum` overflows.
    scaled: f64,
}

const SCALE: f64 = 1.0 / 18_446_744_073_709_551_616.0;

impl Default for Floats {
    fn default() -> Self {
        let (min, max) = (f64::INFINITY, f64::NEG_INFINITY);
        Floats { count: 0, nan: 0, infinite: 0, zeros: 0, min, max, sum: 0.0, scaled: 0.0 }
    }
}

impl Part for Floats {
    fn merge(&mut self, later: Floats) {
        self.count += later.count;
        self.nan += later.nan;
        self.infinite += later.infinite;
        self.zeros += later.zeros;
        self.min = self.min.min(later.min);
        self.max = self.max.max(later.max);
        self.sum += later.sum;
        self.scaled += later.scaled;
    }
}

/// A float that a block can be made of.
pub(super) trait Float: Copy + PartialOrd + Into<f64> {
    const ZERO: Self;
    const MIN: Self;
    const MAX: Self;
}

impl Float for f32 {
    const ZERO: f32 = 0.0;
    const MIN: f32 = f32::NEG_INFINITY;
    const MAX: f32 = f32::INFINITY;
}

impl Float for f64 {
    const ZERO: f64 = 0.0;
    const MIN: f64 = f64::NEG_INFINITY;
    const MAX: f64 = f64::INFINITY;
}

/// So many sums side by side, so that the processor adds them at once.
const LANES: usize = 8;

impl Floats {
    /// Adds a block of floats, at most some thousand.
    pub(super) fn add<T: Float>(&mut self, block: &[T]) {
        let (lanes, rest) = block.as_chunks::<LANES>();
        if !self.add_finite(lanes) {
            lanes.as_flattened().iter().for_each(|&x| self.add_any(x.into()));
        }
        rest.iter().for_each(|&x| self.add_any(x.into()));
    }

    /// Adds floats that are all finite; if they are not, or their sum is not, adds nothing and says so.
    #[expect(clippy::indexing_slicing, reason = "all arrays here have as many elements as there are lanes")]
    fn add_finite<T: Float>(&mut self, block: &[[T; LANES]]) -> bool {
        let (mut min, mut max) = ([T::MAX; LANES], [T::MIN; LANES]);
        let (mut sum, mut zeros) = ([0.0; LANES], [0u32; LANES]);
        for x in block {
            for lane in 0..LANES {
                min[lane] = if x[lane] < min[lane] { x[lane] } else { min[lane] };
                max[lane] = if x[lane] > max[lane] { x[lane] } else { max[lane] };
                zeros[lane] += u32::from(x[lane] == T::ZERO);
                sum[lane] += x[lane].into();
            }
        }
        // A NaN or an infinity among them does not go away by adding.
        let sum: f64 = sum.iter().sum();
        if !sum.is_finite() {
            return false;
        }
        self.count += block.as_flattened().len() as u64;
        self.zeros += zeros.iter().map(|&zeros| u64::from(zeros)).sum::<u64>();
        self.min = min.iter().fold(self.min, |least, &x| least.min(x.into()));
        self.max = max.iter().fold(self.max, |most, &x| most.max(x.into()));
        self.sum += sum;
        self.scaled += sum * SCALE;
        true
    }

    fn add_any(&mut self, x: f64) {
        self.count += 1;
        if x.is_nan() {
            self.nan += 1;
            return;
        }
        self.min = self.min.min(x);
        self.max = self.max.max(x);
        if x.is_infinite() {
            self.infinite += 1;
            return;
        }
        self.zeros += u64::from(x == 0.0);
        self.sum += x;
        self.scaled += x * SCALE;
    }

    /// The mean of the finite ones, if there are any.
    pub(super) fn mean(&self) -> Option<f64> {
        let finite = self.count - self.nan - self.infinite;
        let (sum, scale) = if self.sum.is_finite() { (self.sum, 1.0) } else { (self.scaled, SCALE) };
        (finite > 0).then(|| sum / finite as f64 / scale)
    }
}
