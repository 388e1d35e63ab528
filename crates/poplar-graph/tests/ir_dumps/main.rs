//! IR dumps of PopART. All are made by `testdata/graph/make_graphs.py` or here, after PopART's public source: no dump of a real model is
//! public.

#![cfg(feature = "json")]

mod compare;

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::path::Path;

use popef::DataType;
use poplar_graph::{Calls, CodeLocation, Graph, IrDump, NoteKind, Op, Order};
use poplar_inspect::tiles::{ReadError, ReadErrorKind};
use serde_json::Value;

use ReadErrorKind::{Cut, NotJson, WrongForm};

fn testdata(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/graph").join(name)).unwrap()
}

#[track_caller]
fn read(json: &[u8]) -> IrDump {
    let dump = IrDump::read(json, Order::Unknown).unwrap();
    assert_eq!(dump.damage, None);
    dump
}

/// Ops without inputs and outputs.
fn ops(ops: &str) -> IrDump {
    read(format!(r#"{{"main" :[{ops}],"callee" :[]}}"#).as_bytes())
}

fn notes(dump: &IrDump) -> Vec<(NoteKind, u64, &str)> {
    dump.notes.iter().map(|note| (note.kind, note.count, note.first.as_str())).collect()
}

fn count<K: Ord>(keys: impl Iterator<Item = K>) -> BTreeMap<K, u64> {
    let mut counts = BTreeMap::new();
    keys.for_each(|key| *counts.entry(key).or_default() += 1);
    counts
}

/// The script that wrote the files counted all of this itself.
#[test]
fn dumps_are_read_as_they_were_written() {
    for name in ["train", "train-changed", "code-loading"] {
        let dump = read(&testdata(&format!("{name}.json")));
        let facts: Value = serde_json::from_slice(&testdata(&format!("{name}.facts.json"))).unwrap();
        let graphs: Vec<_> =
            dump.ir.graphs().iter().map(|it| (it.name.as_str(), it.ops.len(), it.tensors.len())).collect();
        let number = |value: &Value| usize::try_from(value.as_u64().unwrap()).unwrap();
        let expected = facts["graphs"].as_array().unwrap().iter();
        let expected: Vec<_> =
            expected.map(|it| (it["name"].as_str().unwrap(), number(&it["ops"]), number(&it["tensors"]))).collect();
        assert_eq!(graphs, expected, "{name}");
        let ops = || dump.ir.graphs().iter().flat_map(|graph| &graph.ops);
        let numbers = |number: fn(&Op) -> Option<i64>| {
            count(ops().map(|op| number(op).map_or("None".to_owned(), |number| number.to_string())))
        };
        for (key, ours) in [
            ("byType", count(ops().map(|op| op.op_type.clone()))),
            ("byIpu", numbers(|op| op.ipu)),
            ("byStage", numbers(|op| op.stage)),
            ("byPhase", numbers(|op| op.phase)),
        ] {
            assert_eq!(serde_json::to_value(ours).unwrap(), facts[key], "{name} {key}");
        }
        let parameters = dump.parameters();
        let of = |at: usize| dump.ir.graphs()[0].tensors[parameters[at].tensor.index()].name.clone();
        let ours: BTreeMap<_, _> = (0..parameters.len()).map(|at| (of(at), parameters[at].bytes)).collect();
        assert_eq!(serde_json::to_value(ours).unwrap(), facts["parameters"], "{name}");
        assert!(parameters.is_sorted_by_key(|parameter| std::cmp::Reverse(parameter.bytes)));
    }
}

#[test]
fn ops_have_their_settings() {
    let dump = read(&testdata("train.json"));
    let [main, step, ..] = dump.ir.graphs() else { panic!() };
    let op = |graph: &Graph, name: &str| graph.ops.iter().find(|op| op.name == name).unwrap().clone();
    let step_id = dump.ir.find("accumulate_step_subgraph(0)").unwrap();
    assert_eq!(op(main, "Loop_accumulate").calls, Calls::Repeat(step_id, Some(8)));
    let load = op(main, "load_step").loads.unwrap();
    assert_eq!((load.graph, load.destination), (step_id, CodeLocation::Executable));
    let copy = step.ops.iter().find(|op| op.op_type == "IpuCopy").unwrap();
    assert_eq!((copy.ipu, copy.stage, copy.attribute("__destIpu")), (None, Some(0), Some("1")));
    let nll = step.ops.iter().find(|op| op.op_type == "Nll").unwrap();
    assert_eq!((nll.ipu, nll.stage, nll.phase), (Some(1), Some(1), None));
    assert_eq!(
        nll.attributes.iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>(),
        ["recompute", "tileSet", "reductionType", "__execution_context", "scope"]
    );
    let labels = step.tensor(nll.input(1).unwrap()).unwrap();
    assert_eq!((labels.shape.as_deref(), labels.data_type), (Some(&[16][..]), Some(DataType::S32)));
    let loss = step.tensor(nll.output(0).unwrap()).unwrap();
    assert_eq!((loss.shape.as_deref(), loss.bytes()), (None, None), "nothing uses it, so a dump does not say");
    assert_eq!(notes(&dump), [(NoteKind::UnknownBranches, 1, "clip")]);
}

#[test]
fn only_an_order_that_is_possible_is_believed() {
    let train = IrDump::read(&testdata("train.json")[..], Order::Schedule).unwrap();
    assert_eq!((train.ir.order(), train.note(NoteKind::NoSchedule)), (Order::Schedule, None));
    let by_id = IrDump::read(&testdata("train-by-id.json")[..], Order::Schedule).unwrap();
    assert_eq!(by_id.ir.order(), Order::Unknown);
    assert!(by_id.note(NoteKind::NoSchedule).is_some());
    let sorted =
        |dump: &IrDump| count(dump.ir.graphs().iter().flat_map(|graph| &graph.ops).map(|op| op.op_type.clone()));
    assert_eq!(sorted(&train), sorted(&by_id));
}

/// PopART escapes nothing.
#[test]
fn names_may_have_quotes_and_backslashes() {
    let dump = read(&testdata("hostile.json"));
    let main = &dump.ir.graphs()[0];
    assert_eq!(main.name, r#"a "quoted" model"#);
    assert_eq!(main.tensors[0].name, r#"the "best", x"#);
    assert_eq!(main.ops[0].name, r#"C:\model\"add""#);
    assert_eq!(main.tensors[1].name, "<script>alert(1)</script>");
    assert_eq!(main.ops[1].attribute("note"), Some("a}b]c,d:e"));
    assert_eq!(dump.note(NoteKind::UnescapedText).map(|note| (note.count, note.offset)), Some((16, 2)));
    for name in [r#"a","b"#, r#"a"}b"#, r#"a\"#, r#"\"#, r#"""#, r#"a"]b"#, r#"a":b"#, r#"{"a":[1]"#, "a\nb", "é\"ü"]
    {
        let json = format!(
            r#"{{"main" :[{{"type":"A","name":"{name}","inputs":[{{"name":"{name}","shape":"[]"}}],"attributes":{{"x":"{name}"}}}}]}}"#
        );
        let dump = read(json.as_bytes());
        let graph = &dump.ir.graphs()[0];
        assert_eq!((graph.ops[0].name.as_str(), graph.tensors[0].name.as_str()), (name, name));
        assert_eq!(graph.ops[0].attribute("x"), Some(name));
    }
}

/// Other programs write the same JSON anew, and escape it.
#[test]
fn escaped_names_are_what_they_mean() {
    let json = br#"{"a \"b\" \u00e9" : [ {"name": "a\\b\n", "type": "A", "attributes": {"x": 7, "y": [1, {"z": null}], "__ipu_number": 3}} ] }"#;
    let dump = read(json);
    let graph = &dump.ir.graphs()[0];
    assert_eq!((graph.name.as_str(), graph.ops[0].name.as_str()), ("a \"b\" é", "a\\b\n"));
    let op = &graph.ops[0];
    assert_eq!((op.attribute("x"), op.attribute("y"), op.ipu), (Some("7"), Some(r#"[1, {"z": null}]"#), Some(3)));
    assert_eq!(dump.notes, []);
}

#[test]
fn bytes_that_are_no_text_are_written_out() {
    let dump = read(b"{\"main\" :[{\"type\":\"A\xff\",\"name\":\"\xc3\xa9\xc3\"}]}");
    let op = &dump.ir.graphs()[0].ops[0];
    assert_eq!((op.op_type.as_str(), op.name.as_str()), ("A\\xff", "é\\xc3"));
}

/// Each is read as far as it can be, and noted.
#[test]
fn what_is_odd_is_kept_and_noted() {
    use NoteKind::{
        Contradiction, GraphTwice, MadeTwice, MissingGraph, NoSchedule, UnknownBranches, UnknownDestination,
        UnknownKey, UnknownType, WrongNumber, WrongShape,
    };
    let same = |json: &str, kind: NoteKind, count: u64, first: &str| {
        assert_eq!(notes(&ops(json)), [(kind, count, first)], "{json}");
    };
    same(
        r#"{"type":"Call","name":"c","attributes":{"callee":"no"}},{"type":"Call","attributes":{"callee":"no"}}"#,
        MissingGraph,
        2,
        "no",
    );
    same(r#"{"type":"If","name":""}"#, UnknownBranches, 1, "If");
    same(r#"{"type":"A","later":{"x":[1]}}"#, UnknownKey, 1, "later");
    same(r#"{"type":"A","inputs":[{"name":"x","later":"1"}]}"#, UnknownKey, 1, "later");
    same(r#"{"type":"A","attributes":{"__ipu_number":"two"}}"#, WrongNumber, 1, "two");
    same(r#"{"type":"Loop","attributes":{"callee":"callee","tripCountValue":"-1"}}"#, WrongNumber, 1, "-1");
    same(r#"{"type":"A","inputs":[{"name":"x","index":"-1"}]}"#, WrongNumber, 1, "-1");
    same(r#"{"type":"A","inputs":[{"name":"x","shape":"[2 -1]"},{"name":"y","shape":"2"}]}"#, WrongShape, 2, "x");
    same(r#"{"type":"A","inputs":[{"name":"x","type":"FLOAT7"}]}"#, UnknownType, 1, "FLOAT7");
    same(
        r#"{"type":"RemoteCodeLoad","attributes":{"gid":"callee","destinationType":"moon"}}"#,
        UnknownDestination,
        1,
        "RemoteCodeLoad",
    );
    same(r#"{"type":"A","inputs":[{"name":"x","shape":"[2]"},{"name":"x","shape":"[3]"}]}"#, Contradiction, 1, "x");
    same(r#"{"type":"A","outputs":[{"name":"x"}]},{"type":"A","outputs":[{"name":"x"}]}"#, MadeTwice, 1, "x");
    same(r#"{"type":"A","inputs":[{"name":"x"}]},{"type":"A","outputs":[{"name":"x"}]}"#, NoSchedule, 1, "x");
    let twice = read(br#"{"main" :[{"type":"Call","attributes":{"callee":"a"}}],"a" :[{"type":"A"}],"a" :[]}"#);
    assert_eq!(notes(&twice), [(GraphTwice, 1, "a")]);
    let calls = &twice.ir.graphs()[0].ops[0].calls;
    assert_eq!(calls.iter().map(|callee| twice.ir.graph(callee.graph).unwrap().ops.len()).collect::<Vec<_>>(), [1]);
    let kept = ops(
        r#"{"type":"A","inputs":[{"name":"x","later":"1"}],"later":{"x":[1]},"attributes":{"__ipu_number":"two"}}"#,
    );
    let attributes = [("inputs.0.later", "1"), ("later", r#"{"x":[1]}"#), ("__ipu_number", "two")];
    assert_eq!(
        kept.ir.graphs()[0].ops[0].attributes,
        attributes.map(|(key, value)| (key.to_owned(), value.to_owned()))
    );
}

#[test]
fn a_loop_without_a_number_of_runs_has_none() {
    let dump = ops(
        r#"{"type":"Loop","attributes":{"callee":"callee","tripCountValue":"0"}},{"type":"Scan","attributes":{"callee":"callee"}}"#,
    );
    let callee = dump.ir.find("callee").unwrap();
    for op in &dump.ir.graphs()[0].ops {
        assert_eq!(op.calls, Calls::Repeat(callee, None));
    }
    assert_eq!(dump.notes, []);
}

/// A broken dump: the error, the number of ops before it, and its place.
struct Broken {
    what: &'static str,
    json: &'static str,
    /// `None` if the file is refused as a whole.
    kept: Option<usize>,
    kind: ReadErrorKind,
    message: &'static str,
    place: (usize, usize),
}

const GOOD: &str = r#"{"type":"A","name":"a","inputs":[],"outputs":[],"attributes":{}}"#;

#[rustfmt::skip]
const BROKEN: &[Broken] = &[
    Broken { what: "empty", json: "", kept: None, kind: Cut, message: "the file ends too early", place: (1, 1) },
    Broken { what: "space", json: " \n ", kept: None, kind: Cut, message: "the file ends too early", place: (2, 2) },
    Broken { what: "another format", json: "\u{7f}ELF", kept: None, kind: WrongForm, message: "an IR dump is not an object", place: (1, 1) },
    Broken { what: "a list", json: "[1]", kept: None, kind: WrongForm, message: "an IR dump is not an object", place: (1, 1) },
    Broken { what: "a tensor map", json: r#"{"mappings":{"c":[]}}"#, kept: None, kind: WrongForm, message: "a graph, which is a list of ops, is not a list", place: (1, 13) },
    Broken { what: "a list of numbers", json: r#"{"vars":[1,2]}"#, kept: None, kind: WrongForm, message: "an op is not an object", place: (1, 10) },
    Broken { what: "cut in a name", json: r#"{"m" :[GOOD,{"type":"A","name":"a"#, kept: Some(1), kind: Cut, message: "a text does not end", place: (1, 92) },
    Broken { what: "cut behind an op", json: r#"{"m" :[GOOD,"#, kept: Some(1), kind: Cut, message: "the file ends too early", place: (1, 73) },
    Broken { what: "cut between graphs", json: "{\"m\" :[GOOD]\n,", kept: Some(1), kind: Cut, message: "the file ends too early", place: (2, 2) },
    Broken { what: "an op without a type", json: r#"{"m" :[GOOD, {"name":"a"}]}"#, kept: Some(1), kind: WrongForm, message: "an op has no type", place: (1, 74) },
    Broken { what: "a tensor without a name", json: r#"{"m" :[GOOD,{"type":"A","inputs":[{"shape":"[]"}]}]}"#, kept: Some(1), kind: WrongForm, message: "an input or output of an op has no name", place: (1, 95) },
    Broken { what: "inputs that are a text", json: r#"{"m" :[GOOD,{"type":"A","inputs":"x"}]}"#, kept: Some(1), kind: WrongForm, message: "the inputs or outputs of an op is not a list", place: (1, 94) },
    Broken { what: "attributes in a list", json: r#"{"m" :[GOOD,{"type":"A","attributes":[]}]}"#, kept: Some(1), kind: WrongForm, message: "the attributes of an op is not an object", place: (1, 98) },
    Broken { what: "no comma", json: r#"{"m" :[GOOD GOOD]}"#, kept: Some(1), kind: NotJson, message: "',' or ']' after a value is missing", place: (1, 73) },
    Broken { what: "no colon", json: r#"{"m" :[GOOD,{"type" "A"}]}"#, kept: Some(1), kind: Cut, message: "a text does not end", place: (1, 74) },
    Broken { what: "no value", json: r#"{"m" :[GOOD,{"type":}]}"#, kept: Some(1), kind: NotJson, message: "a value is missing", place: (1, 81) },
    Broken { what: "a bracket of the other kind", json: r#"{"m" :[GOOD,{"type":"A","x":[1}]}"#, kept: Some(1), kind: NotJson, message: "a value, a comma or a bracket is missing", place: (1, 91) },
    Broken { what: "more behind it", json: r#"{"m" :[GOOD]} x"#, kept: Some(1), kind: NotJson, message: "something follows the end of the IR", place: (1, 75) },
];

#[test]
fn broken_dumps_keep_what_comes_before() {
    for broken in BROKEN {
        let json = broken.json.replace("GOOD", GOOD);
        let (kept, error) = match IrDump::read(json.as_bytes(), Order::Unknown) {
            Ok(dump) => (Some(dump.ir.graphs().iter().map(|it| it.ops.len()).sum()), dump.damage.expect(broken.what)),
            Err(error) => (None, error),
        };
        let ours: (Option<usize>, _, _, _) = (kept, error.kind, error.message.as_str(), (error.line, error.column));
        assert_eq!(ours, (broken.kept, broken.kind, broken.message, broken.place), "{}", broken.what);
    }
}

/// Every beginning of a file is damaged, and gives the ops that are complete in it.
#[test]
fn every_beginning_is_cut() {
    for (name, step) in [("train.json", 101), ("hostile.json", 17), ("code-loading.json", 1)] {
        let whole = testdata(name);
        let all: usize = read(&whole).ir.graphs().iter().map(|graph| graph.ops.len()).sum();
        let mut most = 0;
        for len in (0..whole.len()).step_by(step).chain([whole.len() - 1]) {
            match IrDump::read(&whole[..len], Order::Schedule) {
                Ok(dump) => {
                    assert!(dump.damage.is_some(), "{len}");
                    let kept = dump.ir.graphs().iter().map(|graph| graph.ops.len()).sum();
                    assert!(kept >= most && kept <= all, "{name} {len}");
                    most = kept;
                }
                Err(error) => assert_eq!((error.kind, most), (Cut, 0)),
            }
        }
        assert_eq!(most, all, "{name}");
    }
}

/// Nesting takes no stack.
#[test]
fn deep_nesting_is_harmless() {
    for (open, close) in [("[", "]"), (r#"{"a":"#, "}")] {
        let deep = format!("{}1{}", open.repeat(1 << 18), close.repeat(1 << 18));
        let dump = ops(&format!(r#"{{"type":"A","x":{deep}}}"#));
        assert_eq!(dump.ir.graphs()[0].ops[0].attribute("x"), Some(deep.as_str()));
        let cut = format!(r#"{{"main" :[{{"type":"A"}},{{"type":"A","x":{}"#, open.repeat(1 << 18));
        assert_eq!(IrDump::read(cut.as_bytes(), Order::Unknown).unwrap().damage.unwrap().kind, Cut);
    }
}

#[test]
fn a_disk_that_fails_is_an_error() {
    struct Fails;

    impl Read for Fails {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::ErrorKind::PermissionDenied.into())
        }
    }

    let error: ReadError = IrDump::read(br#"{"m" :["#.chain(Fails), Order::Unknown).unwrap_err();
    assert_eq!(error.kind, ReadErrorKind::Unreadable(io::ErrorKind::PermissionDenied));
}
