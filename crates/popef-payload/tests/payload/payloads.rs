//! What frameworks put into opaque blobs, against what the official libraries of Cap'n Proto and protobuf put there.

use crate::common::writing;
#[cfg(all(feature = "serde", any(feature = "popart", feature = "tensorflow")))]
use crate::common::{read, testdata};

#[cfg(feature = "popart")]
use popef::Error;
use popef::File;
use popef::error::{ErrorCode, ErrorKind};
use popef_payload::{Framework, Payload};
use writing::opaque;

/// The bytes of a file of opaque blobs.
fn file_bytes(blobs: &[(&str, &[u8])]) -> Vec<u8> {
    writing::in_memory(|writer| {
        for (name, data) in blobs {
            writer.write_opaque(&opaque(name), data).unwrap();
        }
    })
}

/// A file with one opaque blob.
fn file_with(name: &str, data: &[u8]) -> File {
    File::from_bytes(file_bytes(&[(name, data)])).unwrap()
}

fn only_opaque(file: &File) -> popef::read::OpaqueBlob<'_> {
    file.blob(0).unwrap().as_opaque().unwrap()
}

fn payload_kind(name: &str, data: &[u8]) -> String {
    let file = file_with(name, data);
    format!("{:?}", Payload::read(&only_opaque(&file)).unwrap())
}

#[test]
fn data_of_no_framework_is_text_or_unknown() {
    let euro = format!("{}€", "x".repeat(4094));
    for (data, kind) in [
        (&b"{\"a\": [1]}\n"[..], "Text"),
        ("naïve\r\n\ttext".as_bytes(), "Text"),
        // A character that the end of the first part that is read cuts in two.
        (euro.as_bytes(), "Text"),
        (b"", "Unknown"),
        (b"caf\xe9", "Unknown"),
        (b"text\0", "Unknown"),
        (&[b"x".repeat(9000).as_slice(), b"\x07"].concat(), "Unknown"),
    ] {
        let shown = payload_kind("config", data);
        assert!(shown.starts_with(kind), "{shown}");
    }
}

#[test]
fn the_data_of_a_skipped_blob_is_an_error() {
    let bytes = file_bytes(&[("config", b"text")]);
    let file = File::from_stream(bytes.as_slice()).unwrap();
    assert_eq!(Payload::read(&only_opaque(&file)).unwrap_err().code(), ErrorCode::DataNotKept);
}

/// A build without a framework's feature says which one it needs.
#[test]
fn a_framework_that_is_not_built_is_named() {
    for (framework, built) in [
        (Framework::Popart, cfg!(feature = "popart")),
        (Framework::Poptorch, cfg!(feature = "poptorch")),
        (Framework::Tensorflow, cfg!(feature = "tensorflow")),
    ] {
        let file = file_with(framework.as_str(), b"\x01");
        let result = Payload::read(&only_opaque(&file));
        if !built {
            let error = result.unwrap_err();
            assert_eq!((error.code(), error.kind()), (ErrorCode::PayloadNotBuilt, ErrorKind::Unsupported));
            assert!(error.to_string().ends_with(&format!("build it with the feature {framework}")), "{error}");
        }
    }
}

/// The samples whose names begin with a word, without their extension.
#[cfg(all(feature = "serde", any(feature = "popart", feature = "tensorflow")))]
fn samples(of: &str) -> Vec<String> {
    let names = std::fs::read_dir(testdata("opaque")).unwrap().map(|entry| entry.unwrap().file_name());
    let names = names.filter_map(|name| name.into_string().unwrap().strip_suffix(".bin").map(str::to_owned));
    let mut names: Vec<_> = names.filter(|name| name.starts_with(of)).collect();
    names.sort();
    assert!(names.len() > 3, "{names:?}");
    names
}

/// The payloads of a file of `testdata/opaque` that has one per line, and what each holds.
#[cfg(all(feature = "serde", any(feature = "popart", feature = "tensorflow")))]
fn lines(name: &str) -> Vec<(Vec<u8>, serde_json::Value)> {
    let bytes = read(&format!("opaque/{name}"));
    let parse = |line: &str| {
        let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
        let hex = line["hex"].as_str().unwrap();
        let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
        ((0..hex.len()).step_by(2).map(byte).collect(), line["holds"].take())
    };
    String::from_utf8(bytes).unwrap().lines().map(parse).collect()
}

