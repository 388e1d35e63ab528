//! Values that several objects have.

use std::fmt::Write as _;

use popef::read::Value;
use popef::types::Text;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use crate::report::{Shown, Stats, Values};

/// A text under its key. One that is not UTF-8 has replacement characters there, and its bytes in hex beside.
pub(crate) fn text<M: SerializeMap>(map: &mut M, key: &'static str, text: &Text<'_>) -> Result<(), M::Error> {
    if let Ok(text) = text.to_str() {
        return map.serialize_entry(key, text);
    }
    map.serialize_entry(key, &text.to_string_lossy())?;
    map.serialize_entry(&format!("{key}Bytes"), &hex(text.as_bytes()))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// A list without a name for its elements' type.
pub(super) struct List<F>(pub(super) F);

impl<F: Fn() -> I, I: Iterator<Item: Serialize>> Serialize for List<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((self.0)())
    }
}

impl Serialize for Values<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("first", &List(|| self.first()))?;
        map.serialize_entry("count", &self.count())?;
        if let Some(stats) = &self.stats {
            figures(&mut map, stats)?;
        }
        map.end()
    }
}

fn figures<M: SerializeMap>(map: &mut M, stats: &Stats) -> Result<(), M::Error> {
    map.serialize_entry("min", &stats.min.map(Shown::Value))?;
    map.serialize_entry("max", &stats.max.map(Shown::Value))?;
    map.serialize_entry("mean", &stats.mean.map(|mean| Shown::Value(Value::F64(mean))))?;
    map.serialize_entry("nan", &stats.nan)?;
    map.serialize_entry("infinite", &stats.infinite)?;
    map.serialize_entry("zeros", &stats.zeros)
}

/// Integers as integers, floats as short as tells them apart. JSON has no NaN and no infinities: they are strings.
impl Serialize for Shown {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Shown::Bits(byte) => serializer.collect_str(&format_args!("{byte:#04x}")),
            Shown::Value(Value::Bool(value)) => serializer.serialize_bool(value),
            Shown::Value(Value::Int(value)) => serializer.serialize_i64(value),
            Shown::Value(Value::UInt(value)) => serializer.serialize_u64(value),
            Shown::Value(Value::F32(value)) if value.is_finite() => serializer.serialize_f32(value),
            Shown::Value(Value::F64(value)) if value.is_finite() => serializer.serialize_f64(value),
            Shown::Value(value) => serializer.serialize_str(not_finite(value.to_f64())),
        }
    }
}

fn not_finite(value: f64) -> &'static str {
    match value {
        _ if value.is_nan() => "NaN",
        _ if value > 0.0 => "Infinity",
        _ => "-Infinity",
    }
}
