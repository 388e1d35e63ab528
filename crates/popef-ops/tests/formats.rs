//! Reads what numpy and safetensors saved: `testdata/arrays/`.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use popef::DataType;
use popef_ops::formats::{self, Array};
use serde_json::Value;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/arrays")
}

fn lines() -> Vec<Value> {
    serde_json::from_slice(&fs::read(folder().join("arrays.json")).unwrap()).unwrap()
}

/// Reads all arrays of a file with all their bytes.
fn read_all(file: &str) -> Result<Vec<(Array, Vec<u8>)>, popef_ops::Error> {
    let read = |array: Array| {
        let mut bytes = Vec::new();
        array.reader()?.read_to_end(&mut bytes).map_err(|error| popef_ops::Error::io("read", error))?;
        Ok((array, bytes))
    };
    formats::read(folder().join(file))?.into_iter().map(read).collect()
}

#[test]
fn arrays_are_read_as_numpy_and_safetensors_mean_them() {
    for line in lines().iter().filter(|line| line["code"].is_null()) {
        let file = line["file"].as_str().unwrap();
        let found: Vec<Value> = read_all(file)
            .unwrap_or_else(|error| panic!("{file}: {error}"))
            .into_iter()
            .map(|(array, bytes)| {
                let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                let (name, shape) = (array.name.to_string(), &array.info.shape);
                serde_json::json!({"name": name, "type": array.info.data_type.to_string(), "shape": shape, "bytes": hex})
            })
            .collect();
        assert_eq!(Value::Array(found), line["arrays"], "{file}");
    }
}

#[test]
fn what_is_damaged_or_unknown_is_refused_and_named() {
    for line in lines().iter().filter(|line| !line["code"].is_null()) {
        let file = line["file"].as_str().unwrap();
        let error = read_all(file).expect_err(file);
        assert_eq!(Value::from(error.code()), line["code"], "{file}: {error}");
        // A checksum is seen by who reads the bytes.
        let when_read = line["when"] == "read";
        assert_eq!(formats::read(folder().join(file)).is_ok(), when_read, "{file}");
        assert!(when_read || error.to_string().contains(file), "{error}");
    }
}

/// Every file in the folder has an expectation.
#[test]
fn every_file_is_read() {
    let said: BTreeSet<String> = lines().iter().map(|line| line["file"].as_str().unwrap().to_owned()).collect();
    let names = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let others = ["arrays.json", "make_arrays.py"];
    assert_eq!(names.filter(|name| !others.contains(&&**name)).collect::<BTreeSet<_>>(), said);
}

#[test]
fn bytes_stand_for_floats_of_8_bits_and_for_nothing_else() {
    let array = &formats::read(folder().join("u8.npy")).unwrap()[0];
    for &data_type in DataType::ALL {
        let stands = matches!(data_type, DataType::U8 | DataType::F8 | DataType::F8143 | DataType::F8152);
        let info = array.as_type(data_type);
        assert_eq!(info.as_ref().map(|info| (info.data_type, &info.shape)), stands.then_some((data_type, &vec![2, 3])));
    }
    let signed = &formats::read(folder().join("s8.npy")).unwrap()[0];
    assert_eq!(signed.as_type(DataType::F8143), None);
}

/// The types of a `.safetensors` file with one tensor of one byte, or why it is refused.
fn type_in_safetensors(metadata: &str, tensor: &str, dtype: &str) -> Result<DataType, String> {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("w.safetensors");
    let said = format!(r#"{{"dtype": "{dtype}", "shape": [1], "data_offsets": [0, 1]}}"#);
    let header = format!(r#"{{"__metadata__": {metadata}, "{tensor}": {said}}}"#);
    fs::write(&path, [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &[7]].concat()).unwrap();
    match formats::read(&path) {
        Ok(arrays) => Ok(arrays[0].info.data_type),
        Err(error) => Err(format!("{} {error}", error.code())),
    }
}

#[test]
fn a_type_in_the_metadata_of_safetensors_is_an_8_bit_float_of_a_tensor_of_bytes() {
    for (said, dtype, expected) in [
        ("F8143", "U8", DataType::F8143),
        ("F8152", "U8", DataType::F8152),
        ("F8", "U8", DataType::F8),
        ("F8143", "F8_E4M3FNUZ", DataType::F8143),
    ] {
        let metadata = format!(r#"{{"popef.dataType.w": "{said}"}}"#);
        assert_eq!(type_in_safetensors(&metadata, "w", dtype), Ok(expected));
        assert_eq!(type_in_safetensors(&metadata, "other", "U8"), Ok(DataType::U8));
    }
    for (said, dtype, words) in [
        ("F8143", "I8", "is F8143, but the tensor is of type I8, and not U8"),
        ("F8143", "F8_E5M2FNUZ", "is F8143, but the tensor is of type F8_E5M2FNUZ"),
        ("F32", "U8", "is \"F32\", and it can only be F8, F8143 or F8152"),
        ("float8", "U8", "is \"float8\", and it can only be"),
        ("", "U8", "is \"\", and it can only be"),
    ] {
        let error = type_in_safetensors(&format!(r#"{{"popef.dataType.w": "{said}"}}"#), "w", dtype).unwrap_err();
        assert!(error.starts_with("bad-array") && error.contains(words), "{error}");
    }
    let twice = r#"{"popef.dataType.w": "F8143", "popef.dataType.w": "F8143"}"#;
    assert!(type_in_safetensors(twice, "w", "U8").is_err());
    assert_eq!(type_in_safetensors(r#"{"dataType.w": "F32", "popef": "x"}"#, "w", "U8"), Ok(DataType::U8));
}
