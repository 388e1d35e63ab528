//! Count, minimum, maximum, mean and the odd ones among a tensor's elements, read in parts on all processors.

mod floats;
mod integers;

use std::cell::RefCell;
use std::ops::ControlFlow;

use half::f16;
use half::slice::HalfFloatSliceExt as _;
use popef::{DataType, Elements, Error, F8143, F8152, Value};

use crate::input::in_order;
use crate::progress::Progress;
use floats::Floats;
use integers::Integers;

/// The figures of a tensor.
#[derive(Clone, Debug)]
pub(crate) struct Stats {
    /// Of all but NaN; none if there are no others.
    pub(crate) min: Option<Value>,
    pub(crate) max: Option<Value>,
    /// Of the finite elements; none if there are none.
    pub(crate) mean: Option<f64>,
    pub(crate) nan: u64,
    pub(crate) infinite: u64,
    pub(crate) zeros: u64,
}

/// What is known of a part of the elements.
trait Part: Default + Send {
    /// The parts are merged in the order of the elements: sums of floats depend on it.
    fn merge(&mut self, later: Self);
}

impl Stats {
    /// The figures of all elements; none for types whose bits have no known meaning.
    pub(crate) fn of(elements: &Elements<'_>, progress: &Progress) -> Result<Option<Stats>, Error> {
        let floats = |add| gather::<Floats>(elements, progress, add);
        macro_rules! integers {
            ($integer:ty) => {
                gather::<Integers>(elements, progress, |part, bytes| {
                    each(bytes, <$integer>::from_le_bytes, |block| part.add(block));
                })?
            };
        }
        let f32s = |value: f64| Value::F32(value as f32);
        let signed = |value: i128| i64::try_from(value).map_or(Value::F64(value as f64), Value::Int);
        let unsigned = |value: i128| u64::try_from(value).map_or(Value::F64(value as f64), Value::UInt);
        Ok(Some(match elements.data_type() {
            DataType::F32 => floats(f32_bytes)?.stats(f32s),
            DataType::F64 => floats(f64_bytes)?.stats(Value::F64),
            DataType::F16 => floats(f16_bytes)?.stats(f32s),
            DataType::F8143 => floats(f8143_bytes)?.stats(f32s),
            DataType::F8152 => floats(f8152_bytes)?.stats(f32s),
            DataType::S8 => integers!(i8).stats(signed),
            DataType::S16 => integers!(i16).stats(signed),
            DataType::S32 => integers!(i32).stats(signed),
            DataType::S64 => integers!(i64).stats(signed),
            DataType::U8 => integers!(u8).stats(unsigned),
            DataType::U16 => integers!(u16).stats(unsigned),
            DataType::U32 => integers!(u32).stats(unsigned),
            DataType::U64 => integers!(u64).stats(unsigned),
            DataType::Bool => bools(elements, &integers!(u8))?,
            _ => return Ok(None),
        }))
    }
}

impl Floats {
    fn stats(&self, value: impl Fn(f64) -> Value) -> Stats {
        let some = self.count > self.nan;
        Stats {
            min: some.then(|| value(self.min)),
            max: some.then(|| value(self.max)),
            mean: self.mean(),
            nan: self.nan,
            infinite: self.infinite,
            zeros: self.zeros,
        }
    }
}

impl Integers {
    fn stats(&self, value: impl Fn(i128) -> Value) -> Stats {
        let some = self.count > 0;
        Stats {
            min: some.then(|| value(self.min)),
            max: some.then(|| value(self.max)),
            mean: self.mean(),
            nan: 0,
            infinite: 0,
            zeros: self.zeros,
        }
    }
}

/// The figures of bools, as those of their bytes; the library's error for a byte that is none.
fn bools(elements: &Elements<'_>, bytes: &Integers) -> Result<Stats, Error> {
    if bytes.max > 1 {
        elements.values()?.try_for_each(|value| value.map(drop))?;
    }
    Ok(bytes.stats(|byte| Value::Bool(byte != 0)))
}

/// How many bytes are read at a time: half of what a processor keeps close. A multiple of every element's size.
const PIECE: u64 = 256 << 10;
/// From so many pieces on, more than one processor reads.
const PARALLEL: usize = 8;

fn gather<P: Part>(elements: &Elements<'_>, progress: &Progress, add: fn(&mut P, &[u8])) -> Result<P, Error> {
    let pieces = usize::try_from(elements.data().len().div_ceil(PIECE)).unwrap_or(usize::MAX);
    let make = |index: usize| {
        let mut part = P::default();
        let read = with_piece(elements, index, |bytes| {
            add(&mut part, bytes);
            progress.add(bytes.len());
        });
        read.map(|()| part)
    };
    let mut all = Ok(P::default());
    let merge = |part: Result<P, Error>| match (&mut all, part) {
        (Ok(all), Ok(part)) => {
            all.merge(part);
            ControlFlow::Continue(())
        }
        (all, Err(error)) => {
            *all = Err(error);
            ControlFlow::Break(())
        }
        (Err(_), Ok(_)) => ControlFlow::Break(()),
    };
    if pieces < PARALLEL {
        let _ = (0..pieces).map(make).try_for_each(merge);
    } else {
        in_order(pieces, 4 * PARALLEL, make, merge);
    }
    all
}

thread_local! {
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Gives the bytes of a piece to `take`, from where they lie or from this thread's buffer.
fn with_piece(elements: &Elements<'_>, index: usize, take: impl FnOnce(&[u8])) -> Result<(), Error> {
    let start = u64::try_from(index).unwrap_or(u64::MAX).saturating_mul(PIECE);
    let end = start.saturating_add(PIECE).min(elements.data().len());
    let data = elements.data().range(start..end)?;
    if let Some(bytes) = data.as_slice() {
        take(bytes);
        return Ok(());
    }
    BUFFER.with_borrow_mut(|buffer| {
        buffer.resize(usize::try_from(end - start).unwrap_or_default(), 0);
        data.read_at(0, buffer)?;
        take(buffer);
        Ok(())
    })
}

/// How many elements are turned into numbers at a time.
const BLOCK: usize = 2048;

/// Turns bytes into numbers and gives them on in blocks.
fn each<T: Copy + Default, const SIZE: usize>(bytes: &[u8], read: fn([u8; SIZE]) -> T, mut take: impl FnMut(&[T])) {
    let mut block = [T::default(); BLOCK];
    for part in bytes.as_chunks::<SIZE>().0.chunks(BLOCK) {
        for (number, bytes) in block.iter_mut().zip(part) {
            *number = read(*bytes);
        }
        take(block.get(..part.len()).unwrap_or_default());
    }
}

fn f32_bytes(part: &mut Floats, bytes: &[u8]) {
    each(bytes, f32::from_le_bytes, |block| part.add(block));
}

fn f64_bytes(part: &mut Floats, bytes: &[u8]) {
    each(bytes, f64::from_le_bytes, |block| part.add(block));
}

fn f16_bytes(part: &mut Floats, bytes: &[u8]) {
    let mut wide = [0.0f32; BLOCK];
    each(bytes, f16::from_le_bytes, |block| {
        let wide = wide.get_mut(..block.len()).unwrap_or_default();
        block.convert_to_f32_slice(wide);
        part.add(wide);
    });
}

fn f8143_bytes(part: &mut Floats, bytes: &[u8]) {
    each(bytes, |[byte]| F8143(byte).to_f32(), |block| part.add(block));
}

fn f8152_bytes(part: &mut Floats, bytes: &[u8]) {
    each(bytes, |[byte]| F8152(byte).to_f32(), |block| part.add(block));
}
