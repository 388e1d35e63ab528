//! `popef explain`: codes of errors and policies, and whether advice can be followed, and what the documents say of checks in CI. `under_one_roof.rs` has its rules.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::common::{Place, finish, path_with_tool, testdata};

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

/// The codes of all crates.
fn codes(errors: &str) -> Vec<&str> {
    errors.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`')).map(|(code, _)| code).collect()
}

#[test]
fn all_codes_are_explained() {
    let errors = document("docs/ERRORS.md");
    let codes = codes(&errors);
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

/// The help of each command, and of their commands: `popef tiles exec`.
fn helps() -> BTreeMap<String, String> {
    let place = Place::with(&[]);
    let overview = place.run(&["--help"]).good();
    let mut helps = BTreeMap::new();
    for (name, _) in crate::help::commands(overview.text()) {
        let help = place.run(&[&name, "--help"]).good();
        let inner = help.text().split_once("\nCommands:\n").map_or("", |(_, rows)| rows.split("\n\n").next().unwrap());
        for inner in inner.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next()) {
            let of_inner = place.run(&[&name, inner, "--help"]).good();
            helps.insert(format!("popef {name} {inner}"), of_inner.text().to_owned());
        }
        helps.insert(format!("popef {name}"), help.text().to_owned());
    }
    helps
}

/// The options in a text: `--drop-surplus`.
fn options(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|end: char| end.is_whitespace() || "`'\"()[],;=|<>".contains(end));
    let names =
        words.filter(|word| word.len() > 3 && word.starts_with("--") && word[2..].starts_with(char::is_alphabetic));
    names.map(|word| word.trim_end_matches(|end: char| !end.is_ascii_alphanumeric()).to_owned())
}

fn has_option(help: &str, option: &str) -> bool {
    options(help).any(|known| known == option)
}

/// The parts of a text that are about a command, each from its name to the next command or the end of the sentence.
fn about_commands<'t>(text: &'t str, helps: &BTreeMap<String, String>) -> Vec<(String, &'t str)> {
    let parts = text.match_indices("popef ").filter_map(|(at, _)| {
        // `popef-dump ...` and names of other things are no commands of this tool.
        let is_word = text[..at].chars().next_back().is_none_or(|before| !before.is_alphanumeric() && before != '-');
        let rest = text.get(at..).filter(|_| is_word)?;
        let end = rest[6..].find("popef").map_or(rest.len(), |end| end + 6);
        let rest = &rest[..end];
        let rest = [". ", "; ", "\n", " | ", " > ", " && ", " # ", "` "]
            .iter()
            .fold(rest, |rest, stop| rest.split(stop).next().unwrap());
        let words: Vec<_> =
            rest.split(|end: char| !end.is_alphanumeric() && end != '-').filter(|word| !word.is_empty()).collect();
        let named = [3, 2].into_iter().filter_map(|count| Some(words.get(..count)?.join(" ")));
        Some((named.into_iter().find(|name| helps.contains_key(name))?, rest))
    });
    parts.collect()
}

/// The options in a text that its commands do not have, and options that no command has.
fn not_followable(text: &str, helps: &BTreeMap<String, String>) -> BTreeSet<String> {
    let of_commands = about_commands(text, helps).into_iter().flat_map(|(command, part)| {
        let missing = options(part).filter(|option| !has_option(&helps[&command], option));
        missing.map(|option| format!("{command} has no {option}")).collect::<Vec<_>>()
    });
    of_commands.collect()
}

