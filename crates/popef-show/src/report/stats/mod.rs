//! Minimum, maximum, mean and counts of a tensor's elements, computed in pieces.

mod bins;
mod floats;
mod integers;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use popef::Error;
use popef::read::{Elements, Value};
use popef::types::NumberKind;

use super::options::{OneThread, Workers};
use crate::output::progress::ProgressLine;
pub(crate) use bins::Bins;
use bins::Histogram;
use floats::Floats;
use integers::Integers;

/// Statistics of a tensor.
#[derive(Clone, Debug)]
pub(crate) struct Stats {
    /// The number of elements that are neither NaN nor infinite.
    pub(crate) finite: u64,
    /// The least finite element. Like maximum and mean, `None` if there are no finite elements.
    pub(crate) min: Option<Value>,
    pub(crate) max: Option<Value>,
    pub(crate) mean: Option<f64>,
    pub(crate) nan: u64,
    pub(crate) infinite: u64,
    pub(crate) zeros: u64,
    /// The histogram, if it was requested and there are finite elements.
    pub(crate) bins: Option<Bins>,
}

/// The sums of some of the elements.
trait Part: Default + Send {
    /// Adds the sums of the elements that follow. Parts are merged in order, as sums of floats depend on it.
    fn merge(&mut self, later: Self);
}

impl Stats {
    /// The statistics of all elements. `None` for types whose bits have no known meaning.
    pub(crate) fn of(
        elements: &Elements<'_>,
        workers: &dyn Workers,
        progress: &ProgressLine,
    ) -> Result<Option<Stats>, Error> {
        Stats::with::<()>(elements, workers, progress)
    }

    /// The statistics with a histogram.
    pub(crate) fn with_bins(
        elements: &Elements<'_>,
        workers: &dyn Workers,
        progress: &ProgressLine,
    ) -> Result<Option<Stats>, Error> {
        Stats::with::<Bins>(elements, workers, progress)
    }

    fn with<H: Histogram>(
        elements: &Elements<'_>,
        workers: &dyn Workers,
        progress: &ProgressLine,
    ) -> Result<Option<Stats>, Error> {
        let pieces = Pieces { elements, workers, progress };
        macro_rules! numbers {
            ($part:ty, $number:ty) => {
                pieces.gather::<$part>(|part, piece| {
                    with_bytes(piece, |bytes| each(bytes, <$number>::from_le_bytes, |block| part.add(block)))
                })?
            };
        }
        #[cfg_attr(not(test), expect(clippy::cast_possible_truncation, reason = "the numbers were f32"))]
        let f32s = |value: f64| Value::F32(value as f32);
        let signed = |value: i128| i64::try_from(value).map_or(Value::F64(value as f64), Value::Int);
        let unsigned = |value: i128| u64::try_from(value).map_or(Value::F64(value as f64), Value::UInt);
        let data_type = elements.data_type();
        let (Ok(_), Some(kind), Some(size)) = (elements.values(), data_type.kind(), data_type.size()) else {
            return Ok(None);
        };
        Ok(Some(match (kind, size) {
            // An f32 holds these exactly.
            (NumberKind::Float, 1 | 2 | 4) => pieces.gather::<Floats<H>>(add_as_f32)?.stats(f32s),
            (NumberKind::Float, 8) => numbers!(Floats<H>, f64).stats(Value::F64),
            (NumberKind::Signed, 1) => numbers!(Integers<H>, i8).stats(signed),
            (NumberKind::Signed, 2) => numbers!(Integers<H>, i16).stats(signed),
            (NumberKind::Signed, 4) => numbers!(Integers<H>, i32).stats(signed),
            (NumberKind::Signed, 8) => numbers!(Integers<H>, i64).stats(signed),
            (NumberKind::Unsigned, 1) => numbers!(Integers<H>, u8).stats(unsigned),
            (NumberKind::Unsigned, 2) => numbers!(Integers<H>, u16).stats(unsigned),
            (NumberKind::Unsigned, 4) => numbers!(Integers<H>, u32).stats(unsigned),
            (NumberKind::Unsigned, 8) => numbers!(Integers<H>, u64).stats(unsigned),
            (NumberKind::Bool, 1) => bools(elements, &numbers!(Integers<H>, u8))?,
            _ => return Ok(None),
        }))
    }
}

impl<H: Histogram> Floats<H> {
    fn stats(&self, value: impl Fn(f64) -> Value) -> Stats {
        let some = self.finite() > 0;
        Stats {
            finite: self.finite(),
            min: some.then(|| value(self.min)),
            max: some.then(|| value(self.max)),
            mean: self.mean(),
            nan: self.nan,
            infinite: self.infinite,
            zeros: self.zeros,
            bins: self.histogram.bins(),
        }
    }
}

