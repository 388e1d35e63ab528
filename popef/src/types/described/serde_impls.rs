//! Serialisation of descriptions, both owned and borrowed from a file, and their deserialisation.

use serde::de::Error as _;
use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{BlobFields, BlobInfo, DescribedExecutable, ExecutableInside, FileInfo, Info};
use crate::error::Error;
use crate::types::object::{Hex, put_text, take_text};
use crate::types::{
    BlobType, Compression, Diagnostic, FeedDataInfo, Metadata, OpaqueInfo, PoplarHeader, TensorDataInfo, Text,
};

/// Serialises an optional field. Human-readable formats leave `None` out; binary formats keep it.
macro_rules! optional {
    ($object:ident, $human_readable:ident, $key:literal, $value:expr) => {
        match $value {
            None if $human_readable => $object.skip_field($key)?,
            value => $object.serialize_field($key, value)?,
        }
    };
}

/// The number of extra fields of a text: 1 if a human-readable format needs a second field for its bytes, else 0.
fn extra_fields(human_readable: bool, text: &Text<'_>) -> usize {
    usize::from(human_readable && text.to_str().is_err())
}

impl<I: Serialize, E: Serialize> Serialize for BlobFields<'_, I, E> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let human_readable = serializer.is_human_readable();
        let without_error = usize::from(human_readable && self.error.is_none());
        let len = [9, extra_fields(human_readable, &self.version)].iter().sum::<usize>().saturating_sub(without_error);
        let mut object = serializer.serialize_struct("BlobInfo", len)?;
        object.serialize_field("index", &self.index)?;
        object.serialize_field("offset", &self.offset)?;
        object.serialize_field("size", &self.size)?;
        put_text(&mut object, human_readable, &self.version, ["version", "versionBytes"])?;
        object.serialize_field("type", &self.blob_type)?;
        object.serialize_field("dataOffset", &self.data_offset)?;
        object.serialize_field("dataSize", &self.data_size)?;
        object.serialize_field("info", &self.info)?;
        optional!(object, human_readable, "error", &self.error);
        object.end()
    }
}

impl Serialize for BlobInfo {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let &BlobInfo { index, offset, size, blob_type, data_offset, data_size, .. } = self;
        let (version, info, error) = (self.version.by_ref(), &self.info, self.error.as_ref());
        BlobFields { index, offset, size, version, blob_type, data_offset, data_size, info, error }
            .serialize(serializer)
    }
}

/// Serialises the info of a blob. Human-readable formats do not name the variant, as the blob's type implies it.
pub(crate) fn variant<S: Serializer>(
    serializer: S,
    (index, name): (u32, &'static str),
    info: &(impl Serialize + ?Sized),
) -> Result<S::Ok, S::Error> {
    if serializer.is_human_readable() {
        info.serialize(serializer)
    } else {
        serializer.serialize_newtype_variant("Info", index, name, info)
    }
}

/// Serialises the missing info of a blob of unknown type.
pub(crate) fn unknown<S: Serializer>(serializer: S) -> Result<S::Ok, S::Error> {
    if serializer.is_human_readable() {
        serializer.serialize_struct("Unknown", 0)?.end()
    } else {
        serializer.serialize_unit_variant("Info", 6, "Unknown")
    }
}

pub(crate) const EXECUTABLE: (u32, &str) = (0, "Executable");
pub(crate) const METADATA: (u32, &str) = (1, "Metadata");
pub(crate) const UNREAD_METADATA: (u32, &str) = (2, "UnreadMetadata");
pub(crate) const TENSOR: (u32, &str) = (3, "Tensor");
pub(crate) const FEED: (u32, &str) = (4, "Feed");
pub(crate) const OPAQUE: (u32, &str) = (5, "Opaque");

impl Serialize for Info {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Info::Executable(info) => variant(serializer, EXECUTABLE, info),
            Info::Metadata(metadata) => variant(serializer, METADATA, metadata),
            Info::UnreadMetadata(executable) => variant(serializer, UNREAD_METADATA, &Unread(executable)),
            Info::Tensor(info) => variant(serializer, TENSOR, info),
            Info::Feed(info) => variant(serializer, FEED, info),
            Info::Opaque(info) => variant(serializer, OPAQUE, info),
            Info::Unknown => unknown(serializer),
        }
    }
}

