use serde::ser::{Serialize, SerializeMap, Serializer};

use super::value::{Input, PickledObject, Value};

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::None => serializer.serialize_none(),
            Value::Bool(value) => serializer.serialize_bool(*value),
            Value::Int(value) => match (i64::try_from(*value), u64::try_from(*value)) {
                (Ok(value), _) => serializer.serialize_i64(value),
                (_, Ok(value)) => serializer.serialize_u64(value),
                _ => serializer.collect_str(value),
            },
            Value::Float(value) if value.is_finite() => serializer.serialize_f64(*value),
            // JSON has no number for these.
            Value::Float(value) => serializer.collect_str(value),
            Value::Text(text) => serializer.serialize_str(text),
            Value::List(values) | Value::Tuple(values) | Value::Set(values) => serializer.collect_seq(values),
            Value::Dict(entries) => Entries(entries).serialize(serializer),
            Value::Tensor(tensor) => tensor.serialize(serializer),
            Value::Object(object) => object.serialize(serializer),
            Value::HugeInt(len) => single(serializer, "integerBytes", len),
            Value::Import(path) => single(serializer, "import", path),
            Value::Persistent(id) => single(serializer, "persistentId", &**id),
            Value::Unknown => single(serializer, "unknown", &true),
            Value::LeftOut => single(serializer, "leftOut", &true),
            Value::Bytes { offset, len } => {
                let mut map = serializer.serialize_map(None)?;
                map.serialize_entry("bytes", len)?;
                if let Some(offset) = offset {
                    map.serialize_entry("offset", offset)?;
                }
                map.end()
            }
        }
    }
}

fn single<S: Serializer>(serializer: S, key: &str, value: &(impl Serialize + ?Sized)) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(1))?;
    map.serialize_entry(key, value)?;
    map.end()
}

/// Keys and values: a map if all keys are texts or all are integers, otherwise a list of pairs.
struct Entries<'e>(&'e [(Value, Value)]);

impl Serialize for Entries<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let texts = self.0.iter().all(|(key, _)| matches!(key, Value::Text(_)));
        let integers = self.0.iter().all(|(key, _)| matches!(key, Value::Int(_)));
        if !texts && !integers {
            return serializer.collect_seq(self.0);
        }
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in self.0 {
            match key {
                Value::Text(key) => map.serialize_entry(key, value)?,
                other => map.serialize_entry(&other.to_string(), value)?,
            }
        }
        map.end()
    }
}

impl Serialize for PickledObject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let PickledObject { class, arguments, states, items, entries } = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("class", class)?;
        if !arguments.is_empty() {
            map.serialize_entry("arguments", arguments)?;
        }
        match &**states {
            [] => {}
            [state] => map.serialize_entry("state", state)?,
            states => map.serialize_entry("states", states)?,
        }
        if !items.is_empty() {
            map.serialize_entry("items", items)?;
        }
        if !entries.is_empty() {
            map.serialize_entry("entries", &Entries(entries))?;
        }
        map.end()
    }
}

/// A tensor's fields, or the key `value`.
impl Serialize for Input {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(name) = &self.name {
            map.serialize_entry("name", name)?;
        }
        match &self.value {
            Value::Tensor(tensor) => {
                if let Some(dtype) = tensor.dtype {
                    map.serialize_entry("dtype", dtype)?;
                }
                map.serialize_entry("shape", &tensor.shape)?;
                if let Some(bytes) = tensor.storage_bytes {
                    map.serialize_entry("storageBytes", &bytes)?;
                }
            }
            value => map.serialize_entry("value", value)?,
        }
        map.end()
    }
}

/// Serialises keys and values as a map.
pub(super) fn map<S: Serializer>(entries: &[(String, Value)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(entries.iter().map(|(key, value)| (key, value)))
}

/// Serialises keys and values as a map, with keys such as `numIOTiles` and `locationWeight` for `location_weight`.
pub(super) fn camel_map<S: Serializer>(entries: &[(String, Value)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(entries.iter().map(|(key, value)| (camel(key), value)))
}

fn camel(key: &str) -> String {
    let mut parts = key.split('_');
    let mut camel = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let mut letters = part.chars();
        camel.extend(letters.next().into_iter().flat_map(char::to_uppercase));
        camel.push_str(letters.as_str());
    }
    camel
}
