//! `index.json`: the contents of an extracted folder, and all facts about the file that its other files do not have.

use std::fmt;
use std::fs;
use std::io::{self, BufReader, Write};
use std::path::Path;

use popef::Blob;
use popef::Metadata;
use popef::read::Compression;
use popef::types::{BlobType, ExecutableInfo, FeedDataInfo, InfoRef, OpaqueInfo, TensorDataInfo, Text};
use popef::write::Packing;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::error::{Code, Error};
use crate::formats::{Place, Source};
use crate::hex::Hex;

/// The file's name in its folder.
pub(crate) const INDEX: &str = "index.json";
/// The version that is written and read.
const VERSION: u32 = 1;

/// An `index.json`, whose entries are read one after the other.
#[derive(Debug)]
pub(crate) struct Index {
    place: Place,
    /// The time of the last change of the files, in seconds since 1970. A file with another time was changed after it
    /// was extracted.
    pub(crate) modified: u64,
    /// The file with the bytes before the first blob.
    pub(crate) prefix: Option<String>,
}

/// The part of the index besides its entries, which may come before or after them.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct About {
    #[serde(deserialize_with = "known_version")]
    #[serde(rename = "indexVersion")]
    _version: (),
    modified: u64,
    #[serde(default)]
    prefix: Option<String>,
    #[serde(rename = "blobs")]
    _blobs: IgnoredAny,
}

/// A blob.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Entry {
    pub(crate) blob: Kind,
    /// The version of the format that the blob was written for.
    #[serde(default, skip_serializing_if = "Text::is_empty")]
    pub(crate) version: Text<'static>,
    /// The file with the blob's data, or with its metadata. `None` if it has neither.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) data: Option<Stored>,
    /// The file with the bytes after the last tensor, or after metadata.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) surplus: Option<String>,
    /// How the executable is to be compressed again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) compress: Option<Packing>,
    /// How the executable was compressed, if it is not compressed again in the same way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) was: Option<Compression>,
    /// Whether the executable has no name, or the name of another, as in the file that was extracted.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) any_name: bool,
    /// The header and info as they were, if this program would write other bytes for the same values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) head: Option<Hex<Vec<u8>>>,
}

impl Entry {
    /// The names of its files.
    pub(crate) fn files(&self) -> impl Iterator<Item = &str> {
        self.data.as_ref().map(|data| &*data.file).into_iter().chain(self.surplus.as_deref())
    }
}

/// The type of a blob, and its info.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Kind {
    Executable(ExecutableInfo),
    /// The rest is in a file of its own.
    Metadata,
    Tensor(TensorDataInfo),
    Feed(FeedDataInfo),
    Opaque(OpaqueInfo),
    /// A type that this version of the format does not name.
    Unknown(u16),
}

/// Where the data of a blob is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Stored {
    pub(crate) file: String,
    pub(crate) form: Form,
    /// The name of the array in a file with several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<String>,
}

/// What the file of a blob is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Form {
    Npy,
    Npz,
    Safetensors,
    /// The bytes.
    Raw,
    /// Metadata.
    Json,
}

fn is_false(value: &bool) -> bool {
    !value
}

fn known_version<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(), D::Error> {
    match u32::deserialize(deserializer)? {
        VERSION => Ok(()),
        other => Err(D::Error::custom(format_args!("indexVersion is {other}, and only {VERSION} is known"))),
    }
}

impl Index {
    /// Opens the index of a folder. It may be any file.
    pub(crate) fn open(folder: &Path) -> Result<Self, Error> {
        if folder.is_file() {
            let message = "it is a file; needed is a folder that popef extract made";
            return Err(Error::new(Code::WrongArguments, message).in_file(folder));
        }
        let path = folder.join(INDEX);
        if folder.is_dir() && !path.exists() && !path.is_symlink() {
            let message = "it has no index.json, so it is no folder of popef extract; arrays are given as files";
            return Err(Error::new(Code::WrongArguments, message).in_file(folder));
        }
        Self::open_at(&path).map_err(|error| error.in_file(path))
    }

    fn open_at(path: &Path) -> Result<Self, Error> {
        // Not through a link: it says what is read.
        if fs::symlink_metadata(path).map_err(unread)?.is_symlink() {
            return Err(Error::new(Code::BadIndex, "it is a link"));
        }
        let place = Place::of(Source::of(path)?);
        let About { modified, prefix, .. } = serde_json::from_reader(BufReader::new(place.reader()?)).map_err(bad)?;
        Ok(Index { place, modified, prefix })
    }

