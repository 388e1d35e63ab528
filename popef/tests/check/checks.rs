//! Each rule has a file that breaks it, and the findings of that file stand beside it; so do those of the files of the
//! official library. `POPEF_RENEW=1 cargo test -p popef --test check checks::` writes them anew.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;

use popef::check::{
    CheckOptions, Extent, Level, Loader, Policy, Report, Rule, Severity, TensorDemand, check, check_with_progress,
};
use popef::error::ErrorKind;
use popef::read::Limits;
use popef::types::{Anchor, EngineOption, FeedDataInfo, OpaqueInfo, ProgramInfo, TensorDataInfo, TensorType, Text};
use popef::write::Stream;
use popef::{DataType, File, Metadata, OpenOptions, TensorInfo, Writer};

const FOLDER: &str = "../testdata/checks";
const INTEROP: &str = "../testdata/interop";

fn open(path: &str) -> File {
    OpenOptions::new().damaged(true).open(path).unwrap()
}

/// What the rule's file is checked with: no more than the rule needs.
fn options(id: &str) -> CheckOptions {
    let mut options = CheckOptions::new();
    let number: u32 = id[2..].parse().unwrap();
    match number {
        401..=499 => drop(options.deep(true)),
        601..=609 => drop(options.loader(Loader::Popart)),
        611..=619 => drop(options.loader(Loader::Poptorch)),
        621..=629 => drop(options.loader(Loader::Tensorflow)),
        631..=639 => drop(options.loader(Loader::Triton)),
        701..=799 => drop(options.policy(policy(id))),
        _ => {}
    }
    options
}

fn all_loaders() -> CheckOptions {
    let mut options = CheckOptions::new();
    for &loader in Loader::ALL {
        options.loader(loader);
    }
    options
}

fn policy(id: &str) -> Policy {
    let anchor = |name: &str| TensorDemand { name: name.to_owned(), ..TensorDemand::default() };
    let mut policy = Policy::default();
    match id {
        "PE701" => policy.max_file_size = Some(500),
        "PE702" => policy.compressed_executables = true,
        "PE703" => policy.no_pickles = true,
        "PE704" => policy.opaques = Some(vec!["popart".to_owned()]),
        "PE705" => policy.num_ipus = Some(4),
        "PE706" => policy.ipu_version = Some(21),
        "PE707" => policy.inputs = vec![anchor("x"), anchor("y")],
        "PE708" => policy.outputs = vec![anchor("x"), anchor("y")],
        "PE709" => {
            let open = TensorDemand { shape: Some(vec![Extent::Any]), ..anchor("x") };
            let other = TensorDemand { data_type: Some(DataType::F16), ..anchor("y") };
            let exact = TensorDemand { shape: Some(vec![Extent::Exactly(3)]), ..anchor("w") };
            policy.inputs = vec![open, exact];
            policy.outputs = vec![other];
        }
        _ => {}
    }
    policy
}

/// Rules that cannot be broken without breaking these too.
const IMPLIED: &[(&str, &[&str])] = &[
    ("PE502", &["PE501"]),
    ("PE503", &["PE501"]),
    ("PE504", &["PE501"]),
    ("PE602", &["PE105"]),
    ("PE603", &["PE607"]),
    ("PE604", &["PE104"]),
    ("PE606", &["PE108"]),
    ("PE611", &["PE501", "PE613"]),
    ("PE613", &["PE501"]),
    ("PE622", &["PE102"]),
    ("PE631", &["PE103"]),
    ("PE632", &["PE101", "PE633"]),
    ("PE703", &["PE501"]),
];

fn shown(report: &Report) -> String {
    let mut text = String::new();
    for finding in &report.findings {
        writeln!(text, "file {}: {finding}", finding.file).unwrap();
        if !finding.names.is_empty() {
            let names: Vec<_> = finding.names.iter().map(|name| format!("{name:?}")).collect();
            writeln!(text, "    names: {}", names.join(" ")).unwrap();
        }
    }
    for skipped in &report.skipped {
        writeln!(text, "{skipped}").unwrap();
    }
    text
}

