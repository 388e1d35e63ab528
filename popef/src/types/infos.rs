//! What stands between the header and the data of each blob, as plain values.

use super::tensor_info::size_in_bytes;
use crate::types::{BlobType, Metadata, ShapeProblem, TensorInfo, Text};

/// What a file says of an executable.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase", deny_unknown_fields))]
pub struct ExecutableInfo {
    /// The name by which metadata and opaque blobs refer to it.
    pub name: Text<'static>,
    /// How many bytes the executable has once unpacked; none if it is stored as it is.
    pub uncompressed_size: Option<u64>,
}

/// What a file says of a tensor's data.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase", deny_unknown_fields))]
pub struct TensorDataInfo {
    /// The name of the anchors that the data is for.
    pub name: Text<'static>,
    /// The tensor's shape and element type.
    pub tensor_info: TensorInfo,
}

/// What a file says of a feed: the data of several tensors of one shape.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase", deny_unknown_fields))]
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
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase", deny_unknown_fields))]
pub struct OpaqueInfo {
    /// Usually the name of the framework that wrote it.
    pub name: Text<'static>,
    /// The name of the executable that it belongs to.
    pub executable: Text<'static>,
}

/// What a file says of a blob of any type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BlobInfo<'a> {
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

impl<'a> BlobInfo<'a> {
    /// The type of the blob.
    pub fn blob_type(self) -> BlobType {
        match self {
            BlobInfo::Executable(_) => BlobType::PoplarExecutable,
            BlobInfo::Metadata(_) => BlobType::Metadata,
            BlobInfo::Tensor(_) => BlobType::DataTensor,
            BlobInfo::Feed(_) => BlobType::DataFeed,
            BlobInfo::Opaque(_) => BlobType::Opaque,
        }
    }

    /// Shape and type, of a tensor or a feed, and how many tensors there are.
    pub(crate) fn tensors(self) -> Option<(&'a TensorInfo, u32)> {
        match self {
            BlobInfo::Tensor(info) => Some((&info.tensor_info, 1)),
            BlobInfo::Feed(info) => Some((&info.tensor_info, info.num_tensors)),
            BlobInfo::Executable(_) | BlobInfo::Metadata(_) | BlobInfo::Opaque(_) => None,
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
            BlobInfo::Executable(info) => &info.name,
            BlobInfo::Metadata(metadata) => &metadata.executable,
            BlobInfo::Tensor(info) => &info.name,
            BlobInfo::Feed(info) => &info.name,
            BlobInfo::Opaque(info) => &info.name,
        }
    }
}

macro_rules! from_infos {
    ($( $variant:ident($info:ty) )+) => {
        $(
            impl<'a> From<&'a $info> for BlobInfo<'a> {
                fn from(info: &'a $info) -> Self {
                    BlobInfo::$variant(info)
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
