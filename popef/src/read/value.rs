use std::borrow::Cow;
use std::fmt;
use std::iter::FusedIterator;

use super::element::{Element, ElementVisitor};
use super::elements::Elements;
use super::problem::ReadProblem;
use crate::error::Error;

/// One element of a tensor, without loss of precision.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// A `bool`.
    Bool(bool),
    /// A signed integer of any width.
    Int(i64),
    /// An unsigned integer of any width.
    UInt(u64),
    /// A float of 32 bits or fewer, all of which an `f32` represents exactly.
    F32(f32),
    /// A float of 64 bits.
    F64(f64),
}

impl Value {
    /// Converts the value to an `f64`. A `bool` becomes 0 or 1, and integers beyond 2^53 are rounded.
    pub fn to_f64(self) -> f64 {
        match self {
            Value::Bool(value) => f64::from(u8::from(value)),
            Value::Int(value) => value as f64,
            Value::UInt(value) => value as f64,
            Value::F32(value) => value.into(),
            Value::F64(value) => value,
        }
    }
}

/// Displays the shortest text that identifies the value. Floats always have a decimal point or an exponent.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Bool(value) => fmt::Display::fmt(value, f),
            Value::Int(value) => fmt::Display::fmt(value, f),
            Value::UInt(value) => fmt::Display::fmt(value, f),
            Value::F32(value) => fmt::Debug::fmt(value, f),
            Value::F64(value) => fmt::Debug::fmt(value, f),
        }
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
    /// How many elements are read at a time.
    const BLOCK: u64 = 8 << 10;

    pub(super) fn of(elements: Elements<'a>) -> Result<Self, Error> {
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
