//! Single rules: cases beyond the file of each rule in `testdata/checks`, and what they leave alone.

use std::fs;

use popef::read::Limits;
use popef::types::{Anchor, EngineOption, FeedDataInfo, OpaqueInfo, ProgramInfo, TensorDataInfo, TensorType, Text};
use popef::{DataType, File, Metadata, OpenOptions, TensorInfo};
use popef_check::{CheckOptions, Loader, Severity, check};

use crate::files::{FOLDER, INTEROP, open, tensor, written};

/// A model with these anchors, and a tensor "w" of the shape [2].
fn with_tensor(anchors: Vec<Anchor>) -> File {
    written(|writer| {
        writer.write_executable("e", b"program").unwrap();
        writer.write_metadata(&Metadata { executable: "e".into(), anchors, ..Metadata::default() }).unwrap();
        writer.write_tensor(&tensor("w", DataType::F32, 2), &[1f32, 2.0]).unwrap();
    })
}

/// Each text here differs, so that the names of the findings tell which of them were looked at.
#[test]
fn control_characters_and_invalid_utf8_are_found_in_every_text() {
    for (bad, id) in [(&b"\x1b["[..], "PE013"), ("\u{202e}".as_bytes(), "PE013"), (b"\xff", "PE012")] {
        let text = |name: &str| Text::from([name.as_bytes(), bad].concat());
        let option = |name| EngineOption { name: text(name), value: text("value") };
        let metadata = Metadata {
            executable: text("described"),
            seed_handle: text("seed"),
            anchors: vec![Anchor { name: text("anchor"), handle: text("handle"), ..Anchor::default() }],
            engine_options: vec![option("engine")],
            device_options: vec![option("device")],
            programs_map: vec![ProgramInfo { index: 0, name: text("program") }],
            ..Metadata::default()
        };
        let file = written(|writer| {
            writer.version(text("version")).write_executable(text("executable"), b"program").unwrap();
            writer
                .version("")
                .write_opaque(&OpaqueInfo { name: text("opaque"), executable: text("its") }, b"")
                .unwrap();
            writer.write_metadata(&metadata).unwrap();
        });
        let report = check([&file], &CheckOptions::new());
        let found: Vec<_> = report.findings.iter().filter(|finding| finding.rule.id == id).collect();
        let expected = [
            "version",
            "executable",
            "opaque",
            "its",
            "described",
            "seed",
            "anchor",
            "handle",
            "engine",
            "value",
            "device",
            "value",
            "program",
        ];
        let names: Vec<_> = found.iter().flat_map(|finding| finding.names.clone()).collect();
        assert_eq!(names, expected.map(text), "{found:?}");
    }
}

#[test]
fn a_wrong_shape_is_reported_once_with_the_first_anchor_that_differs() {
    let anchor = |shape: &[i64]| Anchor {
        name: "w".into(),
        tensor_type: TensorType::Input,
        tensor_info: TensorInfo::new(DataType::F32, shape),
        ..Anchor::default()
    };
    let shapes: [&[i64]; 4] = [&[2], &[3], &[4], &[5]];
    for number in 2..=shapes.len() {
        let file = with_tensor(shapes[..number].iter().map(|shape| anchor(shape)).collect());
        let report = check([&file], &CheckOptions::new());
        let told: Vec<_> = report.findings.iter().filter(|finding| finding.rule.id == "PE302").collect();
        assert_eq!(told.len(), 1, "{number} anchors: {told:?}");
        assert!(told[0].message.ends_with("has the shape [2], but its anchor has [3]"), "{}", told[0].message);
    }
}

