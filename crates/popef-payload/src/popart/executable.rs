//! The plain values of PopART's message.

use super::kinds::{AnchorReturnKind, CommGroupKind, DataType, ExecutionMode, Layout, RetrievalMode, TensorKind};
use popef::types::Text;

/// What PopART remembers of a model that it compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Executable {
    /// The layout of the message, and so the SDK that wrote it. `None` if it cannot be decided: because there are no
    /// tensors, or because the tensors have a form that no released SDK writes.
    pub layout: Option<Layout>,
    /// The length of the message in bytes.
    pub bytes: u64,
    /// The number of the message's segments. Large messages have several.
    pub segments: u64,
    /// The bytes that follow the message in the blob. PopART does not write any.
    pub surplus: u64,
    /// Whether the model was compiled for inference or for training.
    pub execution_mode: ExecutionMode,
    /// Whether the model needs a random seed from the host.
    pub requires_random_seed: bool,
    /// The tensors that PopART added to the ONNX model.
    pub additional_proto_tensors: Vec<Text<'static>>,
    /// How data flows. No public PopART writes this.
    pub data_flow: Option<DataFlow>,
    /// The inputs that are laid out linearly over the tiles.
    pub linearly_created: Vec<Text<'static>>,
    /// The inputs that are laid out by the operation that uses them.
    pub efficiently_created: Vec<Text<'static>>,
    /// The names of the outputs that count cycles.
    pub cycle_count_ids: Vec<Text<'static>>,
    /// The programs that the user added.
    pub custom_programs: Vec<CustomProgram>,
    /// The model's tensors. A tensor that is both an anchor and a variable can come twice. PopART of SDK 2.5 and 2.6
    /// leaves empty tensors at the end, which are kept here.
    pub tensors: Vec<Tensor>,
    /// Which rearrangement each sharded tensor needs. The tensors need not be among [`tensors`](Self::tensors).
    pub rearrange_ids: Vec<RearrangementId>,
    /// How the host must reorder sharded tensors.
    pub rearrangements: Vec<Rearrangement>,
}

/// A program that the user added to the model.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CustomProgram {
    /// The number of the program in the Poplar executable.
    pub index: u32,
    /// Its name.
    pub handle: Text<'static>,
}

/// How data flows through the model.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct DataFlow {
    /// The number of batches that one run processes.
    pub batches_per_step: i32,
    /// The outputs, and which of their values are returned.
    pub anchors: Vec<AnchorReturnType>,
}

/// Which values of an anchor are returned.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AnchorReturnType {
    /// The tensor.
    pub id: Text<'static>,
    /// Which values.
    pub kind: AnchorReturnKind,
    /// Each how many batches, for [`AnchorReturnKind::EveryN`].
    pub return_period: i32,
}

/// A tensor of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tensor {
    /// Its name. Empty for the unused places that PopART of SDK 2.5 and 2.6 leaves at the end of the list.
    pub id: Text<'static>,
    /// What it is in the graph.
    pub kind: TensorKind,
    /// The type of its elements.
    pub data_type: DataType,
    /// The name of the type in capital letters, such as `FLOAT16` or `FLOAT8_143`.
    pub type_name: Text<'static>,
    /// The name of the type in small letters, such as `float16`.
    pub lower_name: Text<'static>,
    /// Whether PopART counts the type among the integers.
    pub is_fixed_point: bool,
    /// Its shape.
    pub shape: Vec<i64>,
    /// The number of bytes that the message states. PopART cuts it to 32 bits, so it is wrong, and even negative, from 2
    /// GiB on. [`byte_len`](Self::byte_len) computes it instead.
    pub stored_bytes: i32,
    /// Its place in Streaming Memory. `None` if it lives on the chip.
    pub remote: Option<RemoteBuffer>,
    /// Whether each replica holds only a part of it.
    pub sharded: bool,
    /// How replicas share it. `None` if the layout has no field for it.
    pub variable_settings: Option<VariableSettings>,
    /// The place of its data in the blob. Only SDK 2.5 and 2.6 write data into the message.
    pub data: Option<HeldData>,
}

/// A place in Streaming Memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RemoteBuffer {
    /// The number of the remote buffer.
    pub id: i64,
    /// The index in it.
    pub index: i64,
}

/// How replicas share a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct VariableSettings {
    /// Whether [`comm_group`](Self::comm_group) counts. Otherwise [`stride`](Self::stride) does. Always true for SDK 2.6.
    pub use_comm_group: bool,
    /// The kind of group that shares one value.
    pub comm_group: CommGroupKind,
    /// The distance between the replicas of a group. Always 0 for SDK 2.6, which has no such field.
    pub stride: i32,
    /// The number of replicas in a group.
    pub group_size: i32,
    /// The replicas that it is read back from.
    pub retrieval: RetrievalMode,
}

/// The place of a tensor's data in a blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeldData {
    /// Where it begins, relative to the first byte of the blob's data.
    pub offset: u64,
    /// Its length in bytes.
    pub len: u64,
}

/// Which rearrangement a tensor needs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RearrangementId {
    /// The tensor.
    pub id: Text<'static>,
    /// The number of the rearrangement.
    pub number: u32,
}

/// How the host must reorder a sharded tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct Rearrangement {
    /// Its number.
    pub number: u32,
    /// The number of replicas that share the tensor.
    pub replication_factor: u32,
    /// The number of elements that each replica holds.
    pub elements_per_replica: u64,
    /// The elements of the gathered tensor that belong to the original one, in its order: intervals of first and end.
    pub gathered_to_reference: Vec<(u64, u64)>,
}

impl Tensor {
    /// The element type in PopEF's own terms. `None` if PopEF has no such type.
    pub fn popef_type(&self) -> Option<popef::DataType> {
        Some(match self.data_type {
            DataType::Uint8 => popef::DataType::U8,
            DataType::Int8 => popef::DataType::S8,
            DataType::Uint16 => popef::DataType::U16,
            DataType::Int16 => popef::DataType::S16,
            DataType::Int32 => popef::DataType::S32,
            DataType::Int64 => popef::DataType::S64,
            DataType::Uint32 => popef::DataType::U32,
            DataType::Uint64 => popef::DataType::U64,
            DataType::Bool => popef::DataType::Bool,
            DataType::Float => popef::DataType::F32,
            DataType::Float16 => popef::DataType::F16,
            DataType::Double => popef::DataType::F64,
            DataType::Undefined if self.type_name == "FLOAT8_143" => popef::DataType::F8143,
            DataType::Undefined if self.type_name == "FLOAT8_152" => popef::DataType::F8152,
            _ => return None,
        })
    }

    /// The size of one element in bytes, if the type has a fixed one.
    fn element_bytes(&self) -> Option<u64> {
        match self.data_type {
            DataType::Bfloat16 => Some(2),
            DataType::Complex64 => Some(8),
            DataType::Complex128 => Some(16),
            _ => self.popef_type()?.size(),
        }
    }

    /// The number of bytes that the tensor has by its shape and type. `None` if the size of the type is unknown, a
    /// dimension is negative, or the number does not fit into 64 bits.
    pub fn byte_len(&self) -> Option<u64> {
        let extents = self.shape.iter().map(|extent| u64::try_from(*extent).ok());
        extents.into_iter().try_fold(self.element_bytes()?, |bytes, extent| bytes.checked_mul(extent?))
    }

    /// Whether this is one of the unused places that PopART of SDK 2.5 and 2.6 leaves at the end of the list.
    pub fn is_empty_place(&self) -> bool {
        self.id.is_empty()
    }
}
