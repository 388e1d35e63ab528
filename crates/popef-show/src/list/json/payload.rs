//! The `payload` of an opaque blob.

use popef_payload::{Framework, Payload};
use serde::Serialize;
use serde::ser::{SerializeMap as _, Serializer};

use crate::report::payload::{PayloadView, is_json};

/// What was read of a payload, or why it cannot be read.
pub(super) struct PayloadObject<'a, 'f>(pub(super) &'a PayloadView<'f>);

impl Serialize for PayloadObject<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0.value {
            Ok(Payload::Text(text)) if is_json(text) => {
                let mut map = serializer.serialize_map(None)?;
                map.serialize_entry("kind", "json")?;
                map.serialize_entry("bytes", &text.as_bytes().len())?;
                map.serialize_entry("text", text)?;
                map.end()
            }
            Ok(payload) => payload.serialize(serializer),
            Err(failure) => {
                let mut map = serializer.serialize_map(None)?;
                map.serialize_entry("kind", self.0.framework.map_or("unknown", Framework::as_str))?;
                map.serialize_entry("error", failure)?;
                map.end()
            }
        }
    }
}
