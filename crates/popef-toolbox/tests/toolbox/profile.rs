//! `popef profile`, with synthetic reports: no whole report of Poplar is public.

use std::fs;
use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

use crate::common::{Place, hold_golden, testdata};

#[test]
fn reports_are_shown() {
    let files = [
        "profile/oom.graph.json",
        "profile/oom.execution.json",
        "profile/host.graph.json",
        "profile/host.execution.json",
        "profile/odd/36-control-names.graph.json",
    ];
    let commands = [
        "profile oom.graph.json oom.execution.json --items 16",
        "profile oom.graph.json --by tile --top 4",
        "profile oom.graph.json --by category --top 3 --format csv",
        "profile oom.graph.json oom.execution.json --by step --name relu --top 3",
        "profile oom.graph.json oom.execution.json --by layer --depth 2 --top 5",
        "profile oom.graph.json oom.execution.json --by computeset --sort number --format csv",
        "profile oom.graph.json oom.execution.json --by program --top 12",
        "profile oom.graph.json --by vertex --top 2 --format ndjson",
        "profile oom.graph.json --by exchange --top 3",
        "profile host.graph.json host.execution.json",
        "profile 36-control-names.graph.json",
        "profile 36-control-names.graph.json --by program --format csv",
    ];
    hold_golden("profile", &files, &commands);
}

#[test]
fn findings_are_shown() {
    let files = [
        "profile/oom.graph.json",
        "profile/oom.execution.json",
        "profile/host.graph.json",
        "profile/host.execution.json",
        "profile/tiny.report.json",
        "profile/rules/healthy.graph.json",
        "profile/rules/healthy.execution.json",
        "profile/rules/policy.toml",
        "profile/rules/policy-unknown-rule.toml",
        "profile/rules/policy-wrong-share.toml",
    ];
    let commands = [
        "profile oom.graph.json oom.execution.json --check",
        "profile oom.execution.json oom.graph.json --check --format ndjson",
        "profile host.graph.json host.execution.json --check --strict --verbose",
        "profile host.graph.json host.execution.json --max-cycles 1000 -q",
        "profile healthy.graph.json healthy.execution.json --check",
        "profile healthy.graph.json healthy.execution.json --check --quiet",
        "profile healthy.graph.json healthy.execution.json --max-tile 256KiB --min-balance 0.8",
        "profile tiny.report.json --max-tile 128KiB --max-total 1KiB --max-cycles 257 --min-balance 0.6 --format github",
        "profile tiny.report.json --policy policy.toml --format junit",
        "profile tiny.report.json --policy policy.toml --max-cycles 258 --format sarif",
        "profile tiny.report.json --policy policy-unknown-rule.toml",
        "profile tiny.report.json --policy policy-wrong-share.toml",
        "profile tiny.report.json --policy no.toml",
        "profile tiny.report.json --max-tile many",
        "profile tiny.report.json --min-balance 2",
        "profile tiny.report.json --format sarif",
        "profile tiny.report.json --check --format csv",
        "profile tiny.report.json --check --by step",
        "profile tiny.report.json --check --quiet --format json",
        "explain PP101",
        "explain PP9O1 PP10",
    ];
    hold_golden("profile-findings", &files, &commands);
}

/// What a profile and a model have in common is compared, and the rest is said.
#[test]
fn models_are_compared() {
    let files = [
        "profile/tiny.graph.json",
        "profile/tiny.execution.json",
        "profile/hardware.graph.json",
        "profile/rules/no-memory.graph.json",
        "checks/PE225.popef",
        "interop/replicated.popef",
        "interop/split-tensors.popef",
    ];
    let commands = [
        "profile hardware.graph.json PE225.popef",
        "profile no-memory.graph.json replicated.popef",
        "profile tiny.graph.json PE225.popef tiny.execution.json",
        "profile tiny.graph.json split-tensors.popef",
        "profile tiny.graph.json PE225.popef --by tile",
        "profile tiny.graph.json PE225.popef --check",
    ];
    hold_golden("profile-models", &files, &commands);
}

