//! Comparisons of two profiles. The expected numbers come from `facts.json`, which the generator of the samples computed.

use poplar_inspect::profile::{
    DiffSubject, DiffTolerance, DiffValue, NotCompared, ProfileDiff, ProfileVerdict, Report, profile_diff,
};
use serde_json::{Value, json};

use crate::{CASES, bytes, case, json, read};

fn diff<'r>(a: &'r Report, b: &'r Report) -> ProfileDiff<'r> {
    profile_diff(a, b, &DiffSubject::ALL, DiffTolerance::default())
}

#[test]
fn a_profile_is_the_same_as_itself_in_any_format() {
    for name in CASES {
        let report = case(name);
        let diff = diff(&report, &report);
        assert_eq!(diff.verdict, ProfileVerdict::Same, "{name}: {diff:?}");
        assert!(diff.same_values > 0 && diff.differences.is_empty() && diff.not_compared.is_empty(), "{name}");
    }
    let halves =
        |graph: &str, execution: &str| read(&bytes(graph)).unwrap().join(read(&bytes(execution)).unwrap()).unwrap();
    let cbor = halves("tiny.graph.cbor", "tiny.execution.cbor");
    let both = read(&bytes("tiny.report.json")).unwrap();
    for other in [&cbor, &both] {
        assert_eq!(diff(&case("tiny"), other).verdict, ProfileVerdict::Same);
    }
}

/// The values of all pairs of samples are those of their facts, and each value that differs there is found.
#[test]
fn values_are_those_of_the_facts() {
    for a in CASES {
        for b in CASES {
            let (one, other) = (case(a), case(b));
            let diff = diff(&one, &other);
            let facts = [json(&format!("{a}.facts.json")), json(&format!("{b}.facts.json"))];
            let mut expected = Vec::new();
            for (path, subject, name, measure) in compared(&facts) {
                let [one, other] = [0, 1].map(|side| facts[side].pointer(&path).cloned().unwrap_or(Value::Null));
                if one != other {
                    expected.push((subject, name, measure, one, other));
                }
            }
            assert!(expected.len() > 3 || a == b, "{a} {b}: {expected:?}");
            for (subject, name, measure, one, other) in expected {
                let found = diff.differences.iter().find(|found| {
                    found.subject == subject && found.name == name.as_deref() && found.measure == measure
                });
                let found = found.unwrap_or_else(|| panic!("{a} {b}: {subject:?} {name:?} {measure}: {one} {other}"));
                assert_eq!([found.a, found.b].map(value), [one, other], "{a} {b}: {found:?}");
            }
        }
    }
}

/// The paths of facts, and what a difference calls them.
fn compared(facts: &[Value; 2]) -> Vec<(String, DiffSubject, Option<String>, &'static str)> {
    let memory = |path: &str, measure| (format!("/memory/{path}"), DiffSubject::Memory, None, measure);
    let mut all = vec![
        memory("withGaps/max", "fullestTile"),
        memory("withGaps/sum", "allTiles"),
        memory("withoutGaps/max", "fullestTileData"),
        memory("overMemory/overflowedBytes", "overflowed"),
        memory("liveness/alwaysLiveSum", "alwaysLive"),
        memory("liveness/peakNotAlwaysLiveBytes", "peakNotAlwaysLive"),
        ("/target/numTiles".to_owned(), DiffSubject::Target, None, "numTiles"),
        ("/graph/numEdges".to_owned(), DiffSubject::Graph, None, "numEdges"),
        ("/execution/profilerMode".to_owned(), DiffSubject::Execution, None, "profilerMode"),
    ];
    let cycles = |facts: &Value| facts.pointer("/execution/simulation/cycles").is_some_and(Value::is_u64);
    if facts.iter().all(cycles) {
        all.push(("/execution/simulation/cycles".to_owned(), DiffSubject::Execution, None, "cycles"));
    }
    for side in facts {
        for name in side["memory"]["byCategory"].as_object().unwrap().keys() {
            let path = format!("/memory/byCategory/{name}/total");
            all.push((path, DiffSubject::Category, Some(name.clone()), "size"));
        }
    }
    all
}

fn value(value: Option<DiffValue<'_>>) -> Value {
    match value {
        None => Value::Null,
        Some(DiffValue::Number(number)) => json!(number),
        Some(DiffValue::Word(word)) => json!(word),
    }
}

