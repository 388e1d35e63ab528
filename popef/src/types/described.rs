//! What a file and its blobs say of themselves, as plain values.

#[cfg(feature = "serde")]
pub(crate) mod serde_impls;

use crate::error::{ErrorCode, ErrorKind};
use crate::read::{Compression, PoplarHeader};
use crate::types::{BlobType, FeedDataInfo, Metadata, OpaqueInfo, TensorDataInfo, Text};

/// What there is to say of a file without reading data: [`File::describe`](crate::File::describe).
///
/// With the feature `serde`, a [`File`](crate::File) serialises in the same way, straight from its bytes and, unless it is
/// damaged, without allocating. In JSON that is what `popef-dump --format json` prints of a file, with some members of the tool's own
/// (`providedBy`, `values`), which are no fields here. The repository's `docs/dump.schema.json` is its schema.
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
    /// The path that it was opened by, or what its source calls itself.
    pub path: Option<Text<'static>>,
    /// All its bytes.
    pub size: u64,
    /// The blobs, in the file's order; of a damaged file, those before the damage.
    pub blobs: Vec<BlobInfo>,
    /// Why it could not be read to its end.
    pub error: Option<ErrorInfo>,
}

/// What there is to say of a blob without reading its data: [`Blob::describe`](crate::Blob::describe).
///
/// With the feature `serde`, a [`Blob`](crate::Blob) serialises in the same way, straight from the file's bytes and,
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
    /// Its number in the file, counted from 0.
    pub index: usize,
    /// Where it begins in the file.
    pub offset: u64,
    /// All its bytes: header, info and data.
    pub size: u64,
    /// The version of the format that it was written for; empty in most files.
    pub version: Text<'static>,
    /// What it holds.
    pub blob_type: BlobType,
    /// Where its data begins in the file.
    pub data_offset: u64,
    /// The bytes of its data.
    pub data_size: u64,
    /// What its info message says, by its type.
    pub info: Info,
    /// What is wrong with the blob. What is known of it stands beside all the same.
    pub error: Option<ErrorInfo>,
}

/// What the info message of a blob says, by the blob's type.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize))]
#[non_exhaustive]
pub enum Info {
    /// Of an executable.
    Executable(DescribedExecutable),
    /// How to load and run an executable.
    Metadata(Box<Metadata>),
    /// Of metadata that claims more than its message can account for: no more than the name of its executable.
    UnreadMetadata(Text<'static>),
    /// Of a tensor's data.
    Tensor(TensorDataInfo),
    /// Of a feed.
    Feed(FeedDataInfo),
    /// Of an opaque blob.
    Opaque(OpaqueInfo),
    /// Of a type that this version of the format does not name.
    Unknown,
}

/// What there is to say of an executable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DescribedExecutable {
    /// The name by which metadata and opaque blobs refer to it.
    pub name: Text<'static>,
    /// Whether it is compressed.
    pub is_compressed: bool,
    /// How many bytes it has once unpacked.
    pub uncompressed_size: u64,
    /// What its own first bytes say, if they were read: [`ExecutableBlob::inside`](crate::read::ExecutableBlob::inside).
    pub inside: Option<ExecutableInside>,
}

/// What an executable's own first bytes say of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct ExecutableInside {
    /// How it is compressed; none if it is not.
    pub compression: Option<Compression>,
    /// The header that Poplar puts before it; none if its bytes do not begin with one.
    pub poplar_header: Option<PoplarHeader>,
}

/// An [`Error`](crate::Error) as a plain value. With the feature `serde`, an error serialises in the same way.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct ErrorInfo {
    /// What is wrong, without the file, the blob and the byte.
    pub message: String,
    /// What it comes to.
    pub kind: ErrorKind,
    /// Which error it is.
    pub code: ErrorCode,
    /// The blob's number in the file, if it is about one.
    pub blob: Option<usize>,
    /// The byte of the file that it is about.
    pub offset: Option<u64>,
    /// How much was needed, where that is a number.
    pub needed: Option<u64>,
    /// How much was found, where that is a number.
    pub found: Option<u64>,
}

/// The fields of a described blob, of which each serialises.
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