#[track_caller]
fn is_as_before(path: &str, text: &str) {
    if std::env::var_os("POPEF_RENEW").is_some() {
        fs::write(path, text).unwrap();
    }
    let before = fs::read_to_string(path).unwrap_or_default();
    assert_eq!(before, text, "{path} is not as before; if this is meant, run the test with POPEF_RENEW=1");
}

#[test]
fn every_rule_is_broken_by_its_file_and_by_little_else() {
    let mut wrong = Vec::new();
    for rule in Rule::all() {
        let files = [open(&format!("{FOLDER}/{}.popef", rule.id))];
        let report = check(&files, &options(rule.id));
        is_as_before(&format!("{FOLDER}/{}.txt", rule.id), &shown(&report));
        let found: BTreeSet<_> = report.findings.iter().map(|finding| finding.rule.id).collect();
        let implied = IMPLIED.iter().find(|(id, _)| *id == rule.id).map_or(&[][..], |(_, implied)| implied);
        let expected: BTreeSet<_> = implied.iter().copied().chain([rule.id]).collect();
        if found != expected {
            wrong.push((rule.id, found));
        }
        assert!(report.findings.iter().filter(|f| *f.rule == *rule).all(|f| f.severity == rule.severity));
    }
    assert!(wrong.is_empty(), "(file, rules that it breaks): {wrong:#?}");
}

#[test]
fn every_file_of_the_folder_is_of_a_rule() {
    let there: BTreeSet<_> = fs::read_dir(FOLDER)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("PE"))
        .collect();
    let expected = Rule::all().flat_map(|rule| [format!("{}.popef", rule.id), format!("{}.txt", rule.id)]);
    assert_eq!(there, expected.collect());
}

#[test]
fn the_findings_of_every_interop_file_are_stated() {
    let mut names: Vec<_> = fs::read_dir(INTEROP)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter_map(|name| name.strip_suffix(".popef").map(str::to_owned))
        .collect();
    names.sort();
    let mut sets: Vec<_> = names.iter().map(|name| vec![name.as_str()]).collect();
    sets.push(vec!["split-executable", "split-tensors", "split-feeds"]);
    let mut text = String::new();
    for set in sets {
        let files: Vec<_> = set.iter().map(|name| open(&format!("{INTEROP}/{name}.popef"))).collect();
        let report = check(&files, CheckOptions::new().deep(true));
        writeln!(text, "== {}\n{}", set.join(" "), shown(&report)).unwrap();
        assert!(report.is_complete());
    }
    is_as_before(&format!("{FOLDER}/interop.txt"), &text);
}

/// Files as the frameworks write them are not to be alarmed about, whatever they leave out.
#[test]
fn what_frameworks_write_is_no_error() {
    let mut text = String::new();
    for (name, loaders) in [
        ("as-tensorflow", [Loader::Tensorflow, Loader::Triton].as_slice()),
        ("as-popart", &[Loader::Popart, Loader::Triton]),
        ("as-poptorch", &[Loader::Poptorch, Loader::Popart, Loader::Triton]),
    ] {
        let mut options = CheckOptions::new();
        for &loader in loaders {
            options.loader(loader);
        }
        let report = check(&[open(&format!("{FOLDER}/{name}.popef"))], options.deep(true));
        let worse: Vec<_> = report.findings.iter().filter(|finding| finding.severity > Severity::Note).collect();
        // That there is a pickle at all is a warning, and PopTorch always writes one.
        assert!(worse.iter().all(|finding| finding.rule.id == "PE501"), "{worse:#?}");
        writeln!(text, "== {name}\n{}", shown(&report)).unwrap();
    }
    is_as_before(&format!("{FOLDER}/frameworks.txt"), &text);
}

