//! What stands between the header and the data of each blob, as plain values.

use super::tensor_info::size_in_bytes;
#[cfg(feature = "serde")]
use crate::types::object::object;
use crate::types::{BlobType, Metadata, ShapeProblem, TensorInfo, Text};

/// What a file says of an executable.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ExecutableInfo {
    /// The name by which metadata and opaque blobs refer to it.
    pub name: Text<'static>,
    /// How many bytes the executable has once unpacked; none if it is stored as it is.
    pub uncompressed_size: Option<u64>,
}

/// What a file says of a tensor's data.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct TensorDataInfo {
    /// The name of the anchors that the data is for.
    pub name: Text<'static>,
    /// The tensor's shape and element type.
    pub tensor_info: TensorInfo,
}

/// What a file says of a feed: the data of several tensors of one shape.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct FeedDataInfo {
    /// The name of the anchors that the data is for.
    pub name: Text<'static>,
    /// The shape and element type of each tensor.
    pub tensor_info: TensorInfo,
    /// How many tensors there are.
    pub num_tensors: u32,
}

/// What a file says of an opaque blob.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct OpaqueInfo {
    /// Usually the name of the framework that wrote it.
    pub name: Text<'static>,
    /// The name of the executable that it belongs to.
    pub executable: Text<'static>,
}

#[cfg(feature = "serde")]
object! {
    #[serde(deny_unknown_fields)]
    ExecutableInfo, [] {
        name / name_bytes: Text<'static> = "name" / "nameBytes";
        uncompressed_size: Option<u64> = "uncompressedSize";
    }
}

#[cfg(feature = "serde")]
object! {
    #[serde(deny_unknown_fields)]
    TensorDataInfo, [crate::read::TensorDataRef<'_>] {
        name / name_bytes: Text<'static> = "name" / "nameBytes";
        tensor_info: TensorInfo = "tensorInfo";
    }
}

#[cfg(feature = "serde")]
object! {
    #[serde(deny_unknown_fields)]
    FeedDataInfo, [crate::read::FeedDataRef<'_>] {
        name / name_bytes: Text<'static> = "name" / "nameBytes";
        tensor_info: TensorInfo = "tensorInfo";
        num_tensors: u32 = "numTensors";
    }
}

#[cfg(feature = "serde")]
object! {
    #[serde(deny_unknown_fields)]
    OpaqueInfo, [crate::read::OpaqueRef<'_>] {
        name / name_bytes: Text<'static> = "name" / "nameBytes";
        executable / executable_bytes: Text<'static> = "executable" / "executableBytes";
    }
}

/// What is to be written of a blob of any type. What is read of one is an [`Info`](crate::types::Info).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InfoRef<'a> {
    /// Of an executable.
    Executable(&'a ExecutableInfo),
    /// How to load and run an executable.
    Metadata(&'a Metadata),
    /// Of a tensor's data.
    Tensor(&'a TensorDataInfo),
    /// Of a feed.
    Feed(&'a FeedDataInfo),
    /// Of an opaque blob.
    Opaque(&'a OpaqueInfo),
}

impl<'a> InfoRef<'a> {
    /// The type of the blob.
    pub fn blob_type(self) -> BlobType {
        match self {
            InfoRef::Executable(_) => BlobType::PoplarExecutable,
            InfoRef::Metadata(_) => BlobType::Metadata,
            InfoRef::Tensor(_) => BlobType::DataTensor,
            InfoRef::Feed(_) => BlobType::DataFeed,
            InfoRef::Opaque(_) => BlobType::Opaque,
        }
    }

    /// Shape and type, of a tensor or a feed, and how many tensors there are.
    pub(crate) fn tensors(self) -> Option<(&'a TensorInfo, u32)> {
        match self {
            InfoRef::Tensor(info) => Some((&info.tensor_info, 1)),
            InfoRef::Feed(info) => Some((&info.tensor_info, info.num_tensors)),
            InfoRef::Executable(_) | InfoRef::Metadata(_) | InfoRef::Opaque(_) => None,
        }
    }

    /// How many bytes of data a tensor or a feed has.
    pub(crate) fn data_len(self) -> Option<Result<u64, ShapeProblem>> {
        let (info, tensors) = self.tensors()?;
        let size = size_in_bytes(info.shape.iter().copied(), info.data_type);
        Some(size.and_then(|size| size.checked_mul(tensors.into()).ok_or(ShapeProblem::TooLarge)))
    }

    /// The blob's name; for metadata, which has none of its own, that of its executable.
    pub(crate) fn name(self) -> &'a Text<'static> {
        match self {
            InfoRef::Executable(info) => &info.name,
            InfoRef::Metadata(metadata) => &metadata.executable,
            InfoRef::Tensor(info) => &info.name,
            InfoRef::Feed(info) => &info.name,
            InfoRef::Opaque(info) => &info.name,
        }
    }
}

macro_rules! from_infos {
    ($( $variant:ident($info:ty) )+) => {
        $(
            impl<'a> From<&'a $info> for InfoRef<'a> {
                fn from(info: &'a $info) -> Self {
                    InfoRef::$variant(info)
                }
            }
        )+
    };
}

from_infos! {
    Executable(ExecutableInfo)
    Metadata(Metadata)
    Tensor(TensorDataInfo)
    Feed(FeedDataInfo)
    Opaque(OpaqueInfo)
}
