//! `popef profile`, with synthetic reports: no whole report of Poplar is public.

use std::fs;
use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::common::{Place, hold_golden, testdata};
use crate::peers::python;
use crate::report::{Shown, chromium, without_scripts};

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
        "profile oom.graph.json --by tile --numbers 17..19",
        "profile oom.graph.json --by tile --numbers 17 --format csv",
        "profile oom.graph.json --by tile --numbers 3,17,18 --format csv",
        "profile oom.graph.json --by tile --numbers 3 --numbers 17..19 --sort number --format csv",
        "profile oom.graph.json --by category --top 3 --format csv",
        "profile oom.graph.json oom.execution.json --by step --name relu --top 3",
        "profile oom.graph.json oom.execution.json --by step --numbers 10..14 --sort name --format csv",
        "profile oom.graph.json oom.execution.json --by layer --depth 2 --top 5",
        "profile oom.graph.json oom.execution.json --by computeset --sort number --format csv",
        "profile oom.graph.json oom.execution.json --by program --top 12",
        "profile oom.graph.json --by vertex --top 2 --format ndjson",
        "profile oom.graph.json --by exchange --top 3",
        "profile oom.graph.json --by exchange --name Stream --sort name --format csv",
        "profile host.graph.json host.execution.json",
        "profile host.execution.json host.graph.json --by category --top 1 --format json",
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
        "interop/executable.popef",
        "executables/tiles.a",
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
        "profile executable.popef",
        "profile tiles.a",
        "hash vars.json",
        "profile tiny.graph.json --by step",
        "profile tiny.graph.json --by tile --name x",
        "profile tiny.graph.json --by category --numbers 1..2",
        "profile tiny.graph.json --by tile --numbers 3,x",
        "profile tiny.graph.json --by tile --numbers 5..2",
        "profile tiny.graph.json tiny.execution.json --by step --steps 1..2",
        "profile tiny.graph.json --format csv",
        "profile tiny.graph.json --top 3",
        "profile tiny.graph.json --by tile --top 0",
        "profile tiny.graph.json --by tile --depth 2",
        "profile tiny.graph.json --by tile --sort name",
        "profile tiny.graph.json --by tile --sort code",
        "profile tiny.graph.json --by program --sort size",
        "profile tiny.graph.json --items 3",
        "profile tiny.graph.json tiny.execution.json --by step --items 3",
        "profile tiny.graph.json --by tile --numbers 900..",
        "profile tiny.graph.json --trace - --format json",
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
        "profile --check diff tiny.graph.json oom.graph.json",
    ];
    hold_golden("profile-diff", &files, &commands);
}

/// Timelines follow the rules of their format, as a script that shares no code with this project checks them, and have what the report says.
#[test]
fn timelines_follow_their_format() {
    let place = Place::with(&[]);
    for case in ["model", "external", "hardware"] {
        let file = |half: &str| testdata().join(format!("profile/{case}.{half}.json")).display().to_string();
        let (graph, execution) = (file("graph"), file("execution"));
        place.run(&["profile", &graph, &execution, "--trace", "trace.json", "--force"]).good();
        let facts: Value = serde_json::from_slice(&fs::read(file("facts")).unwrap()).unwrap();
        let cycles = &facts["execution"]["sumOfStepCycles"];
        let read: Value = serde_json::from_slice(&fs::read(&graph).unwrap()).unwrap();
        let clock = read["target"]["clockFrequency"].to_string();
        let trace = place.path("trace.json").display().to_string();
        let Some(said) = python(include_str!("trace.py"), &["json"], &[&trace, &execution, &clock]) else { return };
        assert!(said.trim_end().ends_with(&format!(" {cycles} cycles")), "{said}");
    }
}

