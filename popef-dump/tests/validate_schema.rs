//! All findings as JSON meet `docs/findings.schema.json`, and as SARIF the schema of the standard: the file here is
//! the OASIS one for SARIF 2.1.0, as the crate serde-sarif 0.8.0 ships it.

mod common;

use std::fs;
use std::path::Path;

use boon::{Compiler, SchemaIndex, Schemas};
use common::{files, golden, interop, run, testdata};
use serde_json::{Value, json};

struct Schema {
    schemas: Schemas,
    indices: Vec<SchemaIndex>,
}

impl Schema {
    fn load(path: &Path, parts: &[&str]) -> Self {
        let text = fs::read_to_string(path).unwrap();
        let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
        compiler.enable_format_assertions();
        let errors = fs::read_to_string(testdata().join("../docs/error.schema.json")).unwrap();
        let url = "https://github.com/popef/popef/docs/error.schema.json";
        compiler.add_resource(url, serde_json::from_str(&errors).unwrap()).unwrap();
        compiler.add_resource("schema.json", serde_json::from_str(&text).unwrap()).unwrap();
        let indices = parts.iter().map(|part| compiler.compile(&format!("schema.json{part}"), &mut schemas).unwrap());
        let indices = indices.collect();
        Schema { schemas, indices }
    }

    fn findings() -> Self {
        Schema::load(&testdata().join("../docs/findings.schema.json"), &["", "#/$defs/line"])
    }

    fn sarif() -> Self {
        Schema::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sarif-schema-2.1.0.json"), &[""])
    }

    fn accepts(&self, part: usize, document: &Value) -> Result<(), String> {
        self.schemas.validate(document, self.indices[part]).map_err(|error| format!("{error:#}"))
    }
}

const OPTIONS: &[&str] = &["--validate", "--deep", "--for", "popart,poptorch,tensorflow,triton"];

fn hold(findings: &Schema, sarif: &Schema, folder: &Path, args: &[&str]) {
    let of = |format| run(folder, &[OPTIONS, &["--format", format], args].concat());
    let (document, lines, scanned) = (of("json"), of("ndjson"), of("sarif"));
    findings.accepts(0, &document.json()).unwrap_or_else(|error| panic!("{args:?}: {error}"));
    for line in lines.json_lines() {
        findings.accepts(1, &line).unwrap_or_else(|error| panic!("{args:?}: {error}"));
    }
    sarif.accepts(0, &scanned.json()).unwrap_or_else(|error| panic!("{args:?}: {error}"));
    assert_eq!((document.status, document.status), (lines.status, scanned.status), "{args:?}");
    the_same_is_found(&document.json(), &lines.json_lines(), &scanned.json());
}

/// A line as it is in the document, where its place says its kind.
fn without_kind(line: &Value) -> Value {
    let mut line = line.clone();
    line.as_object_mut().unwrap().remove("kind");
    line
}

/// A skipped check, without the user's own line, which names the format.
fn without_line(mut skipped: Value) -> Value {
    if let Some(Value::String(advice)) = skipped.pointer_mut("/error/advice") {
        advice.truncate(advice.find(" | popef-dump").unwrap_or(advice.len()));
    }
    skipped
}

fn the_same_is_found(document: &Value, lines: &[Value], scanned: &Value) {
    let (end, lines) = lines.split_last().unwrap();
    let of_kind = |kind: &str| lines.iter().filter(|line| line["kind"] == kind).map(without_kind).collect::<Vec<_>>();
    let found = of_kind("finding");
    assert_eq!(document["findings"].as_array().unwrap(), &found);
    let skipped = |all: Vec<Value>| all.into_iter().map(without_line).collect::<Vec<_>>();
    assert_eq!(skipped(document["skipped"].as_array().unwrap().clone()), skipped(of_kind("skipped")));
    assert_eq!(end["kind"], "end");
    assert_eq!((&document["verdict"], &document["counts"]), (&end["verdict"], &end["counts"]));
    let run = &scanned["runs"][0];
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), found.len());
    for (result, finding) in results.iter().zip(&found) {
        let rule = &run["tool"]["driver"]["rules"][result["ruleIndex"].as_u64().unwrap() as usize];
        assert_eq!((&result["ruleId"], &rule["id"]), (&finding["id"], &finding["id"]));
        assert_eq!((&result["level"], &result["message"]["text"]), (&finding["severity"], &finding["message"]));
        let region = &result["locations"][0]["physicalLocation"]["region"];
        assert_eq!(region.get("byteOffset").unwrap_or(&Value::Null), &finding["offset"]);
    }
    let notified = run["invocations"][0]["toolExecutionNotifications"].as_array().unwrap();
    assert_eq!(notified.len(), document["skipped"].as_array().unwrap().len());
}

