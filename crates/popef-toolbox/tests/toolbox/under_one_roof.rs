//! `popef ls`, `dump`, `check` and `explain` are popef-dump's own function: they print what its golden files have, except for
//! the name of the command.

use std::fs;

use crate::common::{Place, finish, testdata};

/// A golden file of popef-dump, the arguments that popef-dump has there, and the command that does the same.
const CASES: &[(&str, &str, &str)] = &[
    ("overview", "../interop/executable.popef", "ls ../interop/executable.popef"),
    (
        "overview-files",
        "../interop/split-executable.popef ../interop/split-tensors.popef ../interop/split-feeds.popef",
        "ls ../interop/split-executable.popef ../interop/split-tensors.popef ../interop/split-feeds.popef",
    ),
    ("overview-values", "--values=4 values.popef", "ls --values=4 values.popef"),
    ("overview-damaged", "damaged.popef ../interop/add-clean.popef", "ls damaged.popef ../interop/add-clean.popef"),
    ("overview-color", "--color ../interop/executable.popef", "ls --color always ../interop/executable.popef"),
    ("overview-sort-size", "--sort=size natural.popef", "ls --sort=size natural.popef"),
    (
        "overview-ignore-case",
        "-i --filter *.WEIGHT --exclude LAYER.2.* natural.popef",
        "ls -i --filter *.WEIGHT --exclude LAYER.2.* natural.popef",
    ),
    ("overview-verbose", "-v ../compressed/zlib-poplar.popef", "ls -v ../compressed/zlib-poplar.popef"),
    (
        "overview-nothing",
        "no-such-file.popef . ../float8/e4m3fnuz.txt",
        "ls no-such-file.popef . ../float8/e4m3fnuz.txt",
    ),
    (
        "json-damaged",
        "--format json damaged.popef no-such-file.popef .",
        "ls --format json damaged.popef no-such-file.popef .",
    ),
    ("all", "--all ../interop/executable.popef", "dump ../interop/executable.popef"),
    ("all-hostile", "--all hostile-names.popef", "dump --all hostile-names.popef"),
    ("user-anchors", "-u ../interop/executable.popef", "dump -u ../interop/executable.popef"),
    (
        "user-anchors-each",
        "-u --each ../interop/executable.popef ../interop/split-executable.popef",
        "dump -u --each ../interop/executable.popef ../interop/split-executable.popef",
    ),
    ("tensors-values", "-t --values=3 --filter f* values.popef", "dump -t --values=3 --filter f* values.popef"),
    ("execs-tiles", "-e -v ../executables/models.popef", "dump -e -v ../executables/models.popef"),
    ("json", "--format json ../interop/executable.popef", "dump --format json ../interop/executable.popef"),
    (
        "ndjson",
        "--format ndjson ../interop/executable.popef damaged.popef",
        "dump --format ndjson ../interop/executable.popef damaged.popef",
    ),
];

#[test]
fn listings_are_those_of_popef_dump() {
    let place = Place::with(&[]);
    for (name, arguments, command) in CASES {
        let run = finish(place.command().current_dir(testdata().join("golden")).args(command.split(' ')));
        let program = format!("popef {}", command.split(' ').next().unwrap());
        let golden = fs::read_to_string(testdata().join(format!("golden/{name}.out"))).unwrap();
        let (first, rest) = golden.split_once('\n').unwrap();
        assert_eq!(first.replace('\'', ""), format!("$ popef-dump {arguments}"));
        let expected = rest.replace("popef-dump", &program);
        assert_eq!(
            format!("{}---- stderr\n{}---- exit status {}\n", run.text(), run.err, run.status),
            expected,
            "{command}"
        );
    }
}

fn run(args: &str) -> (String, String, i32) {
    let place = Place::with(&[]);
    let run = finish(place.command().current_dir(testdata().join("checks")).args(args.split(' ')));
    (run.text().to_owned(), run.err, run.status)
}

#[test]
fn checks_have_the_options_of_validate() {
    let (out, err, status) = run("check PE108.popef");
    assert!(out.contains("warning PE108") && out.contains("passed: "), "{out}");
    assert_eq!((err.as_str(), status), ("", 0));
    let (out, err, status) = run("check --strict PE108.popef");
    assert!(out.contains("failed: "), "{out}");
    assert_eq!((err.as_str(), status), ("", 1));
    let (out, err, status) = run("check -q --format json PE108.popef");
    let problem = "--quiet is for --format text and github: json always has everything";
    assert!(out.contains(&format!("\"error\":{{\"message\":\"{problem}\"")), "{out}");
    assert!(err.starts_with(&format!("popef check: {problem} [wrong-arguments]\n")), "{err}");
    assert_eq!(status, 2);
    assert_eq!(run("check --allow-empty").2, 0);
    assert_eq!(run("check --policy none.toml PE108.popef").1.lines().count(), 2);
    assert!(run("check --deep --for triton --each --format ndjson PE108.popef PE108.popef").0.starts_with("{"));
    assert_eq!(run("check").2, 2);
}

#[test]
fn explanations_name_the_command_that_lists_the_rules() {
    let (out, err, status) = run("explain PE108,PE101 pe012");
    assert_eq!((err.as_str(), status), ("", 0));
    let ids: Vec<_> = out.lines().filter_map(|line| line.split_once(": ")).map(|(id, _)| id).collect();
    assert_eq!(ids.iter().filter(|id| id.starts_with("PE")).copied().collect::<Vec<_>>(), ["PE108", "PE101", "PE012"]);
    let (_, err, status) = run("explain XYZ");
    let expected = "popef explain: there is no rule \"XYZ\"; popef explain lists all rules [wrong-arguments]\n";
    assert!(err.starts_with(expected) && status == 2, "{err}");
    assert_eq!(run("explain --format ndjson").0.lines().count(), popef::check::Rule::all().count());
}

#[test]
fn a_slip_is_named_by_the_command() {
    let (_, err, status) = run("ls --values 3 PE108.popef");
    let expected = "popef ls: there is no file 3; did you mean --values=3? [wrong-arguments]\n";
    assert!(err.starts_with(expected) && status == 2, "{err}");
    let (_, err, status) = run("dump -m --values=3 PE108.popef");
    let expected = "popef dump: --values shows elements of tensors and feeds: it needs --tensors or --feeds [wrong-";
    assert!(err.starts_with(expected) && status == 2, "{err}");
}