#[test]
fn ids_are_in_order_and_their_own() {
    let ids: Vec<_> = Rule::all().map(|rule| rule.id).collect();
    assert!(ids.is_sorted_by(|a, b| a < b), "{ids:?}");
    for rule in Rule::all() {
        assert!(rule.id.starts_with("PE") && rule.id.len() == 5, "{}", rule.id);
        assert!(rule.meaning.ends_with(['.', ')']) && rule.mend.ends_with('.'), "{}", rule.id);
        assert!(!rule.title.ends_with('.'), "{}", rule.id);
        assert_eq!(Rule::by_id(&rule.id.to_lowercase()), Some(rule));
        assert_eq!(format!("{rule:?}"), format!("Rule {{ id: {:?}, severity: {:?}, .. }}", rule.id, rule.severity));
    }
    assert_eq!(Rule::by_id("PE000"), None);
}

#[test]
fn a_clean_model_has_no_findings() {
    let report = check(&[open(&format!("{INTEROP}/add-clean.popef"))], CheckOptions::new().deep(true));
    assert_eq!(report, Report::default());
    assert!(report.passes(false));
}

#[test]
fn what_is_not_read_is_said_to_be_so() {
    let report = check(&[open(&format!("{INTEROP}/add-clean.popef"))], &CheckOptions::new());
    assert!(report.findings.is_empty());
    let shown: Vec<_> = report.skipped.iter().map(ToString::to_string).collect();
    assert_eq!(shown, ["not checked: 63690 bytes of executables, tensors and feeds: only a deep check reads them"]);
    assert!(report.is_complete(), "the caller chose so");
}

#[test]
fn a_policy_turns_rules_off_and_up() {
    let files = [open(&format!("{FOLDER}/PE108.popef"))];
    let with = |level| {
        let rules = [("pe108".to_owned(), level)].into();
        let policy = Policy { rules, ..Policy::default() };
        check(&files, CheckOptions::new().policy(policy)).worst()
    };
    assert_eq!(with(Level::Off), None);
    assert_eq!(with(Level::Note), Some(Severity::Note));
    assert_eq!(with(Level::Error), Some(Severity::Error));
    let slip = Policy { rules: [("PE999".to_owned(), Level::Off)].into(), ..Policy::default() };
    assert_eq!(slip.unknown_rules().collect::<Vec<_>>(), ["PE999"]);
}

#[test]
fn a_file_may_be_as_large_as_the_policy_says() {
    let files = [open(&format!("{INTEROP}/add-clean.popef"))];
    let passes = |max_file_size| {
        let policy = Policy { max_file_size: Some(max_file_size), ..Policy::default() };
        check(&files, CheckOptions::new().policy(policy)).passes(false)
    };
    assert_eq!((passes(files[0].size()), passes(files[0].size() - 1)), (true, false));
}

#[test]
fn passing_depends_on_what_is_allowed() {
    let report = |id: &str| check(&[open(&format!("{FOLDER}/{id}.popef"))], &options(id));
    let passes = |id: &str| (report(id).passes(true), report(id).passes(false));
    assert_eq!(passes("PE008"), (true, true));
    assert_eq!(passes("PE108"), (true, false));
    assert_eq!(passes("PE101"), (false, false));
    let counts = |id| [Severity::Note, Severity::Warning, Severity::Error].map(|severity| report(id).count(severity));
    assert_eq!(counts("PE101"), [0, 0, 1]);
    assert_eq!(counts("PE611"), [1, 1, 1]);
}

#[test]
fn a_loader_is_known_by_its_name() {
    let names: Vec<_> = Loader::ALL.iter().map(|loader| loader.as_str()).collect();
    assert_eq!(names, ["popart", "poptorch", "tensorflow", "triton"]);
    let error = "PopART".parse::<Loader>().unwrap_err();
    let known = "there are popart, poptorch, tensorflow, triton";
    assert_eq!(error.to_string(), format!("\"PopART\" is not a loader that this version knows; {known}"));
}

