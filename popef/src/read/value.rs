use std::fmt;

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