/// Asserts that a value has everything that the expected one has. It may have more keys, and numbers where protobuf's
/// JSON has texts of numbers.
#[cfg(all(feature = "serde", any(feature = "popart", feature = "tensorflow")))]
fn assert_holds(found: &serde_json::Value, expected: &serde_json::Value, place: &str) {
    use serde_json::Value;

    match (found, expected) {
        (Value::Object(found), Value::Object(expected)) => {
            for (key, expected) in expected {
                let place = format!("{place}.{key}");
                assert_holds(found.get(key).unwrap_or_else(|| panic!("{place} is missing")), expected, &place);
            }
        }
        (Value::Array(found), Value::Array(expected)) => {
            assert_eq!(found.len(), expected.len(), "{place}: {found:?} {expected:?}");
            for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
                assert_holds(found, expected, &format!("{place}[{index}]"));
            }
        }
        (Value::Number(found), Value::String(expected)) => assert_eq!(found.to_string(), *expected, "{place}"),
        _ => assert_eq!(found, expected, "{place}"),
    }
}

/// Asserts that damage is an error at the data's first byte, whichever way the file is opened, and that the blob after
/// it can still be read.
#[cfg(feature = "popart")]
fn assert_damaged(name: &str, data: &[u8], code: ErrorCode, words: &str) -> Error {
    let bytes = file_bytes(&[(name, data), ("note", b"whole")]);
    let file = File::from_bytes(bytes).unwrap();
    let error = Payload::read(&only_opaque(&file)).unwrap_err();
    assert_eq!(error.code(), code, "{error}");
    assert!(error.reason().contains(words), "{error}");
    assert_eq!((error.blob(), error.offset()), (Some(0), Some(file.blob(0).unwrap().data_offset())));
    let after = file.blob(1).unwrap().as_opaque().unwrap();
    assert!(matches!(Payload::read(&after).unwrap(), Payload::Text(text) if text == "whole"));
    error
}

#[cfg(feature = "popart")]
mod popart {
    use super::*;
    #[cfg(not(feature = "serde"))]
    use crate::common::read;
    use popef_payload::popart::{DataType, HeldData, Layout};

    #[test]
    #[cfg(feature = "serde")]
    fn samples_and_random_messages_hold_what_the_official_library_put_there() {
        let samples = samples("popart").into_iter().map(|name| {
            let holds: serde_json::Value = serde_json::from_slice(&read(&format!("opaque/{name}.json"))).unwrap();
            (name.clone(), read(&format!("opaque/{name}.bin")), holds)
        });
        let random = lines("popart-random.jsonl").into_iter();
        let random = random.enumerate().map(|(line, (bytes, holds))| (format!("line {line}"), bytes, holds));
        for (name, bytes, mut expected) in samples.chain(random) {
            // Without tensors, nothing in the message tells the layouts apart.
            if expected["tensors"].as_array().unwrap().is_empty() {
                expected["layout"] = serde_json::Value::Null;
            }
            let file = file_with("popart", &bytes);
            let payload = serde_json::to_value(Payload::read(&only_opaque(&file)).unwrap()).unwrap();
            assert_holds(&payload, &expected, &name);
        }
    }

    #[test]
    fn data_inside_the_message_is_found_and_not_copied() {
        let bytes = read("opaque/popart-l25-data.bin");
        let file = file_with("popart", &bytes);
        let opaque = only_opaque(&file);
        let executable = popef_payload::popart::Executable::read(&opaque).unwrap();
        assert_eq!(executable.layout, Some(Layout::L25));
        let seed = executable.tensors.iter().find(|tensor| tensor.id == "seed").unwrap();
        let HeldData { offset, len, .. } = seed.data.unwrap();
        let held = opaque.data().range(offset..offset + len).unwrap().read().unwrap().into_owned();
        assert_eq!(len, 8);
        assert!(bytes.windows(8).any(|window| window == held));
        assert_eq!((seed.data_type, seed.popef_type()), (DataType::Uint32, Some(popef::DataType::U32)));
    }

