//! The facts of the sample reports, which other code computed (testdata/profile/NAME.facts.json).

use std::collections::BTreeSet;

use poplar_inspect::profile::{
    Consistency, ReadOptions, Report, Selection, Sort, consistency, copy_overlap, exchange_code, exchanges, facts,
    histogram, memory, steps, tiles, vertex_types,
};
use serde_json::{Value, json};

use crate::{CASES, bytes, case, json as document, read};

/// Asserts that all expected facts are there: integers are equal, and fractions up to 1e-9. There may be more facts.
fn hold(path: &str, ours: &Value, expected: &Value) {
    match (ours, expected) {
        (Value::Object(ours), Value::Object(expected)) => {
            for (key, expected) in expected {
                let path = format!("{path}.{key}");
                hold(&path, ours.get(key).unwrap_or_else(|| panic!("{path} is missing")), expected);
            }
        }
        (Value::Array(ours), Value::Array(expected)) => {
            assert_eq!(ours.len(), expected.len(), "{path}");
            ours.iter()
                .zip(expected)
                .enumerate()
                .for_each(|(nth, (ours, expected))| hold(&format!("{path}[{nth}]"), ours, expected));
        }
        (Value::Number(ours), Value::Number(expected)) if expected.is_f64() => {
            let (ours, expected) = (ours.as_f64().unwrap(), expected.as_f64().unwrap());
            assert!((ours - expected).abs() <= 1e-9, "{path}: {ours} and {expected}");
        }
        _ => assert_eq!(ours, expected, "{path}"),
    }
}

#[test]
fn the_facts_of_all_samples_are_found() {
    for name in CASES {
        let report = case(name);
        let graph = report.graph.as_ref().unwrap();
        let ours = serde_json::to_value(facts(graph, report.execution.as_ref())).unwrap();
        let mut expected = document(&format!("{name}.facts.json"));
        // The generator has this value, and the report does not.
        expected.as_object_mut().unwrap().remove("seed");
        hold(name, &ours, &expected);
        // Sections that cannot be known are left out, and not zero.
        let execution = |facts: &Value, key: &str| facts["execution"].get(key).is_some();
        for key in ["cycles", "seconds", "computeSets", "balance", "tileCycles"] {
            assert_eq!(execution(&ours, key), execution(&expected, key), "{name}: {key}");
        }
        assert_eq!(ours["programs"].get("inTrace"), expected["programs"].get("inTrace"), "{name}");
    }
}

/// The simulation follows from graph and trace. The generator's own code made it.
#[test]
fn simulations_are_recomputed() {
    // In one report, it is not known which tiles are in a step; in one, how long compute sets take.
    let unknown = [("model", Some(57)), ("host", Some(2))];
    for name in CASES.into_iter().filter(|name| *name != "none") {
        let report = case(name);
        let (graph, execution) = (report.graph.as_ref().unwrap(), report.execution.as_ref().unwrap());
        let consistency = consistency(graph, execution).unwrap();
        assert!(consistency.is_consistent(), "{name}: {:?}", consistency.differences);
        let steps = execution.simulation.as_ref().unwrap().steps.len() as u64;
        assert!(consistency.compared > steps * 3, "{name}: {} of {steps} steps", consistency.compared);
        let expected = unknown.iter().find(|case| case.0 == name).and_then(|case| case.1);
        assert_eq!(consistency.clocks_unknown_from, expected, "{name}");
    }
    let none = case("none");
    assert_eq!(consistency(none.graph.as_ref().unwrap(), none.execution.as_ref().unwrap()), None);
}

