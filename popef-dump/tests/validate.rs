//! `--validate` and `--explain`. Their output is compared with `testdata/validate`. After an intended change:
//! `POPEF_RENEW=1 cargo test -p popef-dump --test validate`, then look at the difference.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{Run, files, hold_golden, run, run_with_input, testdata, transcript};
use popef::Writer;
use popef::types::OpaqueInfo;
use popef_check::Severity;

fn folder() -> PathBuf {
    testdata().join("validate")
}

fn checks() -> PathBuf {
    testdata().join("checks")
}

fn validate(folder: &Path, args: &[&str]) -> Run {
    run(folder, &[&["--validate"], args].concat())
}

const CASES: &[(&str, &str)] = &[
    ("clean", "--validate --deep ../interop/add-clean.popef"),
    ("not-deep", "--validate ../interop/add-clean.popef"),
    ("warning", "--validate ../checks/PE108.popef"),
    ("warning-strict", "--validate --strict ../checks/PE108.popef"),
    ("error", "--validate ../checks/PE101.popef"),
    // Only one file, because the log has several in any order: each is opened on a thread.
    ("error-verbose", "--validate -v --deep ../checks/PE404.popef"),
    ("color", "--validate --color --for triton ../checks/PE101.popef ../checks/PE502.popef"),
    (
        "set",
        "--validate --deep ../interop/split-executable.popef ../interop/split-tensors.popef \
         ../interop/split-feeds.popef",
    ),
    ("set-doubled", "--validate ../checks/PE607.popef ../checks/PE108.popef"),
    ("each", "--validate --each ../checks/PE607.popef ../checks/PE108.popef ../checks/PE007.popef"),
    ("twice", "--validate ../checks/PE108.popef ../checks/PE108.popef"),
    (
        "each-twice",
        "--validate --each ../checks/PE108.popef ../interop/add-clean.popef ../interop/../checks/PE108.popef",
    ),
    ("pickle", "--validate ../checks/PE502.popef"),
    ("pickle-unknown", "--validate ../checks/PE503.popef"),
    ("pickle-unknown-poptorch", "--validate --for poptorch ../checks/PE503.popef"),
    ("pickle-unknown-json", "--validate --format json ../checks/PE503.popef"),
    ("pickle-unknown-ndjson", "--validate --format ndjson ../checks/PE503.popef"),
    ("pickle-unknown-junit", "--validate --format junit ../checks/PE503.popef"),
    ("pickle-unknown-github", "--validate --format github ../checks/PE503.popef"),
    ("pickle-first", "--validate ../opaque/poptorch/poptorch25-hostile.poptorch"),
    ("pickle-first-poptorch", "--validate --deep --for poptorch ../opaque/poptorch/poptorch25.poptorch"),
    ("pickle-poptorch", "--validate --strict ../checks/as-poptorch.popef"),
    ("policy-known-imports", "--validate --strict --policy known-imports.toml ../checks/PE503.popef"),
    ("loaders", "--validate --deep --for popart,poptorch,triton ../checks/as-poptorch.popef"),
    ("damaged", "--validate ../golden/damaged.popef ../checks/PE001.popef"),
    ("something-else", "--validate --each ../float8/e4m3fnuz.txt policy.toml"),
    ("missing", "--validate no-such-file.popef . ../checks/PE108.popef"),
    ("hostile", "--validate --deep ../golden/hostile-names.popef"),
    ("policy", "--validate --policy policy.toml ../checks/PE704.popef"),
    ("policy-lenient", "--validate --policy lenient.toml ../checks/PE101.popef ../checks/PE108.popef"),
    ("policy-unknown-rule", "--validate --policy unknown-rule.toml ../checks/PE108.popef"),
    ("policy-unknown-key", "--validate --policy unknown-key.toml ../checks/PE108.popef"),
    ("policy-wrong-type", "--validate --policy wrong-type.toml ../checks/PE108.popef"),
    ("policy-missing", "--validate --policy no-such-policy.toml ../checks/PE108.popef"),
    ("json", "--validate --format json ../checks/PE012.popef ../golden/damaged.popef no-such-file.popef"),
    ("json-clean", "--validate --deep --format json ../interop/add-clean.popef"),
    ("ndjson", "--validate --each --format ndjson ../checks/PE012.popef ../checks/PE101.popef"),
    ("sarif", "--validate --format sarif ../checks/PE012.popef ../checks/PE101.popef no-such-file.popef"),
    (
        "github",
        "--validate --each --format github ../checks/PE012.popef ../checks/PE101.popef ../checks/PE607.popef \
         no-such-file.popef",
    ),
    (
        "junit",
        "--validate --each --format junit ../checks/PE012.popef ../checks/PE101.popef ../checks/PE607.popef \
         no-such-file.popef",
    ),
    ("junit-strict", "--validate --strict --deep --format junit ../checks/PE108.popef ../golden/hostile-names.popef"),
    (
        "quiet",
        "--validate --each --quiet ../checks/PE607.popef ../checks/PE101.popef ../checks/PE007.popef no-such-file.popef",
    ),
    ("quiet-clean", "-q --validate --each ../checks/PE607.popef ../interop/add-clean.popef"),
    (
        "quiet-github",
        "--validate --each --quiet --format github ../checks/PE607.popef ../checks/PE101.popef no-such-file.popef",
    ),
    ("github-strict", "--validate --strict --quiet --format github ../checks/PE108.popef"),
    ("quiet-json", "--validate --quiet --format json ../checks/PE607.popef"),
    ("sarif-clean", "--validate --deep --format sarif ../interop/add-clean.popef"),
    ("explain", "--explain PE012"),
    ("explain-loader", "--explain pe603"),
    ("explain-color", "--color --explain PE502"),
    ("explain-json", "--explain PE603 --format json"),
    ("explain-ndjson", "--format ndjson --explain PE101"),
    ("explain-sarif", "--explain --format sarif"),
    ("explain-unknown", "--explain PE1O1"),
    ("explain-all", "--explain"),
];

