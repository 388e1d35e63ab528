use std::fmt::Write as _;

use popef::types::Text;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

/// A text under its key. One that is not UTF-8 has replacement characters there, and its bytes in hex beside it.
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

/// A list that an iterator gives.
pub(crate) struct List<F>(pub(crate) F);

impl<F: Fn() -> I, I: Iterator<Item: Serialize>> Serialize for List<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((self.0)())
    }
}
