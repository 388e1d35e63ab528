//! The element-wise ops that the builder makes and the interpreter calculates.

use popef::DataType;

macro_rules! ops {
    ($(#[$doc:meta])* $name:ident { $( $(#[$variant_doc:meta])* $variant:ident = $op_type:literal ),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $( $(#[$variant_doc])* $variant, )*
        }

        impl $name {
            /// All ops of this kind.
            pub const ALL: &[Self] = &[$( Self::$variant ),*];

            /// Its [`Op::op_type`](crate::Op::op_type).
            #[must_use]
            pub const fn op_type(self) -> &'static str {
                match self {
                    $( Self::$variant => $op_type, )*
                }
            }

            pub(super) fn of(op_type: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|op| op.op_type() == op_type)
            }
        }
    };
}

ops! {
    /// An op of one tensor, element by element. Integers wrap around.
    Unary {
        /// The element itself.
        Identity = "Identity",
        /// The element negated.
        Neg = "Neg",
        /// The element without its sign.
        Abs = "Abs",
        /// The element, or 0 if it is less than 0.
        Relu = "Relu",
        /// The opposite of a `BOOL`.
        Not = "Not",
    }
}

ops! {
    /// An op of two tensors of the same type, element by element, with NumPy's broadcasting. Integers wrap around.
    Binary {
        /// The sum.
        Add = "Add",
        /// The difference.
        Sub = "Sub",
        /// The product.
        Mul = "Mul",
        /// The quotient. For integers, it is rounded towards 0, and division by 0 is an error.
        Div = "Div",
        /// The larger one.
        Max = "Max",
        /// The smaller one.
        Min = "Min",
        /// Whether they are equal, as `BOOL`.
        Equal = "Equal",
        /// Whether the first is greater, as `BOOL`.
        Greater = "Greater",
        /// Whether the first is less, as `BOOL`.
        Less = "Less",
        /// Whether both are true, for `BOOL`.
        And = "And",
        /// Whether one is true, for `BOOL`.
        Or = "Or",
    }
}

impl Unary {
    pub(super) fn takes(self, data_type: DataType) -> bool {
        (data_type == DataType::Bool) == (self == Unary::Not) || self == Unary::Identity
    }
}

impl Binary {
    pub(super) fn takes(self, data_type: DataType) -> bool {
        match self {
            Binary::And | Binary::Or => data_type == DataType::Bool,
            Binary::Equal => true,
            _ => data_type != DataType::Bool,
        }
    }

    pub(super) fn result(self, data_type: DataType) -> DataType {
        match self {
            Binary::Equal | Binary::Greater | Binary::Less => DataType::Bool,
            _ => data_type,
        }
    }
}

/// The types of ops that are not element-wise.
pub(super) mod other {
    pub(crate) const MATMUL: &str = "MatMul";
    pub(crate) const TRANSPOSE: &str = "Transpose";
    pub(crate) const RESHAPE: &str = "Reshape";
    pub(crate) const CAST: &str = "Cast";
    pub(crate) const COPY_VAR_UPDATE: &str = "CopyVarUpdate";
    pub(crate) const ACCUMULATE: &str = "Accumulate";
    pub(crate) const ALL_REDUCE: &str = "ReplicatedAllReduce";
    /// The order of dimensions of a transpose.
    pub(crate) const PERMUTATION: &str = "perm";
}
