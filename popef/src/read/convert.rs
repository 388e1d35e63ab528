use byteorder::{ByteOrder, LittleEndian};
use half::f16;
use half::slice::HalfFloatSliceExt as _;
use zerocopy::IntoBytes;

use super::blobs::len_of;
use super::elements::{Element, Elements};
use super::problem::ReadProblem;
use crate::error::Error;
use crate::types::{DataType, F8143, F8152};

/// How many elements are converted at a time: where they have to be copied first, the copy stays small.
const PART: usize = 16 << 10;

impl Elements<'_> {
    /// Converts all elements to `f32`, writes them to the start of `buffer`, and gives back that part of it.
    ///
    /// Exact for floats of up to 32 bits, integers of up to 16 bits and `bool` (0 and 1); others are rounded to the
    /// nearest `f32`. NaN stays NaN: an F32 keeps its bits; an F16 keeps sign and payload and becomes quiet; an 8-bit
    /// float's is the one of its [`to_f32`](F8143::to_f32). F16 is converted by the processor where it can.
    ///
    /// An error if `buffer` has fewer elements, for a `bool` that is neither 0 nor 1, for `f8`, whose bits have no
    /// known meaning, and for types that are not known. What `buffer` holds after an error is not said.
    ///
    /// Besides `buffer` it takes little memory, whatever the tensor's size. A tensor that is larger than the buffer is
    /// converted part by part:
    ///
    /// ```
    /// let file = popef::File::open("../testdata/interop/executable.popef")?;
    /// let weights = file.tensor("input_parameter").expect("the model has one").elements()?;
    ///
    /// let mut buffer = [0.0; 4096];
    /// let mut sum = 0.0;
    /// for start in (0..weights.len()).step_by(buffer.len()) {
    ///     let part = weights.range(start..weights.len().min(start + 4096))?;
    ///     sum += part.convert_into(&mut buffer)?.iter().sum::<f32>();
    /// }
    /// assert_eq!(sum, -0.75);
    /// # Ok::<(), popef::Error>(())
    /// ```
    pub fn convert_into<'b>(&self, buffer: &'b mut [f32]) -> Result<&'b mut [f32], Error> {
        let short = ReadProblem::BufferTooSmall { needed: self.len(), found: len_of(buffer) };
        let part = usize::try_from(self.len()).ok().and_then(|len| buffer.get_mut(..len));
        let into = part.ok_or_else(|| self.error(short))?;
        match self.data_type() {
            DataType::F32 => {
                self.data().read_at(0, into.as_mut_bytes())?;
                LittleEndian::from_slice_f32(into);
            }
            DataType::F16 => self.convert::<f16>(into, <[f16]>::convert_to_f32_slice)?,
            DataType::F8143 => self.convert_each(into, F8143::to_f32)?,
            DataType::F8152 => self.convert_each(into, F8152::to_f32)?,
            DataType::F64 => self.convert_each(into, rounded)?,
            DataType::S8 => self.convert_each::<i8>(into, f32::from)?,
            DataType::U8 => self.convert_each::<u8>(into, f32::from)?,
            DataType::S16 => self.convert_each::<i16>(into, f32::from)?,
            DataType::U16 => self.convert_each::<u16>(into, f32::from)?,
            DataType::S32 => self.convert_each(into, |value: i32| value as f32)?,
            DataType::U32 => self.convert_each(into, |value: u32| value as f32)?,
            DataType::S64 => self.convert_each(into, |value: i64| value as f32)?,
            DataType::U64 => self.convert_each(into, |value: u64| value as f32)?,
            DataType::Bool => self.convert_each(into, |value: bool| f32::from(u8::from(value)))?,
            data_type => return Err(self.error(ReadProblem::NotNumeric { data_type })),
        }
        Ok(into)
    }

    fn convert_each<T: Element>(&self, into: &mut [f32], convert: impl Fn(T) -> f32) -> Result<(), Error> {
        self.convert::<T>(into, |from, into| {
            for (from, into) in from.iter().zip(into) {
                *into = convert(*from);
            }
        })
    }

    fn convert<T: Element>(&self, into: &mut [f32], convert: impl Fn(&[T], &mut [f32])) -> Result<(), Error> {
        let mut start = 0;
        for into in into.chunks_mut(PART) {
            let end = len_of(into).saturating_add(start);
            convert(&self.range(start..end)?.to::<T>()?, into);
            start = end;
        }
        Ok(())
    }
}

#[expect(clippy::cast_possible_truncation, reason = "rounds, and makes infinite what is too large")]
fn rounded(value: f64) -> f32 {
    value as f32
}
