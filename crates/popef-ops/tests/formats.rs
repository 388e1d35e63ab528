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

/// No file is there of which nothing is said.
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
