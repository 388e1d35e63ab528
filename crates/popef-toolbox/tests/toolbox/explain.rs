//! `popef explain`: codes of errors and policies, and what the documents say of checks in CI. `under_one_roof.rs` has its rules.

use std::fs;

use super::common::{Place, testdata};

fn document(name: &str) -> String {
    fs::read_to_string(testdata().join("..").join(name)).unwrap()
}

/// The code that stands behind an error is what people look up.
#[test]
fn the_code_behind_an_error_is_explained() {
    let place = Place::with(&[]);
    let failed = place.run(&["ls", "no.popef"]);
    let code = failed.err.split_once('[').unwrap().1.split_once(']').unwrap().0;
    let explained = place.run(&["explain", code]).good();
    let (title, rest) = explained.text().split_once("\n\n").unwrap();
    assert_eq!(title, "not-found: an error of the kind io");
    let advice = rest.split_once("What to do: ").unwrap().1;
    assert!(failed.err.contains(advice.trim_end().trim_end_matches('.')), "{failed:?} {advice}");
}

/// Each code of the documents, and of each crate that has some.
#[test]
fn all_codes_are_explained() {
    let errors = document("docs/ERRORS.md");
    let of_library = errors.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`')).map(|(code, _)| code);
    let of_operations = popef_ops::Code::ALL.iter().map(|code| code.as_str());
    let of_executables = poplar_inspect::ErrorCode::ALL.iter().map(|code| code.as_str());
    let of_stores = popef_remote::Code::ALL.iter().map(|code| code.as_str());
    let codes: Vec<_> = of_library.chain(of_operations).chain(of_stores).chain(of_executables).collect();
    assert!(codes.len() > 100);
    let arguments = [&["explain", "--format", "json"], &codes[..]].concat();
    let explained = Place::with(&[]).run(&arguments).good().json();
    for code in &codes {
        let found = explained["codes"].as_array().unwrap().iter().find(|entry| entry["code"] == *code).unwrap();
        assert!(["errorKind", "meaning", "advice"].iter().all(|key| found[key] != ""), "{found}");
    }
}

#[test]
fn a_misspelt_code_is_named() {
    let run = Place::with(&[]).run(&["explain", "blob-cutt"]);
    assert!(
        run.status == 2 && run.err.contains("no rule and no error \"blob-cutt\"; did you mean blob-cut?"),
        "{run:?}"
    );
}

/// Who installed the tool has no documents. Both examples are those of the documents, and are read.
#[test]
fn policies_are_explained_by_examples_that_are_read() {
    let place = Place::with(&["checks/PE108.popef", "profile/tiny.report.json"]);
    let page = place.run(&["explain", "policy"]).good();
    let of_checks = fs::read_to_string(testdata().join("validate/policy.toml")).unwrap();
    assert!(page.text().contains(&of_checks));
    for name in ["docs/ci.md", "docs/CHECKS.md"] {
        assert!(document(name).contains(&format!("```toml\n{of_checks}```")), "{name}");
    }
    let of_profiles = document("docs/PROFILE.md");
    let of_profiles = of_profiles.split_once("```toml\n").unwrap().1.split_once("```").unwrap().0;
    assert!(page.text().contains(of_profiles));
    place.write("of-checks.toml", &of_checks);
    place.write("of-profiles.toml", of_profiles);
    assert_eq!(place.run(&["check", "--policy", "of-checks.toml", "PE108.popef"]).status, 1);
    assert_eq!(place.run(&["profile", "tiny.report.json", "--policy", "of-profiles.toml"]).status, 0);
    assert_eq!(place.run(&["explain", "policy", "PE101"]).status, 2);
    place.write("wrong.toml", "nothing = 1");
    let wrong = place.run(&["check", "--policy", "wrong.toml", "PE108.popef"]);
    assert!(wrong.status == 2 && wrong.err.contains("popef explain policy"), "{wrong:?}");
}

#[test]
fn commands_of_other_tools_lead_to_those_of_this_one() {
    let place = Place::with(&[]);
    for (word, command) in [("validate", "check"), ("info", "ls"), ("show", "cat"), ("inspect", "ls")] {
        let run = place.run(&[word, "model.popef"]);
        assert!(run.status == 2 && run.err.contains(&format!("'popef {command}'")), "{run:?}");
        assert_eq!(run.err.matches("tip:").count(), 1, "{run:?}");
    }
}

/// PopTorch calls its files `.poptorch`.
#[test]
fn the_hooks_take_all_names_of_models() {
    let hooks = document(".pre-commit-hooks.yaml");
    let patterns: Vec<_> = hooks.lines().filter_map(|line| line.trim().strip_prefix("files: ")).collect();
    assert_eq!(patterns, [r"\.(popef|poptorch)$"; 2]);
    assert!(document("docs/ci.md").contains(&format!("files: {}", patterns[0])));
}

/// What docs/ci.md and the hooks run is what the tool takes.
#[test]
fn the_documented_commands_are_taken() {
    let (page, hooks) = (document("docs/ci.md"), document(".pre-commit-hooks.yaml"));
    let commands: Vec<_> = page.lines().chain(hooks.lines()).filter_map(command_of).collect();
    assert_eq!(commands.len(), 7, "{commands:?}");
    let place = Place::with(&["interop/add-clean.popef"]);
    for command in commands {
        let words = command.split_whitespace().filter(|word| !word.ends_with(".popef"));
        let run = place.run(&[&["check"], &words.collect::<Vec<_>>()[..], &["add-clean.popef"]].concat());
        assert_eq!((run.status, run.err.as_str()), (0, ""), "{command}");
    }
}

/// The options of a line of YAML that runs the tool.
fn command_of(line: &str) -> Option<&str> {
    let line = line.trim_start().trim_start_matches("- ");
    let line = ["run: ", "entry: ", "sh '"].iter().find_map(|start| line.strip_prefix(start)).unwrap_or(line);
    line.strip_prefix("popef check ").map(|options| options.split('>').next().unwrap_or(options))
}