/// Metadata that cannot be read: the name of its executable.
pub(crate) struct Unread<'a>(pub(crate) &'a Text<'a>);

impl Serialize for Unread<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !serializer.is_human_readable() {
            return self.0.serialize(serializer);
        }
        let len = [1, extra_fields(true, self.0)].iter().sum();
        let mut object = serializer.serialize_struct("Metadata", len)?;
        put_text(&mut object, true, self.0, ["executable", "executableBytes"])?;
        object.end()
    }
}

/// Serialises an executable's info.
pub(crate) fn executable<S: Serializer>(
    serializer: S,
    name: &Text<'_>,
    (is_compressed, uncompressed_size): (bool, u64),
    inside: Option<&ExecutableInside>,
) -> Result<S::Ok, S::Error> {
    let human_readable = serializer.is_human_readable();
    let more = match (human_readable, inside) {
        (true, None) => 0,
        (true, Some(_)) => 2,
        (false, _) => 1,
    };
    let len = [3, extra_fields(human_readable, name), more].iter().sum();
    let mut object = serializer.serialize_struct("DescribedExecutable", len)?;
    put_text(&mut object, human_readable, name, ["name", "nameBytes"])?;
    object.serialize_field("isCompressed", &is_compressed)?;
    object.serialize_field("uncompressedSize", &uncompressed_size)?;
    match inside {
        inside if !human_readable => object.serialize_field("inside", &inside)?,
        Some(inside) => {
            object.serialize_field("compression", &inside.compression)?;
            object.serialize_field("poplarHeader", &inside.poplar_header)?;
        }
        None => {}
    }
    object.end()
}

impl Serialize for DescribedExecutable {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let size = (self.is_compressed, self.uncompressed_size);
        executable(serializer, &self.name, size, self.inside.as_ref())
    }
}

impl<'de> Deserialize<'de> for DescribedExecutable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct HumanReadable {
            name: Text<'static>,
            name_bytes: Option<Hex>,
            is_compressed: bool,
            uncompressed_size: u64,
            #[serde(default, deserialize_with = "present")]
            compression: Option<Option<Compression>>,
            poplar_header: Option<PoplarHeader>,
        }

        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Binary {
            name: Text<'static>,
            is_compressed: bool,
            uncompressed_size: u64,
            inside: Option<ExecutableInside>,
        }

        if !deserializer.is_human_readable() {
            let Binary { name, is_compressed, uncompressed_size, inside } = Binary::deserialize(deserializer)?;
            return Ok(DescribedExecutable { name, is_compressed, uncompressed_size, inside });
        }
        let read = HumanReadable::deserialize(deserializer)?;
        let HumanReadable { is_compressed, uncompressed_size, poplar_header, .. } = read;
        let inside = read.compression.map(|compression| ExecutableInside { compression, poplar_header });
        let name = take_text(read.name, read.name_bytes, "name")?;
        Ok(DescribedExecutable { name, is_compressed, uncompressed_size, inside })
    }
}

/// Deserialises a field that may be null, so that a null field differs from a missing one.
fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

impl<'de> Deserialize<'de> for BlobInfo {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            return HumanReadable::deserialize(deserializer)?.blob();
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Binary {
            index: usize,
            offset: u64,
            size: u64,
            version: Text<'static>,
            #[serde(rename = "type")]
            blob_type: BlobType,
            data_offset: u64,
            data_size: u64,
            info: Info,
            error: Option<Diagnostic>,
        }
        let Binary { index, offset, size, version, blob_type, data_offset, data_size, info, error } =
            Binary::deserialize(deserializer)?;
        Ok(BlobInfo { index, offset, size, version, blob_type, data_offset, data_size, info, error })
    }
}

/// A blob's description in a human-readable format.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct HumanReadable {
    index: usize,
    offset: u64,
    size: u64,
    version: Text<'static>,
    version_bytes: Option<Hex>,
    #[serde(flatten)]
    typed: Typed,
    data_offset: u64,
    data_size: u64,
    error: Option<Diagnostic>,
}