#[test]
fn output_is_as_it_was() {
    hold_golden(&folder(), CASES);
}

#[test]
fn every_golden_file_has_a_case() {
    let mut cases: Vec<_> = CASES.iter().map(|(name, _)| format!("{name}.out")).collect();
    cases.sort();
    assert_eq!(files(&folder(), ".out"), cases);
}

#[test]
fn nothing_that_could_fool_a_terminal_is_printed() {
    let bad = |letter: char| letter.is_control() && letter != '\n';
    let unseen = |letter| matches!(letter, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    for format in ["text", "json", "ndjson", "sarif", "github", "junit"] {
        for file in ["../golden/hostile-names.popef", "../checks/PE013.popef", "../checks/PE012.popef"] {
            let shown = transcript(&folder(), &format!("--validate --deep -v --format {format} {file}"));
            assert_eq!(shown.chars().find(|&letter| bad(letter) || unseen(letter)), None, "{format} {file}");
        }
    }
}

#[test]
fn a_check_that_is_not_done_is_an_error() {
    let checking: &[&[&str]] = &[
        &["--validate"],
        &["--deep"],
        &["--for", "popart"],
        &["--policy", "none.toml"],
        &["--strict"],
        &["--allow-empty"],
        &["--quiet"],
    ];
    let showing: &[&[&str]] = &[
        &["--all"],
        &["-m"],
        &["-u"],
        &["--filter", "*"],
        &["--sort=name"],
        &["--values"],
        &["--exclude=*"],
        &["-i"],
        &["--full-names"],
    ];
    for check in checking {
        for show in showing {
            for args in [[*check, *show].concat(), [*show, *check].concat()] {
                let run = run(&checks(), &[&args[..], &["PE607.popef"]].concat());
                assert_eq!((run.status, run.out.as_str()), (2, ""), "{args:?}: {run:?}");
                assert!(run.err.contains(check[0]), "{args:?}: {}", run.err);
            }
        }
        let explain = run(&checks(), &[check, &["--explain", "PE101"][..]].concat());
        assert_eq!(explain.status, 2, "{check:?}: {explain:?}");
    }
}

#[test]
fn names_are_written_as_in_listings() {
    let file = "../golden/hostile-names.popef";
    let listing = run(&folder(), &["--all", file]).out;
    let found = validate(&folder(), &[file]).out;
    let names = listing.lines().filter_map(|line| line.trim().strip_prefix("Name: ")?.strip_suffix(':'));
    assert_eq!(names.inspect(|name| assert!(found.contains(name), "{name} is not in\n{found}")).count(), 9);
}

/// The advice for damage, to export the model again, does not fit files that are not models.
#[test]
fn advice_for_foreign_files_is_their_own() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("lfs"), "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n").unwrap();
    fs::copy(checks().join("PE004.popef"), folder.path().join("damaged")).unwrap();
    for format in ["text", "github", "junit"] {
        let advice = |file| {
            let out = validate(folder.path(), &["--format", format, file]).out;
            (out.contains("git lfs pull"), out.contains("it again"))
        };
        assert_eq!((advice("lfs"), advice("damaged")), ((true, false), (false, true)), "{format}");
    }
}