#[test]
fn all_files() {
    let (findings, sarif) = (Schema::findings(), Schema::sarif());
    for folder in [testdata().join("checks"), interop(), golden()] {
        for file in files(&folder, ".popef") {
            hold(&findings, &sarif, &folder, &[&file]);
        }
    }
}

#[test]
fn sets_and_what_cannot_be_read() {
    let (findings, sarif) = (Schema::findings(), Schema::sarif());
    let args = ["damaged.popef", "none.popef", ".", "../float8/e4m3fnuz.txt", "hostile-names.popef"];
    hold(&findings, &sarif, &golden(), &args);
    hold(&findings, &sarif, &golden(), &[&["--each"], &args[..]].concat());
    hold(&findings, &sarif, &golden(), &["--allow-empty", "--files-from", "/dev/null"]);
}

#[test]
fn explained_rules() {
    let path = testdata().join("../docs/findings.schema.json");
    let schema = Schema::load(&path, &["#/$defs/explained", "#/$defs/explainedLine"]);
    let of = |args: &[&str]| run(&testdata(), &[&["--explain"], args].concat());
    let all = of(&["--format", "json"]).json();
    let lines = of(&["--format", "ndjson"]).json_lines();
    schema.accepts(0, &all).unwrap_or_else(|error| panic!("{error}"));
    lines.iter().for_each(|line| schema.accepts(1, line).unwrap_or_else(|error| panic!("{error}")));
    let rules = all["rules"].as_array().unwrap();
    assert_eq!(rules, &lines.iter().map(without_kind).collect::<Vec<_>>());
    assert!(rules.iter().map(|rule| rule["id"].as_str().unwrap()).eq(popef_check::rules().map(|rule| rule.id)));
    for (rule, known) in rules.iter().zip(popef_check::rules()) {
        assert_eq!((&rule["meaning"], &rule["fix"]), (&json!(known.meaning), &json!(known.fix)));
        assert_eq!(rule["condition"], json!(known.condition()));
        assert_eq!(of(&[known.id, "--format=json"]).json()["rules"], json!([rule]));
    }
}

/// Schemas that allow everything would pass the tests above.
#[test]
fn the_schemas_say_no() {
    let with = |document: &Value, pointer: &str, value: Value| {
        let mut document = document.clone();
        *document.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer}")) = value;
        document
    };
    let of = |format| run(&testdata().join("checks"), &["--validate", "--format", format, "PE101.popef"]).json();
    let (findings, document) = (Schema::findings(), of("json"));
    findings.accepts(0, &document).unwrap();
    let wrong = [
        ("/schemaVersion", json!(2)),
        ("/verdict", json!("fine")),
        ("/counts/errors", json!(-1)),
        ("/findings/0/id", json!("E1")),
        ("/findings/0/severity", json!("bad")),
        ("/findings/0/offset", json!("0")),
        ("/findings/0/names", Value::Null),
        ("/skipped/0/failed", Value::Null),
        ("/rules/0", json!({})),
    ];
    for (pointer, value) in wrong {
        assert!(findings.accepts(0, &with(&document, pointer, value)).is_err(), "{pointer}");
    }
    let lines = run(&testdata().join("checks"), &["--validate", "--format", "ndjson", "PE101.popef"]).json_lines();
    for (line, kind) in [(0, "skipped"), (1, "finding"), (2, "finding"), (2, "blob")] {
        findings.accepts(1, &lines[line]).unwrap();
        assert!(findings.accepts(1, &with(&lines[line], "/kind", json!(kind))).is_err(), "{line}: {kind}");
    }
    let (sarif, document) = (Schema::sarif(), of("sarif"));
    sarif.accepts(0, &document).unwrap();
    let wrong = [
        ("/version", json!("2.0.0")),
        ("/runs/0/tool/driver/name", Value::Null),
        ("/runs/0/results/0/level", json!("bad")),
        ("/runs/0/results/0/message", json!({})),
        ("/runs/0/results/0/locations/0/physicalLocation/region/byteOffset", json!(-2)),
        ("/runs/0/artifacts/0/location/uri", json!("a b")),
        ("/runs/0/invocations/0/executionSuccessful", Value::Null),
    ];
    for (pointer, value) in wrong {
        assert!(sarif.accepts(0, &with(&document, pointer, value)).is_err(), "{pointer}");
    }
}