    /// Reads the entries in order. Each is gone when `each` returns.
    pub(crate) fn entries(&self, each: &mut dyn FnMut(Entry) -> Result<(), Error>) -> Result<(), Error> {
        let in_file = |error: Error| error.in_file(self.place.path());
        let mut failure = None;
        let mut json = serde_json::Deserializer::from_reader(BufReader::new(self.place.reader().map_err(in_file)?));
        let read = json.deserialize_map(Entries { each, failure: &mut failure });
        match failure {
            Some(failure) => Err(failure),
            None => read.map_err(|error| in_file(bad(error))),
        }
    }
}

fn unread(error: io::Error) -> Error {
    Error::io("read the index", error)
}

fn bad(error: serde_json::Error) -> Error {
    match error.io_error_kind() {
        Some(_) => unread(error.into()),
        None => Error::new(Code::BadIndex, error.to_string()),
    }
}

/// Hands out the entries of an index. The rest was read before.
struct Entries<'e> {
    each: &'e mut dyn FnMut(Entry) -> Result<(), Error>,
    /// What `each` failed with.
    failure: &'e mut Option<Error>,
}

impl<'de> Visitor<'de> for Entries<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with blobs")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match &*key {
                "blobs" => map.next_value_seed(&mut self)?,
                _ => _ = map.next_value::<IgnoredAny>()?,
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(entry) = list.next_element()? {
            if let Err(error) = (self.each)(entry) {
                *self.failure = Some(error);
                return Err(A::Error::custom("stopped"));
            }
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for &mut Entries<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, list: D) -> Result<(), D::Error> {
        list.deserialize_seq(Entries { each: self.each, failure: self.failure })
    }
}

/// Writes the part before the entries. Each entry has a line.
pub(crate) fn write_begin(out: &mut impl Write, modified: u64, prefix: Option<&str>) -> io::Result<()> {
    write!(out, "{{\"indexVersion\": {VERSION}, \"modified\": {modified}, ")?;
    if let Some(prefix) = prefix {
        write!(out, "\"prefix\": {}, ", serde_json::to_string(prefix)?)?;
    }
    out.write_all(b"\"blobs\": [")
}

/// Writes the part after the entries.
pub(crate) fn write_end(out: &mut impl Write) -> io::Result<()> {
    out.write_all(b"\n]}\n")
}

impl Kind {
    /// The type and info of a blob.
    pub(crate) fn of(blob: &Blob<'_>) -> Kind {
        if let Some(executable) = blob.as_executable() {
            return Kind::Executable(executable.info());
        }
        match blob.blob_type() {
            BlobType::Metadata => return Kind::Metadata,
            BlobType::DataTensor => blob.as_tensor().map(|tensor| Kind::Tensor(tensor.info())),
            BlobType::DataFeed => blob.as_feed().map(|feed| Kind::Feed(feed.info())),
            BlobType::Opaque => blob.as_opaque().map(|opaque| Kind::Opaque(opaque.info())),
            BlobType::PoplarExecutable | BlobType::Other(_) => None,
            _ => None,
        }
        .unwrap_or(Kind::Unknown(blob.blob_type().number()))
    }

    pub(crate) fn blob_type(&self) -> BlobType {
        match self {
            Kind::Executable(_) => BlobType::PoplarExecutable,
            Kind::Metadata => BlobType::Metadata,
            Kind::Tensor(_) => BlobType::DataTensor,
            Kind::Feed(_) => BlobType::DataFeed,
            Kind::Opaque(_) => BlobType::Opaque,
            Kind::Unknown(number) => BlobType::from_number(*number),
        }
    }
}

/// The header and info that this program writes for a blob with `len` bytes of data. `None` if it has no info to write.
pub(crate) fn head(kind: &Kind, metadata: Option<&Metadata>, version: &Text<'_>, len: u64) -> Option<Vec<u8>> {
    let info = match kind {
        Kind::Executable(info) => InfoRef::from(info),
        Kind::Metadata => metadata?.into(),
        Kind::Tensor(info) => info.into(),
        Kind::Feed(info) => info.into(),
        Kind::Opaque(info) => info.into(),
        Kind::Unknown(_) => return None,
    };
    popef::write::head(version, info, len).ok()
}

/// How an executable of this compression is compressed again. The library does not write zstd or LZ4, so the default
/// replaces them.
pub(crate) fn packing_for(compression: Compression) -> Packing {
    match compression {
        Compression::Gzip => Packing::Gzip(6),
        _ => Packing::default(),
    }
}