    #[test]
    fn every_prefix_and_every_changed_byte_is_read_or_refused() {
        for name in ["popart-l25-data", "popart-float8"] {
            let bytes = read(&format!("opaque/{name}.bin"));
            for len in 0..bytes.len() {
                let error = assert_damaged("popart", &bytes[..len], ErrorCode::PayloadCut, "is cut off");
                assert_eq!(error.found(), Some(len as u64));
            }
            let mut refused = 0;
            for at in 0..bytes.len() {
                for value in [0, 1, 0x7f, 0x80, 0xff] {
                    let mut changed = bytes.clone();
                    changed[at] = value;
                    let file = file_with("popart", &changed);
                    refused += usize::from(Payload::read(&only_opaque(&file)).is_err());
                }
            }
            assert!(refused > 100, "{refused}");
        }
    }

    #[test]
    fn bytes_after_the_message_are_counted() {
        let mut bytes = read("opaque/popart-infer.bin");
        bytes.extend([0; 5]);
        let file = file_with("popart", &bytes);
        let executable = popef_payload::popart::Executable::read(&only_opaque(&file)).unwrap();
        assert_eq!((executable.bytes, executable.surplus), (888, 5));
    }

    /// A message of one segment.
    fn message(words: &[u64]) -> Vec<u8> {
        let table = (words.len() as u64) << 32;
        [table].iter().chain(words).flat_map(|word| word.to_le_bytes()).collect()
    }

    const fn struct_pointer(offset: u64, data: u64, pointers: u64) -> u64 {
        offset << 2 | data << 32 | pointers << 48
    }

    const fn list_pointer(offset: u64, size: u64, count: u64) -> u64 {
        1 | offset << 2 | size << 32 | count << 35
    }

    #[test]
    fn a_message_that_costs_more_than_its_bytes_is_refused() {
        const ROOT: u64 = struct_pointer(0, 0, 4);
        // A list of 2^29 - 1 tensors without bytes.
        let nothings = message(&[ROOT, 0, list_pointer(2, 0, (1 << 29) - 1), 0, 0]);
        assert_damaged("popart", &nothings, ErrorCode::PayloadTooLarge, "");
        // Bytes that are read as tensors.
        let mut bytes = vec![ROOT, 0, list_pointer(2, 2, 100_000), 0, 0];
        bytes.resize(bytes.len() + 12_500, 0);
        assert_damaged("popart", &message(&bytes), ErrorCode::PayloadTooLarge, "out of proportion");
        // Many names that are one text.
        let mut shared = vec![ROOT, struct_pointer(3, 0, 5), 0, 0, 0, 0, list_pointer(3, 6, 2000), 0, 0, 0];
        shared.extend((0..2000).map(|index| list_pointer(1999 - index, 2, 8000)));
        shared.extend([0x6161_6161_6161_6161; 999]);
        shared.push(0x0061_6161_6161_6161);
        assert_damaged("popart", &message(&shared), ErrorCode::PayloadTooLarge, "would cost many times its length");
    }

    #[test]
    fn other_messages_are_refused() {
        let of_segments = |segments: u32| [&(segments - 1).to_le_bytes()[..], &[0; 4096]].concat();
        assert_damaged("popart", &of_segments(512), ErrorCode::PayloadMalformed, "claims 512 segments");
        assert_damaged("popart", &message(&[list_pointer(0, 2, 0)]), ErrorCode::PayloadMalformed, "at its root");
        assert_damaged("my popart blob", b"plain text here", ErrorCode::PayloadMalformed, "segments");
    }

    #[test]
    fn settings_of_a_form_that_no_release_writes_are_left_out() {
        // One tensor of four pointers, the last a struct with a word and a pointer.
        let words = [
            struct_pointer(0, 0, 4),
            0,
            list_pointer(2, 7, 5),
            0,
            0,
            struct_pointer(1, 1, 4),
            4,
            0,
            0,
            0,
            struct_pointer(0, 1, 1),
            7,
            0,
        ];
        let file = file_with("popart", &message(&words));
        let executable = popef_payload::popart::Executable::read(&only_opaque(&file)).unwrap();
        assert_eq!((executable.layout, executable.tensors.len()), (None, 1));
        assert_eq!(executable.tensors[0].variable_settings, None);
        assert_eq!(executable.tensors[0].kind.to_string(), "variable");
    }

    #[test]
    fn unknown_numbers_stay_numbers() {
        let kind = popef_payload::popart::TensorKind::from_number(7);
        assert_eq!((kind.to_string(), kind.number(), kind.name()), ("unknown (7)".to_owned(), 7, None));
        #[cfg(feature = "serde")]
        assert_eq!(serde_json::to_string(&kind).unwrap(), "7");
    }
}

