use popef::read::Value;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use crate::json::text::List;
use crate::report::stats::Stats;
use crate::report::values::{Shown, Values};

impl Serialize for Values<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("first", &List(|| self.first()))?;
        map.serialize_entry("count", &self.count())?;
        if let Some(stats) = &self.stats {
            statistics(&mut map, stats)?;
        }
        map.end()
    }
}

fn statistics<M: SerializeMap>(map: &mut M, stats: &Stats) -> Result<(), M::Error> {
    map.serialize_entry("min", &stats.min.map(Shown::Value))?;
    map.serialize_entry("max", &stats.max.map(Shown::Value))?;
    map.serialize_entry("mean", &stats.mean.map(|mean| Shown::Value(Value::F64(mean))))?;
    map.serialize_entry("nan", &stats.nan)?;
    map.serialize_entry("infinite", &stats.infinite)?;
    map.serialize_entry("zeros", &stats.zeros)
}

/// Floats have as few digits as tell them apart. JSON has no NaN and no infinities, so these are strings.
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