/// Whoever reads what to do can type it: no rule and no error names an option that the command does not have.
#[test]
fn all_advice_of_rules_and_errors_can_be_followed() {
    let helps = helps();
    assert!(helps.len() > 25 && has_option(&helps["popef tiles exec"], "--help"));
    let place = Place::with(&[]);
    let rules = place.run(&["explain", "--format", "json"]).good().json();
    let errors = document("docs/ERRORS.md");
    let codes = place.run(&[&["explain", "--format", "json"], &codes(&errors)[..]].concat()).good().json();
    let texts = |list: &serde_json::Value, keys: &[&str]| {
        let entries = list.as_array().unwrap().iter();
        entries
            .flat_map(|entry| keys.iter().map(|key| entry[*key].as_str().unwrap().to_owned()).collect::<Vec<_>>())
            .collect::<Vec<_>>()
    };
    let mut all = texts(&rules["rules"], &["meaning", "fix"]);
    all.extend(texts(&codes["codes"], &["meaning", "advice"]));
    assert!(all.len() > 400, "{}", all.len());
    let wrong: Vec<_> = all.iter().filter(|text| !not_followable(text, &helps).is_empty()).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    // An option alone is one of some command, or of the vendor-compatible tool.
    let known = |option: &str| option == "--validate" || helps.values().any(|help| has_option(help, option));
    let unknown: Vec<_> = all.iter().flat_map(|text| options(text)).filter(|option| !known(option)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    // The test itself finds what is wrong.
    assert!(not_followable("popef diff --files-from - compares", &helps).contains("popef diff has no --files-from"));
}

/// What the documents and the examples of the help say can be typed too.
#[test]
fn all_commands_of_documents_and_help_have_their_options() {
    let helps = helps();
    let names = [
        "README.md",
        "docs/TOOLBOX.md",
        "docs/CHECKS.md",
        "docs/ci.md",
        "docs/REMOTE.md",
        "docs/PROFILE.md",
        "docs/TILES.md",
        "docs/GRAPHS.md",
        "docs/PYTHON.md",
    ];
    let texts = names.iter().map(|name| (*name, document(name)));
    let texts: Vec<_> = texts.chain(helps.iter().map(|(name, help)| (name.as_str(), help.clone()))).collect();
    let wrong = texts
        .iter()
        .flat_map(|(name, text)| not_followable(text, &helps).into_iter().map(move |wrong| format!("{name}: {wrong}")));
    let wrong: Vec<_> = wrong.collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A folder in the place of a file: a command asks for files in it, and the line that it prints works as it stands.
#[cfg(unix)]
#[test]
fn what_to_do_with_a_folder_can_be_done() {
    let place = Place::with(&["interop/executable.popef", "profile/tiny.graph.json", "graph/train.json"]);
    fs::create_dir(place.path("models")).unwrap();
    for name in ["executable.popef", "split-tensors.popef"] {
        fs::copy(testdata().join("interop").join(name), place.path("models").join(name)).unwrap();
    }
    for command in FOLDERS {
        let run = place.run(&command.split(' ').collect::<Vec<_>>());
        assert!(run.status == 2 && run.err.contains(" [is-folder]\n"), "{command}: {run:?}");
        let said = &run.err;
        let Some((_, line)) = said.split_once("Give the files in it, or a list of them: ") else {
            assert!(
                ["Name a file in it.", "Give the files in it."].iter().any(|advice| said.contains(advice)),
                "{said}"
            );
            continue;
        };
        let run = finish(place.command_of("sh").args(["-c", line]).env("PATH", path_with_tool()));
        assert!(run.status < 2, "{command}: {line}: {run:?}");
    }
    let helps = helps();
    let takes_files = |help: &str| help.lines().any(|usage| usage.contains("popef ") && usage.contains("<FILE>"));
    let named = |name: &str| FOLDERS.iter().any(|line| format!("popef {line}").starts_with(&format!("{name} ")));
    let missing: Vec<_> = helps.iter().filter(|(name, help)| takes_files(help) && !named(name)).collect();
    assert!(missing.is_empty(), "{missing:#?}");
}

/// All commands that read files, and all options.
#[cfg(unix)]
const FOLDERS: &[&str] = &[
    "ls models",
    "ls --each models executable.popef",
    "ls --files-from models",
    "dump models",
    "check models",
    "check models -o new-check",
    "check --policy models executable.popef",
    "cat models x",
    "hash models",
    "hash --sums models",
    "hash executable.popef models",
    "verify models",
    "diff models executable.popef",
    "diff executable.popef models",
    "merge models -o new-merge --keep first",
    "set models --set numIpus=1 -o new",
    "set models --set numIpus=1 --in-place",
    "set executable.popef --merge models -o new",
    "pack --tensors models -o new",
    "strip models --drop feed -o new",
    "recover models -o new",
    "split models --by kind -o new",
    "compress models -o new",
    "compress models --output-dir new-compress",
    "compress models --dry-run",
    "compress models --in-place",
    "decompress models -o new",
    "decompress models --output-dir new-decompress",
    "extract models -o new-extract",
    "extract models -o new.npy",
    "report models -o new-report",
    "graph models",
    "graph diff models train.json",
    "graph diff train.json models",
    "profile models",
    "profile tiny.graph.json models",
    "profile diff models tiny.graph.json",
    "tiles model models",
    "tiles map models",
    "tiles vars models",
    "tiles exec models",
];
