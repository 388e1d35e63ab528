//! What the rules find in the samples, and in reports that break one rule each (testdata/profile/rules).

use std::collections::{BTreeMap, BTreeSet};

use popef_findings::{Level, Report as Proposed, Severity};
use poplar_inspect::profile::{Policy, Report, consistency, facts, propose, rule, rules};
use proptest::prelude::*;
use serde_json::Value;

use crate::{CASES, bytes, json, read, testdata};

/// A report, with its execution profile if there is one.
fn report(name: &str) -> Report {
    let graph = read(&bytes(&format!("{name}.graph.json"))).unwrap();
    let execution = format!("{name}.execution.json");
    if !testdata().join(&execution).exists() {
        return graph;
    }
    graph.join(read(&bytes(&execution)).unwrap()).unwrap()
}

fn proposed(report: &Report, policy: &Policy) -> Proposed {
    let (graph, execution) = (report.graph.as_ref().unwrap(), report.execution.as_ref());
    let consistency = execution.and_then(|execution| consistency(graph, execution));
    propose(graph, execution, &facts(graph, execution), consistency.as_ref(), policy)
}

fn ids(proposed: &Proposed) -> BTreeSet<&'static str> {
    proposed.findings.iter().map(|finding| finding.rule.id).collect()
}

fn expected() -> BTreeMap<String, BTreeSet<String>> {
    serde_json::from_value(json("rules/expect.json")).unwrap()
}

#[test]
fn rules_find_what_is_there_and_nothing_else() {
    let expected = expected();
    assert!(CASES.iter().all(|case| expected.contains_key(*case)));
    let mut found = BTreeSet::new();
    for (name, expected) in &expected {
        let report = report(name);
        let ids = ids(&proposed(&report, &Policy::default()));
        assert_eq!(&ids.iter().map(ToString::to_string).collect::<BTreeSet<_>>(), expected, "{name}");
        found.extend(ids);
    }
    let all = rules().flat_map(|(_, rules)| rules).filter(|rule| rule.condition().is_none());
    assert_eq!(all.map(|rule| rule.id).collect::<BTreeSet<_>>(), found, "each rule finds something in some report");
}

#[test]
fn ids_are_unique_and_in_order_and_texts_are_sentences() {
    let all: Vec<_> = rules().flat_map(|(_, rules)| rules).collect();
    assert!(all.is_sorted_by(|one, other| one.id < other.id));
    for one in all {
        assert!(one.id.len() == 5 && one.id.starts_with("PP"), "{one:?}");
        assert!(one.meaning.ends_with('.') && one.fix.ends_with('.') && !one.title.ends_with('.'), "{one:?}");
        assert_eq!(rule(&one.id.to_lowercase()), Some(one));
    }
}

/// The limits are those that just hold; one less is too little. The figures are those of the samples' facts.
#[test]
fn limits_hold_to_the_last_byte_and_cycle() {
    let facts = json("tiny.facts.json");
    let number = |path: &str| facts.pointer(path).and_then(Value::as_u64).unwrap();
    let tile = number("/memory/withGaps/max");
    let total = number("/memory/liveness/alwaysLivePlusMaxNotAlwaysLive");
    let cycles = number("/execution/cycles");
    let tiny = report("tiny");
    let limited = |change: &dyn Fn(&mut Policy)| {
        let mut policy = Policy::default();
        change(&mut policy);
        ids(&proposed(&tiny, &policy)).into_iter().filter(|id| id.starts_with("PP4")).collect::<Vec<_>>()
    };
    assert!(limited(&|policy| (policy.max_tile, policy.max_total) = (Some(tile), Some(total))).is_empty());
    assert!(limited(&|policy| (policy.max_cycles, policy.min_balance) = (Some(cycles), Some(0.5))).is_empty());
    assert_eq!(limited(&|policy| policy.max_tile = Some(tile - 1)), ["PP401"]);
    assert_eq!(limited(&|policy| policy.max_total = Some(total - 1)), ["PP402"]);
    assert_eq!(limited(&|policy| policy.max_cycles = Some(cycles - 1)), ["PP403"]);
    assert_eq!(limited(&|policy| policy.min_balance = Some(0.500_001)), ["PP404"]);
}