#[test]
fn a_page_says_what_there_is_and_is_replaced_only_if_asked_for() {
    let place = Place::with(&["profile/oom.graph.json", "profile/oom.execution.json", "profile/tiny.graph.json"]);
    let page =
        |arguments: &[&str]| place.run(&[&["profile", "oom.graph.json", "oom.execution.json"], arguments].concat());
    page(&["-o", "page.html"]).good();
    let first = String::from_utf8(place.read("page.html")).unwrap();
    assert_eq!(page(&["--format", "html"]).good().text(), first);
    let content = without_scripts(&first);
    for part in [
        "tile 17 needs 377.5 KiB of 256.0 KiB",
        "<td class=\"number\" data-v=\"386608\">377.5 KiB",
        "fc0/Reduce/OnTileExecute",
        "Live memory",
    ] {
        assert!(content.contains(part), "{part}");
    }
    assert!(!first.contains("http:") && !first.contains("https:") && !first.contains(" src="));
    let refused = page(&["-o", "page.html"]);
    assert!(refused.status == 2 && refused.err.contains("[file-exists]"), "{}", refused.err);
    let (size, names) = (popef_show::size(place.read("page.html").len().try_into().unwrap()), place.names());
    let run = page(&["-o", "new.html", "--dry-run"]).good();
    assert_eq!(run.text(), format!("would write a page of {size} to new.html\n"));
    assert!(page(&["-o", "page.html", "--dry-run"]).err.contains("[file-exists]"));
    assert_eq!(place.names(), names);
    assert!(page(&["-o", "oom.graph.json", "--force"]).err.contains("[output-is-input]"));
    for wrong in [
        &["--format", "html", "--by", "tile"][..],
        &["-o", "a.html", "--format", "csv"],
        &["-o", "a.html", "--by", "tile"],
        &["--force"],
        &["-o", "a.html", "--check"],
    ] {
        assert!(page(wrong).err.contains("[wrong-arguments]"), "{wrong:?}");
    }
    place.run(&["profile", "tiny.graph.json", "-o", "page.html", "--force"]).good();
    assert!(String::from_utf8(place.read("page.html")).unwrap().contains("nothing is known of time"));
    assert_eq!(place.names(), ["oom.execution.json", "oom.graph.json", "page.html", "tiny.graph.json"]);
}

#[test]
fn names_stay_text_in_a_browser() {
    let Some(chromium) = chromium() else { return };
    let hostile = [
        "<img src=x onerror=document.title='x'>",
        "</script><script>document.title='x'</script>",
        "\"><svg onload=document.title='x'>",
        "<!--<script>",
        "</title></style><link rel=stylesheet href=x>\u{202e}\u{0}",
    ];
    let zeros = json!([vec![[1, 2]; hostile.len()]]);
    let steps: Vec<_> = (0..hostile.len())
        .map(|nth| {
            json!({"type": "OnTileExecute", "computeSet": nth, "program": nth, "name": hostile[nth], "cycles": 2,
            "cyclesFrom": nth * 2, "cyclesTo": nth * 2 + 1})
        })
        .collect();
    let programs: Vec<_> = (0..hostile.len())
        .map(|nth| json!({"type": "OnTileExecute", "computeSet": nth, "name": hostile[nth]}))
        .collect();
    let mut categories = serde_json::Map::new();
    categories.insert(hostile[1].to_owned(), json!({"total": [5, 6]}));
    let document = json!({
        "graphProfile": {
            "target": {"numIPUs": 1, "numTiles": 2, "tilesPerIPU": 2, "type": "IPU_MODEL", "bytesPerTile": 10},
            "computeSets": {"names": hostile, "cycleEstimates": {"cyclesByTile": zeros[0]}},
            "vertexTypes": {"names": hostile, "sizes": [1, 1, 1, 1, 1]},
            "memory": {"byTile": {"total": [5, 6], "totalIncludingGaps": [7, 11]}, "byCategory": categories},
            "programs": programs, "controlPrograms": [0], "functionPrograms": [],
        },
        "executionProfile": {"profilerMode": hostile[0], "simulation": {"cycles": 10, "steps": steps, "tileCycles": {}}},
    });
    let place = Place::with(&[]);
    place.write("report.json", document.to_string());
    place.run(&["profile", "report.json", "-o", "page.html"]).good();
    let shown = Shown::of(&chromium, &place, "page.html", "");
    assert_eq!(shown.console, [""; 0]);
    assert!(shown.dom.contains("data-ready=") && shown.dom.contains("<title>report.json</title>"));
    for tag in ["<img", "<link", "<svg onload"] {
        assert!(!shown.dom.contains(tag), "{tag}");
    }
    assert_eq!(shown.dom.matches("<script").count(), 2, "the data and the page's own");
    assert!(shown.dom.contains("\\u{202e}\\0"));
}

