use std::borrow::Cow;
use std::iter::FusedIterator;

use super::element::{Element, ElementVisitor};
use super::elements::Elements;
use super::problem::ReadProblem;
use super::value::Value;
use crate::error::Error;

impl<'a> Elements<'a> {
    /// Iterates over the elements as [`Value`](crate::read::Value)s, for any type and with little memory. This is meant
    /// for printing; [`convert_into`](Elements::convert_into) is faster for many elements.
    ///
    /// Fails for `f8`, whose bits have no known meaning, and for unknown types.
    ///
    /// ```
    /// let file = popef::File::open("examples/data/executable.popef")?;
    /// let weights = file.tensor("input_parameter").expect("the model has one").elements()?;
    /// let mut sum = 0.0;
    /// for value in weights.values()? {
    ///     sum += value?.to_f64();
    /// }
    /// assert_eq!(sum, -0.75);
    /// # Ok::<(), popef::Error>(())
    /// ```
    pub fn values(&self) -> Result<Values<'a>, Error> {
        Values::of(*self)
    }
}

/// An iterator over the elements of a tensor. [`Elements::values`] returns it. It ends after an error.
#[derive(Clone, Debug)]
pub struct Values<'a> {
    elements: Elements<'a>,
    decode: Decode,
    element_size: usize,
    /// The index of the next element.
    next: u64,
    /// The bytes of some elements. The next one is at `used`.
    block: Cow<'a, [u8]>,
    used: usize,
}

/// Decodes the bytes of one element. `None` for an invalid `bool`.
type Decode = fn(&[u8]) -> Option<Value>;

/// Finds the decoder and the size of the elements of a data type.
struct Decoder;

impl ElementVisitor for Decoder {
    type Output = (Decode, usize);

    fn visit<T: Element>(self) -> (Decode, usize) {
        (|bytes| T::from_file(bytes).map(T::to_value), size_of::<T>())
    }
}

impl<'a> Values<'a> {
    /// The number of elements read at a time.
    const BLOCK: u64 = 8 << 10;

    fn of(elements: Elements<'a>) -> Result<Self, Error> {
        let data_type = elements.data_type();
        let decoder = data_type.visit(Decoder);
        let (decode, element_size) = decoder.ok_or_else(|| elements.error(ReadProblem::NotNumeric { data_type }))?;
        Ok(Values { elements, decode, element_size, next: 0, block: Cow::Borrowed(&[]), used: 0 })
    }

    fn decode_next(&mut self) -> Result<Value, Error> {
        if self.used >= self.block.len() {
            let end = self.next.saturating_add(Self::BLOCK).min(self.elements.len());
            self.block = self.elements.range(self.next..end)?.data().read()?;
            self.used = 0;
        }
        let end = self.used.saturating_add(self.element_size);
        let bytes = self.block.get(self.used..end).unwrap_or_default();
        self.used = end;
        let not_bool = || self.elements.not_bool(self.next, bytes.first().copied().unwrap_or_default());
        (self.decode)(bytes).ok_or_else(not_bool)
    }
}

impl Iterator for Values<'_> {
    type Item = Result<Value, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.next >= self.elements.len() {
            return None;
        }
        let value = self.decode_next();
        self.next = if value.is_ok() { self.next.saturating_add(1) } else { self.elements.len() };
        Some(value)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::try_from(self.elements.len().saturating_sub(self.next)).unwrap_or(usize::MAX);
        (left.min(1), Some(left))
    }
}

impl FusedIterator for Values<'_> {}
