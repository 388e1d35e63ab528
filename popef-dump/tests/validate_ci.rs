//! Findings for CI systems: annotations of GitHub, fingerprints of SARIF, JUnit XML. The tests read them as these systems do, and compare
//! them with the findings in JSON.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::{Run, files, golden, interop, run, testdata};
use serde_json::Value;

const OPTIONS: &[&str] = &["--validate", "--deep", "--for", "popart,poptorch,tensorflow,triton"];

fn checks() -> PathBuf {
    testdata().join("checks")
}

fn validate(folder: &Path, format: &str, args: &[&str]) -> Run {
    run(folder, &[OPTIONS, &["--format", format], args].concat())
}

/// Calls `hold` with all test files, and some sets of them.
fn each_input(mut hold: impl FnMut(&Path, &[&str])) {
    for folder in [checks(), interop(), golden()] {
        for file in files(&folder, ".popef") {
            hold(&folder, &[&file]);
        }
    }
    let several = ["damaged.popef", "none.popef", ".", "../float8/e4m3fnuz.txt", "hostile-names.popef"];
    hold(&golden(), &several);
    hold(&golden(), &[&["--each"], &several[..]].concat());
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

/// Why something was not checked, without the user's own line, which names the format.
fn why(skipped: &Value) -> &str {
    text(skipped, "why").split(" | popef-dump").next().unwrap()
}

/// A workflow command.
#[derive(Debug)]
struct Annotation {
    command: String,
    properties: BTreeMap<String, String>,
    message: String,
}

/// Parses a line as the runner of GitHub Actions does (`ActionCommand.TryParseV2`).
fn annotation(line: &str) -> Option<Annotation> {
    let (info, message) = line.trim_start().strip_prefix("::")?.split_once("::")?;
    let (command, properties) = info.split_once(' ').unwrap_or((info, ""));
    let unescape = |text: &str, table: &[(&str, &str)]| {
        table.iter().fold(text.to_owned(), |text, (escaped, letter)| text.replace(escaped, letter))
    };
    let in_data = [("%0D", "\r"), ("%0A", "\n"), ("%25", "%")];
    let in_property = [("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")];
    let pairs = properties.trim().split(',').filter_map(|pair| pair.split_once('='));
    let pairs = pairs.map(|(key, value)| (key.to_owned(), unescape(value, &in_property)));
    Some(Annotation { command: command.to_owned(), properties: pairs.collect(), message: unescape(message, &in_data) })
}

/// The annotations of a run. Only its last line, the summary, is not one.
fn annotations(run: &Run) -> Vec<Annotation> {
    let lines: Vec<_> = run.out.lines().collect();
    let (summary, lines) = lines.split_last().unwrap();
    assert!(
        ["passed: ", "not safe to unpickle: ", "failed: ", "not finished: "]
            .iter()
            .any(|start| summary.starts_with(start)),
        "{summary}"
    );
    lines.iter().map(|line| annotation(line).unwrap_or_else(|| panic!("{line}"))).collect()
}

/// The message of a finding, and the beginning of its advice. For a foreign file, the message itself has the advice.
fn with_advice(finding: &Value) -> String {
    let message = text(finding, "message");
    let advice = if message.starts_with("this is not a PopEF file") { "" } else { "\nTo fix it: " };
    format!("{message}{advice}")
}

#[test]
fn annotations_say_what_was_found() {
    each_input(|folder, args| {
        let (document, shown) = (validate(folder, "json", args), validate(folder, "github", args));
        assert_eq!((shown.status, &shown.err), (document.status, &document.err), "{args:?}");
        let document = document.json();
        let (findings, skipped) = (document["findings"].as_array().unwrap(), document["skipped"].as_array().unwrap());
        // Checks that were left out by choice are reported only on request.
        let failed = skipped.iter().filter(|skipped| skipped["failed"] == true).count();
        assert_eq!(annotations(&shown).len(), findings.len() + failed, "{args:?}");
        let annotations = annotations(&validate(folder, "github", &[args, &["-v"]].concat()));
        assert_eq!(annotations.len(), findings.len() + skipped.len(), "{args:?}");
        let mut found: Vec<_> = annotations.iter().filter(|one| one.properties["title"] != "not checked").collect();
        assert_eq!(found.len(), findings.len());
        for finding in findings {
            let at = found.iter().position(|one| {
                let place = finding["blob"].as_u64().map(|blob| format!("blob {blob}"));
                one.properties["file"] == text(finding, "file").trim_start_matches("./")
                    && one.properties["title"].starts_with(&format!("{}: ", text(finding, "id")))
                    && one.message.contains(&with_advice(finding))
                    && one.message.starts_with(&place.unwrap_or_default())
                    && one.command == text(finding, "severity").replace("note", "notice")
            });
            found.remove(at.unwrap_or_else(|| panic!("{args:?}: {finding} is not in {found:?}")));
        }
        for skipped in skipped {
            let level = if skipped["failed"] == true { "error" } else { "notice" };
            let is_it = |one: &&Annotation| one.command == level && one.message.contains(why(skipped));
            assert!(annotations.iter().any(|one| is_it(&one)), "{args:?}: {skipped}");
        }
    });
}

/// A finding that fails the run is an error among its annotations, even if only `--strict` makes it one.
#[test]
fn annotations_say_why_a_strict_run_fails() {
    let errors = |args: &[&str]| {
        let run = run(&checks(), &[&["--validate", "--format=github"], args].concat());
        (run.status, run.out.matches("::error ").count(), run.out.matches("::warning ").count())
    };
    assert_eq!(errors(&["PE108.popef"]), (0, 0, 1));
    assert_eq!(errors(&["--strict", "PE108.popef"]), (1, 1, 0));
    assert_eq!(errors(&["--strict", "-q", "PE108.popef"]), (1, 1, 0));
    assert_eq!(errors(&["--strict", "PE008.popef"]), (0, 0, 0));
}

/// A file's name can neither end its annotation nor begin another command.
#[cfg(unix)]
#[test]
fn names_of_files_are_escaped_for_github() {
    let folder = tempfile::tempdir().unwrap();
    let names = [
        ("a,title=b::c%3A%25.popef", "a,title=b::c%3A%25.popef"),
        ("x\n::add-mask::y\r.popef", "x\\n::add-mask::y\\r.popef"),
        ("##[add-mask]z.popef", "#\\u{23}[add-mask]z.popef"),
        ("\u{1b}[2J\u{202e}\\.popef", "\\u{1b}[2J\\u{202e}\\.popef"),
    ];
    for (name, shown) in names {
        fs::copy(checks().join("PE101.popef"), folder.path().join(name)).unwrap();
        for path in [name.to_owned(), format!("./{name}")] {
            let annotations = annotations(&validate(folder.path(), "github", &[&path]));
            assert!(annotations.iter().all(|one| one.properties["file"] == shown), "{annotations:?}");
            assert!(annotations.iter().any(|one| one.command == "error"), "{annotations:?}");
        }
        let missing = validate(folder.path(), "github", &[&format!("no {name}")]);
        assert_eq!(annotations(&missing).len(), 1, "{missing:?}");
    }
}

/// Each result with what GitHub recognises it by: its rule, its file, and its fingerprint.
fn fingerprints(folder: &Path, args: &[&str]) -> Vec<(String, String, String)> {
    let document = validate(folder, "sarif", args).json();
    let identity = |result: &Value| {
        let uri = &result["locations"][0]["physicalLocation"]["artifactLocation"];
        let fingerprint = text(&result["partialFingerprints"], "primaryLocationLineHash");
        (text(result, "ruleId").to_owned(), text(uri, "uri").to_owned(), fingerprint.to_owned())
    };
    document["runs"][0]["results"].as_array().unwrap().iter().map(identity).collect()
}

#[test]
fn findings_of_one_rule_in_one_file_do_not_merge() {
    let mut of_one_rule = 0;
    each_input(|folder, args| {
        let all = fingerprints(folder, args);
        let different: BTreeSet<_> = all.iter().collect();
        assert_eq!(different.len(), all.len(), "{args:?}: {all:?}");
        let rules: BTreeSet<_> = all.iter().map(|(rule, file, _)| (rule, file)).collect();
        of_one_rule += all.len() - rules.len();
    });
    assert!(of_one_rule > 20, "{of_one_rule}");
}

/// A file that begins with another tensor has the same findings at other positions.
#[test]
fn fingerprints_do_not_change_with_unrelated_blobs() {
    let folder = tempfile::tempdir().unwrap();
    let tensor = fs::read(interop().join("split-tensors.popef")).unwrap();
    let mut kept = 0;
    for name in files(&checks(), ".popef") {
        let bytes = fs::read(checks().join(&name)).unwrap();
        fs::write(folder.path().join(&name), &bytes).unwrap();
        let before = fingerprints(folder.path(), &[&name]);
        fs::write(folder.path().join(&name), [&tensor[..], &bytes].concat()).unwrap();
        let after = fingerprints(folder.path(), &[&name]);
        let lost: Vec<_> = before.iter().filter(|one| !after.contains(one)).collect();
        // Findings about the file as a whole, such as that it is empty, may go away.
        kept += before.len() - lost.len();
        assert!(lost.len() <= 1, "{name}: {lost:?} are not in {after:?}");
    }
    assert!(kept > 200, "{kept}");
}

/// The test cases that Python reads in each document. `None` without Python.
fn test_cases(documents: &[String]) -> Option<Vec<Vec<Value>>> {
    let python = std::env::var_os("PYTHON").unwrap_or_else(|| "python3".into());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/junit.py");
    let child = Command::new(python).arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut child) = child else {
        assert!(std::env::var_os("PYTHON").is_none(), "PYTHON cannot be run");
        eprintln!("skipped: there is no Python");
        return None;
    };
    let (mut stdin, input) = (child.stdin.take().unwrap(), documents.join("\0"));
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()).is_ok());
    let output = child.wait_with_output().unwrap();
    assert!(writer.join().unwrap() && output.status.success(), "{documents:?}");
    let lines = String::from_utf8(output.stdout).unwrap();
    Some(lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

#[test]
fn junit_is_what_was_found() {
    for strict in [false, true] {
        let (mut documents, mut shown) = (Vec::new(), Vec::new());
        each_input(|folder, args| {
            let args = [if strict { &["--strict"][..] } else { &[] }, args].concat();
            let (document, junit) = (validate(folder, "json", &args), validate(folder, "junit", &args));
            assert_eq!((junit.status, &junit.err), (document.status, &document.err), "{args:?}");
            documents.push(document.json());
            shown.push(junit.out);
        });
        let Some(cases) = test_cases(&shown) else { return };
        assert_eq!(documents.len(), cases.len());
        documents.iter().zip(&cases).for_each(|(document, cases)| compare(document, cases, strict));
    }
}

fn compare(document: &Value, cases: &[Value], strict: bool) {
    let mut cases: Vec<_> = cases.iter().collect();
    let mut take = |wanted: &Value, is_it: &dyn Fn(&Value) -> bool| {
        let at = cases.iter().position(|case| is_it(case)).unwrap_or_else(|| panic!("{wanted} is not in {cases:?}"));
        cases.remove(at);
    };
    for finding in document["findings"].as_array().unwrap() {
        let (severity, id) = (text(finding, "severity"), text(finding, "id"));
        let fails = severity == "error" || strict && severity == "warning";
        take(finding, &|case| {
            text(case, "class") == text(finding, "file")
                && text(case, "name").starts_with(id)
                && text(case, "name").ends_with(&format!(": {}", text(finding, "message")))
                && text(case, "text").contains(&with_advice(finding))
                && if fails {
                    case["result"] == "failure" && text(case, "type") == severity
                } else {
                    case["result"] == "system-out" && text(case, "text").starts_with(severity)
                }
        });
    }
    for skipped in document["skipped"].as_array().unwrap() {
        let result = if skipped["failed"] == true { "error" } else { "skipped" };
        take(skipped, &|case| {
            text(case, "class") == skipped["file"].as_str().unwrap_or("all files")
                && case["result"] == result
                && text(case, "message").contains(why(skipped))
        });
    }
    assert!(
        cases.iter().all(|case| case["name"] == "checked: nothing found" && case["result"] == "passed"),
        "{cases:?}"
    );
}

/// What XML forbids or reads in its own way, in names of files and in those within them.
#[cfg(unix)]
#[test]
fn odd_names_are_escaped_for_junit() {
    let folder = tempfile::tempdir().unwrap();
    let name = "<a href=\"x\">&amp;\u{1}\n\t\u{ffff}]]>.popef";
    fs::copy(golden().join("hostile-names.popef"), folder.path().join(name)).unwrap();
    let Some(cases) = test_cases(&[validate(folder.path(), "junit", &[name]).out]) else { return };
    assert!(
        cases[0].iter().all(|case| case["suite"] == "<a href=\"x\">&amp;\\u{1}\\n\\t\\u{ffff}]]>.popef"),
        "{cases:?}"
    );
}

#[test]
fn junit_of_no_files_is_still_xml() {
    let empty = run(&checks(), &["--validate", "--allow-empty", "--format", "junit", "--files-from", "-"]);
    assert!(test_cases(std::slice::from_ref(&empty.out)).is_none_or(|cases| cases == [Vec::<Value>::new()]));
    assert!(empty.out.ends_with("</testsuites>\n"), "{empty:?}");
}