/// The page's own policy allows no other script, so this is a copy without it.
#[test]
fn what_a_reader_does_on_a_page_has_its_effect() {
    let Some(chromium) = chromium() else { return };
    let place = Place::with(&["profile/oom.graph.json", "profile/oom.execution.json"]);
    place.run(&["profile", "oom.graph.json", "oom.execution.json", "-o", "page.html"]).good();
    let page = String::from_utf8(place.read("page.html")).unwrap();
    let (before, policy) = page.split_once("<meta http-equiv=").unwrap();
    let (_, after) = policy.split_once('>').unwrap();
    let driver = "<script>
        const seen = [];
        const find = (kind, words) => [...document.querySelectorAll(kind)].find((found) => found.textContent.startsWith(words));
        const cells = (head) => {
            const table = head.closest('table');
            return [...table.tBodies[0].rows].map((row) => row.cells[head.cellIndex].dataset.v ?? row.cells[head.cellIndex].textContent);
        };
        const cycles = find('details', 'The longest steps').querySelectorAll('th')[2];
        for (let nth = 0; nth < 2; nth += 1) {
            cycles.querySelector('button').click();
            seen.push([cycles.getAttribute('aria-sort'), cells(cycles)]);
        }
        const name = find('details', 'Compute sets').querySelectorAll('th')[7];
        for (let nth = 0; nth < 2; nth += 1) name.querySelector('button').click();
        seen.push([name.getAttribute('aria-sort'), cells(name)]);
        const canvas = document.querySelector('#ipus canvas');
        const picture = canvas.toDataURL();
        const metric = document.querySelector('#metric');
        metric.value = metric.options.length - 1;
        metric.dispatchEvent(new Event('change'));
        seen.push(['picture', picture !== canvas.toDataURL()]);
        canvas.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight' }));
        seen.push(['tile', document.querySelector('#tile').textContent]);
        const range = () => document.querySelector('#range').textContent;
        const whole = range();
        document.querySelector('#in').click();
        seen.push(['nearer', whole !== range()]);
        document.querySelector('#out').click();
        seen.push(['back', whole === range()]);
        const folded = () => document.querySelectorAll('details:not([open])').length;
        const usual = folded();
        dispatchEvent(new Event('beforeprint'));
        seen.push(['printed', [usual > 0, folded()]]);
        dispatchEvent(new Event('afterprint'));
        seen.push(['afterwards', usual === folded()]);
        document.title = encodeURIComponent(JSON.stringify(seen));
        </script></body>";
    place.write("driven.html", [before, after].concat().replace("</body>", driver));
    let shown = Shown::of(&chromium, &place, "driven.html", "");
    assert_eq!(shown.console, [""; 0]);
    let (_, title) = shown.dom.split_once("<title>").unwrap();
    let title = percent_decoded(title.split_once("</title>").unwrap().0);
    let seen: Vec<(String, Value)> = serde_json::from_str(&title).unwrap();

    // What the report has, sorted here.
    let read = |name: &str| serde_json::from_slice::<Value>(&fs::read(testdata().join(name)).unwrap()).unwrap();
    let steps = read("profile/oom.execution.json");
    let steps = steps["simulation"]["steps"].as_array().unwrap();
    let mut cycles: Vec<_> = steps.iter().filter_map(|step| step["cycles"].as_u64()).collect();
    cycles.sort_unstable();
    let mut names: Vec<_> = read("profile/oom.graph.json")["computeSets"]["names"]
        .as_array()
        .unwrap()
        .iter()
        .map(|name| name.as_str().unwrap().to_owned())
        .collect();
    names.sort_unstable();
    let numbers = |list: &Value| -> Vec<u64> {
        list.as_array().unwrap().iter().filter_map(|cell| cell.as_str().unwrap().parse().ok()).collect()
    };
    assert_eq!((&*seen[0].0, &*seen[1].0, &*seen[2].0), ("descending", "ascending", "ascending"));
    assert!(cycles.iter().rev().eq(&numbers(&seen[0].1)), "{cycles:?}: {:?}", seen[0]);
    assert_eq!(numbers(&seen[1].1), cycles);
    assert_eq!(seen[2].1, json!(names));
    let rest: Vec<_> =
        seen[3..].iter().filter(|(what, _)| what != "tile").map(|(what, value)| (&**what, value)).collect();
    assert_eq!(
        json!(rest),
        json!([["picture", true], ["nearer", true], ["back", true], ["printed", [true, 0]], ["afterwards", true]])
    );
    assert!(seen[4].1.as_str().unwrap().starts_with("Tile 0: "), "{:?}", seen[4]);
}