fn written(write: impl FnOnce(&mut Writer<Stream<&mut Vec<u8>>>)) -> File {
    let mut bytes = Vec::new();
    let mut writer = Writer::stream(&mut bytes);
    write(&mut writer);
    writer.finish().unwrap();
    File::from_bytes(bytes).unwrap()
}

fn tensor(name: &'static str, data_type: DataType, len: usize) -> TensorDataInfo {
    TensorDataInfo { name: name.into(), tensor_info: TensorInfo::new(data_type, [len as i64]) }
}

/// A model with these anchors, and a tensor "w" of the shape [2].
fn with_tensor(anchors: Vec<Anchor>) -> File {
    written(|writer| {
        writer.write_executable("e", b"program").unwrap();
        writer.write_metadata(&Metadata { executable: "e".into(), anchors, ..Metadata::default() }).unwrap();
        writer.write_tensor(&tensor("w", DataType::F32, 2), &[1f32, 2.0]).unwrap();
    })
}

/// Wherever it is written: each text here is another one.
#[test]
fn texts_that_act_on_a_terminal_or_are_no_text_are_found_everywhere() {
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

/// However many anchors name it.
#[test]
fn data_of_the_wrong_shape_is_told_once_with_the_first_anchor_that_differs() {
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
        assert!(told[0].message.ends_with("has the shape [2], its anchor [3]"), "{}", told[0].message);
    }
}