impl<H: Histogram> Integers<H> {
    fn stats(&self, value: impl Fn(i128) -> Value) -> Stats {
        let some = self.count > 0;
        Stats {
            finite: self.count,
            min: some.then(|| value(self.min)),
            max: some.then(|| value(self.max)),
            mean: self.mean(),
            nan: 0,
            infinite: 0,
            zeros: self.zeros,
            bins: self.histogram.bins(),
        }
    }
}

/// The statistics of bools from those of their bytes. The library reports a byte that is not a bool.
fn bools(elements: &Elements<'_>, bytes: &Integers<impl Histogram>) -> Result<Stats, Error> {
    if bytes.max > 1 {
        elements.values()?.try_for_each(|value| value.map(drop))?;
    }
    Ok(bytes.stats(|byte| Value::Bool(byte != 0)))
}

/// The number of elements that are read at a time: at most half a processor's near cache.
const PIECE: u64 = 64 << 10;
/// The number of pieces from which on the workers do them.
const MANY: usize = 8;

/// The elements, which are read in pieces.
#[derive(Clone, Copy)]
struct Pieces<'a, 'f> {
    elements: &'a Elements<'f>,
    workers: &'a dyn Workers,
    progress: &'a ProgressLine,
}

type Add<P> = fn(&mut P, &Elements<'_>) -> Result<(), Error>;

impl Pieces<'_, '_> {
    /// The pieces and their order are the same with any number of workers, and so are the statistics to the last digit.
    fn gather<P: Part>(self, add: Add<P>) -> Result<P, Error> {
        let count = usize::try_from(self.elements.len().div_ceil(PIECE)).unwrap_or(usize::MAX);
        let workers = if count < MANY { &OneThread } else { self.workers };
        let ready = Mutex::new(BTreeMap::new());
        let lock = || ready.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = Ok(P::default());
        workers.run(
            count,
            &|index| {
                let part = self.part(index, add);
                lock().insert(index, part);
            },
            &mut |index| match (&mut all, lock().remove(&index)) {
                (Ok(all), Some(Ok(part))) => {
                    all.merge(part);
                    ControlFlow::Continue(())
                }
                (all, Some(Err(error))) => {
                    *all = Err(error);
                    ControlFlow::Break(())
                }
                (Err(_), Some(Ok(_))) | (_, None) => ControlFlow::Break(()),
            },
        );
        all
    }

    fn part<P: Part>(&self, index: usize, add: Add<P>) -> Result<P, Error> {
        let start = u64::try_from(index).unwrap_or(u64::MAX).saturating_mul(PIECE);
        let piece = self.elements.range(start..start.saturating_add(PIECE).min(self.elements.len()))?;
        let mut part = P::default();
        add(&mut part, &piece)?;
        self.progress.add(piece.data().len());
        Ok(part)
    }
}

thread_local! {
    static FLOATS: RefCell<Vec<f32>> = const { RefCell::new(Vec::new()) };
    static BYTES: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Reads a piece of floats of 32 bits or fewer.
fn add_as_f32<H: Histogram>(part: &mut Floats<H>, piece: &Elements<'_>) -> Result<(), Error> {
    FLOATS.with_borrow_mut(|buffer| {
        buffer.resize(usize::try_from(piece.len()).unwrap_or_default(), 0.0);
        piece.convert_into(buffer)?.chunks(BLOCK).for_each(|block| part.add(block));
        Ok(())
    })
}

/// Passes the bytes of a piece to `take`: borrowed, or in this thread's buffer.
fn with_bytes(piece: &Elements<'_>, take: impl FnOnce(&[u8])) -> Result<(), Error> {
    let data = piece.data();
    if let Some(bytes) = data.as_slice() {
        take(bytes);
        return Ok(());
    }
    BYTES.with_borrow_mut(|buffer| {
        buffer.resize(usize::try_from(data.len()).unwrap_or_default(), 0);
        data.read_at(0, buffer)?;
        take(buffer);
        Ok(())
    })
}

/// The number of elements that are added at a time: some KiB, which fit into the nearest cache.
const BLOCK: usize = 2048;

/// Turns bytes into numbers and passes them on in blocks.
fn each<T: Copy + Default, const SIZE: usize>(bytes: &[u8], read: fn([u8; SIZE]) -> T, mut take: impl FnMut(&[T])) {
    let mut block = [T::default(); BLOCK];
    for part in bytes.as_chunks::<SIZE>().0.chunks(BLOCK) {
        for (number, bytes) in block.iter_mut().zip(part) {
            *number = read(*bytes);
        }
        take(block.get(..part.len()).unwrap_or_default());
    }
}

/// The number of elements of a block for which `is_one` holds.
fn count<T: Copy>(block: &[T], is_one: impl Fn(T) -> bool) -> u64 {
    block.iter().map(|&x| u32::from(is_one(x))).sum::<u32>().into()
}

/// The element that remains if `better` chooses from each pair.
fn best_of<T: Copy>(block: &[T], start: T, better: impl Fn(T, T) -> T + Copy) -> T {
    in_lanes::<_, _, 32>(block, start, better).into_iter().fold(start, better)
}

/// `LANES` folds side by side, so that the processor works on all at once. Each fold takes every `LANES`th element.
fn in_lanes<T: Copy, A: Copy, const LANES: usize>(block: &[T], start: A, step: impl Fn(A, T) -> A) -> [A; LANES] {
    let mut lanes = [start; LANES];
    let (whole, rest) = block.as_chunks::<LANES>();
    for elements in whole {
        lanes.iter_mut().zip(elements).for_each(|(lane, &x)| *lane = step(*lane, x));
    }
    lanes.iter_mut().zip(rest).for_each(|(lane, &x)| *lane = step(*lane, x));
    lanes
}

#[cfg(test)]
mod tests {
    use popef::types::TensorDataInfo;
    use popef::{DataType, File, TensorInfo, Writer};

    use super::*;

    /// Does the parts last to first.
    #[derive(Debug)]
    struct Backwards;

    impl Workers for Backwards {
        fn run(&self, count: usize, work: &(dyn Fn(usize) + Sync), done: &mut dyn FnMut(usize) -> ControlFlow<()>) {
            (0..count).rev().for_each(work);
            let _ = (0..count).try_for_each(done);
        }
    }

    fn stats(floats: &[f32]) -> Stats {
        let mut bytes = Vec::new();
        let mut writer = Writer::stream(&mut bytes);
        let tensor_info = TensorInfo::new(DataType::F32, [floats.len() as i64]);
        writer.write_tensor(&TensorDataInfo { name: "floats".into(), tensor_info }, floats).unwrap();
        writer.finish().unwrap();
        let file = File::from_bytes(bytes).unwrap();
        Stats::of(&file.tensor("floats").unwrap().elements().unwrap(), &Backwards, &ProgressLine::hidden())
            .unwrap()
            .unwrap()
    }

    /// The test adds in the order that is promised.
    #[test]
    fn the_statistics_do_not_depend_on_which_part_is_done_first() {
        let mut state = 7u32;
        let random = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            // All exponents occur, so that each rounding shows.
            f32::from_bits(state & 0xbfff_ffff)
        };
        let mut floats: Vec<f32> = std::iter::repeat_with(random).take(1_000_003).collect();
        for (index, odd) in [(5, f32::NAN), (70_000, f32::INFINITY), (999_999, f32::NEG_INFINITY), (1_000_002, -0.0)] {
            floats[index] = odd;
        }
        let finite = |x: f32| if x.is_finite() { f64::from(x) } else { 0.0 };
        let of_block = |block: &[f32]| {
            (0..8).map(|lane| block.iter().skip(lane).step_by(8).fold(0.0, |sum, &x| sum + finite(x))).sum::<f64>()
        };
        let of_piece = |piece: &[f32]| piece.chunks(2048).map(of_block).sum::<f64>();
        let sum = floats.chunks(65_536).map(of_piece).sum::<f64>();

        let found = stats(&floats);
        assert_eq!(found.mean.unwrap().to_bits(), (sum / 1_000_000.0).to_bits());
        assert_eq!((found.nan, found.infinite), (1, 2));
        assert_eq!(found.zeros, floats.iter().filter(|&&x| x == 0.0).count() as u64);
        let finite = || floats.iter().copied().filter(|x| x.is_finite());
        let (min, max) = (finite().fold(f32::MAX, f32::min), finite().fold(f32::MIN, f32::max));
        assert_eq!((found.min, found.max), (Some(Value::F32(min)), Some(Value::F32(max))));
    }

    #[test]
    fn extremes_are_found_at_every_place() {
        for len in [1, 7, 8, 31, 32, 33, 2048, 2049] {
            for place in (0..len).step_by(if len > 100 { 97 } else { 1 }) {
                for odd in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
                    let mut floats = vec![odd; len];
                    floats[place] = -3.0;
                    let found = stats(&floats);
                    assert_eq!((found.min, found.max), (Some(Value::F32(-3.0)), Some(Value::F32(-3.0))));
                    assert_eq!((found.mean, found.finite), (Some(-3.0), 1));
                    assert_eq!(found.nan + found.infinite, len as u64 - 1);
                }
            }
        }
        for odd in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let none = stats(&[odd; 40]);
            assert_eq!((none.min, none.max, none.mean, none.finite), (None, None, None, 0));
            assert_eq!(none.nan + none.infinite, 40);
        }
    }
}
