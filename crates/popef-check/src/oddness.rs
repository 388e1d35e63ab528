//! Finds elements that are valid one by one but together most likely not intended.

use popef::types::DataType;

/// Finds out whether all elements are equal.
#[derive(Clone, Copy)]
pub(super) struct Sameness {
    first: [u8; Self::LARGEST],
    seen: bool,
    pub(super) all_same: bool,
}

impl Sameness {
    /// The size of the largest element.
    const LARGEST: usize = 8;

    pub(super) fn new() -> Self {
        Sameness { first: [0; Self::LARGEST], seen: false, all_same: true }
    }

    /// Examines elements of `size` bytes. After the first difference this costs nothing.
    pub(super) fn see(&mut self, piece: &[u8], size: usize) {
        let Some(first) = piece.get(..size.max(1)).filter(|_| self.all_same) else { return };
        if !self.seen {
            self.seen = true;
            match self.first.get_mut(..size) {
                Some(kept) => kept.copy_from_slice(first),
                None => self.all_same = false,
            }
        }
        let first = self.first.get(..size).unwrap_or_default();
        self.all_same = self.all_same && piece.chunks_exact(size.max(1)).all(|element| element == first);
    }

    /// Returns whether the elements are 0.
    pub(super) fn is_zero(&self) -> bool {
        self.first.iter().all(|&byte| byte == 0)
    }
}

/// Counts how many numbers have a usual magnitude, as stored and with their bytes reversed.
#[derive(Clone, Copy, Default)]
pub(super) struct Plausible {
    /// The numbers that are not 0. Zeros are the same in both orders.
    numbers: u64,
    stored: u64,
    swapped: u64,
}

impl Plausible {
    /// With fewer numbers nothing is concluded.
    const FEWEST: u64 = 16;
    /// The number of bytes at the start of the data that are examined.
    pub(super) const SAMPLE: usize = 64 << 10;

    /// Counts the numbers in a sample of data. `None` for types that are not supported.
    pub(super) fn of(data_type: DataType, sample: &[u8]) -> Option<Plausible> {
        let sample = sample.get(..sample.len().min(Self::SAMPLE)).unwrap_or_default();
        match data_type {
            DataType::F32 => Some(Self::count(sample.as_chunks::<4>().0, |bytes| {
                (u32::from_le_bytes(bytes) >> 23 & 0xff).abs_diff(127) <= 40
            })),
            DataType::F64 => Some(Self::count(sample.as_chunks::<8>().0, |bytes| {
                (u64::from_le_bytes(bytes) >> 52 & 0x7ff).abs_diff(1023) <= 40
            })),
            _ => None,
        }
    }

    fn count<const N: usize>(numbers: &[[u8; N]], is_usual: impl Fn([u8; N]) -> bool) -> Plausible {
        let mut counts = Plausible::default();
        for &stored in numbers.iter().filter(|number| **number != [0; N]) {
            let mut swapped = stored;
            swapped.reverse();
            counts.numbers = counts.numbers.saturating_add(1);
            counts.stored = counts.stored.saturating_add(is_usual(stored).into());
            counts.swapped = counts.swapped.saturating_add(is_usual(swapped).into());
        }
        counts
    }

    /// Returns whether almost all numbers have a usual magnitude only if reversed. About a third of the reversed numbers
    /// have one by chance, so up to half of the stored numbers may have one.
    pub(super) fn are_swapped(&self) -> bool {
        self.numbers >= Self::FEWEST
            && self.stored.saturating_mul(2) <= self.numbers
            && self.swapped.saturating_mul(100) >= self.numbers.saturating_mul(99)
    }
}

#[cfg(test)]
mod tests {
    use super::{DataType, Plausible, Sameness};

    fn are_swapped(numbers: impl IntoIterator<Item = f32>) -> [bool; 2] {
        let numbers: Vec<f32> = numbers.into_iter().collect();
        let of = |bytes: fn(f32) -> [u8; 4]| {
            let bytes: Vec<u8> = numbers.iter().flat_map(|&number| bytes(number)).collect();
            Plausible::of(DataType::F32, &bytes).unwrap().are_swapped()
        };
        [of(f32::to_le_bytes), of(f32::to_be_bytes)]
    }

    #[test]
    fn swapped_numbers_are_told_from_others() {
        let weights = |number: usize| (1..=number).map(|place| (place as f32 * 0.7).sin() * 0.02);
        assert_eq!(are_swapped(weights(16)), [false, true]);
        assert_eq!(are_swapped(weights(15)), [false, false]);
        assert_eq!(are_swapped((1..100u8).map(f32::from)), [false, true]);
        // Large numbers, small numbers, zeros: the byte order cannot be told.
        assert_eq!(are_swapped(weights(1000).map(|number| number * 1e30)), [false, false]);
        assert_eq!(are_swapped(weights(1000).map(|number| number * 1e-30)), [false, false]);
        assert_eq!(are_swapped([0.0; 100]), [false, false]);
        let doubles: Vec<u8> = (1..100u8).flat_map(|number| (f64::from(number) / 7.0).to_be_bytes()).collect();
        assert!(Plausible::of(DataType::F64, &doubles).unwrap().are_swapped());
        assert!(Plausible::of(DataType::F16, &doubles).is_none());
    }

    #[test]
    fn sameness_goes_over_pieces() {
        let of = |pieces: &[&[u8]]| {
            let mut sameness = Sameness::new();
            pieces.iter().for_each(|piece| sameness.see(piece, 2));
            (sameness.all_same, sameness.is_zero())
        };
        assert_eq!(of(&[&[1, 2, 1, 2], &[1, 2]]), (true, false));
        assert_eq!(of(&[&[1, 2, 1, 2], &[1, 3]]), (false, false));
        assert_eq!(of(&[&[0; 6], &[0; 2]]), (true, true));
    }
}
