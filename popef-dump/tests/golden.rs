//! Compares the output of the tool with files beside their inputs in `testdata/golden`.
//!
//! A file has the command, standard output, standard error, and the exit status. After an intended change:
//! `POPEF_RENEW=1 cargo test -p popef-dump --test golden`, then look at the difference.

mod common;

use common::{files, golden, hold_golden, transcript};

const CASES: &[(&str, &str)] = &[
    ("overview", "../interop/executable.popef"),
    ("overview-types", "../interop/all-types.popef"),
    ("overview-compressed", "../interop/compressed-zlib.popef"),
    ("overview-files", "../interop/split-executable.popef ../interop/split-tensors.popef ../interop/split-feeds.popef"),
    ("overview-empty", "../interop/empty.popef"),
    ("overview-values", "--values=4 values.popef"),
    ("overview-damaged", "damaged.popef ../interop/add-clean.popef"),
    ("overview-broken", "broken-data.popef"),
    ("overview-unknown", "unknown-types.popef"),
    ("overview-hostile", "hostile-names.popef"),
    ("overview-long", "long-names.popef"),
    ("overview-verbose", "-v ../compressed/zlib-poplar.popef"),
    ("overview-color", "--color ../interop/executable.popef"),
    ("overview-sort-name", "--sort name natural.popef"),
    ("overview-sort-size", "--sort=size natural.popef"),
    ("overview-filter", "--filter *.weight --filter b?as natural.popef"),
    ("overview-exclude", "--exclude *.weight --exclude b?as natural.popef"),
    ("overview-exclude-some", "--filter *.weight --exclude *.1*.weight natural.popef"),
    ("overview-ignore-case", "-i --filter *.WEIGHT --exclude LAYER.2.* natural.popef"),
    ("overview-replicated", "../interop/replicated.popef"),
    ("overview-each", "--each ../interop/executable.popef ../interop/split-executable.popef"),
    ("overview-nothing", "no-such-file.popef . ../float8/e4m3fnuz.txt"),
    ("all", "--all ../interop/executable.popef"),
    ("all-replicated", "--all ../interop/replicated.popef"),
    ("all-two-models", "--all ../interop/two-models.popef"),
    (
        "all-split",
        "--all ../interop/split-executable.popef ../interop/split-tensors.popef ../interop/split-feeds.popef",
    ),
    ("all-color", "-c --all ../interop/compressed-zlib.popef"),
    ("all-hostile", "--all hostile-names.popef"),
    ("all-broken", "--all broken-data.popef"),
    ("all-unknown", "--all unknown-types.popef"),
    ("all-damaged", "--all damaged.popef"),
    ("metadata", "-m ../interop/executable.popef"),
    ("metadata-profiling", "-m -v ../checks/PE225.popef"),
    ("anchors", "-a ../interop/executable.popef"),
    ("user-anchors", "-u ../interop/executable.popef"),
    ("user-anchors-each", "-u --each ../interop/executable.popef ../interop/split-executable.popef"),
    ("anchors-exclude", "-a --exclude *input* ../interop/executable.popef"),
    ("execs", "-e ../interop/compressed-zlib.popef"),
    ("execs-verbose", "-e -v ../compressed/zlib-poplar.popef"),
    ("execs-tiles", "-e -v ../executables/models.popef"),
    ("tensors", "-t ../interop/split-tensors.popef"),
    ("tensors-values", "-t --values=3 --filter f* values.popef"),
    ("feeds", "-f ../interop/split-feeds.popef"),
    ("feeds-values", "-f --values values.popef"),
    ("opaques", "-o ../interop/two-models.popef"),
    ("opaques-payloads", "-o -v ../opaque/samples.popef"),
    ("overview-payloads", "../opaque/samples.popef"),
    ("overview-payloads-verbose", "-v ../opaque/opaque.popef"),
    ("json-payloads", "--format json ../opaque/opaque.popef"),
    ("after-pickle", "-e ../opaque/poptorch/poptorch25.poptorch"),
    ("after-pickle-verbose", "-v ../opaque/poptorch/poptorch25.poptorch"),
    ("after-pickle-json", "-v -e --format json ../opaque/poptorch/poptorch25.poptorch"),
    ("json", "--format json ../interop/executable.popef"),
    ("json-metadata", "--format json -m ../interop/executable.popef"),
    ("json-user-anchors", "--format json -u ../interop/executable.popef"),
    ("json-values", "--format json --values=4 values.popef"),
    ("json-verbose", "--format json -e -v ../compressed/plain-poplar.popef"),
    ("json-tiles", "--format json -e -v ../executables/models.popef"),
    ("json-hostile", "--format json hostile-names.popef"),
    ("json-broken", "--format json --values=1 broken-data.popef"),
    ("json-unknown", "--format json unknown-types.popef"),
    ("json-damaged", "--format json damaged.popef no-such-file.popef ."),
    ("ndjson", "--format ndjson ../interop/executable.popef damaged.popef"),
    ("help", "--help"),
    ("help-short", "-h"),
    ("version", "--version"),
];

#[test]
fn output_is_as_it_was() {
    hold_golden(&golden(), CASES);
}

#[test]
fn every_golden_file_has_a_case() {
    let mut cases: Vec<_> = CASES.iter().map(|(name, _)| format!("{name}.out")).collect();
    cases.sort();
    assert_eq!(files(&golden(), ".out"), cases);
}

#[test]
fn nothing_that_could_fool_a_terminal_is_printed() {
    for (_, arguments) in CASES.iter().filter(|(name, _)| !name.contains("color")) {
        let bad = |letter: char| letter.is_control() && letter != '\n';
        let bidi =
            |letter| matches!(letter, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        let found = transcript(&golden(), arguments).chars().find(|&letter| bad(letter) || bidi(letter));
        assert_eq!(found, None, "{arguments}");
    }
}
