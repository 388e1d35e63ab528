//! The programs of profiling reports as graphs that call each other. The reports are synthetic (testdata/profile).

#![cfg(feature = "profile")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use poplar_graph::{CallGraph, GraphId, Ir};
use poplar_inspect::profile::{ProgramKind, ReadOptions, Report};
use serde_json::Value;

const CASES: [&str; 9] = ["tiny", "model", "hardware", "single-tile", "vertices", "external", "host", "oom", "none"];

fn bytes(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/profile").join(name)).unwrap()
}

/// The graphs of a report.
fn read(json: &[u8]) -> Ir {
    Ir::from_profile(&Report::read(json, &ReadOptions::default()).unwrap().graph.unwrap()).unwrap()
}

fn case(name: &str) -> Ir {
    read(&bytes(&format!("{name}.graph.json")))
}

/// How often each type of program is in the tree beneath a graph, with calls resolved: each callee of an op once.
fn types(ir: &Ir, graph: GraphId) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for op in &ir.graph(graph).unwrap().ops {
        let callees: Vec<_> = op.calls.iter().collect();
        if callees.is_empty() {
            *counts.entry(op.op_type.clone()).or_default() += 1;
        }
        for callee in callees {
            for (name, count) in types(ir, callee.graph) {
                *counts.entry(name).or_default() += count;
            }
        }
    }
    counts
}

#[test]
fn graphs_have_the_programs_of_the_tree_with_calls_resolved() {
    for name in CASES {
        let ir = case(name);
        let facts: Value = serde_json::from_slice(&bytes(&format!("{name}.facts.json"))).unwrap();
        let expected = facts["programs"]["inTreeCallsResolved"].as_object().unwrap();
        // Copies and executions may have others in them; they are ops only if they have none.
        let holds_others = |kind: &str| {
            ["Sequence", "Call", "Copy", "Execute"].contains(&kind) || ProgramKind::of(kind).is_container()
        };
        let expected: BTreeMap<String, u64> = expected
            .iter()
            .filter(|(kind, _)| !holds_others(kind))
            .map(|(kind, count)| (kind.clone(), count.as_u64().unwrap()))
            .collect();
        let mut found = types(&ir, ir.main().unwrap());
        found.retain(|kind, _| !holds_others(kind));
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn loops_and_choices_say_how_often_they_run_as_far_as_a_report_does() {
    let ir = case("model");
    let calls = CallGraph::new(&ir);
    let names: Vec<_> = ir.graphs().iter().map(|graph| graph.name.as_str()).collect();
    assert_eq!(names[..3], ["control programs", names[1], names[2]]);
    assert!(names[1].starts_with("function 0") && names[2].starts_with("function 1"), "{names:?}");
    for kind in ["Repeat ", "RepeatWhileTrue ", "If ", "Switch "] {
        assert!(names.iter().any(|name| name.starts_with(kind)), "{kind} in {names:?}");
    }
    assert!(calls.recursive.is_empty());
    // A program that many others have is a graph once, however many ways lead to it.
    let levels = 60;
    let sequences: Vec<_> =
        (1..=levels).map(|next| format!(r#"{{"type":"Sequence","children":[{next},{next}]}}"#)).collect();
    let json = format!(
        r#"{{"target":{{"numIPUs":1,"numTiles":1,"tilesPerIPU":1}},"controlPrograms":[0],"functionPrograms":[],"programs":[{},{{"type":"Sync"}}]}}"#,
        sequences.join(",")
    );
    let ir = read(json.as_bytes());
    assert_eq!(ir.graphs().len(), levels);
    assert!(ir.graphs().iter().all(|graph| graph.ops.len() <= 2));
}
