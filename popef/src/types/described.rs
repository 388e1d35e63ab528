//! Descriptions of files and blobs, as plain values.

#[cfg(feature = "serde")]
pub(crate) mod serde_impls;

use crate::types::{
    BlobType, Compression, Diagnostic, FeedDataInfo, Metadata, OpaqueInfo, PoplarHeader, TensorDataInfo, Text,
};

/// The description of a file, made without reading data. [`File::describe`](crate::File::describe) returns it.
///
/// With the feature `serde`, a [`File`](crate::File) serialises in the same way, directly from its bytes and, unless it
/// is damaged, without allocating. `popef-dump --format json` prints the same JSON with members of its own
/// (`providedBy`, `values`), which this type does not accept. The repository's `docs/dump.schema.json` is the schema of
/// that JSON.
///
/// ```
/// let file = popef::File::open("examples/data/executable.popef")?;
/// let info = file.describe();
/// # #[cfg(feature = "serde")]
/// assert_eq!(serde_json::to_string(&file)?, serde_json::to_string(&info)?);
/// # #[cfg(feature = "serde")]
/// assert_eq!(serde_json::from_str::<popef::types::FileInfo>(&serde_json::to_string(&file)?)?, info);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileInfo {
    /// The path by which the file was opened, or the name that its source gives.
    pub path: Option<Text<'static>>,
    /// The size of the file in bytes.
    pub size: u64,
    /// The blobs in file order. For a damaged file, the blobs before the damage.
    pub blobs: Vec<BlobInfo>,
    /// Why the file could not be read to its end.
    pub error: Option<Diagnostic>,
}

/// The description of a blob, made without reading its data. [`Blob::describe`](crate::Blob::describe) returns it.
///
/// With the feature `serde`, a [`Blob`](crate::Blob) serialises in the same way, directly from the file's bytes and,
/// unless it is damaged, without allocating.
///
/// ```
/// let file = popef::File::open("examples/data/executable.popef")?;
/// let info = file.tensor("input_parameter").expect("the model has this weight").blob().describe();
/// assert_eq!((info.size, info.data_size), (136, 16));
/// assert!(matches!(info.info, popef::types::Info::Tensor(tensor) if tensor.name == "input_parameter"));
/// # Ok::<(), popef::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlobInfo {
    /// The blob's number in the file, counted from 0.
    pub index: usize,
    /// The offset of the blob in the file.
    pub offset: u64,
    /// The size of the blob in bytes: header, info and data.
    pub size: u64,
    /// The version of the format that the blob was written for. Empty in most files.
    pub version: Text<'static>,
    /// What the blob holds.
    pub blob_type: BlobType,
    /// The offset of the data in the file.
    pub data_offset: u64,
    /// The size of the data in bytes.
    pub data_size: u64,
    /// The fields of the info message, which depend on the blob's type.
    pub info: Info,
    /// What is wrong with the blob, if anything. The other fields are valid even then.
    pub error: Option<Diagnostic>,
}

/// The fields of a blob's info message, by blob type.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize))]
#[non_exhaustive]
pub enum Info {
    /// An executable.
    Executable(DescribedExecutable),
    /// How to load and run an executable.
    Metadata(Box<Metadata>),
    /// Metadata that cannot be read as a whole, because it claims more than its message can hold: only the name of its
    /// executable.
    UnreadMetadata(Text<'static>),
    /// A tensor's data.
    Tensor(TensorDataInfo),
    /// A feed.
    Feed(FeedDataInfo),
    /// An opaque blob.
    Opaque(OpaqueInfo),
    /// A blob type that this version of the format does not name.
    Unknown,
}

/// The description of an executable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DescribedExecutable {
    /// The name by which metadata and opaque blobs refer to it.
    pub name: Text<'static>,
    /// Whether the executable is compressed.
    pub is_compressed: bool,
    /// The size of the unpacked executable in bytes.
    pub uncompressed_size: u64,
    /// What the executable's first bytes say, if they were read by
    /// [`ExecutableBlob::inside`](crate::read::ExecutableBlob::inside).
    pub inside: Option<ExecutableInside>,
}

/// What an executable's first bytes say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct ExecutableInside {
    /// The format of compression. `None` if the executable is not compressed.
    pub compression: Option<Compression>,
    /// The header that Poplar puts before an executable. `None` if the bytes do not begin with one.
    pub poplar_header: Option<PoplarHeader>,
}

/// The fields of a blob's description, each of a type that serialises.
#[cfg(feature = "serde")]
pub(crate) struct BlobFields<'a, I, E> {
    pub(crate) index: usize,
    pub(crate) offset: u64,
    pub(crate) size: u64,
    pub(crate) version: Text<'a>,
    pub(crate) blob_type: BlobType,
    pub(crate) data_offset: u64,
    pub(crate) data_size: u64,
    pub(crate) info: I,
    pub(crate) error: Option<E>,
}