#[test]
fn no_files_to_check_are_an_error() {
    let none = |args: &[&str]| run(&checks(), &[args, &["--files-from", "-"]].concat());
    let refused = none(&["--validate"]);
    let problem =
        "popef-dump: the list on standard input names no files, so nothing was checked; --allow-empty permits this\n";
    assert_eq!((refused.status, refused.out.as_str(), refused.err.as_str()), (2, "", problem));
    let permitted = none(&["--validate", "--allow-empty"]);
    assert_eq!((permitted.status, permitted.err.as_str()), (0, ""));
    assert!(permitted.out.ends_with("in 0 files\n"), "{}", permitted.out);
    // As for a pattern of the shell that matches no file.
    let without_a_list = validate(&checks(), &["--allow-empty"]);
    assert_eq!((without_a_list.status, without_a_list.out), (0, permitted.out));
    let others = none(&["--validate", "PE607.popef"]);
    assert_eq!((others.status, others.err.as_str()), (0, "popef-dump: the list on standard input names no files\n"));
    let shown = none(&["--all"]);
    assert_eq!((shown.status, shown.err.as_str()), (2, "popef-dump: the list on standard input names no files\n"));
}

/// Names of files are as untrusted as those in them.
#[cfg(unix)]
#[test]
fn hostile_names_of_files_are_escaped() {
    let folder = tempfile::tempdir().unwrap();
    let name = "a\u{1b}[2J\n\u{202e}b.popef";
    fs::copy(checks().join("PE101.popef"), folder.path().join(name)).unwrap();
    for args in [&[name][..], &["no\u{1b}[2J", name]] {
        for format in ["text", "json", "ndjson", "sarif", "github", "junit"] {
            let run = validate(folder.path(), &[&["--format", format], args].concat());
            let bad = |letter: char| letter.is_control() && letter != '\n' || letter == '\u{202e}';
            assert!(!run.out.contains(bad) && !run.err.contains(bad), "{format}: {run:?}");
        }
    }
    let sarif = validate(folder.path(), &["--format", "sarif", name]).json();
    let uri = &sarif["runs"][0]["artifacts"][0]["location"]["uri"];
    assert_eq!(uri, "a%1B%5B2J%0A%E2%80%AEb.popef");
}

#[test]
fn the_exit_status_says_what_was_found() {
    let cases: &[(&[&str], i32)] = &[
        (&["PE607.popef"], 0),
        (&["PE008.popef"], 0),
        (&["--strict", "PE008.popef"], 0),
        (&["PE108.popef"], 0),
        (&["--strict", "PE108.popef"], 1),
        (&["PE101.popef"], 1),
        (&["PE002.popef"], 1),
        (&["PE007.popef"], 1),
        (&["PE607.popef", "PE007.popef"], 1),
        (&["../float8/e4m3fnuz.txt"], 1),
        (&["PE404.popef", "--strict"], 0),
        (&["PE404.popef", "--strict", "--deep"], 1),
        (&["--for", "popart", "PE601.popef"], 1),
        (&["--for", "triton,tensorflow", "PE621.popef"], 1),
        (&["--for", "triton", "PE621.popef"], 0),
        (&["PE607.popef", "PE108.popef"], 1),
        (&["--each", "PE607.popef", "PE108.popef"], 0),
        (&["--each", "PE607.popef", "PE101.popef"], 1),
        (&["--each", "PE101.popef", "none.popef"], 2),
        (&["PE607.popef", "none.popef"], 2),
        (&["."], 2),
        (&["--policy", "../validate/policy.toml", "PE607.popef"], 1),
        (&["--policy", "../validate/lenient.toml", "PE101.popef"], 0),
        (&["--policy", "../validate/lenient.toml", "--strict", "PE101.popef"], 0),
        (&["--policy", "../validate/unknown-key.toml", "PE607.popef"], 2),
        (&["--policy", "none.toml", "PE607.popef"], 2),
        (&["--policy", ".", "PE607.popef"], 2),
        (&["--for", "pytorch", "PE607.popef"], 2),
        (&["--filter", "*", "PE607.popef"], 2),
        (&["--explain", "PE101"], 2),
        (&[], 2),
    ];
    for (args, status) in cases {
        let run = validate(&checks(), args);
        assert_eq!(run.status, *status, "{args:?}: {run:?}");
        // What could not be checked is in the report. Without a report, it is on stderr.
        assert_ne!(run.out.is_empty(), run.err.is_empty(), "{args:?}: {run:?}");
    }
}