#[test]
fn tiles_of_executables_are_counted() {
    let place = Place::with(&["profile/rules/healthy.graph.json", "profile/tiny.graph.json"]);
    let archive = fs::read(testdata().join("executables/models.popef")).unwrap();
    let whole = popef::File::from_bytes(archive).unwrap();
    let mut executable = Vec::new();
    whole.executable("whole").unwrap().unpack().unwrap().read_to_end(&mut executable).unwrap();
    let mut model = Vec::new();
    let mut writer = popef::Writer::stream(&mut model);
    writer.write_executable("whole", &executable[..]).unwrap();
    writer.write_metadata(&popef::Metadata { executable: "whole".into(), ..Default::default() }).unwrap();
    writer.finish().unwrap();
    place.write("model.popef", &model);
    for (profile, agree) in [("healthy", true), ("tiny", false)] {
        let run = place.run(&["profile", &format!("{profile}.graph.json"), "model.popef", "--format", "json"]).good();
        let compared = run.json()["model"]["models"][0]["compared"].as_array().unwrap().clone();
        let tiles = compared.iter().find(|one| one["what"] == "tiles of the executable, unverified").unwrap();
        assert_eq!((&tiles["model"], &tiles["agree"]), (&"8".into(), &agree.into()), "{tiles}");
    }
}

#[test]
fn what_cannot_be_read_is_told() {
    let files = [
        "profile/tiny.graph.json",
        "profile/tiny.execution.json",
        "profile/odd/01-truncated.graph.json",
        "profile/odd/12-negative.graph.json",
        "profile/odd/27-trace.execution.json",
        "profile/odd/34-no-simulation.execution.json",
        "tiles/vars.json",
    ];
    let commands = [
        "profile no.json",
        "profile 01-truncated.graph.json",
        "profile 12-negative.graph.json --format json",
        "profile tiny.graph.json 27-trace.execution.json",
        "profile tiny.graph.json 34-no-simulation.execution.json",
        "profile tiny.execution.json",
        "profile tiny.graph.json tiny.graph.json",
        "profile - -",
        "profile vars.json",
        "profile tiny.graph.json --by step",
        "profile tiny.graph.json --format csv",
    ];
    hold_golden("profile-mistakes", &files, &commands);
}

#[test]
fn two_reports_are_compared() {
    let files = [
        "profile/tiny.graph.json",
        "profile/tiny.execution.json",
        "profile/oom.graph.json",
        "profile/oom.execution.json",
        "profile/odd/36-control-names.graph.json",
    ];
    let commands = [
        "profile diff tiny.graph.json oom.graph.json --executions tiny.execution.json oom.execution.json --top 3",
        "profile diff tiny.graph.json tiny.graph.json",
        "profile diff tiny.graph.json oom.graph.json --executions tiny.execution.json oom.execution.json --by step --format csv",
        "profile diff tiny.graph.json oom.graph.json --by tile --by category --rtol 1e9",
        "profile diff tiny.graph.json 36-control-names.graph.json",
        "profile diff tiny.graph.json tiny.execution.json",
        "profile diff -q tiny.graph.json oom.graph.json",
        "profile diff - -",
        "profile diff tiny.graph.json no.json --format json",
        "profile diff tiny.graph.json oom.graph.json --rtol -1",
    ];
    hold_golden("profile-diff", &files, &commands);
}

/// The JSON has the facts that the generator of the samples computed.
#[test]
fn facts_have_the_keys_of_the_samples() {
    let place = Place::with(&["profile/model.graph.json", "profile/model.execution.json"]);
    let run = place.run(&["profile", "model.graph.json", "model.execution.json", "--format", "json"]);
    let ours = &run.good().json()["facts"];
    let bytes = fs::read(testdata().join("profile/model.facts.json")).unwrap();
    let expected: Value = serde_json::from_slice(&bytes).unwrap();
    for key in expected.as_object().unwrap().keys().filter(|key| *key != "seed") {
        assert!(ours.get(key).is_some(), "{key}");
    }
    assert_eq!(ours["programs"], expected["programs"]);
    assert_eq!(ours["memory"]["liveness"], expected["memory"]["liveness"]);
}