/// A feed may leave out the dimensions for replicas, repeats and the batch, or have another batch.
#[test]
fn a_feed_may_have_other_leading_dimensions_than_its_anchor_and_a_tensor_may_not() {
    let own: &[i64] = &[8, 3, 1];
    let anchor = Anchor {
        name: "x".into(),
        tensor_type: TensorType::Input,
        tensor_info: TensorInfo::new(DataType::Bool, [&[2, 3], own].concat()),
        is_per_replica: true,
        use_remote_buffers: true,
        repeats: 3,
        ..Anchor::default()
    };
    let metadata = Metadata { replication_factor: 2, anchors: vec![anchor], ..Metadata::default() };
    let fits = |shape: &[i64], is_feed: bool| {
        let tensor_info = TensorInfo::new(DataType::Bool, shape);
        let bytes = vec![0; tensor_info.size_in_bytes().unwrap() as usize];
        let file = written(|writer| {
            writer.write_metadata(&metadata).unwrap();
            let written = match is_feed {
                true => {
                    writer.write_feed_bytes(&FeedDataInfo { name: "x".into(), tensor_info, num_tensors: 1 }, &bytes)
                }
                false => writer.write_tensor_bytes(&TensorDataInfo { name: "x".into(), tensor_info }, &bytes),
            };
            written.unwrap();
        });
        check([&file], &CheckOptions::new()).findings.iter().all(|finding| finding.rule.id != "PE302")
    };
    let stated: [&[i64]; 5] = [&[2, 3, 8, 3, 1], &[2, 8, 3, 1], own, &[7, 3, 1], &[3, 1]];
    for (place, shape) in stated.into_iter().enumerate() {
        assert!(fits(shape, true), "a feed of {shape:?}");
        assert_eq!(fits(shape, false), place == 0, "a tensor of {shape:?}");
    }
    let others: [&[i64]; 6] = [&[3, 8, 3, 1], &[8, 3], &[8, 3, 2], &[8, 4, 1], &[1], &[]];
    for shape in others {
        assert!(!fits(shape, true), "a feed of {shape:?}");
        assert!(!fits(shape, false), "a tensor of {shape:?}");
    }
}