/// Each format has a place for files that cannot be read.
#[test]
fn what_cannot_be_read_is_in_the_report_alone() {
    for format in ["text", "json", "ndjson", "sarif", "github", "junit"] {
        for each in [&["--each"][..], &[]] {
            let args = [each, &["--format", format, "none.popef", "PE108.popef"]].concat();
            let run = validate(&checks(), &args);
            assert_eq!((run.status, run.err.as_str()), (2, ""), "{format}: {run:?}");
            assert!(run.out.contains("cannot open the file"), "{format}: {run:?}");
        }
    }
    let quiet = validate(&checks(), &["-q", "none.popef"]);
    assert_eq!((quiet.out.matches("cannot open the file").count(), quiet.err.as_str()), (1, ""), "{quiet:?}");
    let log =
        common::finish(common::command(&checks()).env("POPEF_LOG_LEVEL", "ERR").args(["--validate", "none.popef"]));
    assert!(log.err.starts_with("[popef-dump] [err] none.popef: cannot open"), "{log:?}");
}

/// Nothing was read, so nothing has a place, as in the JSON of the listing.
#[test]
fn findings_about_foreign_files_have_no_place() {
    let document = validate(&checks(), &["--format", "json", "../float8/e4m3fnuz.txt"]).json();
    let finding = &document["findings"][0];
    assert_eq!((&finding["blob"], &finding["offset"]), (&serde_json::Value::Null, &serde_json::Value::Null));
    let listed = run(&checks(), &["--format", "json", "../float8/e4m3fnuz.txt"]).json();
    let error = &listed["files"][0]["error"];
    assert_eq!(
        [&error["blob"], &error["offset"], &error["message"]],
        [&finding["blob"], &finding["offset"], &finding["message"]]
    );
}

#[test]
fn options_of_checks_need_a_check() {
    for args in
        [&["--quiet"][..], &["--deep"], &["--strict"], &["--for", "popart"], &["--policy", "p"], &["--format", "sarif"]]
    {
        let run = run(&checks(), &[args, &["PE607.popef"]].concat());
        assert!(run.status == 2 && run.err.contains("--validate"), "{args:?}: {run:?}");
    }
}

#[test]
fn color_adds_nothing_but_color() {
    for args in [&["PE101.popef", "PE502.popef", "none.popef"][..], &["-v", "--for", "triton", "as-poptorch.popef"]] {
        let colored = validate(&checks(), &[&["--color"], args].concat()).out;
        let mut plain = String::new();
        for (index, piece) in colored.split('\u{1b}').enumerate() {
            plain.push_str(if index == 0 { piece } else { piece.split_once('m').unwrap().1 });
        }
        assert_eq!(plain, validate(&checks(), args).out);
        assert_ne!(plain, colored);
    }
}

#[test]
fn every_rule_is_explained() {
    let list = run(&folder(), &["--explain"]).out;
    for rule in popef_check::rules() {
        let run = run(&folder(), &["--explain", &rule.id.to_lowercase()]);
        assert_eq!((run.status, run.err.as_str()), (0, ""));
        let condition = rule.condition().map(|condition| format!(", {condition}")).unwrap_or_default();
        let expected = format!(
            "{}: {}\n{}{condition}\n\n{}\n\nTo fix it: {}\n",
            rule.id, rule.title, rule.severity, rule.meaning, rule.fix
        );
        assert_eq!(run.out, expected);
        assert!(list.contains(&format!("  {} ", rule.id)) && list.contains(rule.title), "{}", rule.id);
    }
}

