//! `popef ls`, `dump`, `check` and `explain` are popef-dump's own function: they print what its golden files have, except for
//! the name of the command. On standard error, they say more: the code of an error, and what to do.

use std::fs;

use crate::common::{Place, finish, hold_golden, testdata, without_mends};

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
        let (out, expected) = expected.split_once("---- stderr\n").unwrap();
        let (errors, status) = expected.split_once("---- exit status ").unwrap();
        assert_eq!((run.text(), format!("{}\n", run.status).as_str()), (out, status), "{command}");
        // Errors have a code besides.
        let begins = |line: &str| {
            run.err
                .lines()
                .filter_map(|told| told.strip_prefix(line))
                .any(|rest| rest.is_empty() || rest.trim_start_matches(" with popef recover").starts_with(" ["))
        };
        assert!(errors.lines().all(begins), "{command}: {}", run.err);
    }
}

/// After an intended change: `POPEF_RENEW=1 cargo test -p popef-toolbox --test toolbox under_one_roof::`
#[test]
fn errors_have_a_code_and_a_next_step() {
    let files = ["golden/damaged.popef", "float8/e4m3fnuz.txt", "interop/executable.popef"];
    let commands = [
        "ls damaged.popef no-such-file.popef e4m3fnuz.txt .",
        "dump --format ndjson --type metadata damaged.popef no-such-file.popef",
        "check damaged.popef no-such-file.popef e4m3fnuz.txt .",
        "check --policy e4m3fnuz.txt executable.popef",
        "ls --files-from no-such-list",
        "explain PE999",
        "tiles plan 4 F16 --tiles-per-ipu 0",
    ];
    hold_golden("errors", &files, &commands);
}

/// What each command prints for people and for programs. The cases above are all others.
#[test]
fn each_command_prints_what_it_did() {
    hold_golden(
        "ls",
        &["interop/executable.popef", "golden/values.popef"],
        &["ls executable.popef", "ls --values=2 --sort size values.popef", "ls --format ndjson executable.popef"],
    );
    hold_golden(
        "dump",
        &["interop/executable.popef"],
        &["dump executable.popef", "dump -u --format json executable.popef"],
    );
    hold_golden(
        "check",
        &["interop/executable.popef", "checks/PE108.popef", "checks/PE101.popef"],
        &[
            "check executable.popef",
            "check --strict -q PE108.popef",
            "check --each PE101.popef PE108.popef",
            "check --format ndjson PE101.popef",
        ],
    );
    hold_golden(
        "explain",
        &[],
        &["explain PE101 PE108", "explain --format ndjson PE101", "explain --format json PE101"],
    );
}

/// An error says each thing once, and names what was typed.
/// What these commands print goes into logs and to others.
#[test]
fn what_looks_like_a_credential_is_shown_by_dump_alone() {
    let place = Place::with(&["checks/PE506.popef"]);
    place.run(&["set", "PE506.popef", "--engine-option", "cache.password=hunter22", "-o", "b.popef"]);
    for (line, status) in [
        ("report PE506.popef -o -", 0),
        ("report PE506.popef b.popef -o -", 0),
        ("set PE506.popef --drop-engine-option=cache.password --dry-run", 0),
        ("set PE506.popef --drop-engine-option=cache.password --dry-run --format json", 0),
        ("set PE506.popef --engine-option cache.password=hunter23 --dry-run", 0),
        ("diff PE506.popef b.popef", 1),
        ("diff PE506.popef b.popef --format json", 1),
    ] {
        let run = place.run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(run.status, status, "{line}: {run:?}");
        assert!(
            !run.text().contains("hunter2") && run.text().contains("looks like a credential"),
            "{line}: {}",
            run.text()
        );
    }
    assert!(place.run(&["dump", "-m", "PE506.popef"]).good().text().contains("hunter2"));
}

#[test]
fn errors_name_what_was_given() {
    let place = Place::with(&["interop/executable.popef", "golden/damaged.popef"]);
    fs::create_dir(place.path("folder")).unwrap();
    let err = |line: &str| {
        let run = place.run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(run.status, 2, "{run:?}");
        run.err
    };
    for command in ["hash", "merge -o new", "extract -o new", "compress --in-place"] {
        let told = err(&format!("{command} folder"));
        assert!(told.contains(&format!("-print0 | sort -z | popef {command} --files-from -\n")), "{told}");
    }
    for command in ["diff folder executable.popef", "cat folder x", "recover folder -o new", "tiles model folder"] {
        let told = err(command);
        assert!(
            told.contains("folder: this is a folder [is-folder]\n") && told.ends_with("Name a file in it.\n"),
            "{told}"
        );
    }
    for (command, words) in [
        ("hash --type feed executable.popef", "executable.popef: nothing matches --type feed ["),
        ("extract --filter a* executable.popef -o new", "executable.popef: nothing matches --filter a* ["),
        ("set --exclude * executable.popef --set numIpus=2 -o new", "executable.popef: nothing matches --exclude * ["),
        ("compress --type feed executable.popef -o new", "executable.popef: nothing matches --type feed ["),
        ("diff executable.popef executable.popef --type feed", "nothing matches --type feed in any of the 2 files ["),
    ] {
        let told = err(command);
        assert!(told.contains(words) && told.matches("nothing matches").count() == 1, "{told}");
    }
    for command in ["hash damaged.popef", "ls damaged.popef", "extract damaged.popef -o new"] {
        let told = err(command);
        assert!(told.ends_with("or keep the blobs before this one with popef recover.\n"), "{told}");
        assert_eq!((told.lines().count(), told.matches("[blob-cut]").count()), (2, 1), "{told}");
    }
    // What is whole is written, and the damage told as everywhere.
    let run = place.run(&["cat", "damaged.popef", "first"]).good();
    assert!(run.err.ends_with("with popef recover.\n"), "{run:?}");
}