/// A limit that cannot be checked has not passed.
#[test]
fn limits_that_cannot_be_checked_fail() {
    let mut policy = Policy::default();
    (policy.max_tile, policy.max_total) = (Some(1), Some(1));
    (policy.max_cycles, policy.min_balance) = (Some(1), Some(0.5));
    let bare = proposed(&report("rules/no-memory"), &policy);
    let failed: Vec<_> = bare.skipped.iter().filter(|skipped| skipped.failed).map(ToString::to_string).collect();
    assert_eq!(
        failed,
        [
            "not checked: PP401, PP402: the report has no memory",
            "not checked: PP403, PP404: there is no execution profile"
        ]
    );
    assert!(bare.findings.is_empty() && !bare.is_complete());
    let unknown = proposed(&report("host"), &policy);
    assert!(unknown.skipped.iter().any(|skipped| skipped.failed && skipped.what == "PP403"), "{unknown:?}");
}

#[test]
fn a_policy_sets_severities() {
    let oom = report("oom");
    let mut policy = Policy::default();
    policy.rules.insert("pp101".to_owned(), Level::Note);
    policy.rules.insert("PP201".to_owned(), Level::Off);
    let findings = proposed(&oom, &policy);
    let not_fit = findings.findings.iter().find(|finding| finding.rule.id == "PP101").unwrap();
    assert_eq!(not_fit.severity, Severity::Note);
    assert!(!ids(&findings).contains("PP201"));
}

/// Removes the member at a path such as `memory/byTile/total`.
fn without(document: &mut Value, path: &[&str]) -> bool {
    match path {
        [last] => document.as_object_mut().is_some_and(|members| members.remove(*last).is_some()),
        [first, rest @ ..] => document.get_mut(*first).is_some_and(|inner| without(inner, rest)),
        [] => false,
    }
}

/// Missing parts lead to no findings: a report with a part removed has no finding that the whole report does not have.
#[test]
fn missing_parts_lead_to_no_conclusion() {
    let parts: [&[&str]; 18] = [
        &["memory"],
        &["memory", "byTile"],
        &["memory", "byTile", "total"],
        &["memory", "byTile", "totalIncludingGaps"],
        &["memory", "byTile", "nonInterleaved"],
        &["memory", "byTile", "nonInterleavedIncludingGaps"],
        &["memory", "byTile", "overflowed"],
        &["memory", "byCategory"],
        &["memory", "byVertexType"],
        &["memory", "byVertexType", "codeBytes"],
        &["memory", "liveness"],
        &["memory", "liveness", "alwaysLive"],
        &["memory", "liveness", "notAlwaysLive"],
        &["memory", "liveness", "notAlwaysLive", "byProgram"],
        &["target", "bytesPerTile"],
        &["vertexTypes"],
        &["simulation", "tileCycles", "compute"],
        &["simulation", "cycles"],
    ];
    let mut policy = Policy::default();
    (policy.max_tile, policy.max_total) = (Some(1), Some(1));
    (policy.max_cycles, policy.min_balance) = (Some(1), Some(0.9));
    let mut skipped = BTreeSet::new();
    for name in expected().keys() {
        let whole = proposed(&report(name), &policy);
        for part in parts {
            let mut halves = ["graph", "execution"].map(|half| {
                let file = format!("{name}.{half}.json");
                testdata().join(&file).exists().then(|| json(&file))
            });
            if !halves.iter_mut().flatten().any(|half| without(half, part)) {
                continue;
            }
            let read = |half: &Option<Value>| half.as_ref().map(|half| read(half.to_string().as_bytes()).unwrap());
            let (graph, execution) = (read(&halves[0]).unwrap(), read(&halves[1]));
            let cut = match execution {
                Some(execution) => graph.join(execution).unwrap(),
                None => graph,
            };
            let cut = proposed(&cut, &policy);
            assert!(ids(&cut).is_subset(&ids(&whole)), "{name} without {part:?}: {:?}", cut.findings);
            let lost: Vec<_> = ids(&whole).difference(&ids(&cut)).copied().collect();
            let said: String = cut.skipped.iter().map(|skipped| skipped.what.clone() + " ").collect();
            assert!(lost.iter().all(|id| said.contains(id)), "{name} without {part:?}: {lost:?} are not among {said}");
            skipped.extend(lost);
        }
    }
    assert!(skipped.len() > 10, "{skipped:?}");
}