/// JSON, CBOR, gzip, a pipe, one file or two: the same report.
#[test]
fn it_makes_no_difference_how_a_report_is_kept() {
    let names = ["graph.json", "execution.json", "graph.cbor", "execution.cbor", "report.json"];
    let files = names.map(|name| format!("profile/tiny.{name}"));
    let place = Place::with(&files.each_ref().map(String::as_str));
    let facts = |arguments: &[&str]| {
        let line = [&["profile"], arguments, &["--format", "json"]].concat();
        place.run(&line).good().json()["facts"].clone()
    };
    let report = place.read("tiny.report.json");
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(&report).unwrap();
    let packed = packed.finish().unwrap();
    place.write("tiny.report.json.gz", &packed);
    place.write("cut.gz", &packed[..packed.len() / 2]);

    let expected = facts(&["tiny.graph.json", "tiny.execution.json"]);
    assert_eq!(facts(&["tiny.graph.cbor", "tiny.execution.cbor"]), expected);
    assert_eq!(facts(&["tiny.execution.cbor", "tiny.graph.json"]), expected);
    assert_eq!(facts(&["tiny.report.json"]), expected);
    assert_eq!(facts(&["tiny.report.json.gz"]), expected);
    let piped = place.run_with_input(&["profile", "-", "--format", "json"], &packed).good().json();
    assert_eq!(piped["facts"], expected);
    let cut = place.run(&["profile", "cut.gz"]);
    assert!(cut.status == 2 && cut.err.contains("[bad-profile]"), "{cut:?}");
}

/// What the document shows is what the tool prints.
#[test]
fn the_document_shows_what_the_tool_does() {
    let document = fs::read_to_string(testdata().join("../docs/PROFILE.md")).unwrap();
    let place = Place::with(&["profile/oom.graph.json", "profile/oom.execution.json"]);
    let mut shown = 0;
    for block in document.split("```text\n$ popef ").skip(1) {
        let (line, rest) = block.split_once('\n').unwrap();
        let run = place.run(&line.split(' ').collect::<Vec<_>>());
        // Findings have exit status 1.
        assert!(run.status < 2 && run.err.is_empty(), "{run:?}");
        assert_eq!(Some(run.text()), rest.split_once("```").map(|(output, _)| output), "popef {line}");
        shown += 1;
    }
    assert_eq!(shown, 5);
}

/// The document has all rules, and the policy with the thresholds as they are.
#[test]
fn the_document_has_all_rules() {
    let path = testdata().join("../docs/PROFILE.md");
    let document = fs::read_to_string(&path).unwrap();
    let mut rules = String::new();
    for (title, of_title) in poplar_inspect::profile::rules() {
        rules += &format!("### {title}\n\n");
        for rule in of_title {
            let condition = rule.condition().map(|condition| format!(", {condition}")).unwrap_or_default();
            rules += &format!("**{}: {}** (*{}{condition}*)\n", rule.id, rule.title, rule.severity);
            rules += &format!("{} **To fix it:** {}\n\n", rule.meaning, rule.fix);
        }
    }
    let (before, rest) = document.split_once("<!-- rules -->\n").unwrap();
    let (shown, after) = rest.split_once("<!-- end of rules -->").unwrap();
    if std::env::var_os("POPEF_RENEW").is_some() {
        fs::write(&path, format!("{before}<!-- rules -->\n{rules}<!-- end of rules -->{after}")).unwrap();
    } else {
        assert_eq!(shown, rules);
    }
    let policy = document.split_once("```toml\n").unwrap().1.split_once("```").unwrap().0;
    let place = Place::with(&["profile/tiny.report.json"]);
    place.write("policy.toml", policy.as_bytes());
    let by_default = place.run(&["profile", "tiny.report.json", "--check"]);
    let limits = "--max-tile 600KiB --max-total 900000000 --max-cycles 2000000 --min-balance 0.3";
    let limited = place.run(&[&["profile", "tiny.report.json"][..], &limits.split(' ').collect::<Vec<_>>()].concat());
    let with_policy = place.run(&["profile", "tiny.report.json", "--policy", "policy.toml"]);
    assert_eq!((&by_default.good().out, &limited.good().out), (&with_policy.out, &with_policy.out));
}