/// As all other commands take it.
#[test]
fn listings_can_be_of_some_types_alone() {
    let place = Place::with(&["interop/executable.popef"]);
    let types = |command: &str, of_types: &str| {
        let line = format!("{command} --format ndjson --type {of_types} executable.popef");
        let run = place.run(&line.split(' ').collect::<Vec<_>>()).good();
        let blobs = run.text().lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        let types = blobs.filter(|line| line["kind"] == "blob").map(|blob| blob["type"].as_str().unwrap().to_owned());
        types.collect::<Vec<_>>()
    };
    assert_eq!(types("ls", "tensor"), ["dataTensor"]);
    assert_eq!(types("dump", "executable,opaque"), ["opaque", "poplarExecutable"]);
    assert_eq!(types("dump -e", "executable,opaque"), ["poplarExecutable"]);
    let run = place.run(&["ls", "--type", "metadata", "executable.popef"]).good();
    assert!(run.text().contains("\n  shown: 1 of 4 blobs\n") && !run.text().contains("input_parameter"), "{run:?}");
    let run = place.run(&["ls", "--type", "feed", "--exclude", "x", "executable.popef"]).good();
    assert_eq!(run.err, "popef ls: nothing matches --type feed --exclude x\n");
}

/// Programs that read findings show who found them.
#[test]
fn findings_name_the_program_that_ran() {
    let sarif: serde_json::Value = serde_json::from_str(&run("check --format sarif PE108.popef").0).unwrap();
    assert_eq!(sarif["runs"][0]["tool"]["driver"]["name"], "popef");
    let (junit, ..) = run("check --format junit PE108.popef");
    assert!(junit.contains("<testsuites name=\"popef\">"), "{junit}");
}

fn run(args: &str) -> (String, String, i32) {
    let place = Place::with(&[]);
    let run = finish(place.command().current_dir(testdata().join("checks")).args(args.split(' ')));
    (run.text().to_owned(), run.err, run.status)
}

/// Also what needs the data: executables, opaque blobs and, on request, all of it.
#[test]
fn a_pipe_is_checked_like_a_file() {
    let place = Place::with(&["interop/executable.popef", "golden/damaged.popef", "float8/e4m3fnuz.txt"]);
    for file in ["executable.popef", "damaged.popef", "e4m3fnuz.txt"] {
        for options in [&["check"][..], &["check", "--deep"]] {
            let by_name = place.run(&[options, &[file]].concat());
            let piped = place.run_with_input(&[options, &["-"]].concat(), &place.read(file));
            let expected = by_name.text().replace(file, "-");
            assert_eq!(piped.text().lines().collect::<Vec<_>>(), without_mends(&expected), "{file}");
            assert_eq!(piped.status, by_name.status, "{file}");
        }
    }
    assert_eq!(place.run_with_input(&["check", "-"], &place.read("executable.popef")).status, 0);
    let empty = place.run_with_input(&["check", "-"], b"");
    assert!(empty.status == 1 && empty.text().contains("PE007"), "{empty:?}");
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
    assert!(out.contains(&format!("\"message\":\"{problem}\"")), "{out}");
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
    let expected =
        "popef explain: there is no rule and no error \"XYZ\"; popef explain lists all rules [wrong-arguments]\n";
    assert!(err.starts_with(expected) && status == 2, "{err}");
    let of_profiles = poplar_inspect::profile::rules().flat_map(|(_, rules)| rules);
    let all = popef_check::rules().chain(of_profiles).count();
    assert_eq!(run("explain --format ndjson").0.lines().count(), all);
}

#[test]
fn a_slip_is_named_by_the_command() {
    let (_, err, status) = run("ls --values 3 PE108.popef");
    let expected = "popef ls: there is no file 3; did you mean --values=3? [wrong-arguments]\n";
    assert!(err.starts_with(expected) && status == 2, "{err}");
    let (_, err, status) = run("dump -t tensor PE108.popef");
    let expected = "popef dump: there is no file tensor; did you mean --type tensor? [wrong-arguments]\n\
                    popef dump: See popef dump --help.\n";
    assert_eq!((err.as_str(), status), (expected, 2));
    let (_, err, status) = run("ls --type metadata --values PE108.popef");
    assert!(err.starts_with("popef ls: --values shows elements") && status == 2, "{err}");
    let (_, err, status) = run("dump -m --values=3 PE108.popef");
    let expected = "popef dump: --values shows elements of tensors and feeds: it needs --tensors or --feeds [wrong-";
    assert!(err.starts_with(expected) && status == 2, "{err}");
}