#[cfg(feature = "tensorflow")]
mod tensorflow {
    use super::*;
    use popef_payload::tensorflow::{FeedMode, Flag7, PrimitiveType, TfType};

    #[test]
    #[cfg(feature = "serde")]
    fn samples_and_random_messages_hold_what_protobuf_reads_there() {
        let samples = samples("tf").into_iter().map(|name| {
            let holds: serde_json::Value = serde_json::from_slice(&read(&format!("opaque/{name}.json"))).unwrap();
            (name.clone(), read(&format!("opaque/{name}.bin")), holds)
        });
        let random = lines("tf-random.jsonl").into_iter();
        let random = random.enumerate().map(|(line, (bytes, holds))| (format!("line {}", line + 1), bytes, holds));
        for (name, bytes, expected) in samples.chain(random) {
            let file = file_with("tensorflow", &bytes);
            let result = Payload::read(&only_opaque(&file));
            if expected.get("error").is_some() {
                let error = result.expect_err(&name);
                let byte = error.offset().unwrap() - file.blob(0).unwrap().data_offset();
                assert!(byte <= bytes.len() as u64, "{name}: {error}");
                continue;
            }
            let payload = result.unwrap_or_else(|error| panic!("{name}: {error}"));
            let payload = serde_json::to_value(payload).unwrap();
            assert_holds(&payload, &expected, &name);
            // What protobuf leaves out is not there either.
            assert_same_keys(&payload["message"], &expected["message"], &name);
            assert_eq!(
                payload["unknownFields"].as_array().unwrap().is_empty(),
                expected.get("unknownFields").is_none()
            );
        }
    }

    #[cfg(feature = "serde")]
    fn assert_same_keys(found: &serde_json::Value, expected: &serde_json::Value, place: &str) {
        use serde_json::Value;

        match (found, expected) {
            (Value::Object(found), Value::Object(expected)) => {
                assert!(found.keys().all(|key| expected.contains_key(key)), "{place}: {found:?} {expected:?}");
                found
                    .iter()
                    .for_each(|(key, found)| assert_same_keys(found, &expected[key], &format!("{place}.{key}")));
            }
            (Value::Array(found), Value::Array(expected)) => {
                found.iter().zip(expected).for_each(|(found, expected)| assert_same_keys(found, expected, place));
            }
            _ => {}
        }
    }

