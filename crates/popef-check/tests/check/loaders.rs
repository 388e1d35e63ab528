//! What single loaders require: what is found, and the nearest that is not.

use popef::types::{Anchor, OpaqueInfo, TensorType};
use popef::{DataType, File, Metadata, TensorInfo};
use popef_check::{CheckOptions, Loader, check};

use crate::files::{FOLDER, open, written};

fn with_opaque(name: &'static str, data: &[u8], metadata: Metadata) -> File {
    written(|writer| {
        writer.write_executable("1", b"program").unwrap();
        writer.write_metadata(&Metadata { executable: "1".into(), ..metadata }).unwrap();
        writer.write_opaque(&OpaqueInfo { name: name.into(), executable: "1".into() }, data).unwrap();
    })
}

fn found(file: &File, loader: Loader, id: &str) -> Vec<String> {
    let report = check([file], CheckOptions::new().loader(loader));
    report.findings.into_iter().filter(|finding| finding.rule.id == id).map(|finding| finding.message).collect()
}

/// Messages have segments of words after a table of their lengths.
#[test]
fn popart_takes_one_message_and_nothing_else() {
    let one = [0u32, 1, 0, 4].map(u32::to_le_bytes).concat();
    let two = [[1u32, 1, 1, 0].map(u32::to_le_bytes).concat(), vec![0; 16]].concat();
    let wrong = |name, data: &[u8]| found(&with_opaque(name, data, Metadata::default()), Loader::Popart, "PE608").pop();
    assert_eq!((wrong("popart", &one), wrong("popart", &two)), (None, None));
    let surplus = [&one[..], &[0; 8]].concat();
    for (data, message) in [
        (&b""[..], "it is empty"),
        (&two[..24], "it is cut, or not a Cap'n Proto message: it has 24 of 32 bytes"),
        (&surplus, "it has 8 bytes after its message"),
        (&[0; 8], "it is not a Cap'n Proto message"),
        (b"<!DOCTYPE html>", "it is not a Cap'n Proto message"),
        (b"\x0a\x00", "it is not a Cap'n Proto message"),
    ] {
        assert_eq!(wrong("popart", data), Some(format!("opaque blob \"popart\": {message}")));
        assert_eq!(wrong("my-popart", data), Some(format!("opaque blob \"my-popart\": {message}")));
        assert_eq!(wrong("poptorch", data), None);
    }
}

#[test]
fn the_inputs_of_a_request_are_listed() {
    let told = |names: &[&'static str]| {
        let input = |name: &&'static str| Anchor {
            name: (*name).into(),
            tensor_type: TensorType::Input,
            tensor_info: TensorInfo::new(DataType::F16, [2, 3]),
            ..Anchor::default()
        };
        let metadata = Metadata { anchors: names.iter().map(input).collect(), ..Metadata::default() };
        found(&with_opaque("other", b"", metadata), Loader::Triton, "PE633").pop().unwrap()
    };
    assert_eq!(told(&[]), "a request needs no inputs");
    assert_eq!(told(&["a"]), r#"a request must have 1 input: "a" F16 [2, 3]"#);
    assert_eq!(told(&["a", "b"]), r#"a request must have 2 inputs: "a" F16 [2, 3], "b" F16 [2, 3]"#);
    assert!(told(&["a"; 10]).ends_with(r#""a" F16 [2, 3] and 2 more"#), "{}", told(&["a"; 10]));
}

#[test]
fn a_blob_of_poptorch_needs_a_version() {
    let told = |data: &[u8]| found(&with_opaque("poptorch", data, Metadata::default()), Loader::Poptorch, "PE614");
    assert_eq!(told(b"text"), ["opaque blob \"poptorch\" is not a pickle"]);
    assert_eq!(told(b"\x80\x04}."), ["opaque blob \"poptorch\" records no version of PopTorch"]);
}

/// TensorFlow never records whether a model is for inference.
#[test]
fn only_models_known_to_be_for_training_are_reported() {
    let told = |opaque, is_inference| {
        let file = with_opaque(opaque, b"\x08\x01", Metadata { is_inference, ..Metadata::default() });
        !found(&file, Loader::Triton, "PE635").is_empty()
    };
    assert!(told("popart", false) && told("other", false));
    assert!(!told("popart", true) && !told("tensorflow", false));
}

/// The model that PopART writes has a seed, an optimizer, and weights, all with data.
#[test]
fn popart_files_lack_no_weights() {
    for name in ["as-popart", "as-poptorch"] {
        assert!(found(&open(&format!("{FOLDER}/{name}.popef")), Loader::Triton, "PE634").is_empty(), "{name}");
    }
    let of_tensorflow = found(&open(&format!("{FOLDER}/as-tensorflow.popef")), Loader::Triton, "PE634");
    assert_eq!(of_tensorflow, [r#"Triton needs 1 weight that the files have no data for: "weight0""#]);
}