#[test]
fn messages_stay_short_whatever_is_in_the_file() {
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
    let request = |rest: String| format!("a request has to carry 1 input: {rest}");
    assert_eq!(message("x", 0), request("\"x\" F32 []".to_owned()));
    assert_eq!(message(r#"a"b\c"#, 0), request(r#""a\"b\\c" F32 []"#.to_owned()));
    let [name, ones] = ["n".repeat(80), ["1"; 16].join(", ")];
    assert_eq!(message(&name, 16), request(format!("\"{name}\" F32 [{ones}]")));
    assert_eq!(message(&format!("{name}n"), 17), request(format!("\"{name}...\" F32 [{ones}, ...]")));
}

/// A feed may leave out the dimensions for replicas and repeats, and the batch, or have another batch; a tensor may not.
#[test]
fn data_fits_its_anchor_in_the_ways_that_are_stated() {
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

/// Nothing that it might name is called missing or unused then.
#[test]
fn metadata_too_large_to_read_is_a_finding() {
    let mut limits = Limits::default();
    limits.visits = 100;
    let large = OpenOptions::new().limits(limits).open("../testdata/broken/amplify-shared-text.popef").unwrap();
    let report = check([&large, &open(&format!("{INTEROP}/split-tensors.popef"))], &CheckOptions::new());
    let found: Vec<_> = report.findings.iter().map(|finding| (finding.file, finding.blob, finding.rule.id)).collect();
    assert_eq!(found, [(0, Some(1), "PE005")]);
    assert!(report.is_complete(), "{:?}", report.skipped);
}

/// Of either sign, in each type that has them, and wherever in the data.
#[test]
fn odd_elements_are_counted_in_every_type() {
    let mut doubles = vec![1f64; 100_000];
    for (place, value) in [(0, f64::NAN), (40_000, f64::NEG_INFINITY), (70_000, f64::MAX), (99_999, -f64::NAN)] {
        doubles[place] = value;
    }
    let file = written(|writer| {
        let mut write = |name: &'static str, data_type, bytes: &[u8], len| {
            writer.write_tensor_bytes(&tensor(name, data_type, len), bytes).unwrap();
        };
        write("bool", DataType::Bool, &[0, 1, 2, 255], 4);
        // One byte is NaN in either of these, and none is infinite.
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

/// Each of these is exactly as long as its header says.
#[test]
fn a_poplar_executable_may_end_with_its_blob() {
    for name in ["plain-poplar", "zlib-poplar"] {
        let whole = open(&format!("../testdata/compressed/{name}.popef"));
        let report = check([&whole], CheckOptions::new().deep(true));
        assert!(report.findings.iter().all(|finding| finding.rule.id == "PE103"), "{name}: {:?}", report.findings);
    }
}

/// That this build lacks a decoder tells nothing of the file.
#[cfg(not(feature = "zstd"))]
#[test]
fn what_this_build_cannot_unpack_is_left_out() {
    let file = open("../testdata/compressed/zstd.popef");
    let report = check([&file], CheckOptions::new().deep(true));
    assert!(report.findings.iter().all(|finding| finding.rule.id == "PE103"), "{:?}", report.findings);
    assert!(report.is_complete());
    assert!(report.skipped[0].what.starts_with("executable"), "{:?}", report.skipped);
}

#[test]
fn a_file_that_was_not_opened_is_a_finding_if_it_is_damaged() {
    let opened = [File::open(format!("{FOLDER}/PE607.popef")), File::open(format!("{FOLDER}/PE002.popef"))];
    let report = check(&opened, &CheckOptions::new());
    let found: Vec<_> = report.findings.iter().map(|finding| (finding.file, finding.rule.id)).collect();
    assert_eq!(found, [(1, "PE002")]);
    assert!(report.is_complete());
}

#[test]
fn a_file_that_is_not_there_leaves_the_report_incomplete() {
    let opened = [File::open(format!("{FOLDER}/none.popef")), File::open(format!("{FOLDER}/PE607.popef"))];
    assert_eq!(opened[0].as_ref().unwrap_err().kind(), ErrorKind::Io);
    let report = check(&opened, &CheckOptions::new());
    assert!(report.findings.is_empty() && !report.is_complete());
    assert!(report.skipped.iter().any(|skipped| skipped.file == Some(0) && skipped.failed));
}

#[test]
fn findings_carry_the_callers_numbers_of_files() {
    let opened = [File::open(format!("{FOLDER}/none.popef")), File::open(format!("{FOLDER}/PE201.popef"))];
    let report = check(&opened, &CheckOptions::new());
    assert_eq!(report.findings.iter().map(|finding| finding.file).collect::<Vec<_>>(), [1]);
    assert_eq!(report.of_file(1).count(), 1);
}

#[test]
fn what_a_damaged_file_may_hide_is_not_called_missing() {
    let bytes = fs::read(format!("{INTEROP}/executable.popef")).unwrap();
    // Opaque blob and metadata are whole, the executable is not.
    let cut = OpenOptions::new().damaged(true).bytes(bytes[..10_000].to_vec()).unwrap();
    let report = check(&[cut], &CheckOptions::new());
    let found: Vec<_> = report.findings.iter().map(|finding| finding.rule.id).collect();
    assert_eq!(found, ["PE002"]);
    assert!(report.skipped.iter().any(|skipped| skipped.what.contains("behind byte 2936")), "{:?}", report.skipped);
}

/// The rule's file breaks it alone, and not beside one that may have what is missing.
#[test]
fn beside_a_damaged_file_nothing_is_called_missing() {
    let cut = open(&format!("{FOLDER}/PE002.popef"));
    for number in [101, 102, 103, 108, 109, 602, 607, 612, 621, 622, 631, 632] {
        let id = format!("PE{number}");
        let report = check(&[open(&format!("{FOLDER}/{id}.popef")), cut.clone()], &options(&id));
        let of_rule: Vec<_> = report.findings.iter().filter(|finding| finding.rule.id == id).collect();
        assert!(of_rule.is_empty(), "{of_rule:?}");
    }
    let nothing = OpenOptions::new().damaged(true).bytes(&[0; 5][..]).unwrap();
    let report = check(&[nothing], &all_loaders());
    assert_eq!(report.findings.iter().map(|finding| finding.rule.id).collect::<Vec<_>>(), ["PE001"]);
}

/// TensorFlow's rules are about its own blob.
#[test]
fn what_lacks_for_another_framework_is_not_tensorflows() {
    let report = check(&[open(&format!("{FOLDER}/PE102.popef"))], CheckOptions::new().loader(Loader::Tensorflow));
    assert!(report.findings.iter().any(|finding| finding.rule.id == "PE102"));
    assert!(report.findings.iter().all(|finding| finding.rule.id != "PE622"), "{:?}", report.findings);
}

#[test]
fn a_name_that_is_taken_is_told_with_the_place_of_the_first() {
    let path = format!("{INTEROP}/split-tensors.popef");
    let in_memory = || File::from_bytes(fs::read(&path).unwrap()).unwrap();
    let told = |files: &[File]| {
        let report = check(files, &CheckOptions::new());
        let of_rule: Vec<_> = report.findings.iter().filter(|finding| finding.rule.id == "PE106").collect();
        assert_eq!((of_rule.len(), of_rule[0].file), (1, files.len() - 1));
        of_rule[0].message.clone()
    };
    let message = |place: &str| format!("tensor \"input_parameter\" is there already, in blob 0 at byte 0{place}");
    assert_eq!(told(&[open(&path), in_memory()]), message(&format!(" of {path}")));
    assert_eq!(told(&[in_memory(), open(&path)]), message(" of file 0"));
    let twice = fs::read(&path).unwrap().repeat(2);
    assert_eq!(told(&[File::from_bytes(twice).unwrap()]), message(""));
}

#[test]
fn a_stream_can_be_checked_as_far_as_it_was_kept() {
    let bytes = fs::read(format!("{INTEROP}/executable.popef")).unwrap();
    let streamed = File::from_stream(bytes.as_slice()).unwrap();
    let report = check(&[streamed], CheckOptions::new().deep(true));
    assert!(!report.is_complete());
    assert_eq!(report.worst(), Some(Severity::Note));
    let failed = report.skipped.iter().filter(|skipped| skipped.failed && skipped.file == Some(0));
    let failed: Vec<_> = failed.map(|skipped| skipped.what.as_str()).collect();
    assert_eq!(failed, ["the data of opaque blob 0", "the data of blob 2", "the data of blob 3"]);
}

#[test]
fn what_very_often_cannot_be_read_is_counted_and_not_listed() {
    let mut bytes = Vec::new();
    let mut writer = Writer::stream(&mut bytes);
    for _ in 0..1000 {
        writer.write_tensor(&tensor("w", DataType::Bool, 1), &[true]).unwrap();
    }
    writer.finish().unwrap();
    let report = check([&File::from_stream(bytes.as_slice()).unwrap()], CheckOptions::new().deep(true));
    let failed: Vec<_> = report.skipped.iter().filter(|skipped| skipped.failed).map(|s| s.what.as_str()).collect();
    assert_eq!((failed.len(), failed.iter().filter(|what| what.starts_with("the data of blob")).count()), (101, 100));
    assert!(failed.contains(&"900 more"), "{failed:?}");
}

#[test]
fn progress_ends_at_the_total() {
    let mut seen = Vec::new();
    let files = [open(&format!("{INTEROP}/compressed-zlib.popef")), open(&format!("{INTEROP}/all-types.popef"))];
    check_with_progress(&files, CheckOptions::new().deep(true), &mut |progress| seen.push(progress));
    assert!(seen.is_sorted_by_key(|progress| progress.done));
    let last = seen.last().unwrap();
    assert_eq!(last.done, last.total);
}

#[test]
fn a_rule_that_is_broken_very_often_is_counted_and_not_listed() {
    let one = fs::read(format!("{FOLDER}/PE006.popef")).unwrap();
    let whole = fs::read(format!("{FOLDER}/PE607.popef")).unwrap();
    let mut many = whole.clone();
    for _ in 0..1000 {
        many.extend_from_slice(&one[whole.len()..]);
    }
    let report = check(&[File::from_bytes(many).unwrap()], &CheckOptions::new());
    assert_eq!(report.findings.len(), 100);
    assert!(report.skipped.iter().any(|skipped| skipped.what == "900 more findings of PE006"), "{:?}", report.skipped);
}

/// Bytes changed one by one, everything checked: whatever comes of it, it is findings and no panic.
#[test]
fn no_bytes_bring_the_check_down() {
    let mut options = all_loaders();
    options.deep(true).policy(policy("PE709"));
    for id in ["PE308", "PE613"] {
        let bytes = fs::read(format!("{FOLDER}/{id}.popef")).unwrap();
        for at in 0..bytes.len() {
            for value in [bytes[at].wrapping_add(1), bytes[at] ^ 0x80] {
                let mut changed = bytes.clone();
                changed[at] = value;
                let file = OpenOptions::new().damaged(true).bytes(changed).unwrap();
                let report = check(&[file], &options);
                assert!(report.findings.iter().all(|finding| !finding.message.contains(char::is_control)));
            }
        }
    }
}

/// docs/CHECKS.md is made from the table.
#[test]
fn the_list_of_checks_is_current() {
    let mut text = String::from(CHECKS_HEAD);
    for (title, rules) in Rule::groups() {
        write!(text, "\n## {title}\n").unwrap();
        for rule in rules {
            let condition = rule.condition().map(|condition| format!(", {condition}")).unwrap_or_default();
            write!(text, "\n### {}: {}\n\n*{}{condition}.* ", rule.id, rule.title, capital(rule.severity)).unwrap();
            write!(text, "{}\n\n**To mend it:** {}\n", rule.meaning, rule.mend).unwrap();
        }
    }
    is_as_before("../docs/CHECKS.md", &text);
}

fn capital(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "Note",
        Severity::Warning => "Warning",
        Severity::Error => "Error",
    }
}

const CHECKS_HEAD: &str = "\
# The checks

All that `popef::check` looks for. Made from the table of rules in `popef/src/check/`; after a change there,
`POPEF_RENEW=1 cargo test -p popef --test check checks::` writes this page anew.

An *error* will fail, or nobody can say what it will do. A *warning* is likely not meant. A *note* is worth knowing, and
right in many files. A policy can change the severity of each rule, and turn it off. The id of a rule never becomes that of
another one. For each rule there is a file that breaks it, `testdata/checks/ID.popef`, and beside it what is found.
";

#[cfg(feature = "serde")]
mod serde_of_checks {
    use super::{CheckOptions, Extent, FOLDER, Level, Policy, check, open};

    #[test]
    fn a_policy_is_read_as_it_is_documented() {
        let text = r#"{
            "max-file-size": 1000, "compressed-executables": true, "num-ipus": 4,
            "rules": {"PE008": "off"},
            "inputs": [{"name": "images", "data-type": "f16", "shape": ["?", 3]}]
        }"#;
        let policy: Policy = serde_json::from_str(text).unwrap();
        assert_eq!(policy.rules["PE008"], Level::Off);
        assert_eq!(policy.inputs[0].shape.as_deref(), Some(&[Extent::Any, Extent::Exactly(3)][..]));
        let again = serde_json::to_string(&policy).unwrap();
        assert_eq!(serde_json::from_str::<Policy>(&again).unwrap(), policy);
        assert!(serde_json::from_str::<Policy>(r#"{"max-size": 1}"#).is_err());
        for extent in ["-1", r#""x""#] {
            let text = format!(r#"{{"inputs": [{{"name": "x", "shape": [{extent}]}}]}}"#);
            let error = serde_json::from_str::<Policy>(&text).unwrap_err().to_string();
            assert!(error.contains("a number that is not negative, or \"?\""), "{error}");
        }
    }

    #[test]
    fn a_report_serialises() {
        let report = check(&[open(&format!("{FOLDER}/PE201.popef"))], &CheckOptions::new());
        let value = serde_json::to_value(&report).unwrap();
        assert_eq!(value["findings"][0]["rule"], "PE201");
        assert_eq!(value["findings"][0]["severity"], "error");
    }
}