    fn number(mut value: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        while value > 0x7f {
            bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        bytes.push(value as u8);
        bytes
    }

    fn part(number_of_field: u64, bytes: &[u8]) -> Vec<u8> {
        [number(number_of_field << 3 | 2), number(bytes.len() as u64), bytes.to_vec()].concat()
    }

    fn varint(number_of_field: u64, value: u64) -> Vec<u8> {
        [number(number_of_field << 3), number(value)].concat()
    }

    #[test]
    fn each_field_is_read_by_its_type() {
        let shape = [varint(2, 11), part(3, &[4, 5]), varint(3, 6), part(5, &part(1, &[1, 0]))].concat();
        let feed = [part(1, &[part(2, b"7"), varint(3, 1), part(4, &[1, 3, 101])].concat()), part(2, &shape)].concat();
        let config = [varint(2, 16), part(3, b"IPU"), part(4, b"ipu21"), varint(7, 1)].concat();
        let bytes = [
            varint(1, 8),
            part(2, &feed),
            part(2, &[]),
            part(12, &config),
            varint(13, 2),
            varint(14, 6),
            part(15, b"v2.6.3"),
            part(17, b"0f1e"),
            part(10, &part(6, &[1, 2])),
        ];
        let file = file_with("tensorflow", &bytes.concat());
        let executable = popef_payload::tensorflow::Executable::read(&only_opaque(&file)).unwrap();
        let message = executable.message();
        assert_eq!((message.replication_factor(), message.poplar_package_hash()), (8, "0f1e"));
        assert_eq!((message.tf_git_version(), executable.tf_version()), ("v2.6.3", Some((2, 6))));
        assert_eq!(executable.flag7_meaning(), Some(Flag7::RemoteMemoryEntryParams));
        assert_eq!((executable.can_stall(), executable.has_remote_entry_parameters()), (Some(false), Some(true)));
        let config = message.embedded_runtime_config().unwrap();
        assert_eq!((config.num_ipus(), config.target_type(), config.target_arch()), (16, "IPU", "ipu21"));
        assert!(config.signature().is_none());
        let mut feeds = message.infeeds();
        let feed = feeds.next().unwrap();
        let shape = feed.shape().unwrap();
        assert_eq!(shape.element_type(), PrimitiveType::F32);
        assert_eq!(shape.dimensions().collect::<Vec<_>>(), [4, 5, 6]);
        assert_eq!(shape.layout().unwrap().minor_to_major().collect::<Vec<_>>(), [1, 0]);
        let config = feed.config().unwrap();
        assert_eq!((config.feed_id(), config.mode()), ("7", FeedMode::GetLast));
        let types: Vec<_> = config.tf_data_types().collect();
        assert_eq!(types, [TfType::Float, TfType::Int32, TfType::FloatRef]);
        assert!(feeds.next().unwrap().config().is_none());
        assert!(feeds.next().is_none());
        let merged: Vec<_> = message.remote_parameters().flat_map(|parameter| parameter.merged_params()).collect();
        assert_eq!(merged, [1, 2]);
        assert!(executable.is_plausible());
    }

    #[test]
    fn another_message_is_read_but_not_plausible() {
        let file = file_with("tensorflow", &[varint(40, 1), part(41, b"text"), part(1, b"\xff")].concat());
        let executable = popef_payload::tensorflow::Executable::read(&only_opaque(&file)).unwrap();
        assert!(!executable.is_plausible());
        assert_eq!(executable.unknown_fields(), [1, 40, 41]);
        let empty = file_with("tensorflow", b"");
        assert!(popef_payload::tensorflow::Executable::read(&only_opaque(&empty)).unwrap().is_plausible());
    }

    #[test]
    fn damage_is_an_error_at_its_byte() {
        let good = varint(1, 8);
        let at = |bytes: &[u8], code, words: &str| {
            let file = file_with("tensorflow", &[&good, bytes].concat());
            let error = Payload::read(&only_opaque(&file)).unwrap_err();
            assert!(error.code() == code && error.reason().contains(words), "{error}");
            error.offset().unwrap() - file.blob(0).unwrap().data_offset()
        };
        let malformed = ErrorCode::PayloadMalformed;
        assert_eq!(at(&[0x0a, 5, b'a'], ErrorCode::PayloadCut, "needs 9 bytes, the blob has 5"), 4);
        assert_eq!(at(&part(15, b"caf\xe9"), malformed, "a text is not UTF-8"), 4);
        assert_eq!(at(&part(12, &[0x0a, 5, b'a']), malformed, "longer than the message that it is in"), 6);
        assert_eq!(at(&part(12, &part(4, b"\xff")), malformed, "not UTF-8"), 6);
        assert_eq!(at(&[0x0c], malformed, "a group ends"), 2);
        assert_eq!(at(&[0x0f], malformed, "a wire type that does not exist"), 2);
        assert_eq!(at(&[0x00, 0x00], malformed, "the number 0"), 2);
        assert_eq!(
            at(&[0x68, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1], malformed, "ten bytes"),
            3
        );
        assert_eq!(at(&[0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 1], malformed, "2 GiB"), 3);
        // The message itself is at depth 0, the feed's shape at depth 2.
        let nested = |levels: usize| part(2, &part(2, &(0..levels).fold(Vec::new(), |shape, _| part(4, &shape))));
        assert!(Payload::read(&only_opaque(&file_with("tensorflow", &nested(98)))).is_ok());
        at(&nested(99), ErrorCode::PayloadTooLarge, "nests deeper than 100");
    }

    #[test]
    #[cfg(feature = "serde")]
    fn a_message_of_empty_messages_takes_no_memory_of_its_own() {
        // The largest shown form of the smallest part: three letters of JSON for two bytes.
        let file = file_with("tensorflow", &[0x12, 0].repeat(100_000));
        let opaque = only_opaque(&file);
        let executable = popef_payload::tensorflow::Executable::read(&opaque).unwrap();
        assert_eq!(executable.message().infeeds().count(), 100_000);
        let text = serde_json::to_string(&executable.message()).unwrap();
        assert_eq!(text.len(), r#"{"infeeds":[]}"#.len() + 3 * 100_000 - 1);
    }
}

/// The commands of Cap'n Proto and protobuf read the same messages to the same values.
#[cfg(all(feature = "popart", feature = "serde", feature = "tensorflow"))]
mod commands {
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    use serde_json::{Value, json};

    use super::*;
    use crate::common::peers::skip;

    /// What a command prints for some input. `None` if it fails.
    fn piped(command: &mut Command, input: &[u8]) -> Option<Vec<u8>> {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        // A command that refuses its input may end before it has read all of it.
        let _ = child.stdin.take().unwrap().write_all(input);
        let output = child.wait_with_output().unwrap();
        output.status.success().then_some(output.stdout)
    }

    fn is_missing(command: &str) -> bool {
        let missing = Command::new(command).arg("--version").output().is_err();
        if missing {
            skip(&format!("there is no {command}"));
        }
        missing
    }

    fn payload_of(name: &str, bytes: &[u8]) -> Result<Value, Error> {
        let file = file_with(name, bytes);
        Payload::read(&only_opaque(&file)).map(|payload| serde_json::to_value(payload).unwrap())
    }

    /// A tensor as `capnp convert` shows it, with our names. Texts of numbers are numbers for `assert_holds`.
    fn tensor(shown: &Value) -> Value {
        let (info, location) = (&shown["info"], &shown["location"]);
        let is_remote = location["remote"] == true;
        let mut tensor = json!({
            "id": shown["id"].as_str().unwrap_or_default(),
            "kind": shown["kind"],
            "dataType": info["type"]["dataType"].as_str().unwrap_or("uint8"),
            "storedBytes": info["type"]["tensorBytes"].as_i64().unwrap_or_default(),
            "shape": info["shape"].as_array().cloned().unwrap_or_default(),
            "sharded": location["sharded"] == true,
            "remote": is_remote.then(|| [&location["buffer"]["id"], &location["buffer"]["index"]]),
        });
        if let Some(settings) = shown.get("variableSettings").filter(|settings| settings.get("stride").is_some()) {
            tensor["variableSettings"] = json!({
                "commGroup": settings["commGroupKind"],
                "groupSize": settings["groupSize"],
                "retrieval": settings["retrievalMode"],
                "stride": settings["stride"],
                "useCommGroup": settings["useCommGroup"],
            });
        }
        tensor
    }

    #[test]
    fn capnp_convert_shows_the_same_tensors() {
        if is_missing("capnp") {
            return;
        }
        let schema = concat!(env!("CARGO_MANIFEST_DIR"), "/schema/popart.capnp");
        for (line, (bytes, holds)) in lines("popart-random.jsonl").into_iter().enumerate() {
            let root = match holds["layout"].as_str().unwrap() {
                "L30" => "Executable".to_owned(),
                layout => format!("Executable{layout}"),
            };
            let shown = piped(Command::new("capnp").args(["convert", "binary:json", schema, &root]), &bytes).unwrap();
            let shown: Value = serde_json::from_slice(&shown).unwrap();
            let tensors: Vec<_> = shown["tensors"].as_array().unwrap().iter().map(tensor).collect();
            let payload = payload_of("popart", &bytes).unwrap();
            assert_holds(&payload["tensors"], &tensors.into(), &format!("line {}", line + 1));
        }
    }

    #[test]
    fn protoc_reads_the_same_fields() {
        if is_missing("protoc") {
            return;
        }
        let folder = testdata("opaque");
        let protoc = |mode: &str, input: &[u8]| {
            let mode = format!("--{mode}=popef.opaque.tensorflow.Executable");
            piped(Command::new("protoc").current_dir(&folder).args(["-I.", &mode, "tensorflow.proto"]), input)
        };
        let mut compared = 0;
        for (line, (bytes, holds)) in lines("tf-random.jsonl").into_iter().enumerate().take(120) {
            let payload = payload_of("tensorflow", &bytes);
            let text = protoc("decode", &bytes);
            assert_eq!(text.is_some(), payload.is_ok(), "line {}: {:?}", line + 1, payload.err());
            // Text that protoc writes of unknown fields cannot be read back.
            let Some(anew) = text.and_then(|text| protoc("encode", &text)) else { continue };
            if holds.get("unknownFields").is_none() {
                assert_eq!(
                    payload_of("tensorflow", &anew).unwrap()["message"],
                    payload.unwrap()["message"],
                    "line {}",
                    line + 1
                );
                compared += 1;
            }
        }
        assert!(compared > 30, "{compared}");
    }
}