#[test]
fn what_only_one_report_has_is_no_difference() {
    let whole = case("tiny");
    let graph = read(&bytes("tiny.graph.json")).unwrap();
    let diff = diff(&whole, &graph);
    assert_eq!(diff.verdict, ProfileVerdict::NotComparable, "{diff:?}");
    assert!(diff.differences.is_empty() && diff.same_values > 0);
    let subjects: Vec<_> = diff.not_compared.iter().map(|it| (it.subject, it.measure, it.in_a, it.in_b)).collect();
    assert_eq!(subjects, [(DiffSubject::Execution, None, true, false), (DiffSubject::Step, None, true, false)]);

    // Cycles of compute sets are measured in one, and estimated in the other: they are compared only if both were measured.
    let only_sets = profile_diff(&whole, &graph, &[DiffSubject::ComputeSet], DiffTolerance::default());
    assert_eq!(only_sets.verdict, ProfileVerdict::Same);

    let mut without: Value = json("tiny.graph.json");
    without["memory"].as_object_mut().unwrap().remove("liveness");
    let without = read(without.to_string().as_bytes()).unwrap();
    let diff = profile_diff(&without, &graph, &DiffSubject::ALL, DiffTolerance::default());
    let live = |measure: &NotCompared| (measure.measure, measure.values, measure.in_a, measure.in_b);
    let live: Vec<_> = diff.not_compared.iter().map(live).collect();
    assert_eq!(live, [(Some("alwaysLive"), 1, false, true), (Some("peakNotAlwaysLive"), 1, false, true)]);
    assert_eq!(profile_diff(&whole, &whole, &[], DiffTolerance::default()).verdict, ProfileVerdict::NotComparable);
}

/// Sums of the memory stay the same. Each change is found, and nothing else.
#[test]
fn what_no_sum_of_memory_shows_is_found() {
    let graph = json("oom.graph.json");
    type Change = fn(&mut Value);
    let changes: [(&str, Change, DiffSubject); 4] = [
        ("two tiles changed places", |graph| swap_tiles(&mut graph["memory"]["byTile"]), DiffSubject::Tile),
        ("exchanges grow", |graph| grow(&mut graph["exchanges"]), DiffSubject::Exchange),
        (
            "a vertex type has another name",
            |graph| graph["vertexTypes"]["names"][0] = json!("other"),
            DiffSubject::VertexType,
        ),
        ("a program is of another type", |graph| graph["programs"][1]["type"] = json!("other"), DiffSubject::Program),
    ];
    let before = read(graph.to_string().as_bytes()).unwrap();
    for (what, change, expected) in changes {
        let mut changed = graph.clone();
        change(&mut changed);
        let after = read(changed.to_string().as_bytes()).unwrap();
        let mut subjects: Vec<_> = diff(&before, &after).differences.iter().map(|found| found.subject).collect();
        subjects.dedup();
        assert_eq!(subjects, [expected], "{what}");
    }
}

/// Makes the numbers of all lists three times as large.
fn grow(value: &mut Value) {
    match value {
        Value::Object(members) => members.values_mut().for_each(grow),
        Value::Array(items) => items.iter_mut().for_each(grow),
        Value::Number(number) => *value = json!(number.as_u64().unwrap() * 3),
        _ => {}
    }
}

fn swap_tiles(by_tile: &mut Value) {
    for tiles in by_tile.as_object_mut().unwrap().values_mut() {
        tiles.as_array_mut().unwrap().swap(5, 6);
    }
}

/// A tolerance is inclusive, and relative to the second number.
#[test]
fn tolerances_count_from_the_second_number() {
    let changed = |bytes: u64| {
        let mut report: Value = json("tiny.graph.json");
        for tile in report["memory"]["byTile"]["totalIncludingGaps"].as_array_mut().unwrap() {
            *tile = json!(bytes);
        }
        report["memory"]["byTile"].as_object_mut().unwrap().retain(|key, _| key == "totalIncludingGaps");
        read(report.to_string().as_bytes()).unwrap()
    };
    let (a, b) = (changed(1100), changed(1000));
    let verdict = |absolute, relative| {
        let diff = profile_diff(&a, &b, &[DiffSubject::Memory], DiffTolerance { absolute, relative });
        diff.differences.iter().any(|difference| difference.measure == "fullestTile")
    };
    assert!(verdict(0.0, 0.0) && verdict(99.0, 0.0) && verdict(0.0, 0.099) && verdict(50.0, 0.049));
    assert!(!verdict(100.0, 0.0) && !verdict(0.0, 0.1) && !verdict(50.0, 0.05));
}

/// Items of one name are summed up, and a name of only one profile is a difference.
#[test]
fn names_need_not_be_unique() {
    let named = |names: [&str; 2]| {
        let mut report: Value = json("tiny.execution.json");
        let steps = report["simulation"]["steps"].as_array_mut().unwrap();
        let mut computing = steps.iter_mut().filter(|step| step["type"] == "OnTileExecute");
        for name in names {
            let step = computing.next().unwrap();
            step["name"] = json!(name);
        }
        read(report.to_string().as_bytes()).unwrap()
    };
    let (a, b) = (named(["one", "one"]), named(["one", "two"]));
    let diff = profile_diff(&a, &b, &[DiffSubject::Step], DiffTolerance::default());
    let counts: Vec<_> = diff.differences.iter().filter(|it| it.measure == "count").collect();
    let numbers = |number| Some(DiffValue::Number(number));
    let found: Vec<_> = counts.iter().map(|it| (it.name, it.a, it.b, it.change())).collect();
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.contains(&(Some("one"), numbers(2), numbers(1), Some(-1))), "{found:?}");
    assert!(found.contains(&(Some("two"), None, numbers(1), None)), "{found:?}");
}
