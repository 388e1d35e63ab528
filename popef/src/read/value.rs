use std::borrow::Cow;
use std::fmt;
use std::iter::FusedIterator;

use byteorder::{ByteOrder, LittleEndian};
use half::f16;

use super::elements::Elements;
use super::problem::ReadProblem;
use crate::error::Error;
use crate::types::{DataType, F8143, F8152};

/// One element of a tensor, as exact as the file has it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// A `bool`.
    Bool(bool),
    /// A signed integer of any width.
    Int(i64),
    /// An unsigned integer of any width.
    UInt(u64),
    /// A float of 32 bits or fewer; an `f32` has all of them exactly.
    F32(f32),
    /// A double.
    F64(f64),
}

impl Value {
    /// The value as a number: 0 or 1 for a bool; integers beyond 2^53 are rounded.
    pub fn to_f64(self) -> f64 {
        match self {
            Value::Bool(value) => f64::from(u8::from(value)),
            Value::Int(value) => value as f64,
            Value::UInt(value) => value as f64,
            Value::F32(value) => value.into(),
            Value::F64(value) => value,
        }
    }

    /// The value of one element's bytes, or the byte that is no bool.
    fn decode(data_type: DataType, bytes: &[u8]) -> Result<Value, u8> {
        Ok(match (data_type, bytes) {
            (DataType::Bool, [0]) => Value::Bool(false),
            (DataType::Bool, [1]) => Value::Bool(true),
            (DataType::S8, &[byte]) => Value::Int(byte.cast_signed().into()),
            (DataType::U8, &[byte]) => Value::UInt(byte.into()),
            (DataType::F8143, &[byte]) => Value::F32(F8143(byte).to_f32()),
            (DataType::F8152, &[byte]) => Value::F32(F8152(byte).to_f32()),
            (DataType::S16, [_, _]) => Value::Int(LittleEndian::read_i16(bytes).into()),
            (DataType::U16, [_, _]) => Value::UInt(LittleEndian::read_u16(bytes).into()),
            (DataType::F16, [_, _]) => Value::F32(f16::from_bits(LittleEndian::read_u16(bytes)).to_f32()),
            (DataType::S32, [_, _, _, _]) => Value::Int(LittleEndian::read_i32(bytes).into()),
            (DataType::U32, [_, _, _, _]) => Value::UInt(LittleEndian::read_u32(bytes).into()),
            (DataType::F32, [_, _, _, _]) => Value::F32(LittleEndian::read_f32(bytes)),
            (DataType::S64, [_, _, _, _, _, _, _, _]) => Value::Int(LittleEndian::read_i64(bytes)),
            (DataType::U64, [_, _, _, _, _, _, _, _]) => Value::UInt(LittleEndian::read_u64(bytes)),
            (DataType::F64, [_, _, _, _, _, _, _, _]) => Value::F64(LittleEndian::read_f64(bytes)),
            _ => return Err(bytes.first().copied().unwrap_or_default()),
        })
    }
}

/// As short as tells it from its neighbours; floats always with a point or an exponent.
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

/// The elements of a tensor one by one; see [`Elements::values`]. After an error it ends.
#[derive(Clone, Debug)]
pub struct Values<'a> {
    elements: Elements<'a>,
    element_size: u64,
    /// The next element's index.
    next: u64,
    /// Some elements' bytes; the next one is at `used`.
    block: Cow<'a, [u8]>,
    used: usize,
}

impl<'a> Values<'a> {
    const BLOCK: u64 = 64 << 10;

    pub(super) fn of(elements: Elements<'a>) -> Result<Self, Error> {
        let data_type = elements.data_type();
        let element_size = data_type.size().filter(|_| data_type != DataType::F8);
        let element_size = element_size.ok_or_else(|| elements.error(ReadProblem::NotNumeric { data_type }))?;
        Ok(Values { elements, element_size, next: 0, block: Cow::Borrowed(&[]), used: 0 })
    }

    fn decode_next(&mut self) -> Result<Value, Error> {
        if self.used >= self.block.len() {
            let data = self.elements.data();
            let start = self.next.saturating_mul(self.element_size);
            let end = start.saturating_add(Self::BLOCK).min(data.len());
            self.block = data.range(start..end)?.read()?;
            self.used = 0;
        }
        let size = usize::try_from(self.element_size).unwrap_or(usize::MAX);
        let end = self.used.saturating_add(size);
        let bytes = self.block.get(self.used..end).unwrap_or_default();
        let value = Value::decode(self.elements.data_type(), bytes);
        self.used = end;
        value.map_err(|byte| self.elements.not_bool(self.next, byte))
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
