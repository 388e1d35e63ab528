//! What stands between the header and the data of each blob, as plain values.

use crate::types::{TensorInfo, Text};

/// What a file says of an executable.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase"))]
pub struct ExecutableInfo {
    /// The name by which metadata and opaque blobs refer to it.
    pub name: Text<'static>,
    /// How many bytes the executable has once unpacked; none if it is stored as it is.
    pub uncompressed_size: Option<u64>,
}

/// What a file says of a tensor's data.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase"))]
pub struct TensorDataInfo {
    /// The name of the anchors that the data is for.
    pub name: Text<'static>,
    /// The tensor's shape and element type.
    pub tensor_info: TensorInfo,
}

/// What a file says of a feed: the data of several tensors of one shape.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase"))]
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
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase"))]
pub struct OpaqueInfo {
    /// Usually the name of the framework that wrote it.
    pub name: Text<'static>,
    /// The name of the executable that it belongs to.
    pub executable: Text<'static>,
}
