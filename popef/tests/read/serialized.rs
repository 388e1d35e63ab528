//! The plain values serialise and come back, in text and binary formats.

#![cfg(feature = "serde")]

use crate::common::{self, writing};

use std::fmt::Debug;
use std::path::{Path, PathBuf};

use common::coming_back::come_back;
use popef::error::*;
use popef::model::{Outer, Phase};
use popef::read::*;
use popef::types::*;
use popef::write::*;
use proptest::prelude::*;
use serde::de::DeserializeOwned;
use writing::models::{self, What};

fn error_of<T: DeserializeOwned + Debug>(json: &str) -> String {
    serde_json::from_str::<T>(json).unwrap_err().to_string()
}

#[test]
fn a_misspelt_field_is_an_error_that_names_the_known_ones() {
    let error = error_of::<Metadata>(r#"{"numIpuz":4}"#);
    let known = "unknown field `numIpuz`, expected one of `replicationFactor`, `numIpus`, `numProcesses`, `ipuVersion`, \
                 `isPOD`, `isInference`, `deviceIterations`, `executable`, `executableBytes`, `seedHandle`, \
                 `seedHandleBytes`, `engineOptions`, `deviceOptions`, `programFlow`, `programsMap`, `anchors`";
    assert!(error.starts_with(known), "{error}");

    for (json, unknown) in [
        (
            r#"{"anchors":[{"programms":[]}]}"#,
            "unknown field `programms`, expected one of `name`, `nameBytes`, `type`, ",
        ),
        (
            r#"{"anchors":[{"tensorInfo":{"shape":[],"datatype":"f32"}}]}"#,
            "unknown field `datatype`, expected one of `dataType`, `shape`, `sizeInBytes`",
        ),
        (
            r#"{"engineOptions":[{"Name":""}]}"#,
            "unknown field `Name`, expected one of `name`, `nameBytes`, `value`, `valueBytes`",
        ),
        (r#"{"programFlow":{"loads":[]}}"#, "unknown field `loads`, expected one of `load`, `main`, `save`"),
        (r#"{"programsMap":[{"program":1}]}"#, "unknown field `program`, expected one of `index`, `name`, `nameBytes`"),
    ] {
        let error = error_of::<Metadata>(json);
        assert!(error.starts_with(unknown), "{error}");
    }
    for error in [
        error_of::<ExecutableInfo>(r#"{"size":1}"#),
        error_of::<TensorDataInfo>(r#"{"size":1}"#),
        error_of::<FeedDataInfo>(r#"{"size":1}"#),
        error_of::<OpaqueInfo>(r#"{"size":1}"#),
    ] {
        assert!(error.starts_with("unknown field `size`, expected "), "{error}");
    }
}

#[test]
fn fields_that_are_left_out_have_their_defaults() {
    assert_eq!(serde_json::from_str::<Metadata>("{}").unwrap(), Metadata::default());
    let metadata: Metadata = serde_json::from_str(r#"{"numIpus":4,"anchors":[{"name":"x"}]}"#).unwrap();
    let anchor = Anchor { name: "x".into(), ..Default::default() };
    assert_eq!(metadata, Metadata { num_ipus: 4, anchors: vec![anchor], ..Default::default() });
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(128) })]

    #[test]
    fn metadata_comes_back(metadata in models::metadata(true)) {
        come_back(&metadata);
        come_back(&metadata.executable);
        come_back(&metadata.program_flow);
        come_back(&(metadata.engine_options, metadata.device_options, metadata.programs_map));
        metadata.anchors.iter().for_each(|anchor| {
            come_back(anchor);
            come_back(&anchor.tensor_info);
        });
    }

    #[test]
    fn infos_come_back(blobs in models::blobs(true), uncompressed_size in any::<Option<u64>>()) {
        for blob in blobs {
            match blob.what {
                What::Executable { name, .. } => come_back(&ExecutableInfo { name, uncompressed_size }),
                What::Metadata(metadata) => come_back(&metadata),
                What::Tensor(info, _) => come_back(&info),
                What::Feeds(feeds) => feeds.iter().for_each(|(info, _)| come_back(info)),
                What::Opaque(info, _) => come_back(&info),
            }
        }
    }

    #[test]
    fn written_files_describe_themselves(blobs in models::blobs(true)) {
        let bytes = writing::in_memory(|writer| writing::write_planned(writer, &blobs));
        describes_itself(&File::from_bytes(bytes).unwrap());
    }

    #[test]
    fn a_poplar_header_comes_back(format in 1u8..=3, sizes in any::<[u8; 32]>()) {
        let bytes = [format!("GC_EXE_{format}").as_bytes(), &sizes].concat();
        come_back(&PoplarHeader::parse(&bytes).unwrap());
    }
}

#[test]
fn every_number_of_an_enumeration_comes_back() {
    for number in 0..=u16::MAX {
        come_back(&DataType::from_number(number));
        come_back(&TensorType::from_number(number));
        come_back(&BlobType::from_number(number));
    }
    for wrong in ["65536", "-1", "1.5", "null", r#""F33""#, r#""""#] {
        let error = error_of::<DataType>(wrong);
        assert!(error.contains("a data type"), "{error}");
    }
}

#[test]
fn every_name_comes_back() {
    come_back(&Compression::ALL.to_vec());
    come_back(&ErrorCode::ALL.to_vec());
    come_back(&ErrorKind::ALL.to_vec());
    come_back(&NumberKind::ALL.to_vec());
    come_back(&Outer::ALL.to_vec());
    come_back(&Phase::ALL.to_vec());
    come_back(&(0..=9).flat_map(|level| [Packing::Zlib(level), Packing::Gzip(level)]).collect::<Vec<_>>());
    come_back(&(0..=u8::MAX).map(|bits| (F8143::from_bits(bits), F8152::from_bits(bits))).collect::<Vec<_>>());
}

#[test]
fn binary_formats_have_bytes_for_texts_and_numbers_for_enumerants() {
    assert_eq!(postcard::to_stdvec(&Text::from("abc")).unwrap(), b"\x03abc");
    assert_eq!(postcard::to_stdvec(&Text::from(&b"caf\xe9"[..])).unwrap(), b"\x04caf\xe9");
    assert_eq!(postcard::to_stdvec(&(DataType::F8152, DataType::Other(100))).unwrap(), [14, 100]);
}

#[test]
fn a_text_that_is_not_utf8_has_its_bytes_beside_it() {
    let info = OpaqueInfo { name: Text::from(&b"caf\xe9"[..]), executable: "x".into() };
    let json = "{\"name\":\"caf\u{fffd}\",\"nameBytes\":\"636166e9\",\"executable\":\"x\"}";
    assert_eq!(serde_json::to_string(&info).unwrap(), json);
    assert_eq!(serde_json::from_str::<OpaqueInfo>(json).unwrap(), info);

    let error = error_of::<OpaqueInfo>(&json.replace("caf", "tea"));
    assert!(error.starts_with("name is another text than nameBytes"), "{error}");
    for wrong in ["636166e", "636166eg", "636166+9"] {
        let error = error_of::<OpaqueInfo>(&json.replace("636166e9", wrong));
        assert!(error.starts_with("bytes are written as two hex digits each"), "{error}");
    }
}

/// A file and its blobs serialise as their descriptions do, which come back.
#[track_caller]
fn describes_itself(file: &File) {
    let info = file.describe();
    assert_eq!(serde_json::to_string(file).unwrap(), serde_json::to_string(&info).unwrap());
    assert_eq!(postcard::to_stdvec(file).unwrap(), postcard::to_stdvec(&info).unwrap());
    come_back(&info);
    assert_eq!(info.blobs.len(), file.len());
    for (blob, info) in file.blobs().zip(&info.blobs) {
        assert_eq!(blob.describe(), *info);
        assert_eq!(serde_json::to_string(&blob).unwrap(), serde_json::to_string(info).unwrap());
        assert_eq!(postcard::to_stdvec(&blob).unwrap(), postcard::to_stdvec(info).unwrap());
    }
}

fn all_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { all_files(&path) } else { vec![path] }).collect()
}

fn variant(info: &Info) -> &'static str {
    match info {
        Info::Executable(_) => "executable",
        Info::Metadata(_) => "metadata",
        Info::UnreadMetadata(_) => "unread metadata",
        Info::Tensor(_) => "tensor",
        Info::Feed(_) => "feed",
        Info::Opaque(_) => "opaque",
        _ => "unknown",
    }
}

#[test]
fn all_files_describe_themselves() {
    let mut kinds = std::collections::BTreeSet::new();
    for path in all_files(&common::testdata("")) {
        let Ok(file) = OpenOptions::new().damaged(true).open(&path) else { continue };
        describes_itself(&file);
        for blob in file.describe().blobs {
            let with_error = if blob.error.is_some() { " and what is wrong" } else { "" };
            kinds.insert(format!("{}{with_error}", variant(&blob.info)));
        }
    }
    let with_faults = ["feed and what is wrong", "tensor and what is wrong", "unread metadata and what is wrong"];
    let sound = ["executable", "feed", "metadata", "opaque", "tensor", "unknown"];
    assert_eq!(kinds, sound.iter().chain(&with_faults).map(|&kind| kind.to_owned()).collect());
}

#[test]
fn a_description_is_read_from_keys_in_any_order() {
    let info = File::open(common::testdata("golden/unknown-types.popef")).unwrap().describe();
    // The keys are sorted, so `info` comes before `type`.
    let value = serde_json::to_value(&info).unwrap();
    assert_eq!(serde_json::from_value::<FileInfo>(value).unwrap(), info);
}

#[test]
fn compression_and_poplar_header_are_described_if_they_were_asked_for() {
    let file = File::open(common::testdata("compressed/zlib-poplar.popef")).unwrap();
    let executable = file.executables().next().unwrap();
    let mut described = executable.describe();
    assert!(!serde_json::to_string(&described).unwrap().contains("compression"));
    described.inside = Some(executable.inside().unwrap());
    let json = serde_json::to_value(&described).unwrap();
    assert_eq!((&json["compression"], &json["poplarHeader"]["format"]), (&"zlib".into(), &3.into()));
    come_back(&described);
    described.inside = Some(Default::default());
    assert_eq!(serde_json::to_value(&described).unwrap()["compression"], serde_json::Value::Null);
    come_back(&described);
}
