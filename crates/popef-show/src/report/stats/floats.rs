use super::bins::Histogram;
use super::{Part, best_of, count, in_lanes};

/// The sums of some floats.
pub(crate) struct Floats<H> {
    pub(super) count: u64,
    pub(super) nan: u64,
    pub(super) infinite: u64,
    pub(super) zeros: u64,
    /// The least finite element. All the following are about finite elements too.
    pub(super) min: f64,
    pub(super) max: f64,
    sum: f64,
    /// `sum` times [`SCALE`], for doubles so large that `sum` overflows.
    scaled: f64,
    pub(super) histogram: H,
}

const SCALE: f64 = 1.0 / 18_446_744_073_709_551_616.0;

impl<H: Default> Default for Floats<H> {
    fn default() -> Self {
        let (min, max) = (f64::INFINITY, f64::NEG_INFINITY);
        let histogram = H::default();
        Floats { count: 0, nan: 0, infinite: 0, zeros: 0, min, max, sum: 0.0, scaled: 0.0, histogram }
    }
}

impl<H: Histogram> Part for Floats<H> {
    fn merge(&mut self, later: Floats<H>) {
        self.count += later.count;
        self.nan += later.nan;
        self.infinite += later.infinite;
        self.zeros += later.zeros;
        self.min = lesser(self.min, later.min);
        self.max = greater(self.max, later.max);
        self.sum += later.sum;
        self.scaled += later.scaled;
        self.histogram.merge(&later.histogram);
    }
}

/// A float that a block can be made of.
pub(super) trait Float: Copy + PartialOrd + Into<f64> {
    const ZERO: Self;
    const INFINITY: Self;
    const NEG_INFINITY: Self;

    fn is_finite(self) -> bool {
        self > Self::NEG_INFINITY && self < Self::INFINITY
    }

    /// The number, or 0 if it is not finite.
    fn or_zero(self) -> f64 {
        if self.is_finite() { self.into() } else { 0.0 }
    }
}

impl Float for f32 {
    const ZERO: f32 = 0.0;
    const INFINITY: f32 = f32::INFINITY;
    const NEG_INFINITY: f32 = f32::NEG_INFINITY;
}

impl Float for f64 {
    const ZERO: f64 = 0.0;
    const INFINITY: f64 = f64::INFINITY;
    const NEG_INFINITY: f64 = f64::NEG_INFINITY;
}

impl<H: Histogram> Floats<H> {
    /// Adds a block of at most some thousand floats. Each figure takes a pass of its own over the block, which the compiler
    /// turns into vector instructions.
    pub(super) fn add<T: Float>(&mut self, block: &[T]) {
        self.count += block.len() as u64;
        self.zeros += count(block, |x| x == T::ZERO);
        let (least, greatest) = (least(block).into(), greatest(block).into());
        self.histogram.add(block.iter().map(|&x| x.into()), least, greatest);
        self.min = lesser(self.min, least);
        self.max = greater(self.max, greatest);
        let mut sum = sum_of(block, T::into);
        // A NaN or an infinity among the elements makes the sum one too.
        if !sum.is_finite() {
            let numbers = count(block, |x| x >= T::NEG_INFINITY);
            self.nan += block.len() as u64 - numbers;
            self.infinite += numbers - count(block, T::is_finite);
            sum = sum_of(block, T::or_zero);
        }
        // Doubles can be finite, and their sum too large.
        let scaled = if sum.is_finite() { sum * SCALE } else { sum_of(block, |x| x.or_zero() * SCALE) };
        self.sum += sum;
        self.scaled += scaled;
    }

    /// The number of finite elements.
    pub(super) fn finite(&self) -> u64 {
        self.count - self.nan - self.infinite
    }

    /// The mean of the finite elements, if there are any.
    pub(super) fn mean(&self) -> Option<f64> {
        let finite = self.finite();
        let (sum, scale) = if self.sum.is_finite() { (self.sum, 1.0) } else { (self.scaled, SCALE) };
        // Rounding could move the mean of almost equal elements past them.
        (finite > 0).then(|| (sum / finite as f64 / scale).max(self.min).min(self.max))
    }
}

/// The least finite element; infinity if there is none. Infinities are rare, so they are left out only if one was found.
fn least<T: Float>(block: &[T]) -> T {
    let least = best_of(block, T::INFINITY, lesser);
    if least > T::NEG_INFINITY {
        return least;
    }
    best_of(block, T::INFINITY, |least, x| if x.is_finite() { lesser(least, x) } else { least })
}

/// The greatest finite element; minus infinity if there is none.
fn greatest<T: Float>(block: &[T]) -> T {
    let greatest = best_of(block, T::NEG_INFINITY, greater);
    if greatest < T::INFINITY {
        return greatest;
    }
    best_of(block, T::NEG_INFINITY, |most, x| if x.is_finite() { greater(most, x) } else { most })
}

/// The sum of a block. Only the places of the elements determine the order of the additions.
fn sum_of<T: Copy>(block: &[T], to_f64: impl Fn(T) -> f64) -> f64 {
    in_lanes::<_, _, 8>(block, 0.0, |sum, x| sum + to_f64(x)).into_iter().sum()
}

/// The lesser number; of 0 and -0 the first. It is not NaN unless `least` is.
fn lesser<T: PartialOrd>(least: T, x: T) -> T {
    if x < least { x } else { least }
}

fn greater<T: PartialOrd>(most: T, x: T) -> T {
    if x > most { x } else { most }
}
