//! The table of data types, and the enumeration made from it.

use super::numbered::numbered;
use crate::names::named;

/// Calls a macro with the table of data types, one row each. Everything that differs by data type is made from it.
///
/// The columns are: documentation, variant, number in a file, name in the schema, name as shown, bytes per element,
/// kind, and the Rust type of the elements (`-` if there is none).
macro_rules! data_types {
    ($with:ident) => {
        $with! {
            /// One byte, 0 or 1.
            Bool = 0, "bool", "BOOL", 1, Bool, bool;
            /// An 8-bit float whose exact format the file does not say.
            F8 = 1, "f8", "F8", 1, Float, -;
            /// IEEE 754 half precision.
            F16 = 2, "f16", "F16", 2, Float, f16;
            /// IEEE 754 single precision.
            F32 = 3, "f32", "F32", 4, Float, f32;
            /// IEEE 754 double precision.
            F64 = 4, "f64", "F64", 8, Float, f64;
            /// Signed, 8 bits.
            S8 = 5, "s8", "S8", 1, Signed, i8;
            /// Unsigned, 8 bits.
            U8 = 6, "u8", "U8", 1, Unsigned, u8;
            /// Signed, 16 bits.
            S16 = 7, "s16", "S16", 2, Signed, i16;
            /// Unsigned, 16 bits.
            U16 = 8, "u16", "U16", 2, Unsigned, u16;
            /// Signed, 32 bits.
            S32 = 9, "s32", "S32", 4, Signed, i32;
            /// Unsigned, 32 bits.
            U32 = 10, "u32", "U32", 4, Unsigned, u32;
            /// Signed, 64 bits.
            S64 = 11, "s64", "S64", 8, Signed, i64;
            /// Unsigned, 64 bits.
            U64 = 12, "u64", "U64", 8, Unsigned, u64;
            /// An 8-bit float of 4 exponent and 3 mantissa bits: see [`F8143`](crate::types::F8143).
            F8143 = 13, "f8143", "F8143", 1, Float, F8143;
            /// An 8-bit float of 5 exponent and 2 mantissa bits: see [`F8152`](crate::types::F8152).
            F8152 = 14, "f8152", "F8152", 1, Float, F8152;
        }
    };
}

pub(crate) use data_types;

macro_rules! define {
    ($(
        $(#[$doc:meta])*
        $variant:ident = $number:literal, $schema_name:literal, $shown:literal, $size:literal, $kind:ident, $rust:tt;
    )*) => {
        numbered! {
            /// The type of a tensor's elements.
            ///
            /// It is parsed from its own names, and from those of numpy and PyTorch, whatever their case.
            ///
            /// ```
            /// use popef::DataType;
            ///
            /// assert_eq!("float16".parse(), Ok(DataType::F16));
            /// assert_eq!(DataType::F16.to_string(), "F16");
            /// ```
            DataType, "a data type" or shown_name {
                $( $(#[$doc])* $variant = $number, $schema_name, $shown; )*
            }
        }

        impl DataType {
            /// The size of one element in bytes, if the type is known.
            pub const fn size(self) -> Option<u64> {
                match self {
                    $( DataType::$variant => Some($size), )*
                    DataType::Other(_) => None,
                }
            }

            /// The kind of number that the elements are, if the type is known.
            pub const fn kind(self) -> Option<NumberKind> {
                match self {
                    $( DataType::$variant => Some(NumberKind::$kind), )*
                    DataType::Other(_) => None,
                }
            }
        }
    };
}

data_types!(define);

/// What numpy, PyTorch, Poplar and people call the types, and the name as shown. There is no type for `bfloat16`. `float` and
/// `int` have 32 bits, as in Poplar and PyTorch. `long` is left out: it has 32 bits in Poplar, and 64 in PyTorch.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("boolean", "BOOL"),
    ("float8", "F8"),
    ("fp8", "F8"),
    ("float8_e4m3fnuz", "F8143"),
    ("float8_e5m2fnuz", "F8152"),
    ("float16", "F16"),
    ("fp16", "F16"),
    ("half", "F16"),
    ("float32", "F32"),
    ("fp32", "F32"),
    ("float64", "F64"),
    ("fp64", "F64"),
    ("double", "F64"),
    ("int8", "S8"),
    ("i8", "S8"),
    ("uint8", "U8"),
    ("int16", "S16"),
    ("i16", "S16"),
    ("uint16", "U16"),
    ("int32", "S32"),
    ("i32", "S32"),
    ("uint32", "U32"),
    ("int64", "S64"),
    ("i64", "S64"),
    ("uint64", "U64"),
    ("quarter", "F8"),
    ("float", "F32"),
    ("char", "S8"),
    ("signed char", "S8"),
    ("unsigned char", "U8"),
    ("short", "S16"),
    ("unsigned short", "U16"),
    ("int", "S32"),
    ("unsigned int", "U32"),
    ("long long", "S64"),
    ("longlong", "S64"),
    ("unsigned long long", "U64"),
    ("unsigned longlong", "U64"),
];

fn shown_name(name: &str) -> Option<&'static str> {
    OTHER_NAMES.iter().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, shown)| *shown)
}

named! {
    /// The kind of number that the elements of a [`DataType`] are.
    ///
    /// ```
    /// use popef::types::NumberKind;
    /// use popef::DataType;
    ///
    /// assert_eq!((DataType::U16.kind(), DataType::U16.size()), (Some(NumberKind::Unsigned), Some(2)));
    /// ```
    #[derive(Hash)]
    #[non_exhaustive]
    pub enum NumberKind("a kind of number") {
        /// False or true.
        Bool = "bool",
        /// A signed integer.
        Signed = "signed",
        /// An unsigned integer.
        Unsigned = "unsigned",
        /// A floating-point number.
        Float = "float",
    }
}