#[test]
fn messages_cut_long_names_and_shapes_short() {
    let message = |name: &str, dimensions: usize| {
        let anchor = Anchor {
            name: name.to_owned().into(),
            tensor_type: TensorType::Input,
            tensor_info: TensorInfo::new(DataType::F32, vec![1; dimensions]),
            ..Anchor::default()
        };
        let file = with_tensor(vec![anchor]);
        let report = check([&file], CheckOptions::new().loader(Loader::Triton));
        let request = report.findings.iter().find(|finding| finding.rule.id == "PE633");
        request.unwrap().message.clone()
    };
    let request = |rest: String| format!("a request must have 1 input: {rest}");
    assert_eq!(message("x", 0), request("\"x\" F32 []".to_owned()));
    assert_eq!(message(r#"a"b\c"#, 0), request(r#""a\"b\\c" F32 []"#.to_owned()));
    let [name, ones] = ["n".repeat(80), ["1"; 16].join(", ")];
    assert_eq!(message(&name, 16), request(format!("\"{name}\" F32 [{ones}]")));
    assert_eq!(message(&format!("{name}n"), 17), request(format!("\"{name}...\" F32 [{ones}, ...]")));
}

/// What it might name is reported neither as missing nor as unused.
#[test]
fn metadata_too_large_to_read_is_a_finding() {
    let mut limits = Limits::default();
    limits.visits = 100;
    let large = OpenOptions::new().limits(limits).open("../../testdata/broken/amplify-shared-text.popef").unwrap();
    let report = check([&large, &open(&format!("{INTEROP}/split-tensors.popef"))], &CheckOptions::new());
    let found: Vec<_> = report.findings.iter().map(|finding| (finding.file, finding.blob, finding.rule.id)).collect();
    assert_eq!(found, [(0, Some(1), "PE005")]);
    assert!(report.is_complete(), "{:?}", report.skipped);
}

#[test]
fn nan_infinity_and_odd_bools_are_counted_in_every_type() {
    let mut doubles = vec![1f64; 100_000];
    for (place, value) in [(0, f64::NAN), (40_000, f64::NEG_INFINITY), (70_000, f64::MAX), (99_999, -f64::NAN)] {
        doubles[place] = value;
    }
    let file = written(|writer| {
        let mut write = |name: &'static str, data_type, bytes: &[u8], len| {
            writer.write_tensor_bytes(&tensor(name, data_type, len), bytes).unwrap();
        };
        write("bool", DataType::Bool, &[0, 1, 2, 255], 4);
        // Each of these types has one NaN and no infinity.
        write("F8143", DataType::F8143, &[0, 0x80, 0x7f, 0xff], 4);
        write("F8152", DataType::F8152, &[0x80, 0x80, 0x7c, 0xfc], 4);
        let halves = [0x7c00u16, 0xfc00, 0x7bff, 0xfc01, 0x3c00];
        write("F16", DataType::F16, &halves.map(u16::to_le_bytes).concat(), 5);
        let singles = [f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::NAN, -f32::NAN, f32::INFINITY];
        write("F32", DataType::F32, &singles.map(f32::to_le_bytes).concat(), 6);
        let bytes: Vec<u8> = doubles.iter().flat_map(|double| double.to_le_bytes()).collect();
        write("F64", DataType::F64, &bytes, doubles.len());
    });
    let report = check([&file], CheckOptions::new().deep(true));
    let told: Vec<_> = report.findings.iter().map(|finding| finding.message.as_str()).collect();
    assert_eq!(
        told,
        [
            r#"tensor "bool": 2 of 4 booleans are neither 0 nor 1"#,
            r#"tensor "F8143": 1 of 4 elements are NaN"#,
            r#"tensor "F8152": 2 of 4 elements are NaN"#,
            r#"tensor "F16": 1 of 5 elements are NaN"#,
            r#"tensor "F16": 2 of 5 elements are infinite"#,
            r#"tensor "F32": 2 of 6 elements are NaN"#,
            r#"tensor "F32": 3 of 6 elements are infinite"#,
            r#"tensor "F64": 2 of 100000 elements are NaN"#,
            r#"tensor "F64": 1 of 100000 elements are infinite"#,
        ]
    );
}

/// Each executable is exactly as long as its header says.
#[test]
fn a_poplar_executable_that_fills_its_blob_is_whole() {
    for name in ["plain-poplar", "zlib-poplar"] {
        let whole = open(&format!("../../testdata/compressed/{name}.popef"));
        let report = check([&whole], CheckOptions::new().deep(true));
        assert!(report.findings.iter().all(|finding| finding.rule.id == "PE103"), "{name}: {:?}", report.findings);
    }
}

#[test]
fn tensorflow_rules_look_only_at_the_blob_of_tensorflow() {
    let report = check(&[open(&format!("{FOLDER}/PE102.popef"))], CheckOptions::new().loader(Loader::Tensorflow));
    assert!(report.findings.iter().any(|finding| finding.rule.id == "PE102"));
    assert!(report.findings.iter().all(|finding| finding.rule.id != "PE622"), "{:?}", report.findings);
}

#[test]
fn a_repeated_name_is_reported_with_the_place_of_the_first() {
    let path = format!("{INTEROP}/split-tensors.popef");
    let in_memory = || File::from_bytes(fs::read(&path).unwrap()).unwrap();
    let told = |files: &[File]| {
        let report = check(files, &CheckOptions::new());
        let of_rule: Vec<_> = report.findings.iter().filter(|finding| finding.rule.id == "PE106").collect();
        assert_eq!((of_rule.len(), of_rule[0].file), (1, files.len() - 1));
        of_rule[0].message.clone()
    };
    let message = |place: &str| format!("duplicate tensor \"input_parameter\"; the first is blob 0 at byte 0{place}");
    assert_eq!(told(&[open(&path), in_memory()]), message(&format!(" of {path}")));
    assert_eq!(told(&[in_memory(), open(&path)]), message(" of file 0"));
    let twice = fs::read(&path).unwrap().repeat(2);
    assert_eq!(told(&[File::from_bytes(twice).unwrap()]), message(""));
}

/// A policy may raise it.
#[test]
fn what_is_inferred_is_a_note_at_most() {
    let inferred: Vec<_> = popef_check::rules()
        .filter(|rule| rule.meaning.contains("inferred") || rule.meaning.contains("unverified"))
        .collect();
    assert!(inferred.len() >= 3);
    for rule in inferred {
        assert_eq!(rule.severity, Severity::Note, "{rule:?}");
    }
}
