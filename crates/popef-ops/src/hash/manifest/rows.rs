//! The blobs in a manifest.

use popef::File;
use popef::error::ErrorCode;
use popef::types::{BlobType, Text};
use serde::de::DeserializeSeed as _;

use super::super::digest::{Digest, Digests};
use super::ManifestEntry;
use super::keys::{Keys, Level, Object, Sink};
use super::source::Source;
use crate::diff::{Key, key};
use crate::error::Error;
use crate::name::Name;

/// A blob in a manifest.
#[derive(Debug)]
pub(in crate::hash) struct Row {
    pub(in crate::hash) blob_type: BlobType,
    pub(in crate::hash) name: Name,
    pub(in crate::hash) executable: Option<Text<'static>>,
    pub(in crate::hash) data: Digests,
    pub(in crate::hash) content: Digests,
}

impl Row {
    pub(super) fn of(keys: Keys) -> Result<Row, String> {
        let Keys { blob_type, name, name_bytes, executable, data, content, .. } = keys;
        let (Some(blob_type), Some(name)) = (blob_type, name) else {
            return Err("a blob has a type and a name".into());
        };
        let name = Name::of_keys(name, name_bytes.as_deref()).ok_or("nameBytes has two hex digits for each byte")?;
        Ok(Row { blob_type, name, executable, data, content })
    }

    pub(in crate::hash) fn key(&self) -> Key<'_> {
        let executable = self.executable.as_ref().map(Text::by_ref).unwrap_or_default();
        (self.blob_type, self.name.text().by_ref(), executable)
    }
}

/// The digest of a key. Two keys never have the same.
pub(in crate::hash) fn digest_of((blob_type, name, more): &Key<'_>) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&blob_type.number().to_le_bytes());
    for text in [name, more] {
        hasher.update(&text.as_bytes().len().to_le_bytes());
        hasher.update(text.as_bytes());
    }
    hasher.finalize()
}

/// The digest of many keys in their order.
#[derive(Default)]
pub(super) struct Order(blake3::Hasher);

impl Order {
    pub(super) fn push(&mut self, key: &Key<'_>) {
        self.0.update(digest_of(key).as_bytes());
    }

    pub(super) fn finish(&self) -> Digest {
        Digest(*self.0.finalize().as_bytes())
    }
}

/// The digest of the keys of all blobs of a file, as a manifest of that file has it.
pub(in crate::hash) fn order_of(file: &File) -> Digest {
    let mut order = Order::default();
    file.blobs().for_each(|blob| order.push(&key(&blob)));
    order.finish()
}

/// Reads the blobs of an entry, one after the other or one at a place.
pub(in crate::hash) struct Rows<'m> {
    source: Source<'m>,
    left: u64,
}

impl<'m> Rows<'m> {
    pub(in crate::hash) fn new(entry: &'m ManifestEntry) -> Self {
        let mut source = Source::new(&entry.text);
        source.seek(entry.rows.start);
        Rows { source, left: entry.blobs }
    }

    /// The next blob, and its place in the manifest.
    pub(in crate::hash) fn next(&mut self) -> Result<Option<(u64, Row)>, Error> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left = self.left.saturating_sub(1);
        // Objects of a list have commas between them, and lines have line ends.
        self.source.peek_behind(|byte| byte.is_ascii_whitespace() || byte == b',')?;
        let place = self.source.position().at();
        Ok(Some((place, self.read()?)))
    }

    /// The blob at a place.
    pub(in crate::hash) fn at(&mut self, place: u64) -> Result<Row, Error> {
        self.source.seek(place);
        self.read()
    }

    fn read(&mut self) -> Result<Row, Error> {
        let position = self.source.position();
        let object = Object { level: Level::Blob, position: &position, sink: &mut NoLists };
        let keys = object.deserialize(&mut serde_json::Deserializer::from_reader(&mut self.source));
        let row = keys.map_err(|error| error.to_string()).and_then(Row::of);
        // The first read succeeded, so the manifest has changed.
        row.map_err(|what| {
            Error::new(ErrorCode::FileChanged, format!("the manifest was changed while it was read: {what}"))
        })
    }
}

/// For objects without lists.
struct NoLists;

impl Sink for NoLists {
    fn blob(&mut self, _keys: Keys) -> Result<(), String> {
        Ok(())
    }

    fn file(&mut self, _keys: Keys) -> Result<(), String> {
        Ok(())
    }
}