fn percent_decoded(text: &str) -> String {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let (code, rest) = part.split_at(2);
        bytes.push(u8::from_str_radix(code, 16).unwrap());
        bytes.extend(rest.as_bytes());
    }
    String::from_utf8(bytes).unwrap()
}

/// A large report has a small page, which works.
/// Each has a name of a thousand letters.
#[test]
fn a_page_shows_the_largest_of_many_categories() {
    let place = Place::with(&[]);
    let long = "x".repeat(1000);
    let category = |nth: u32| format!(r#""{long}{nth}":{{"total":[{nth}]}}"#);
    let categories: Vec<_> = (0..5000).map(category).collect();
    let target = r#""target":{"numTiles":1,"numIPUs":1,"tilesPerIPU":1}"#;
    let report = format!(r#"{{{target},"memory":{{"byCategory":{{{}}}}}}}"#, categories.join(","));
    place.write("many.json", report.as_bytes());
    place.run(&["profile", "many.json", "-o", "page.html"]).good();
    let page = String::from_utf8(place.read("page.html")).unwrap();
    assert!(page.len() < 400_000, "{}", page.len());
    assert!(page.contains("200 of 5,000") && page.contains("<bdi>others</bdi>"));
}

#[test]
fn a_large_report_has_a_small_page() {
    let Some(chromium) = chromium() else { return };
    let place = Place::with(&[]);
    let folder = place.path("large").display().to_string();
    let script = include_str!("../../benches/large_profile.py");
    if python(script, &["json"], &[&folder]).is_none() {
        return;
    }
    place.run(&["profile", "large/graph.json", "large/execution.json", "-o", "page.html"]).good();
    assert!(place.read("page.html").len() <= 2 << 20);
    let shown = Shown::of(&chromium, &place, "page.html", "");
    assert_eq!(shown.console, [""; 0]);
    // The script has run to its end, and drew both pictures.
    assert!(shown.dom.contains("data-ready="));
    assert_eq!(shown.dom.matches("<option").count(), 12);
    assert!(shown.dom.contains("id=\"range\">From 0 \u{b5}s (0 cycles) to "));
}

#[test]
fn what_cannot_be_on_a_timeline_is_told() {
    let names = ["none.graph.json", "none.execution.json", "tiny.graph.json", "tiny.report.json"];
    let files = names.map(|name| format!("profile/{name}"));
    let commands = [
        "profile tiny.graph.json --trace -",
        "profile tiny.report.json --trace steps.json --dry-run",
        "profile tiny.report.json --dry-run",
        "profile none.graph.json none.execution.json --trace -",
        "profile tiny.report.json --trace - --steps 13..",
        "profile tiny.report.json --trace - --steps 5..2",
        "profile tiny.report.json --trace tiny.report.json --force",
        "profile tiny.report.json --trace - --steps 11..13",
        "profile diff tiny.graph.json tiny.graph.json --format html",
    ];
    hold_golden("profile-trace", &files.each_ref().map(String::as_str), &commands);
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
