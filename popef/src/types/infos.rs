//! The info of each blob type, which is between header and data, as plain values.

use super::tensor_info::size_in_bytes;
use crate::types::{BlobType, Metadata, ShapeProblem, TensorInfo, Text};

/// The info of an executable.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ExecutableInfo {
    /// The name by which metadata and opaque blobs refer to it.
    pub name: Text<'static>,
    /// The size of the unpacked executable in bytes. `None` if it is not compressed.
    pub uncompressed_size: Option<u64>,
}

/// The info of a tensor's data.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct TensorDataInfo {
    /// The name of the anchors that the data is for.
    pub name: Text<'static>,
    /// The tensor's shape and element type.
    pub tensor_info: TensorInfo,
}

/// The info of a feed, which is the data of several tensors of one shape.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct FeedDataInfo {
    /// The name of the anchors that the data is for.
    pub name: Text<'static>,
    /// The shape and element type of each tensor.
    pub tensor_info: TensorInfo,
    /// How many tensors there are.
    pub num_tensors: u32,
}

/// The info of an opaque blob.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct OpaqueInfo {
    /// Usually the name of the framework that wrote it.
    pub name: Text<'static>,
    /// The name of the executable that it belongs to.
    pub executable: Text<'static>,
}

/// The info to be written for a blob of any type. Reading gives an [`Info`](crate::types::Info) instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InfoRef<'a> {
    /// An executable.
    Executable(&'a ExecutableInfo),
    /// How to load and run an executable.
    Metadata(&'a Metadata),
    /// A tensor's data.
    Tensor(&'a TensorDataInfo),
    /// A feed.
    Feed(&'a FeedDataInfo),
    /// An opaque blob.
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

    /// The shape and type of a tensor or a feed, and the number of tensors.
    pub(crate) fn tensors(self) -> Option<(&'a TensorInfo, u32)> {
        match self {
            InfoRef::Tensor(info) => Some((&info.tensor_info, 1)),
            InfoRef::Feed(info) => Some((&info.tensor_info, info.num_tensors)),
            _ => None,
        }
    }

    /// The size of the data of a tensor or a feed in bytes.
    pub(crate) fn data_len(self) -> Option<Result<u64, ShapeProblem>> {
        let (info, tensors) = self.tensors()?;
        let size = size_in_bytes(info.shape.iter().copied(), info.data_type);
        Some(size.and_then(|size| size.checked_mul(tensors.into()).ok_or(ShapeProblem::TooLarge)))
    }

    /// The blob's name. Metadata has none, so the name of its executable is returned.
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