/// A policy, and one that is at least as strict in everything.
fn stricter() -> impl Strategy<Value = (Policy, Policy)> {
    let unit = || 0.0..=1.0_f64;
    (prop::collection::vec((unit(), unit()), 18), any::<[bool; 4]>()).prop_map(|(values, limits)| {
        let (mut loose, mut strict) = (Policy::default(), Policy::default());
        let mut values = values.into_iter();
        let mut next = |scale: f64, least: bool| {
            let (value, part) = values.next().unwrap();
            let harder = if least { value + (1.0 - value) * part } else { value * part };
            (value * scale, harder * scale)
        };
        (loose.full, strict.full) = next(2.0, false);
        (loose.max_over_median, strict.max_over_median) = next(4.0, false);
        (loose.max_exchange_code, strict.max_exchange_code) = next(0.5, false);
        (loose.max_control_code, strict.max_control_code) = next(0.5, false);
        (loose.max_always_live, strict.max_always_live) = next(1.0, false);
        (loose.max_temporary, strict.max_temporary) = next(1.0, false);
        (loose.max_gaps, strict.max_gaps) = next(0.5, false);
        (loose.max_twin_code, strict.max_twin_code) = next(0.1, false);
        (loose.heavy_step, strict.heavy_step) = next(0.3, false);
        (loose.min_step_balance, strict.min_step_balance) = next(1.0, true);
        (loose.min_active_tiles, strict.min_active_tiles) = next(1.0, true);
        (loose.min_threads, strict.min_threads) = next(1.0, true);
        (loose.max_sync, strict.max_sync) = next(1.0, false);
        (loose.max_host, strict.max_host) = next(1.0, false);
        (loose.heavy_copies, strict.heavy_copies) = next(1.0, false);
        (loose.min_overlap, strict.min_overlap) = next(1.0, true);
        let (balance, more) = next(1.0, true);
        (loose.min_balance, strict.min_balance) = (limits[0].then_some(balance), Some(more));
        let (size, less) = next(400_000.0, false);
        (loose.max_tile, strict.max_tile) = (limits[1].then_some(size as u64), Some(less as u64));
        (loose.max_total, strict.max_total) = (limits[2].then_some(size as u64 * 9), Some(less as u64 * 9));
        (loose.max_cycles, strict.max_cycles) = (limits[3].then_some(size as u64 / 9), Some(less as u64 / 9));
        (loose, strict)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(60) })]

    /// A stricter policy finds everything that a policy finds.
    #[test]
    fn stricter_policies_never_find_less((loose, strict) in stricter(), case in 0..25_usize) {
        let name = expected().into_keys().nth(case).unwrap();
        let report = report(&name);
        let counts = |policy: &Policy| {
            let mut counts = BTreeMap::new();
            for finding in proposed(&report, policy).findings {
                *counts.entry(finding.rule.id).or_insert(0_u32) += 1;
            }
            counts
        };
        let (loose, strict) = (counts(&loose), counts(&strict));
        for (id, count) in loose {
            prop_assert!(strict.get(id).is_some_and(|more| *more >= count), "{name}: {id}");
        }
    }
}
