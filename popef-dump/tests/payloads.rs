//! The tool shows in opaque blobs what the official libraries read in them.

mod common;

use std::fs;

use common::{run, run_with_input, testdata};
use popef::types::OpaqueInfo;
use serde_json::Value;

/// Keys in the JSON of samples that are not in their bytes: remarks, and the layout of a message without tensors.
fn is_beside_the_bytes(sample: &str, key: &str) -> bool {
    key == "note" || (sample, key) == ("popart-empty", "layout")
}

#[test]
fn json_has_the_keys_and_values_of_the_samples() {
    let folder = testdata().join("opaque");
    let output = run(&folder, &["--format", "json", "-o", "-v", "samples.popef"]);
    assert_eq!(output.status, 0, "{}", output.err);
    let without = run(&folder, &["--format", "json", "-o", "samples.popef"]).json();
    let document = output.json();
    let mut compared = 0;
    for blob in document["files"][0]["blobs"].as_array().unwrap() {
        let sample = blob["info"]["executable"].as_str().unwrap();
        let (path, poptorch) = (format!("{sample}.json"), format!("poptorch/{sample}.json"));
        let Ok(text) = fs::read_to_string(folder.join(path)).or_else(|_| fs::read_to_string(folder.join(poptorch)))
        else {
            assert!(sample.ends_with("-cut"), "{sample} has no JSON beside it");
            assert_eq!(blob["payload"]["error"]["kind"], "damaged", "{sample}");
            continue;
        };
        let index = usize::try_from(blob["index"].as_u64().unwrap()).unwrap();
        assert_eq!(blob["payload"], without["files"][0]["blobs"][index]["payload"], "{sample}: without -v");
        let expected: Value = serde_json::from_str(&text).unwrap();
        for (key, value) in expected.as_object().unwrap() {
            if !is_beside_the_bytes(sample, key) {
                holds(&blob["payload"][key], value, &format!("{sample}: {key}"));
            }
        }
        compared += 1;
    }
    assert_eq!(compared, 14);
}

/// Asserts that a value has all that is expected. Objects may have more keys. 64-bit integers, which are texts in protobuf's JSON, are
/// numbers.
fn holds(found: &Value, expected: &Value, place: &str) {
    match (found, expected) {
        (Value::Object(_), Value::Object(expected)) => {
            expected.iter().for_each(|(key, value)| holds(&found[key], value, &format!("{place}.{key}")));
        }
        (Value::Array(found), Value::Array(expected)) => {
            assert_eq!(found.len(), expected.len(), "{place}");
            found.iter().zip(expected).for_each(|(found, expected)| holds(found, expected, place));
        }
        (Value::Number(number), Value::String(text)) => assert_eq!(&number.to_string(), text, "{place}"),
        _ => assert_eq!(found, expected, "{place}"),
    }
}

#[test]
fn a_payload_in_an_unknown_form_is_no_failure() {
    let folder = testdata().join("opaque");
    // Without -v, it is as if it had not been read.
    assert!(!run(&folder, &["--format", "json", "samples.popef"]).out.contains("payload-cut"));
    for (args, said) in [
        (&[][..], "for popart-cut   "),
        (&["-v"], "Not read: PopART's message in the opaque blob is cut off"),
        (&["-o", "-v"], "Not read: PopART's message in the opaque blob is cut off"),
        (&["--format", "json", "-v"], "\"code\":\"payload-cut\""),
    ] {
        let output = run(&folder, &[args, &["samples.popef"]].concat());
        assert_eq!(output.status, 0, "{args:?}");
        assert!(output.out.contains(said), "{args:?}: {}", output.out);
    }
}

#[test]
fn what_comes_through_a_pipe_is_kept_with_verbose() {
    let folder = testdata().join("opaque");
    let bytes = fs::read(folder.join("opaque.popef")).unwrap();
    let payloads = |args: &[&str]| {
        let document = run_with_input(&folder, &[args, &["--format", "json", "-"]].concat(), &bytes).json();
        let blobs = document["files"][0]["blobs"].as_array().unwrap();
        blobs.iter().filter(|blob| blob.get("payload").is_some()).count()
    };
    assert_eq!((payloads(&[]), payloads(&["-v"])), (0, 5));
}

/// A file with one opaque blob of TensorFlow's, whose architecture is a text, and whose only feed has some dimensions.
fn tensorflow(arch: &str, dimensions: u32) -> Vec<u8> {
    let field = |number: u8, value: &[u8]| {
        let mut bytes = vec![number << 3 | 2];
        let mut len = value.len();
        while len > 127 {
            bytes.push(u8::try_from(len & 127).unwrap() | 128);
            len >>= 7;
        }
        bytes.push(u8::try_from(len).unwrap());
        [&bytes, value].concat()
    };
    let shape: Vec<u8> = (0..dimensions).flat_map(|_| [3 << 3, 7]).collect();
    let payload = [field(2, &field(2, &shape)), field(12, &field(4, arch.as_bytes()))].concat();
    let mut bytes = Vec::new();
    let mut writer = popef::Writer::stream(&mut bytes);
    let info = OpaqueInfo { name: "tensorflow".into(), executable: "model".into() };
    writer.write_opaque(&info, payload.as_slice()).unwrap();
    writer.finish().unwrap();
    bytes
}

#[test]
fn nothing_in_a_payload_reaches_the_terminal_unescaped() {
    let bytes = tensorflow("ipu\u{1b}[2J\nPoplar package hash: forged\u{202e}", 1);
    for args in [&["-v"][..], &["-o", "-v"]] {
        let output = run_with_input(&testdata(), &[args, &["-"]].concat(), &bytes).out;
        assert!(output.contains("ipu\\u{1b}[2J\\nPoplar package hash: forged\\u{202e}"), "{output}");
        assert!(!output.contains(['\u{1b}', '\u{202e}']), "{output}");
        assert!(!output.lines().any(|line| line.trim_start().starts_with("Poplar package hash")), "{output}");
    }
}

#[test]
fn a_shape_of_very_many_dimensions_is_cut_short() {
    let output = run_with_input(&testdata(), &["-o", "-v", "-"], &tensorflow("ipu2", 1_000_000)).out;
    assert!(output.contains("7, 7, ...]"), "{}", output.len());
    assert!(output.len() < 2000, "{}", output.len());
}
