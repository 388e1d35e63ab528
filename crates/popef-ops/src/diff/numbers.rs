//! Differences of elements, by their type.

use popef::DataType;
use popef::types::half::f16;
use popef::types::{F8143, F8152};

use super::report::Amount;

/// When two elements count as the same: the rule of numpy's `isclose`, `|a - b| <= atol + rtol * |b|`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tolerance {
    /// The absolute tolerance.
    pub atol: f64,
    /// The tolerance relative to the second element.
    pub rtol: f64,
    /// Whether any NaN is the same as any other. Otherwise, only one with the same bits is.
    pub equal_nan: bool,
}

impl Tolerance {
    fn covers(&self, gap: f64, b: f64) -> bool {
        gap <= self.atol + self.rtol * b.abs() && b.is_finite()
    }
}

/// The result for a part of the elements. Parts are joined in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Tally {
    /// Whether any bytes differ, even if the values do not.
    pub(super) unequal: bool,
    /// The number of elements that differ.
    pub(super) different: u64,
    /// The number of the first one.
    pub(super) first: Option<u64>,
    pub(super) max_abs: Option<Amount>,
    pub(super) max_rel: Option<f64>,
    pub(super) not_a_number: u64,
    /// The number of groups of `per_tensor` elements with a difference, and the first and the last of them.
    pub(super) tensors: u64,
    ends: Option<(u64, u64)>,
    /// The number of elements per tensor. 0 means all of them.
    per_tensor: u64,
}

impl Tally {
    pub(super) fn new(per_tensor: u64) -> Self {
        Tally { per_tensor, ..Tally::default() }
    }

    /// Counts an element that differs.
    fn differs(&mut self, element: u64) {
        self.different = self.different.saturating_add(1);
        self.first.get_or_insert(element);
        let tensor = element.checked_div(self.per_tensor).unwrap_or_default();
        self.add_tensors(1, (tensor, tensor));
    }

    fn add_tensors(&mut self, count: u64, (first, last): (u64, u64)) {
        let counted = self.ends.is_some_and(|(_, before)| before == first);
        self.tensors = self.tensors.saturating_add(count).saturating_sub(counted.into());
        self.ends = Some((self.ends.map_or(first, |(first, _)| first), last));
    }

    fn gap(&mut self, gap: Amount) {
        let larger = match (self.max_abs, gap) {
            (Some(Amount::Int(most)), Amount::Int(gap)) => gap > most,
            (Some(Amount::Float(most)), Amount::Float(gap)) => gap > most,
            _ => true,
        };
        if larger {
            self.max_abs = Some(gap);
        }
    }

    fn relative(&mut self, gap: f64, b: f64) {
        if b != 0.0 && b.is_finite() {
            let relative = gap / b.abs();
            self.max_rel = Some(self.max_rel.map_or(relative, |most| most.max(relative)));
        }
    }

    /// Adds the result of the next part.
    pub(super) fn add(&mut self, behind: &Tally) {
        self.unequal |= behind.unequal;
        self.different = self.different.saturating_add(behind.different);
        self.first = self.first.or(behind.first);
        self.not_a_number = self.not_a_number.saturating_add(behind.not_a_number);
        if let Some(gap) = behind.max_abs {
            self.gap(gap);
        }
        self.max_rel = [self.max_rel, behind.max_rel].into_iter().flatten().reduce(f64::max);
        if let Some(ends) = behind.ends {
            self.add_tensors(behind.tensors, ends);
        }
    }
}

/// Two parts that begin at the same element, which are not equal byte for byte.
pub(super) struct Parts<'p> {
    pub(super) a: &'p [u8],
    pub(super) b: &'p [u8],
    /// The number of the first element.
    pub(super) start: u64,
}

/// How elements are compared. Bytes with an unknown meaning are elements of one byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Elements {
    Bytes,
    Numbers(DataType),
}

impl Elements {
    /// Returns how elements of a data type are compared. An `f8` has no known values, and a `bool` may be neither 0 nor
    /// 1, so their bytes are compared.
    pub(super) fn of(data_type: DataType) -> Elements {
        match data_type {
            DataType::F8 | DataType::Bool | DataType::Other(_) => Elements::Bytes,
            known => Elements::Numbers(known),
        }
    }

    /// Compares two parts.
    pub(super) fn compare(self, parts: &Parts<'_>, rule: &Tolerance, tally: &mut Tally) {
        tally.unequal = true;
        match self {
            Elements::Bytes => bytes(parts, tally),
            Elements::Numbers(data_type) => numbers(data_type, parts, rule, tally),
        }
    }
}