/// Each changed number of a simulation is found.
#[test]
fn wrong_simulations_are_found() {
    let graph = case("tiny").graph.unwrap();
    let sound = String::from_utf8(bytes("tiny.execution.json")).unwrap();
    #[rustfmt::skip]
    let changes = [
        (r#""cycles":258"#, r#""cycles":259"#, None, "cycles"),
        (r#""sync":164"#, r#""sync":165"#, None, "tileCycles.sync"),
        (r#""compute":264"#, r#""compute":0"#, None, "tileCycles.compute"),
        (r#""cyclesFrom":42"#, r#""cyclesFrom":41"#, Some(3), "cyclesFrom"),
        (r#""cyclesTo":91"#, r#""cyclesTo":92"#, Some(2), "cyclesTo"),
        (r#""cyclesOverlapped":20"#, r#""cyclesOverlapped":0"#, Some(2), "cyclesOverlapped"),
        (r#""tileBalance":0.75"#, r#""tileBalance":0.76"#, Some(2), "tileBalance"),
        (r#""activeTileBalance":0.75"#, r#""activeTileBalance":1"#, Some(2), "activeTileBalance"),
        (r#""threadBalance":0.2111111111111111"#, r#""threadBalance":0.3"#, Some(2), "threadBalance"),
        (r#""dataBalance":0.5"#, r#""dataBalance":0.25"#, Some(1), "dataBalance"),
        (r#""totalData":8"#, r#""totalData":16"#, Some(1), "totalData"),
        (r#""program":13"#, r#""program":12"#, Some(3), "program"),
        (r#"10,11,4,5,6]"#, r#"10,11,4,5]"#, None, "steps"),
        (r#"[0,1,2,3,7"#, r#"[0,2,1,3,7"#, Some(0), "type"),
    ];
    for (from, to, step, key) in changes {
        assert!(sound.contains(from), "{from}");
        let report = Report::read(sound.replacen(from, to, 1).as_bytes(), &ReadOptions::all()).unwrap();
        let Consistency { differences, .. } = consistency(&graph, report.execution.as_ref().unwrap()).unwrap();
        let found = differences.iter().any(|it| (it.step, it.key) == (step, key));
        assert!(found, "{to}: {differences:?}");
    }
}

/// Without the values of each tile, all sums are the same.
#[test]
fn sums_need_no_values_of_tiles() {
    for name in CASES {
        let read =
            |half: &str| Report::read(&bytes(&format!("{name}.{half}.json"))[..], &ReadOptions::default()).unwrap();
        let (short, full) = (read("graph").join(read("execution")).unwrap(), case(name));
        let facts = |report: &Report| {
            let mut facts =
                serde_json::to_value(facts(report.graph.as_ref().unwrap(), report.execution.as_ref())).unwrap();
            facts["execution"]["busiestTile"] = Value::Null;
            facts
        };
        assert_eq!(facts(&short), facts(&full), "{name}");
    }
}

#[test]
fn the_tables_are_sorted_and_cut() {
    let report = case("oom");
    let graph = report.graph.as_ref().unwrap();
    let fullest = tiles(graph, &Selection::largest(3), 2);
    let [first, ..] = &fullest[..] else { panic!() };
    // Facts of the generator: tile 17 has 386,608 bytes with its gaps, and 358,248 without.
    assert_eq!((fullest.len(), first.tile, first.size, first.data_size), (3, 17, 386_608, 358_248));
    assert_eq!(first.largest_categories.len(), 2);
    let numbers = std::slice::from_ref(&(17..19));
    let some = tiles(graph, &Selection::default().numbered(Some(numbers)).sorted(Sort::Number), 0);
    assert_eq!(some.iter().map(|row| row.tile).collect::<Vec<_>>(), [17, 18]);
    let histogram = histogram(graph, 8);
    assert_eq!(histogram.iter().map(|bucket| bucket.tiles).sum::<u64>(), 40);
    assert!(histogram.len() <= 8 && histogram.last().unwrap().to > 386_608);
    let named: Vec<_> = steps(report.execution.as_ref().unwrap(), &Selection::default().named(Some("relu"))).collect();
    assert!(!named.is_empty() && named.iter().all(|row| row.of.name.unwrap().contains("relu")));
    assert!(named.is_sorted_by_key(|row| std::cmp::Reverse(row.of.cycles)));
}

#[test]
fn steps_that_end_before_they_begin_are_odd_and_give_no_overlap() {
    let mut execution = document("tiny.execution.json");
    let steps = execution["simulation"]["steps"].as_array_mut().unwrap();
    let copy = steps.iter_mut().find(|step| step["type"] == "StreamCopy").unwrap();
    copy["cyclesTo"] = json!(copy["cyclesFrom"].as_u64().unwrap() - 1);
    let graph = read(&bytes("tiny.graph.json")).unwrap();
    let report = graph.join(read(execution.to_string().as_bytes()).unwrap()).unwrap();
    assert!(report.remarks.list.iter().any(|remark| remark.message.contains("cyclesTo is before cyclesFrom")));
    assert_eq!(copy_overlap(report.execution.as_ref().unwrap().simulation.as_ref().unwrap()), None);
}

#[test]
fn whether_all_fits_is_said_only_if_it_is_known() {
    let fits = |bytes: Option<u64>, by_tile: &Value| {
        let mut target = json!({"numIPUs": 1, "numTiles": 2, "tilesPerIPU": 2, "type": "IPU"});
        bytes.iter().for_each(|bytes| target["bytesPerTile"] = json!(bytes));
        let report = read(json!({"target": target, "memory": {"byTile": by_tile}}).to_string().as_bytes()).unwrap();
        memory(report.graph.as_ref().unwrap(), 1).unwrap().over_memory.fits
    };
    let all = &json!({"total": [5, 6], "totalIncludingGaps": [7, 11]});
    assert_eq!([Some(11), Some(10), None].map(|bytes| fits(bytes, all)), [Some(true), Some(false), None]);
    let (data, overflowed) = (&json!({"total": [5, 6]}), &json!({"total": [5, 6], "overflowed": [0, 1]}));
    assert_eq!([fits(Some(11), data), fits(None, overflowed)], [None, Some(false)]);
}

/// The sums of lists in the documents, made here in the simplest way.
#[test]
fn vertex_types_have_cycles_and_exchanges_code_by_instruction() {
    let mut measured = 0;
    for name in CASES {
        let (report, graph, execution) =
            (case(name), document(&format!("{name}.graph.json")), document(&format!("{name}.execution.json")));
        let numbers = |list: &Value| -> Vec<u64> {
            list.as_array().into_iter().flatten().map(|value| value.as_u64().unwrap()).collect()
        };
        let (cycles, types) = (numbers(&execution["vertexCycles"]), numbers(&execution["vertexType"]));
        measured += cycles.len();
        let rows = vertex_types(report.graph.as_ref().unwrap(), report.execution.as_ref(), &Selection::default());
        for row in &rows {
            let of_type: Vec<u64> = cycles
                .iter()
                .zip(&types)
                .filter(|(_, of)| **of == u64::from(row.vertex_type))
                .map(|(cycles, _)| *cycles)
                .collect();
            let estimates = &graph["computeSets"]["cycleEstimates"]["activeCyclesByVertexType"];
            let estimated =
                estimates.as_array().map(|sets| sets.iter().map(|set| numbers(set)[row.vertex_type as usize]).sum());
            let expected = if cycles.is_empty() { estimated } else { Some(of_type.iter().sum()) };
            assert_eq!(row.active_cycles, expected, "{name} {row:?}");
            let steps = execution["simulation"]["steps"].as_array();
            let runs = |set: usize| {
                steps.unwrap().iter().filter(|step| step["computeSet"].as_u64() == Some(set as u64)).count() as u64
            };
            let in_run = if steps.is_none() {
                None
            } else if cycles.is_empty() {
                estimates.as_array().map(|sets| {
                    sets.iter()
                        .enumerate()
                        .map(|(set, of)| numbers(of)[row.vertex_type as usize] * runs(set))
                        .sum::<u64>()
                })
            } else {
                let sets = numbers(&execution["vertexComputeSet"]);
                let each =
                    cycles.iter().zip(&types).zip(sets).filter(|((_, of), _)| **of == u64::from(row.vertex_type));
                Some(each.map(|((cycles, _), set)| cycles * runs(set as usize)).sum())
            };
            assert_eq!(row.active_cycles_in_run, in_run, "{name} {row:?}");
            let longest = of_type.iter().max().copied().unwrap_or_default();
            assert_eq!(row.max_vertex_cycles, (!cycles.is_empty()).then_some(longest), "{name} {row:?}");
        }
        let mut code = serde_json::Map::new();
        for (instruction, bytes) in graph["programs"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|program| program["memoryByInstruction"].as_object())
            .flatten()
        {
            if instruction != "total" {
                let before = code.get(instruction).and_then(Value::as_u64).unwrap_or_default();
                code.insert(instruction.clone(), (before + bytes.as_u64().unwrap()).into());
            }
        }
        assert_eq!(
            serde_json::to_value(exchange_code(report.graph.as_ref().unwrap())).unwrap(),
            Value::Object(code),
            "{name}"
        );
    }
    assert!(measured > 0, "a sample has measured vertices");
}

/// Counted cycle by cycle.
#[test]
fn copies_overlap_with_compute_as_the_steps_say() {
    let mut overlapped = 0;
    for name in CASES.into_iter().chain(["rules/overlap"]) {
        let steps = document(&format!("{name}.execution.json"))["simulation"]["steps"].take();
        let cycles = |kind: &str| -> BTreeSet<u64> {
            let of_kind = steps.as_array().into_iter().flatten().filter(|step| step["type"] == kind);
            of_kind
                .filter_map(|step| Some(step["cyclesFrom"].as_u64()?..=step["cyclesTo"].as_u64()?))
                .flatten()
                .collect()
        };
        let (copies, compute) = (cycles("StreamCopy"), cycles("OnTileExecute"));
        let report = case(name);
        let simulation = report.execution.as_ref().unwrap().simulation.as_ref();
        let Some(found) = simulation.and_then(copy_overlap) else { continue };
        let expected = (copies.len() as u64, copies.intersection(&compute).count() as u64);
        assert_eq!((found.copy_cycles, found.overlapped_cycles), expected, "{name}");
        overlapped += found.overlapped_cycles;
    }
    assert!(overlapped > 0, "in a sample, tiles compute during copies");
}

/// With a bound on lists by tile, lists that fit are kept, and nothing else is lost.
#[test]
fn large_lists_are_kept_as_sums() {
    let report = |each_tile: bool, most_bytes: Option<u64>| {
        let mut options = ReadOptions::default();
        options.each_tile = each_tile;
        options.most_bytes = most_bytes;
        Report::read(&*bytes("model.graph.json"), &options).unwrap()
    };
    let all = report(true, None);
    let known = |report: &Report| serde_json::to_value(facts(report.graph.as_ref().unwrap(), None)).unwrap();
    assert_eq!(known(&report(true, Some(0))), known(&all));
    assert_eq!(report(true, Some(1 << 20)), all);
    assert_ne!(report(false, None), all);
    let has_values = |report: &Report| {
        let graph = report.graph.as_ref().unwrap();
        let exchanges = graph.exchanges.cycles_by_tile.as_ref().unwrap();
        let sets = graph.compute_sets.cycle_estimates.as_ref().unwrap().cycles_by_tile.as_ref().unwrap();
        [exchanges.has_values(), sets.has_values()]
    };
    assert_eq!(has_values(&all), [true, true]);
    assert_eq!(has_values(&report(true, Some(0))), [false, false]);
    // One list of lists may be too large, and another not.
    assert!(
        (0..1 << 20)
            .step_by(16)
            .any(|most| has_values(&report(true, Some(most))).iter().filter(|kept| **kept).count() == 1)
    );
}

/// Exchanges are called like the first of their programs that has a name, and can be found by it.
#[test]
fn exchanges_have_names_of_programs() {
    let kinds = [("internal", "DoExchange"), ("external", "GlobalExchange"), ("host", "StreamCopy")];
    let mut named = 0;
    for name in CASES {
        let (report, document) = (case(name), document(&format!("{name}.graph.json")));
        let graph = report.graph.as_ref().unwrap();
        let in_order = Selection::default().sorted(Sort::Number);
        for row in exchanges(graph, None, &in_order) {
            let kind = serde_json::to_value(row.exchange_kind).unwrap();
            let (_, tag) = kinds.iter().find(|(of, _)| kind == *of).unwrap();
            let mut programs = document["programs"].as_array().unwrap().iter().filter(|program| {
                program["type"] == *tag && program["exchange"] == row.exchange && program["name"].is_string()
            });
            let expected = programs.next().map(|program| program["name"].as_str().unwrap());
            assert_eq!(row.name, expected, "{name} {row:?}");
            if let Some(part) = expected {
                named += 1;
                assert!(exchanges(graph, None, &in_order.clone().named(Some(part))).contains(&row), "{name} {row:?}");
            }
        }
        assert_eq!(exchanges(graph, None, &in_order.named(Some("no such name"))), []);
    }
    assert!(named > 0, "a sample has a named exchange");
}
