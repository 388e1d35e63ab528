//! What reading a file over the network has cost.

use popef::types::Text;
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::text::text;

/// Requests and bytes.
pub(crate) struct NetworkObject(pub(crate) (u64, u64));

impl Serialize for NetworkObject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (requests, bytes) = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("requests", &requests)?;
        map.serialize_entry("bytes", &bytes)?;
        map.end()
    }
}

/// The same of a file, as a line of its own.
pub(crate) struct NetworkLine<'a> {
    pub(crate) file: Text<'a>,
    pub(crate) cost: (u64, u64),
}

impl Serialize for NetworkLine<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("kind", "network")?;
        text(&mut map, "file", &self.file)?;
        map.serialize_entry("network", &NetworkObject(self.cost))?;
        map.end()
    }
}