fn numbers(data_type: DataType, parts: &Parts<'_>, rule: &Tolerance, tally: &mut Tally) {
    let put = (rule, tally);
    match data_type {
        DataType::S8 => integers(parts, i8::from_le_bytes, put),
        DataType::U8 => integers(parts, u8::from_le_bytes, put),
        DataType::S16 => integers(parts, i16::from_le_bytes, put),
        DataType::U16 => integers(parts, u16::from_le_bytes, put),
        DataType::S32 => integers(parts, i32::from_le_bytes, put),
        DataType::U32 => integers(parts, u32::from_le_bytes, put),
        DataType::S64 => integers(parts, i64::from_le_bytes, put),
        DataType::U64 => integers(parts, u64::from_le_bytes, put),
        DataType::F16 => floats(parts, |bytes| f16::from_le_bytes(bytes).to_f64(), put),
        DataType::F32 => floats(parts, |bytes| f32::from_le_bytes(bytes).into(), put),
        DataType::F64 => floats(parts, f64::from_le_bytes, put),
        DataType::F8143 => floats(parts, |[byte]| F8143::from_bits(byte).to_f32().into(), put),
        DataType::F8152 => floats(parts, |[byte]| F8152::from_bits(byte).to_f32().into(), put),
        _ => bytes(parts, put.1),
    }
}

/// The elements that are not equal byte for byte, with their numbers.
fn unequal<'p, const N: usize>(parts: &Parts<'p>) -> impl Iterator<Item = (u64, [u8; N], [u8; N])> + use<'p, N> {
    let (a, _) = parts.a.as_chunks::<N>();
    let (b, _) = parts.b.as_chunks::<N>();
    let numbered = (parts.start..).zip(a.iter().zip(b));
    numbered.filter(|(_, (a, b))| a != b).map(|(element, (a, b))| (element, *a, *b))
}

fn bytes(parts: &Parts<'_>, tally: &mut Tally) {
    unequal::<1>(parts).for_each(|(element, ..)| tally.differs(element));
}

type Put<'p> = (&'p Tolerance, &'p mut Tally);

fn integers<T: Into<i128>, const N: usize>(parts: &Parts<'_>, of: fn([u8; N]) -> T, (rule, tally): Put<'_>) {
    for (element, a, b) in unequal(parts) {
        let (a, b): (i128, i128) = (of(a).into(), of(b).into());
        let gap = u64::try_from(a.abs_diff(b)).unwrap_or(u64::MAX);
        tally.gap(Amount::Int(gap));
        // Rounded where they have to be, as numpy does.
        let (gap, b) = (gap as f64, b as f64);
        tally.relative(gap, b);
        if !rule.covers(gap, b) {
            tally.differs(element);
        }
    }
}

fn floats<const N: usize>(parts: &Parts<'_>, of: impl Fn([u8; N]) -> f64, (rule, tally): Put<'_>) {
    for (element, a, b) in unequal(parts) {
        let (a, b) = (of(a), of(b));
        if a.is_nan() || b.is_nan() {
            if !(rule.equal_nan && a.is_nan() && b.is_nan()) {
                tally.not_a_number = tally.not_a_number.saturating_add(1);
                tally.differs(element);
            }
        // Zeros of different sign are equal.
        } else if a != b {
            let gap = (a - b).abs();
            tally.gap(Amount::Float(gap));
            tally.relative(gap, b);
            if !rule.covers(gap, b) {
                tally.differs(element);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use popef::DataType;

    use super::{Amount, Elements, Parts, Tally, Tolerance};

    fn tally(data_type: DataType, a: &[u8], b: &[u8], rule: Tolerance) -> Tally {
        let mut tally = Tally::new(2);
        Elements::of(data_type).compare(&Parts { a, b, start: 0 }, &rule, &mut tally);
        tally
    }

    #[test]
    fn integers_are_exact() {
        let [a, b] = [i64::MIN, i64::MAX].map(i64::to_le_bytes);
        let found = tally(DataType::S64, &a, &b, Tolerance::default());
        assert_eq!((found.different, found.max_abs), (1, Some(Amount::Int(u64::MAX))));
        let [a, b] = [u64::MAX, u64::MAX - 1].map(u64::to_le_bytes);
        let found = tally(DataType::U64, &a, &b, Tolerance::default());
        assert_eq!((found.different, found.max_abs), (1, Some(Amount::Int(1))));
    }

    #[test]
    fn parts_put_together_are_the_whole() {
        let a = [1.0f32, f32::NAN, 3.0, 4.0, 5.0, 6.0];
        let b = [1.5f32, f32::NAN, 3.0, 0.0, -5.0, f32::INFINITY];
        let bytes = |floats: &[f32]| floats.iter().flat_map(|float| float.to_le_bytes()).collect::<Vec<_>>();
        let (a, b) = (bytes(&a), bytes(&b));
        let rule = Tolerance { atol: 0.5, ..Tolerance::default() };
        let whole = tally(DataType::F32, &a, &b, rule);
        for cut in (0..=24).step_by(4) {
            let mut sum = Tally::new(2);
            for (start, range) in [(0, 0..cut), (cut / 4, cut..24)] {
                let mut part = Tally::new(2);
                let parts = Parts { a: &a[range.clone()], b: &b[range], start: start as u64 };
                Elements::of(DataType::F32).compare(&parts, &rule, &mut part);
                sum.add(&part);
            }
            assert_eq!(sum, whole, "cut at {cut}");
        }
        assert_eq!((whole.different, whole.first, whole.tensors), (3, Some(3), 2));
    }
}
