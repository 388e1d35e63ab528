//! The enumerations of PopART's message.

use super::super::numbers::numbers;
use popef::seam::named;

named! {
    /// The layout of the message. It differs between versions of the SDK, and no field states it. It is decided by the
    /// shape of the structs in the message.
    #[derive(Hash)]
    #[non_exhaustive]
    pub enum Layout("a layout") {
        /// SDK 2.5: tensors hold their data.
        L25 = "L25",
        /// SDK 2.6: tensors hold their data, and say which replicas share them.
        L26 = "L26",
        /// SDK 3.0 to 3.4: tensors hold no data.
        L30 = "L30",
    }
}

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
        Inference = 0, "inference", "Inference.";
        Training = 1, "training", "Training.";
    }
}

numbers! {
    /// What a tensor is in PopART's graph.
    TensorKind(u16) {
        ActGrad = 0, "actGrad", "An activation or a gradient: an operation produces it.";
        Constant = 1, "constant", "A constant.";
        Stream = 2, "stream", "An input that is streamed from the host.";
        Unknown = 3, "unknown", "PopART did not know.";
        Variable = 4, "variable", "A weight or another variable that stays on the device between runs.";
        N = 5, "n", "A marker in PopART's enumeration, not a kind.";
    }
}

numbers! {
    /// The type of a tensor's elements, as PopART numbers it.
    DataType(u16) {
        Uint8 = 0, "uint8", "Unsigned, 8 bits.";
        Int8 = 1, "int8", "Signed, 8 bits.";
        Uint16 = 2, "uint16", "Unsigned, 16 bits.";
        Int16 = 3, "int16", "Signed, 16 bits.";
        Int32 = 4, "int32", "Signed, 32 bits.";
        Int64 = 5, "int64", "Signed, 64 bits.";
        Uint32 = 6, "uint32", "Unsigned, 32 bits.";
        Uint64 = 7, "uint64", "Unsigned, 64 bits.";
        Bool = 8, "bool", "One byte, 0 or 1.";
        Float = 9, "float", "IEEE 754 single precision.";
        Float16 = 10, "float16", "IEEE 754 half precision.";
        Bfloat16 = 11, "bfloat16", "The upper half of single precision.";
        Double = 12, "double", "IEEE 754 double precision.";
        Complex64 = 13, "complex64", "Two numbers of single precision.";
        Complex128 = 14, "complex128", "Two numbers of double precision.";
        String = 15, "string", "Texts.";
        Undefined = 16, "undefined",
            "Any other type. PopART writes both 8-bit floats as this; [`Tensor::type_name`](super::Tensor::type_name) tells them apart.";
    }
}

numbers! {
    /// How the replicas are grouped.
    CommGroupKind(u16) {
        All = 0, "all", "All replicas are one group.";
        Consecutive = 1, "consecutive", "Neighbouring replicas are a group.";
        Orthogonal = 2, "orthogonal", "Replicas at equal distances are a group.";
        None = 3, "none", "Each replica is its own group.";
        N = 4, "n", "A marker in PopART's enumeration, not a kind.";
    }
}

numbers! {
    /// The replicas that a variable is read back from.
    RetrievalMode(u16) {
        OnePerGroup = 0, "onePerGroup", "From one replica of each group.";
        AllReduceReplicas = 1, "allReduceReplicas", "Reduced over all replicas.";
        AllReplicas = 2, "allReplicas", "From all replicas.";
    }
}

numbers! {
    /// Which values of an anchor are returned.
    AnchorReturnKind(u16) {
        Final = 0, "final", "The last one.";
        EveryN = 1, "everyN", "One of several.";
        All = 2, "all", "All.";
        Sum = 3, "sum", "Their sum.";
    }
}