/// In the order given. A document has each rule once.
#[test]
fn several_rules_are_explained() {
    let explain = |args: &[&str]| {
        let run = run(&folder(), args);
        assert_eq!((run.status, run.err.as_str()), (0, ""), "{args:?}");
        run.out
    };
    let [second, first, list] = [&["--explain", "PE101"][..], &["--explain", "PE012"], &["--explain"]].map(&explain);
    let both = format!("{second}\n{first}");
    assert_eq!(explain(&["--explain", "pe101", "--explain=PE012"]), both);
    assert_eq!(explain(&["--explain", "PE101,PE012"]), both);
    assert_eq!(explain(&["--explain", "--explain", "PE012"]), format!("{list}\n{first}"));
    let ids = |args: &[&str]| {
        let lines = run(&folder(), &[args, &["--format", "ndjson"]].concat()).json_lines();
        lines.iter().map(|line| line["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ids(&["--explain", "PE101,PE012,PE101"]), ["PE012", "PE101"]);
    assert_eq!(ids(&["--explain", "PE101", "--explain"]).len(), popef_check::rules().count());
    let unknown = run(&folder(), &["--explain", "PE101,PE1O1"]);
    assert!(unknown.status == 2 && unknown.out.is_empty() && unknown.err.contains("PE1O1"), "{unknown:?}");
}

/// Each file of a rule is reported under its id, and how to fix it is shown once.
#[test]
fn every_rule_is_found_and_helped() {
    let policies = testdata().join("validate/policy.toml");
    for rule in popef_check::rules().filter(|rule| rule.condition() != Some("only with a policy that asks for it")) {
        let file = format!("{}.popef", rule.id);
        let mut args = vec!["--deep", "--for", "popart,poptorch,tensorflow,triton", &file];
        if rule.id == "PE019" {
            // The rule is about what is given.
            args.push(&file);
        }
        let run = validate(&checks(), &args);
        // PopTorch loads the pickle.
        let severity = if rule.id == "PE503" { Severity::Error } else { rule.severity };
        assert!(run.out.contains(&format!("  {severity} {}: ", rule.id)), "{}: {run:?}", rule.id);
        assert!(run.out.contains(&format!("    To fix it: {}\n", rule.fix)), "{}: {run:?}", rule.id);
    }
    let twice = validate(&checks(), &["--each", "PE108.popef", "PE606.popef"]).out;
    assert_eq!((twice.matches(" PE108: ").count(), twice.matches("To fix it: ").count()), (2, 1));
    let policed = validate(&checks(), &["--policy", policies.to_str().unwrap(), "PE704.popef"]).out;
    assert!(policed.contains("error PE702: ") && policed.contains("error PE704: "), "{policed}");
}

/// Real pickles, put into opaque blobs of any name.
/// Each format for programs says it in its own way, whatever the verdict.
#[test]
fn each_format_says_that_a_file_is_not_safe_to_unpickle() {
    for (format, said) in [
        ("text", "not safe to unpickle: 0 errors, 1 warning, 1 note in 1 file"),
        ("github", "not safe to unpickle: 0 errors, 1 warning, 1 note in 1 file"),
        ("json", r#""notSafeToUnpickle":true"#),
        ("ndjson", r#""notSafeToUnpickle":true"#),
        ("sarif", r#""properties":{"notSafeToUnpickle":true}"#),
        ("junit", r#"<property name="notSafeToUnpickle" value="true"/>"#),
    ] {
        let of = |file: &str| validate(&checks(), &["--format", format, file]);
        let unknown = of("PE503.popef");
        assert!(unknown.status == 0 && unknown.out.contains(said), "{format}: {unknown:?}");
        assert!(!of("PE108.popef").out.contains(said), "{format}");
    }
    let failed = validate(&checks(), &["--for", "poptorch", "PE503.popef"]);
    assert!(failed.status == 1 && failed.out.ends_with("; not safe to unpickle\n"), "{failed:?}");
}

#[test]
fn dangerous_pickles_fail_and_ordinary_ones_warn() {
    let folder = tempfile::tempdir().unwrap();
    let expected = fs::read_to_string(testdata().join("pickles/expected.txt")).unwrap();
    let mut seen = 0;
    for line in expected.lines() {
        let mut words = line.split_whitespace();
        let (Some(name), Some(told)) = (words.next(), words.next()) else { continue };
        let Ok(pickle) = fs::read(testdata().join("pickles").join(name)) else { continue };
        let path = folder.path().join("model.popef");
        let _ = fs::remove_file(&path);
        let mut writer = Writer::create(&path).unwrap();
        writer.write_opaque(&OpaqueInfo { name: "state".into(), executable: "e".into() }, &pickle).unwrap();
        writer.finish().unwrap();
        let found = validate(folder.path(), &["model.popef"]).out;
        assert_eq!(found.contains("error PE502: "), told.starts_with("dangerous"), "{line}: {found}");
        // An archive may have no pickle that could be looked at.
        let told_by = ["note PE501: ", "error PE504: ", "warning PE505: ", " long member of opaque blob "];
        let is_told = told_by.iter().any(|words| found.contains(words));
        assert_eq!(is_told, told != "none", "{line}: {found}");
        let is_safe = ["ordinary", "none"].contains(&told);
        assert_eq!(!found.contains("not safe to unpickle"), is_safe, "{line}: {found}");
        assert!(is_safe || !found.contains("\npassed"), "{line}: {found}");
        seen += 1;
    }
    assert!(seen > 50, "{seen}");
}

#[test]
fn each_file_by_itself_is_as_if_it_were_alone() {
    let names = ["PE101.popef", "PE108.popef", "PE502.popef", "PE007.popef"];
    let lines = |args: &[&str]| validate(&checks(), &[&["--format", "ndjson"], args].concat()).json_lines();
    let mut alone = Vec::new();
    for name in names {
        alone.extend(lines(&[name]).into_iter().filter(|line| line.get("verdict").is_none()));
    }
    let mut together = lines(&[&["--each"], &names[..]].concat());
    let end = together.pop().unwrap();
    assert_eq!(together, alone);
    assert_eq!(end["counts"]["files"], 4);
}

#[test]
fn many_files_come_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let names: Vec<String> = (0..100).map(|number| format!("{number}.popef")).collect();
    for (number, name) in names.iter().enumerate() {
        let source = ["PE101", "PE108", "PE007"][number % 3];
        fs::copy(checks().join(format!("{source}.popef")), folder.path().join(name)).unwrap();
    }
    let args: Vec<&str> = names.iter().map(String::as_str).collect();
    let run = validate(folder.path(), &[&["--each"], &args[..]].concat());
    let shown: Vec<_> = run.out.lines().filter_map(|line| line.strip_prefix("PopEF file: ")).collect();
    assert_eq!((shown, run.status), (args, 1));
    assert!(
        run.out.ends_with("failed: 67 errors, 33 warnings, 0 notes in 100 files; not everything was checked\n"),
        "{}",
        run.out
    );
}

/// Checks that need missing data do not pass. With the data in memory, everything is checked.
#[test]
fn standard_input_is_checked_as_far_as_it_was_kept() {
    let of = |name: &str, args: &[&str]| {
        let bytes = fs::read(checks().join(name)).unwrap();
        run_with_input(&checks(), &[&["--validate"], args, &["-"]].concat(), &bytes)
    };
    let clean = of("PE607.popef", &[]);
    assert_eq!((clean.status, clean.err.as_str()), (0, ""));
    assert!(clean.out.contains("not checked: 15 bytes of"), "{clean:?}");
    let linked = of("PE101.popef", &[]);
    assert!(linked.status == 1 && linked.out.contains("blob 0, byte 0: the metadata is for"), "{linked:?}");
    let pickled = of("PE502.popef", &[]);
    assert!(pickled.status == 2 && pickled.out.contains("not checked: the data of opaque blob 3"), "{pickled:?}");
    let whole = of("PE502.popef", &["--deep"]);
    assert!(whole.status == 1 && whole.out.contains("error PE502: "), "{whole:?}");
    let named = validate(&checks(), &["--deep", "PE502.popef"]).out;
    assert_eq!(whole.out, named.replace("PE502.popef", "-"));
}

#[test]
fn a_list_names_files() {
    let run = run_with_input(&checks(), &["--validate", "--each", "--files-from", "-"], b"PE101.popef\nPE007.popef\n");
    assert!(run.status == 1 && run.out.contains("in 2 files"), "{run:?}");
}

#[test]
fn a_policy_comes_from_standard_input() {
    let policy = b"[rules]\nPE108 = \"error\"\n";
    let of = |args: &[&str]| run_with_input(&checks(), &[&["--validate", "--policy", "-"], args].concat(), policy);
    assert_eq!(validate(&checks(), &["PE108.popef"]).status, 0);
    let severe = of(&["PE108.popef"]);
    assert!(severe.status == 1 && severe.out.contains("error PE108: "), "{severe:?}");
    for args in [&["-"][..], &["--files-from", "-"], &["PE108.popef", "-"]] {
        let twice = of(args);
        assert_eq!((twice.status, twice.err.as_str()), (2, "popef-dump: standard input (-) can be read only once\n"));
    }
    let wrong = run_with_input(&checks(), &["--validate", "--policy", "-", "PE108.popef"], b"\nnum-ipu = 1");
    assert!(
        wrong.status == 2 && wrong.err.starts_with("popef-dump: standard input: line 2, `num-ipu = 1`: "),
        "{wrong:?}"
    );
}

/// With `--quiet`, what is printed does not grow with the number of clean files.
#[test]
fn many_clean_files_are_quiet() {
    let folder = tempfile::tempdir().unwrap();
    let copies = |rule: &str, numbers: std::ops::Range<usize>| -> String {
        let copy = |number| {
            let name = format!("{number}.popef");
            fs::copy(checks().join(format!("{rule}.popef")), folder.path().join(&name)).unwrap();
            name + "\n"
        };
        numbers.map(copy).collect()
    };
    let clean = copies("PE607", 0..300);
    let list = clean.clone() + &copies("PE101", 300..301) + &copies("PE607", 301..600);
    let of = |args: &[&str], list: &str| {
        let args = [&["--validate", "--each", "--files-from", "-"], args].concat();
        run_with_input(folder.path(), &args, list.as_bytes())
    };
    assert_eq!(of(&["-q"], &clean), Run { out: String::new(), err: String::new(), status: 0 });
    let one = of(&["-q"], &list);
    assert_eq!((one.status, one.out.matches("PopEF file: ").count(), one.out.lines().count()), (1, 1, 3), "{one:?}");
    assert!(of(&[], &list).out.lines().count() > 600);
}

#[test]
fn the_last_of_repeated_options_counts() {
    let same = |repeated: &[&str], last: &[&str]| {
        let of = |args: &[&str]| run(&checks(), &[args, &["PE108.popef"]].concat());
        let (repeated, last) = (of(repeated), of(last));
        assert_eq!(repeated, last);
    };
    same(&["--format=json", "--format=text"], &[]);
    same(&["--sort=size", "--sort=name"], &["--sort=name"]);
    same(&["--values=3", "--values=1"], &["--values=1"]);
    same(&["--color=always", "--color=never", "-t", "-t"], &["-t"]);
    same(&["--validate", "--validate", "--strict", "--strict"], &["--validate", "--strict"]);
    // These are lists, and add up.
    same(&["--filter=v", "--filter=w"], &["--filter=[vw]"]);
    same(&["--validate", "--for=popart", "--for=triton"], &["--validate", "--for=popart,triton"]);
}

/// The first of two policies, or of two lists, must not be left out silently.
#[test]
fn no_policy_and_no_list_is_left_out() {
    let policies = ["--policy=none.toml", "--policy=../validate/lenient.toml", "PE108.popef"];
    let refused = validate(&checks(), &policies);
    assert_eq!((refused.status, refused.out.as_str()), (2, ""));
    assert!(refused.err.starts_with("popef-dump: --policy can be given only once"), "{}", refused.err);

    let folder = tempfile::tempdir().unwrap();
    let (one, other, empty) = (folder.path().join("1"), folder.path().join("2"), folder.path().join("3"));
    for (list, names) in [(&one, "PE108.popef"), (&other, "PE607.popef"), (&empty, "")] {
        fs::write(list, names).unwrap();
    }
    let lists = [&one, &other, &empty].map(|list| format!("--files-from={}", list.display()));
    let listed = validate(&checks(), &lists.each_ref().map(String::as_str));
    let given = validate(&checks(), &["PE108.popef", "PE607.popef"]);
    assert_eq!((listed.status, listed.out), (given.status, given.out));
    assert_eq!(listed.err, format!("popef-dump: the list {} names no files\n", empty.display()));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_and_a_closed_pipe_is_none() {
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = common::command(&checks());
    let output = command.args(["--validate", "PE607.popef"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let script = "\"$0\" --validate --each $(yes PE101.popef | head -2000) | head -1; exit ${PIPESTATUS[0]}";
    let mut bash = std::process::Command::new("bash");
    let output = bash.args(["-c", script, env!("CARGO_BIN_EXE_popef-dump")]).current_dir(checks()).output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(1), &b""[..]));
    let mut bash = std::process::Command::new("bash");
    let script = script.replace("PE101", "PE607");
    let output = bash.args(["-c", &script, env!("CARGO_BIN_EXE_popef-dump")]).current_dir(checks()).output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}