#[derive(Deserialize)]
#[serde(tag = "type", content = "info", rename_all = "camelCase")]
enum Typed {
    PoplarExecutable(DescribedExecutable),
    Metadata(MaybeRead),
    DataTensor(TensorDataInfo),
    DataFeed(FeedDataInfo),
    Opaque(OpaqueInfo),
    #[serde(untagged)]
    Unknown {
        #[serde(rename = "type")]
        number: u16,
    },
}

#[derive(Deserialize)]
#[serde(untagged)]
enum MaybeRead {
    Unread(UnreadOwned),
    Read(Box<Metadata>),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct UnreadOwned {
    executable: Text<'static>,
    executable_bytes: Option<Hex>,
}

impl HumanReadable {
    fn blob<E: serde::de::Error>(self) -> Result<BlobInfo, E> {
        let (blob_type, info) = match self.typed {
            Typed::PoplarExecutable(info) => (BlobType::PoplarExecutable, Info::Executable(info)),
            Typed::Metadata(MaybeRead::Read(metadata)) => (BlobType::Metadata, Info::Metadata(metadata)),
            Typed::Metadata(MaybeRead::Unread(UnreadOwned { executable, executable_bytes })) => {
                let executable = take_text(executable, executable_bytes, "executable")?;
                (BlobType::Metadata, Info::UnreadMetadata(executable))
            }
            Typed::DataTensor(info) => (BlobType::DataTensor, Info::Tensor(info)),
            Typed::DataFeed(info) => (BlobType::DataFeed, Info::Feed(info)),
            Typed::Opaque(info) => (BlobType::Opaque, Info::Opaque(info)),
            Typed::Unknown { number } => (BlobType::from_number(number), Info::Unknown),
        };
        let HumanReadable { index, offset, size, data_offset, data_size, error, .. } = self;
        let version = take_text(self.version, self.version_bytes, "version")?;
        Ok(BlobInfo { index, offset, size, version, blob_type, data_offset, data_size, info, error })
    }
}

/// Serialises the description of a file.
pub(crate) fn file<S: Serializer>(
    serializer: S,
    path: Option<&Text<'_>>,
    size: u64,
    blobs: &impl Serialize,
    error: Option<&impl Serialize>,
) -> Result<S::Ok, S::Error> {
    let human_readable = serializer.is_human_readable();
    let with_error = usize::from(!human_readable || error.is_some());
    let len = [3, path.map_or(0, |path| extra_fields(human_readable, path)), with_error].iter().sum();
    let mut object = serializer.serialize_struct("FileInfo", len)?;
    match path {
        Some(path) if human_readable => put_text(&mut object, true, path, ["path", "pathBytes"])?,
        path => object.serialize_field("path", &path)?,
    }
    object.serialize_field("size", &size)?;
    object.serialize_field("blobs", blobs)?;
    optional!(object, human_readable, "error", &error);
    object.end()
}

impl Serialize for FileInfo {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        file(serializer, self.path.as_ref(), self.size, &self.blobs, self.error.as_ref())
    }
}

impl<'de> Deserialize<'de> for FileInfo {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct HumanReadable {
            path: Option<Text<'static>>,
            path_bytes: Option<Hex>,
            size: u64,
            blobs: Vec<BlobInfo>,
            error: Option<Diagnostic>,
        }

        #[derive(Deserialize)]
        struct Binary {
            path: Option<Text<'static>>,
            size: u64,
            blobs: Vec<BlobInfo>,
            error: Option<Diagnostic>,
        }

        if !deserializer.is_human_readable() {
            let Binary { path, size, blobs, error } = Binary::deserialize(deserializer)?;
            return Ok(FileInfo { path, size, blobs, error });
        }
        let HumanReadable { path, path_bytes, size, blobs, error } = HumanReadable::deserialize(deserializer)?;
        let path = match (path, path_bytes) {
            (Some(path), bytes) => Some(take_text(path, bytes, "path")?),
            (None, None) => None,
            (None, Some(_)) => return Err(D::Error::missing_field("path")),
        };
        Ok(FileInfo { path, size, blobs, error })
    }
}

/// Serialises as a [`Diagnostic`].
impl Serialize for Error {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.describe().serialize(serializer)
    }
}
