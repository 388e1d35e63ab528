//! The objects of a manifest, as they are read. Lists of files and of blobs are not kept.

use std::fmt;

use popef::types::{BlobType, Text};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::super::digest::Digests;
use super::super::report::PrefixHash;
use super::source::Position;

/// The members of an object: a document, a file or a blob, which determines their meaning.
#[derive(Debug, Default)]
pub(super) struct Keys {
    pub(super) kind: Option<String>,
    pub(super) path: Option<String>,
    pub(super) path_bytes: Option<String>,
    pub(super) file: Option<String>,
    pub(super) file_bytes: Option<String>,
    pub(super) name: Option<String>,
    pub(super) name_bytes: Option<String>,
    pub(super) blob_type: Option<BlobType>,
    pub(super) executable: Option<Text<'static>>,
    pub(super) complete: Option<bool>,
    /// Whether the digests could not be computed.
    pub(super) failed: bool,
    pub(super) prefix: Option<PrefixHash>,
    pub(super) data: Digests,
    pub(super) content: Digests,
    pub(super) headers: Digests,
    pub(super) whole: Digests,
    /// Where the list of blobs begins, if the object has one.
    pub(super) blobs: Option<u64>,
    /// Whether it has a list of files.
    pub(super) files: bool,
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "camelCase")]
enum Key {
    Kind,
    Path,
    PathBytes,
    File,
    FileBytes,
    Name,
    NameBytes,
    Type,
    Executable,
    Complete,
    Error,
    Prefix,
    Data,
    Content,
    Headers,
    Whole,
    Blobs,
    Files,
    SchemaVersion,
    #[serde(other)]
    Other,
}

/// The version of the documents that are read.
const VERSION: u64 = 1;

/// Receives the objects in the lists of another one.
pub(super) trait Sink {
    /// Takes an object in `blobs`.
    fn blob(&mut self, keys: Keys) -> Result<(), String>;
    /// Takes an object in `files`. Its blobs were taken before.
    fn file(&mut self, keys: Keys) -> Result<(), String>;
}

/// Which lists an object may have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    /// `files` or `blobs`: a document or a line.
    Top,
    /// `blobs`.
    File,
    /// None.
    Blob,
}

/// Reads an object.
pub(super) struct Object<'r> {
    pub(super) level: Level,
    pub(super) position: &'r Position,
    pub(super) sink: &'r mut dyn Sink,
}

impl<'de> DeserializeSeed<'de> for Object<'_> {
    type Value = Keys;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Keys, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Object<'_> {
    type Value = Keys;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Keys, M::Error> {
        let Object { level, position, sink } = self;
        let mut keys = Keys::default();
        position.next_member();
        while let Some(key) = map.next_key()? {
            match key {
                Key::Kind => keys.kind = map.next_value()?,
                Key::Path => keys.path = map.next_value()?,
                Key::PathBytes => keys.path_bytes = map.next_value()?,
                Key::File => keys.file = map.next_value()?,
                Key::FileBytes => keys.file_bytes = map.next_value()?,
                Key::Name => keys.name = map.next_value()?,
                Key::NameBytes => keys.name_bytes = map.next_value()?,
                Key::Type => keys.blob_type = map.next_value()?,
                Key::Executable => keys.executable = map.next_value()?,
                Key::Complete => keys.complete = map.next_value()?,
                Key::Error => keys.failed = map.next_value::<Option<IgnoredAny>>()?.is_some(),
                Key::Prefix => keys.prefix = map.next_value()?,
                Key::Data => keys.data = map.next_value()?,
                Key::Content => keys.content = map.next_value()?,
                Key::Headers => keys.headers = map.next_value()?,
                Key::Whole => keys.whole = map.next_value()?,
                Key::Blobs if level != Level::Blob => {
                    let list = List { level: Level::Blob, position, sink: &mut *sink };
                    let start = map.next_value_seed(list)?;
                    if keys.blobs.is_some() && start.is_some() {
                        return Err(M::Error::custom("an object has two lists of blobs"));
                    }
                    keys.blobs = start;
                }
                Key::Files if level == Level::Top => {
                    let list = List { level: Level::File, position, sink: &mut *sink };
                    keys.files |= map.next_value_seed(list)?.is_some();
                }
                Key::SchemaVersion if level == Level::Top => match map.next_value::<u64>()? {
                    VERSION => {}
                    other => {
                        let message = format_args!("schemaVersion is {other}, and only {VERSION} is known");
                        return Err(M::Error::custom(message));
                    }
                },
                Key::Blobs | Key::Files | Key::SchemaVersion | Key::Other => _ = map.next_value::<IgnoredAny>()?,
            }
            position.next_member();
        }
        Ok(keys)
    }
}

/// Reads a list of objects, and gives each to the sink. Returns where it begins. `None` for a number in its position.
struct List<'r> {
    /// The level of the objects in the list.
    level: Level,
    position: &'r Position,
    sink: &'r mut dyn Sink,
}

impl<'de> DeserializeSeed<'de> for List<'_> {
    type Value = Option<u64>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Option<u64>, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for List<'_> {
    type Value = Option<u64>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_u64<E>(self, _count: u64) -> Result<Option<u64>, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Option<u64>, E> {
        Ok(None)
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut list: S) -> Result<Option<u64>, S::Error> {
        let List { level, position, sink } = self;
        // The parser has read the bracket, and nothing after it.
        let start = position.at();
        loop {
            position.next_member();
            let Some(keys) = list.next_element_seed(Object { level, position, sink: &mut *sink })? else {
                return Ok(Some(start));
            };
            match level {
                Level::Blob => sink.blob(keys),
                Level::File | Level::Top => sink.file(keys),
            }
            .map_err(S::Error::custom)?;
        }
    }
}
