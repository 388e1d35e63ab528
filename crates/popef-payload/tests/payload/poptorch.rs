//! What PopTorch saves beside an executable, read from pickles that others made.

#![cfg(all(feature = "poptorch", feature = "serde"))]

use std::fs;
use std::path::PathBuf;

use popef::error::ErrorCode;
use popef::types::OpaqueInfo;
use popef::{File, OpenOptions, Writer};
use popef_payload::Payload;
use popef_payload::poptorch::{PoptorchData, Value};
use serde_json::Value as Json;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/opaque/poptorch")
}

fn pickle(name: &str) -> Vec<u8> {
    fs::read(folder().join(name)).unwrap()
}

/// Returns the paths of `expected` whose values are not in `found`.
fn differences(path: &str, expected: &Json, found: &Json) -> Vec<String> {
    match (expected, found) {
        (Json::Object(expected), Json::Object(found)) => expected
            .iter()
            .flat_map(|(key, value)| {
                differences(&format!("{path}/{key}"), value, found.get(key).unwrap_or(&Json::from("missing")))
            })
            .collect(),
        (Json::Array(expected), Json::Array(found)) if expected.len() == found.len() => (0..)
            .zip(expected.iter().zip(found))
            .flat_map(|(place, (expected, found)): (usize, _)| differences(&format!("{path}/{place}"), expected, found))
            .collect(),
        _ if expected == found => Vec::new(),
        _ => vec![format!("{path}: {expected} expected, {found} found")],
    }
}

/// Every pickle of the folder has a JSON file that says what it holds, by whoever made the pickle.
#[test]
fn pickles_hold_what_their_makers_say() {
    let mut count = 0;
    for entry in fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "pickle") {
            continue;
        }
        count += 1;
        let mut expected: Json = serde_json::from_slice(&fs::read(path.with_extension("json")).unwrap()).unwrap();
        // A remark on the file.
        expected.as_object_mut().unwrap().remove("note");
        let data = PoptorchData::read_bytes(&fs::read(&path).unwrap()).unwrap();
        let found = serde_json::to_value(&data).unwrap();
        assert_eq!(differences("", &expected, &found), Vec::<String>::new(), "{}: {found:#}", path.display());
    }
    assert!(count >= 6, "{count}");
}

/// Python pickled any plain values in all protocols, and wrote the same as JSON.
#[test]
fn random_values_are_those_that_python_pickled() {
    let lines = fs::read_to_string(folder().join("random.jsonl")).unwrap();
    for line in lines.lines() {
        let mut line: Json = serde_json::from_str(line).unwrap();
        let hex = line["pickle"].as_str().unwrap();
        let bytes: Vec<u8> =
            (0..hex.len() / 2).map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap()).collect();
        let data = PoptorchData::read_bytes(&bytes).unwrap();
        assert_eq!((data.version.as_deref(), &data.fault), (line["version"].as_str(), &None));
        assert_eq!(serde_json::to_value(&data.options).unwrap(), line["options"].take(), "{}", bytes.escape_ascii());
    }
    assert_eq!(lines.lines().count(), 300);
}

fn with_poptorch(data: &[u8]) -> Vec<u8> {
    let info = OpaqueInfo { name: "poptorch".into(), executable: "model".into() };
    let mut writer = Writer::stream(Vec::new());
    writer.write_opaque(&info, data).unwrap();
    writer.into_inner().unwrap()
}

#[test]
fn a_file_read_in_parts_gives_the_same() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["poptorch32-export-train.pickle", "poptorch34-frames.pickle"] {
        let bytes = with_poptorch(&pickle(name));
        let path = folder.path().join("model.popef");
        fs::write(&path, &bytes).unwrap();
        let [in_parts, in_memory] = [File::open(path).unwrap(), File::from_bytes(bytes).unwrap()].map(|file| {
            match Payload::read(&file.opaque("poptorch").unwrap()).unwrap() {
                Payload::Poptorch(data) => data,
                other => panic!("{other:?}"),
            }
        });
        assert_eq!(in_parts, in_memory);
        assert_eq!(*in_parts, PoptorchData::read_bytes(&pickle(name)).unwrap());
    }
}

