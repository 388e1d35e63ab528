//! The enumerations of TensorFlow's message.

use super::super::numbers::numbers;

numbers! {
    /// Which values of a feed are kept.
    FeedMode(i32) {
        GetAll = 0, "GET_ALL", "All.";
        GetLast = 1, "GET_LAST", "The last one.";
    }
}

numbers! {
    /// The form of an XLA layout.
    Format(i32) {
        Invalid = 0, "INVALID_FORMAT", "Not set.";
        Dense = 1, "DENSE", "Dense.";
        Sparse = 2, "SPARSE", "Sparse. TensorFlow 1.15 only.";
    }
}

numbers! {
    /// The element type of an XLA shape.
    PrimitiveType(i32) {
        Invalid = 0, "PRIMITIVE_TYPE_INVALID", "Not set.";
        Pred = 1, "PRED", "False or true.";
        S8 = 2, "S8", "Signed, 8 bits.";
        S16 = 3, "S16", "Signed, 16 bits.";
        S32 = 4, "S32", "Signed, 32 bits.";
        S64 = 5, "S64", "Signed, 64 bits.";
        U8 = 6, "U8", "Unsigned, 8 bits.";
        U16 = 7, "U16", "Unsigned, 16 bits.";
        U32 = 8, "U32", "Unsigned, 32 bits.";
        U64 = 9, "U64", "Unsigned, 64 bits.";
        F16 = 10, "F16", "IEEE 754 half precision.";
        F32 = 11, "F32", "IEEE 754 single precision.";
        F64 = 12, "F64", "IEEE 754 double precision.";
        Tuple = 13, "TUPLE", "A tuple of shapes.";
        OpaqueType = 14, "OPAQUE_TYPE", "An unknown form.";
        C64 = 15, "C64", "Two numbers of single precision.";
        Bf16 = 16, "BF16", "The upper half of single precision.";
        Token = 17, "TOKEN", "A token, which has no data.";
        C128 = 18, "C128", "Two numbers of double precision.";
    }
}

impl PrimitiveType {
    /// The element type in PopEF's own terms. `None` if PopEF has no such type.
    pub fn popef_type(self) -> Option<popef::DataType> {
        Some(match self {
            PrimitiveType::Pred => popef::DataType::Bool,
            PrimitiveType::S8 => popef::DataType::S8,
            PrimitiveType::S16 => popef::DataType::S16,
            PrimitiveType::S32 => popef::DataType::S32,
            PrimitiveType::S64 => popef::DataType::S64,
            PrimitiveType::U8 => popef::DataType::U8,
            PrimitiveType::U16 => popef::DataType::U16,
            PrimitiveType::U32 => popef::DataType::U32,
            PrimitiveType::U64 => popef::DataType::U64,
            PrimitiveType::F16 => popef::DataType::F16,
            PrimitiveType::F32 => popef::DataType::F32,
            PrimitiveType::F64 => popef::DataType::F64,
            _ => return None,
        })
    }
}

// The number of a type of references is that of the type plus 100.
numbers! {
    /// TensorFlow's own element types.
    TfType(i32) {
        Invalid = 0, "DT_INVALID", "None was set.";
        Float = 1, "DT_FLOAT", "IEEE 754 single precision.";
        Double = 2, "DT_DOUBLE", "IEEE 754 double precision.";
        Int32 = 3, "DT_INT32", "Signed, 32 bits.";
        Uint8 = 4, "DT_UINT8", "Unsigned, 8 bits.";
        Int16 = 5, "DT_INT16", "Signed, 16 bits.";
        Int8 = 6, "DT_INT8", "Signed, 8 bits.";
        String = 7, "DT_STRING", "Texts.";
        Complex64 = 8, "DT_COMPLEX64", "Two numbers of single precision.";
        Int64 = 9, "DT_INT64", "Signed, 64 bits.";
        Bool = 10, "DT_BOOL", "False or true.";
        Qint8 = 11, "DT_QINT8", "Quantised, signed, 8 bits.";
        Quint8 = 12, "DT_QUINT8", "Quantised, unsigned, 8 bits.";
        Qint32 = 13, "DT_QINT32", "Quantised, signed, 32 bits.";
        Bfloat16 = 14, "DT_BFLOAT16", "The upper half of single precision.";
        Qint16 = 15, "DT_QINT16", "Quantised, signed, 16 bits.";
        Quint16 = 16, "DT_QUINT16", "Quantised, unsigned, 16 bits.";
        Uint16 = 17, "DT_UINT16", "Unsigned, 16 bits.";
        Complex128 = 18, "DT_COMPLEX128", "Two numbers of double precision.";
        Half = 19, "DT_HALF", "IEEE 754 half precision.";
        Resource = 20, "DT_RESOURCE", "A resource.";
        Variant = 21, "DT_VARIANT", "Anything.";
        Uint32 = 22, "DT_UINT32", "Unsigned, 32 bits.";
        Uint64 = 23, "DT_UINT64", "Unsigned, 64 bits.";
        FloatRef = 101, "DT_FLOAT_REF", "A reference to [`Float`](Self::Float).";
        DoubleRef = 102, "DT_DOUBLE_REF", "A reference to [`Double`](Self::Double).";
        Int32Ref = 103, "DT_INT32_REF", "A reference to [`Int32`](Self::Int32).";
        Uint8Ref = 104, "DT_UINT8_REF", "A reference to [`Uint8`](Self::Uint8).";
        Int16Ref = 105, "DT_INT16_REF", "A reference to [`Int16`](Self::Int16).";
        Int8Ref = 106, "DT_INT8_REF", "A reference to [`Int8`](Self::Int8).";
        StringRef = 107, "DT_STRING_REF", "A reference to [`String`](Self::String).";
        Complex64Ref = 108, "DT_COMPLEX64_REF", "A reference to [`Complex64`](Self::Complex64).";
        Int64Ref = 109, "DT_INT64_REF", "A reference to [`Int64`](Self::Int64).";
        BoolRef = 110, "DT_BOOL_REF", "A reference to [`Bool`](Self::Bool).";
        Qint8Ref = 111, "DT_QINT8_REF", "A reference to [`Qint8`](Self::Qint8).";
        Quint8Ref = 112, "DT_QUINT8_REF", "A reference to [`Quint8`](Self::Quint8).";
        Qint32Ref = 113, "DT_QINT32_REF", "A reference to [`Qint32`](Self::Qint32).";
        Bfloat16Ref = 114, "DT_BFLOAT16_REF", "A reference to [`Bfloat16`](Self::Bfloat16).";
        Qint16Ref = 115, "DT_QINT16_REF", "A reference to [`Qint16`](Self::Qint16).";
        Quint16Ref = 116, "DT_QUINT16_REF", "A reference to [`Quint16`](Self::Quint16).";
        Uint16Ref = 117, "DT_UINT16_REF", "A reference to [`Uint16`](Self::Uint16).";
        Complex128Ref = 118, "DT_COMPLEX128_REF", "A reference to [`Complex128`](Self::Complex128).";
        HalfRef = 119, "DT_HALF_REF", "A reference to [`Half`](Self::Half).";
        ResourceRef = 120, "DT_RESOURCE_REF", "A reference to [`Resource`](Self::Resource).";
        VariantRef = 121, "DT_VARIANT_REF", "A reference to [`Variant`](Self::Variant).";
        Uint32Ref = 122, "DT_UINT32_REF", "A reference to [`Uint32`](Self::Uint32).";
        Uint64Ref = 123, "DT_UINT64_REF", "A reference to [`Uint64`](Self::Uint64).";
    }
}
