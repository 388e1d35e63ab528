//! The enumerations of PopART's message.

use super::super::numbers::numbers;
use popef::seam::named;

/// The layout of the message. It differs between versions of the SDK, and no field states it. It is decided by the
/// shape of the structs in the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Layout {
    /// SDK 2.5: tensors hold their data.
    L25,
    /// SDK 2.6: tensors hold their data, and say which replicas share them.
    L26,
    /// SDK 3.0 to 3.4: tensors hold no data.
    L30,
}

named! { Layout, "a layout": L25 = "L25", L26 = "L26", L30 = "L30" }

impl Layout {
    /// The versions of the SDK that write this layout.
    pub const fn sdk(self) -> &'static str {
        match self {
            Layout::L25 => "2.5",
            Layout::L26 => "2.6",
            Layout::L30 => "3.0 to 3.4",
        }
    }
}

numbers! {
    /// What the model was compiled for.
    ExecutionMode(u16) {
        /// Inference.
        Inference = 0, "inference";
        /// Training.
        Training = 1, "training";
    }
}

numbers! {
    /// What a tensor is in PopART's graph.
    TensorKind(u16) {
        /// An activation or a gradient: an operation produces it.
        ActGrad = 0, "actGrad";
        /// A constant.
        Constant = 1, "constant";
        /// An input that is streamed from the host.
        Stream = 2, "stream";
        /// PopART did not know.
        Unknown = 3, "unknown";
        /// A weight or another variable that stays on the device between runs.
        Variable = 4, "variable";
        /// A marker in PopART's enumeration, not a kind.
        N = 5, "n";
    }
}

numbers! {
    /// The type of a tensor's elements, as PopART numbers it.
    DataType(u16) {
        /// Unsigned, 8 bits.
        Uint8 = 0, "uint8";
        /// Signed, 8 bits.
        Int8 = 1, "int8";
        /// Unsigned, 16 bits.
        Uint16 = 2, "uint16";
        /// Signed, 16 bits.
        Int16 = 3, "int16";
        /// Signed, 32 bits.
        Int32 = 4, "int32";
        /// Signed, 64 bits.
        Int64 = 5, "int64";
        /// Unsigned, 32 bits.
        Uint32 = 6, "uint32";
        /// Unsigned, 64 bits.
        Uint64 = 7, "uint64";
        /// One byte, 0 or 1.
        Bool = 8, "bool";
        /// IEEE 754 single precision.
        Float = 9, "float";
        /// IEEE 754 half precision.
        Float16 = 10, "float16";
        /// The upper half of single precision.
        Bfloat16 = 11, "bfloat16";
        /// IEEE 754 double precision.
        Double = 12, "double";
        /// Two numbers of single precision.
        Complex64 = 13, "complex64";
        /// Two numbers of double precision.
        Complex128 = 14, "complex128";
        /// Texts.
        String = 15, "string";
        /// Any other type. PopART writes both 8-bit floats as this; [`Tensor::type_name`](super::Tensor::type_name)
        /// tells them apart.
        Undefined = 16, "undefined";
    }
}

numbers! {
    /// How the replicas are grouped.
    CommGroupKind(u16) {
        /// All replicas are one group.
        All = 0, "all";
        /// Neighbouring replicas are a group.
        Consecutive = 1, "consecutive";
        /// Replicas at equal distances are a group.
        Orthogonal = 2, "orthogonal";
        /// Each replica is its own group.
        None = 3, "none";
        /// A marker in PopART's enumeration, not a kind.
        N = 4, "n";
    }
}

numbers! {
    /// The replicas that a variable is read back from.
    RetrievalMode(u16) {
        /// From one replica of each group.
        OnePerGroup = 0, "onePerGroup";
        /// Reduced over all replicas.
        AllReduceReplicas = 1, "allReduceReplicas";
        /// From all replicas.
        AllReplicas = 2, "allReplicas";
    }
}

numbers! {
    /// Which values of an anchor are returned.
    AnchorReturnKind(u16) {
        /// The last one.
        Final = 0, "final";
        /// One of several.
        EveryN = 1, "everyN";
        /// All.
        All = 2, "all";
        /// Their sum.
        Sum = 3, "sum";
    }
}