/// The values of a cut pickle are either the same or missing, and the fault reports the missing end.
#[test]
fn a_cut_pickle_gives_what_comes_before_the_cut() {
    let whole = pickle("poptorch32-export-train.pickle");
    let all = serde_json::to_value(PoptorchData::read_bytes(&whole).unwrap()).unwrap();
    let facts = ["version", "training", "modelClass", "optimizerClass", "lossScaling", "deviceIterations", "rngState"];
    let facts = [&facts[..], &["gradientAccumulation", "outputMode", "processes", "executionStrategy"]].concat();
    for len in (2..whole.len()).rev().step_by(3) {
        let data = PoptorchData::read_bytes(&whole[..len]).unwrap();
        let fault = data.fault.as_ref().expect("the end is missing");
        assert_eq!((fault.reason, fault.no_memory), ("it ends in the middle", false));
        assert!(fault.offset <= len as u64, "{fault:?} of {len}");
        let found = serde_json::to_value(&data).unwrap();
        for fact in &facts {
            let value = found.get(*fact).unwrap_or(&Json::Null);
            assert!(
                value.is_null() || *fact == "rngState" || *value == all[fact],
                "{fact} is {value} after {len} bytes"
            );
        }
        let complete = facts.iter().filter(|fact| found.get(**fact) == Some(&all[**fact])).count();
        // The state of the random numbers is at the end.
        if len > 4200 {
            assert!(complete >= facts.len() - 1, "{complete} after {len} bytes");
        }
        let error = data.whole().unwrap_err();
        assert_eq!(error.code(), ErrorCode::PayloadMalformed);
        assert!(error.to_string().contains("it ends in the middle"), "{error}");
    }
}

/// PopTorch's data with these opcodes as the value of a key.
fn with_key(key: &str, opcodes: &[u8]) -> Vec<u8> {
    let class = b"\x80\x04\x8c\x17poptorch._poptorch_data\x8c\x0cPoptorchData\x93)\x81}";
    [class.as_slice(), &[0x8c, key.len() as u8], key.as_bytes(), opcodes, b"sb."].concat()
}

fn options(opcodes: &[u8]) -> PoptorchData {
    PoptorchData::read_bytes(&with_key("options", opcodes)).unwrap()
}

#[test]
fn values_are_those_of_python() {
    for (opcodes, shown) in [
        (&b"N"[..], "None"),
        (b"\x88", "True"),
        (b"I01\n", "True"),
        (b"I-17\n", "-17"),
        (b"L123L\n", "123"),
        (b"L99999999999999999999L\n", "99999999999999999999"),
        (b"J\xff\xff\xff\xff", "-1"),
        (b"M\x00\x80", "32768"),
        (b"\x8a\x00", "0"),
        (b"\x8a\x01\xff", "-1"),
        (b"\x8a\x02\x00\x80", "-32768"),
        (b"\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\x00", "18446744073709551615"),
        (b"\x8a\x1101234567890123456", "<integer of 17 bytes>"),
        (b"G?\xf8\x00\x00\x00\x00\x00\x00", "1.5"),
        (b"F1e3\n", "1000.0"),
        (b"\x8c\x03a\nb", "\"a\\nb\""),
        (b"V\\u00e9\n", "\"é\""),
        (b"C\x03abc", "<3 bytes>"),
        (b"](K\x01K\x02e", "[1, 2]"),
        (b"(K\x01K\x02l", "[1, 2]"),
        (b"K\x01\x85", "(1,)"),
        (b"\x8f(K\x01\x90", "{1}"),
        (b"(K\x01\x91", "{1}"),
        (b"}(\x8c\x01aK\x01\x8c\x01bK\x02\x8c\x01aK\x03u", "{\"a\": 3, \"b\": 2}"),
        (b"(K\x01K\x02d", "{1: 2}"),
        (b"cm\nName\n", "m.Name"),
        (b"cm\nName\nK\x01\x85R", "m.Name(1)"),
        (b"cm\nName\n)\x81}\x8c\x01aNsb", "m.Name() {\"a\": None}"),
        (b"ccopyreg\n_reconstructor\n(cm\nName\nc__builtin__\nobject\nNtR", "m.Name(m.Name, __builtin__.object, None)"),
        (b"(K\x01im\nName\n", "m.Name(1)"),
        (b"(cm\nName\nK\x01o", "m.Name(1)"),
        (b"K\x07Q", "<object 7>"),
        (b"]q\x05h\x05a", "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[...]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"),
        // A list whose items are replaced.
        (b"]K\x00a}K\x00K\x01s0", "[0]"),
        (b"](K\x00e(K\x00K\x01u", "<unknown>"),
    ] {
        let data = options(opcodes);
        assert_eq!(data.options.to_string(), shown, "{}", opcodes.escape_ascii());
        assert_eq!(data.fault, None);
    }
}

#[test]
fn what_would_become_huge_is_left_out() {
    let pairs = [b"N".as_slice(), &b"2\x86".repeat(200)].concat();
    let mut many = b"](".to_vec();
    many.extend(b"N".repeat(100));
    many.extend(b"eq\x00");
    for place in 0..6u8 {
        // A list of a hundred times the list before.
        many.extend(b"0](");
        many.extend([b'h', place].repeat(100));
        many.extend([b'e', b'q', place + 1]);
    }
    for opcodes in [pairs, many] {
        let data = options(&opcodes);
        assert!(data.left_out);
        assert!(data.options.to_string().len() < 1 << 20);
    }
    assert!(!options(b"]").left_out);
}

