//! The plain values in serde's formats.

#![cfg(feature = "serde")]

use std::fmt::Debug;

use popef::{Anchor, ExecutableInfo, FeedDataInfo, Metadata, OpaqueInfo, TensorDataInfo};
use serde::de::DeserializeOwned;

fn error_of<T: DeserializeOwned + Debug>(json: &str) -> String {
    serde_json::from_str::<T>(json).unwrap_err().to_string()
}

#[test]
fn a_misspelt_field_is_an_error_that_names_those_there_are() {
    let error = error_of::<Metadata>(r#"{"numIpuz":4}"#);
    let known = "unknown field `numIpuz`, expected one of `replicationFactor`, `numIpus`, `numProcesses`, `ipuVersion`, \
                 `isPOD`, `isInference`, `deviceIterations`, `executable`, `seedHandle`, `engineOptions`, \
                 `deviceOptions`, `programFlow`, `programsMap`, `anchors`";
    assert!(error.starts_with(known), "{error}");

    for (json, unknown) in [
        (r#"{"anchors":[{"programms":[]}]}"#, "unknown field `programms`, expected one of `name`, `handle`, "),
        (
            r#"{"anchors":[{"tensorInfo":{"shape":[],"datatype":"f32"}}]}"#,
            "unknown field `datatype`, expected `shape` or `dataType`",
        ),
        (r#"{"engineOptions":[{"Name":""}]}"#, "unknown field `Name`, expected `name` or `value`"),
        (r#"{"programFlow":{"loads":[]}}"#, "unknown field `loads`, expected one of `load`, `main`, `save`"),
        (r#"{"programsMap":[{"program":1}]}"#, "unknown field `program`, expected `index` or `name`"),
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
