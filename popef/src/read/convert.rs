use zerocopy::IntoBytes;

use super::element::{Element, ElementVisitor, swap_if_big_endian};
use super::elements::Elements;
use super::problem::ReadProblem;
use crate::error::Error;
use crate::len::len_of;
use crate::types::DataType;

/// How many elements are converted at a time, so that the copy that some need stays small.
const PART: usize = 16 << 10;

impl Elements<'_> {
    /// Converts all elements to `f32`, writes them to the start of `buffer`, and returns that part of it.
    ///
    /// The conversion is exact for floats of up to 32 bits, integers of up to 16 bits and `bool` (0 and 1). Others are
    /// rounded to the nearest `f32`. NaN stays NaN: an F32 keeps its bits, an F16 keeps its sign and payload and
    /// becomes quiet, and an 8-bit float becomes the NaN of its [`to_f32`](crate::types::F8143::to_f32). F16 is
    /// converted with the processor's own instructions if it has them.
    ///
    /// Fails if `buffer` has fewer elements, if a `bool` is neither 0 nor 1, for `f8`, whose bits have no known
    /// meaning, and for unknown types. After an error, the content of `buffer` is unspecified.
    ///
    /// Little memory is needed besides `buffer`, for tensors of any size. A tensor that is larger than the buffer is
    /// converted in parts:
    ///
    /// ```
    /// let file = popef::File::open("examples/data/executable.popef")?;
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
            // No conversion is needed: read directly into the buffer.
            DataType::F32 => {
                self.data().read_at(0, into.as_mut_bytes())?;
                swap_if_big_endian(into);
            }
            data_type => {
                let converted = data_type.visit(Convert { elements: self, into });
                converted.unwrap_or_else(|| Err(self.error(ReadProblem::NotNumeric { data_type })))?;
            }
        }
        Ok(into)
    }
}

/// Converts elements in parts.
struct Convert<'c, 'e> {
    elements: &'c Elements<'e>,
    into: &'c mut [f32],
}

impl ElementVisitor for Convert<'_, '_> {
    type Output = Result<(), Error>;

    fn visit<T: Element>(self) -> Result<(), Error> {
        let mut start = 0;
        for into in self.into.chunks_mut(PART) {
            let end = len_of(into).saturating_add(start);
            T::convert(&self.elements.range(start..end)?.to_slice::<T>()?, into);
            start = end;
        }
        Ok(())
    }
}
