//! The names of element types in other formats.

use popef::DataType;
use safetensors::Dtype;

/// One line per type: its name in `.npy` files without the byte order, and in `.safetensors` files.
macro_rules! types {
    ($( $type:ident: $npy:tt, $safetensors:ident; )+) => {
        /// The type in `.npy` files: one letter and the bytes per element. `None` for an unknown type.
        pub(crate) fn to_npy(data_type: DataType) -> Option<&'static str> {
            match data_type {
                $( DataType::$type => Some($npy), )+
                _ => None,
            }
        }

        /// The type in `.safetensors` files. `None` for an unknown type.
        pub(crate) fn to_safetensors(data_type: DataType) -> Option<Dtype> {
            match data_type {
                $( DataType::$type => Some(Dtype::$safetensors), )+
                _ => None,
            }
        }
    };
}

// numpy has no 8-bit floats, and safetensors' functions for numpy do not read files with them. So they are bytes in
// both formats.
types! {
    Bool: "b1", BOOL;
    F8: "u1", U8;
    F16: "f2", F16;
    F32: "f4", F32;
    F64: "f8", F64;
    S8: "i1", I8;
    U8: "u1", U8;
    S16: "i2", I16;
    U16: "u2", U16;
    S32: "i4", I32;
    U32: "u4", U32;
    S64: "i8", I64;
    U64: "u8", U64;
    F8143: "u1", U8;
    F8152: "u1", U8;
}

/// Whether it is an 8-bit float.
pub(crate) fn is_float8(data_type: DataType) -> bool {
    matches!(data_type, DataType::F8 | DataType::F8143 | DataType::F8152)
}

/// The type with that name in `.npy` files.
pub(super) fn of_npy(name: &str) -> Option<DataType> {
    // numpy saves ml_dtypes' 8-bit floats as bytes, and loses their type.
    if name == "V1" {
        return Some(DataType::F8);
    }
    named(&name, to_npy)
}

/// The type with that name in `.safetensors` files.
pub(super) fn of_safetensors(name: Dtype) -> Option<DataType> {
    match name {
        // Other programs write these types. They equal the 8-bit floats of PopEF, value by value.
        Dtype::F8_E4M3FNUZ => Some(DataType::F8143),
        Dtype::F8_E5M2FNUZ => Some(DataType::F8152),
        _ => named(&name, to_safetensors),
    }
}

/// The type that has the name as its own.
fn named<N: PartialEq>(name: &N, name_of: fn(DataType) -> Option<N>) -> Option<DataType> {
    let stood_for = |data_type: &DataType| *data_type == DataType::U8 || !is_float8(*data_type);
    let all = || DataType::ALL.iter().copied().filter(|data_type| name_of(*data_type).as_ref() == Some(name));
    all().find(stood_for).or_else(|| all().next())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_has_a_name_and_only_floats_of_8_bits_share_one() {
        for &data_type in DataType::ALL {
            let npy = of_npy(to_npy(data_type).unwrap()).unwrap();
            let safetensors = of_safetensors(to_safetensors(data_type).unwrap()).unwrap();
            assert!(npy == data_type || (is_float8(data_type) && npy == DataType::U8), "{data_type}");
            assert_eq!(npy, safetensors, "{data_type}");
            assert_eq!(data_type.size(), Some(to_safetensors(data_type).unwrap().bitsize() as u64 / 8));
        }
    }
}