#[test]
fn data_of_another_version_or_program_is_not_an_error() {
    // Another class, other keys and other types.
    let data = PoptorchData::read_bytes(b"\x80\x04}\x8c\x07versionK\x01s.").unwrap();
    assert_eq!((data.version, data.class, data.exported_model, data.fault), (None, None, None, None));
    let data = PoptorchData::read_bytes(&with_key("executable_inputs", b"\x8c\x01x")).unwrap();
    assert_eq!(data.class.as_deref(), Some("poptorch._poptorch_data.PoptorchData"));
    assert_eq!((data.inputs.len(), data.options), (0, Value::Unknown));
    // Not a pickle.
    let file = File::from_bytes(with_poptorch(b"no pickle")).unwrap();
    let error = Payload::read(&file.opaque("poptorch").unwrap()).unwrap_err();
    assert_eq!((error.code(), error.blob()), (ErrorCode::PayloadMalformed, Some(0)));
    assert!(error.to_string().ends_with("the data is not a Python pickle, but PopTorch's data always is"), "{error}");
}

/// A `.poptorch` file like those of SDK 2.5 and older. No real one is public.
fn old_file() -> (Vec<u8>, u64) {
    let pickle = pickle("poptorch34-noexport.pickle");
    let end = pickle.len() as u64;
    let popef = fs::read(folder().join("../../interop/all-types.popef")).unwrap();
    ([pickle, popef].concat(), end)
}

#[test]
fn a_pickle_before_the_first_blob_is_named_and_can_be_skipped() {
    let (bytes, end) = old_file();
    let alone = File::open(folder().join("../../interop/all-types.popef")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.poptorch");
    fs::write(&path, &bytes).unwrap();

    for error in [File::open(&path).unwrap_err(), File::from_bytes(bytes.clone()).unwrap_err()] {
        assert_eq!((error.code(), error.found()), (ErrorCode::PickleFirst, Some(end)));
        let words = format!(
            "this is a .poptorch file of SDK 2.5 or older: a Python pickle of {end} bytes, then PopEF; open it after the pickle"
        );
        assert_eq!(error.reason(), words);
    }
    assert_eq!(File::from_stream(&bytes[..]).unwrap_err().code(), ErrorCode::PickleFirst);

    let mut after = OpenOptions::new();
    after.after_pickle(true);
    let mut at = OpenOptions::new();
    at.start(end);
    let mut indexer = at.indexer(bytes.len() as u64);
    while let Some(wanted) = indexer.wants() {
        indexer.give(&bytes[wanted.start as usize..wanted.end as usize]);
    }
    let files = [
        after.open(&path).unwrap(),
        after.bytes(bytes.clone()).unwrap(),
        // SAFETY: nobody else writes to the file.
        unsafe { after.map(&path) }.unwrap(),
        at.open(&path).unwrap(),
        at.stream(&bytes[..]).unwrap(),
        indexer.finish().unwrap(),
    ];
    for file in &files {
        assert_eq!((file.len(), file.size(), file.end()), (alone.len(), bytes.len() as u64, bytes.len() as u64));
        for (blob, alone) in file.blobs().zip(alone.blobs()) {
            assert_eq!(blob.offset(), alone.offset() + end);
            assert_eq!((blob.name(), blob.size()), (alone.name(), alone.size()));
        }
        assert_eq!(file.prefix().len(), end);
    }
    for file in &files[..4] {
        assert_eq!(*file.prefix().read().unwrap(), bytes[..end as usize]);
        assert_eq!(PoptorchData::read(&file.prefix()).unwrap().replication_factor, Some(2));
        for (blob, alone) in file.blobs().zip(alone.blobs()) {
            assert_eq!(blob.head_bytes().read().unwrap(), alone.head_bytes().read().unwrap());
            assert_eq!(blob.data().read().unwrap(), alone.data().read().unwrap());
        }
    }

    // Files that begin with a blob, or with a pickle that does not end.
    assert_eq!(after.open(folder.path().join("../nothing")).unwrap_err().code(), ErrorCode::NotFound);
    let plain = after.bytes(bytes[end as usize..].to_vec()).unwrap();
    assert_eq!((plain.len(), plain.prefix().len()), (alone.len(), 0));
    let cut = after.bytes(bytes[..1000].to_vec()).unwrap_err();
    assert_eq!((cut.code(), cut.found()), (ErrorCode::PickleFirst, None));
    // Damage is at the byte of the file.
    let error = after.bytes(bytes[..end as usize + 20].to_vec()).unwrap_err();
    assert_eq!((error.code(), error.blob(), error.offset()), (ErrorCode::HeaderCut, Some(0), Some(end)));
    let error = OpenOptions::new().start(bytes.len() as u64 + 1).bytes(bytes.clone()).unwrap_err();
    assert_eq!((error.code(), error.needed()), (ErrorCode::NoSuchBytes, Some(bytes.len() as u64 + 1)));
    let error = OpenOptions::new().start(bytes.len() as u64 + 1).stream(&bytes[..]).unwrap_err();
    assert_eq!((error.code(), error.found()), (ErrorCode::NoSuchBytes, Some(bytes.len() as u64)));
}
