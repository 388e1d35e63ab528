//! Enumerations are shown by their names and parsed from them.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use popef::DataType;
use popef::error::UnknownName;
use popef::model::{Outer, Phase};
use popef::read::Compression;
use popef::types::{BlobType, NumberKind, TensorType};
use popef::write::Packing;

fn assert_named<T>(values: &[T], names: &[&str])
where
    T: Copy + Debug + Display + FromStr<Err = UnknownName> + PartialEq,
{
    assert_eq!(values.iter().map(T::to_string).collect::<Vec<_>>(), names);
    for (&value, name) in values.iter().zip(names) {
        assert_eq!(name.parse(), Ok(value));
        assert_eq!(format!("{value:>20}|"), format!("{name:>20}|"));
        assert!(format!("{name} ").parse::<T>().is_err() && name[1..].parse::<T>().is_err());
    }
    assert!("".parse::<T>().is_err());
}

#[test]
fn each_name_is_shown_and_read_back() {
    assert_named(Compression::ALL, &["zlib", "gzip", "zstd", "lz4"]);
    assert_named(NumberKind::ALL, &["bool", "signed", "unsigned", "float"]);
    assert_named(Outer::ALL, &["replicas", "repeats"]);
    assert_named(Phase::ALL, &["load", "main", "save"]);
    assert_named(BlobType::ALL, &["poplarExecutable", "metadata", "dataTensor", "dataFeed", "opaque"]);
    assert_named(TensorType::ALL, &["UNKNOWN", "INPUT", "OUTPUT"]);
    let types = "BOOL F8 F16 F32 F64 S8 U8 S16 U16 S32 U32 S64 U64 F8143 F8152";
    assert_named(DataType::ALL, &types.split(' ').collect::<Vec<_>>());
}

#[test]
fn names_of_the_schema_and_numbers_are_read_too() {
    for &data_type in DataType::ALL {
        assert_eq!(data_type.schema_name().unwrap().parse(), Ok(data_type));
    }
    assert_eq!("input".parse(), Ok(TensorType::Input));
    assert_eq!(DataType::Other(99).to_string().parse(), Ok(DataType::Other(99)));
    assert_eq!(BlobType::Other(7).to_string().parse(), Ok(BlobType::Other(7)));
    for wrong in ["99", "DataType()", "DataType(99", "DataType(65536)", "BlobType(99)", "f33"] {
        assert!(wrong.parse::<DataType>().is_err(), "{wrong}");
    }
}

#[test]
fn names_of_numpy_and_pytorch_are_data_types() {
    for (names, data_type) in [
        ("float16 fp16 Float16 FP16 half", DataType::F16),
        ("float32 fp32 float", DataType::F32),
        ("float64 fp64 double", DataType::F64),
        ("float8_e4m3fnuz", DataType::F8143),
        ("float8_e5m2fnuz", DataType::F8152),
        ("int8 i8 char", DataType::S8),
        ("quarter", DataType::F8),
        ("uint8", DataType::U8),
        ("int32 i32 int", DataType::S32),
        ("int64 i64", DataType::S64),
        ("uint64", DataType::U64),
        ("bool", DataType::Bool),
    ] {
        for name in names.split(' ') {
            assert_eq!(name.parse(), Ok(data_type), "{name}");
        }
        assert!(!names.contains(&data_type.to_string()));
    }
    // No type of PopEF is one of these, or it is not clear which.
    for wrong in ["bf16", "bfloat16", "long", "float16 ", "float128", "float8_e4m3fn"] {
        assert!(wrong.parse::<DataType>().is_err(), "{wrong}");
    }
}

#[test]
fn a_packing_is_shown_with_its_level() {
    for level in 0..=9 {
        for packing in [Packing::Zlib(level), Packing::Gzip(level)] {
            assert_eq!(packing.to_string().parse(), Ok(packing));
        }
    }
    assert_eq!((Packing::Gzip(9).to_string(), "gzip".parse()), ("gzip:9".to_owned(), Ok(Packing::Gzip(6))));
    for wrong in ["", "zlib:", "zlib:10", "zlib:-1", "zlib:6:6", "zstd:3", "Zlib", ":6"] {
        assert!(wrong.parse::<Packing>().is_err(), "{wrong}");
    }
    let error = "lz4".parse::<Packing>().unwrap_err();
    let known = "there are zlib:0 to zlib:9, gzip:0 to gzip:9";
    assert_eq!(error.to_string(), format!("\"lz4\" is not a way to compress that this version knows; {known}"));
}

#[cfg(feature = "serde")]
#[test]
fn enumerations_serialise_as_their_names() {
    use serde_json::{from_str, to_string};

    assert_eq!(to_string(&(Compression::Lz4, Packing::Zlib(1), Phase::Main)).unwrap(), r#"["lz4","zlib:1","main"]"#);
    assert_eq!(from_str::<(Phase, Packing)>(r#"["load","gzip"]"#).unwrap(), (Phase::Load, Packing::Gzip(6)));
}
