//! What the tool says of itself.

use std::fs;

use crate::common::{Place, finish, hold_golden, npy, path_with_tool, testdata};

/// The commands that `popef --help` lists, and what they do.
pub(crate) fn commands(help: &str) -> Vec<(String, String)> {
    let table = help.lines().skip_while(|line| !line.starts_with("Usage: ")).skip(1);
    let row = |line: &str| {
        let (_, row) = line.split_at("Compare".len());
        let (name, about) = row.trim_start().split_once("  ").unwrap();
        (name.to_owned(), about.trim_start().to_owned())
    };
    let mut rows: Vec<_> = table.map(row).collect();
    // The last commands share a line. What they do is in the help of each.
    let (names, _) = rows.pop().unwrap();
    for name in names.split(", ") {
        let help = Place::with(&[]).run(&[name, "--help"]).good();
        rows.push((name.to_owned(), help.text().lines().next().unwrap().to_owned()));
    }
    rows
}

#[test]
fn all_commands_fit_a_screen() {
    let place = Place::with(&[]);
    let help = place.run(&["--help"]).good();
    let lines: Vec<_> = help.text().lines().collect();
    // The last line of the screen has the prompt.
    assert!(lines.len() <= 23, "{}", help.text());
    assert!(lines[0].contains("Exit: 0 done, 1 \"no\""), "{}", help.text());
    let long = lines.iter().find(|line| line.chars().count() > 80);
    assert_eq!(long, None);
    assert_eq!(place.run(&["-h"]).good().out, help.out);
    assert_eq!(place.run(&["help"]).good().out, help.out);
    let bare = place.run(&[]);
    assert_eq!((bare.err.as_str(), bare.status), (help.text(), 2));
}

#[test]
fn every_command_has_help_with_examples() {
    let place = Place::with(&[]);
    let help = place.run(&["--help"]).good();
    for (name, about) in commands(help.text()) {
        let long = place.run(&[&name, "--help"]).good();
        assert_eq!(long.text().lines().next(), Some(about.as_str()));
        let examples = long.text().split_once("\nExamples:\n").map(|(_, examples)| examples);
        assert!(examples.is_some_and(|lines| lines.contains(&format!("  popef {name} "))), "{}", long.text());
        assert_eq!(place.run(&["help", &name]).good().out, long.out);
        assert!(place.run(&[&name, "-h"]).good().text().contains(&about));
    }
}

/// Options for the usual work are on one screen: one sentence, the usage, at most twelve lines of options, examples, statuses.
#[test]
fn short_help_is_short() {
    let place = Place::with(&[]);
    for (words, _) in crate::options::commands() {
        let help = place.run(&words.split(' ').chain(["-h"]).collect::<Vec<_>>()).good();
        let (about, rest) = help.text().split_once("\n\nUsage: ").unwrap();
        assert_eq!(about.lines().count(), 1, "{words}");
        let (before, after) = rest.split_once("\nExamples:\n").unwrap_or_else(|| panic!("{words}"));
        assert!(after.contains("\nExit status:\n"), "{words}");
        let sections = before.split("\n\n").filter(|section| section.contains(" --"));
        let options: Vec<_> = sections
            .skip(usize::from(before.starts_with("popef")))
            .flat_map(|section| section.lines().skip(1))
            .collect();
        assert!(options.len() <= 12, "{words}: {} lines of options\n{}", options.len(), options.join("\n"));
    }
}

/// The files that examples read, by their names, or by their endings.
const FILES: &[(&str, &str, &[&str])] = &[
    (
        "",
        "interop/executable.popef",
        &[
            "model.popef",
            "weights.popef",
            "executable.popef",
            "new-weights.popef",
            "a.popef",
            "b.popef",
            "cached.popef",
            "fresh.popef",
            "before.popef",
            "after.popef",
            "broken.popef",
            "cache/x.popef",
            "models/x.popef",
            "parts/x.popef",
        ],
    ),
    ("", "interop/two-models.popef", &["models.popef"]),
    ("", "compressed/zlib-poplar.popef", &["small.popef", "compressed.popef"]),
    ("", "opaque/poptorch/poptorch25.poptorch", &["model.poptorch"]),
    ("", "executables/tiles.a", &["archive.a", "model.bin"]),
    ("", "tiles/vars.json", &["vars.json"]),
    ("", "tiles/model.tensor_map.json", &["model.tensor_map.json"]),
    (
        "",
        "profile/model.graph.json",
        &["graph.json", "a.graph.json", "b.graph.json", "before.graph.json", "after.graph.json"],
    ),
    ("", "profile/model.execution.json", &["execution.json", "a.execution.json", "b.execution.json"]),
    ("profile", "profile/model.graph.json", &["before.json", "after.json"]),
    ("graph", "graph/train.json", &["ir.json", "before.json", "after.json"]),
];

/// Examples are true: the shell and the tool understand them, and each file that they read can be one of its kind. What is in the files
/// need not fit.
#[test]
fn examples_run() {
    const OTHERS: &str =
        "ssh() { shift; bash -c \"$*\"; }; for one in jq dot man; do eval \"$one() { cat > /dev/null; }\"; done\n";
    let mut count = 0;
    for (words, command) in crate::options::commands() {
        let place = Place::with(&[]);
        for folder in [
            "cache",
            "models",
            "parts",
            "w",
            ".zfunc",
            ".local/share/bash-completion/completions",
            ".config/fish/completions",
        ] {
            fs::create_dir_all(place.path(folder)).unwrap();
        }
        for (_, from, names) in FILES.iter().filter(|(of, ..)| words.starts_with(of)) {
            names.iter().for_each(|name| _ = fs::copy(testdata().join(from), place.path(name)).unwrap());
        }
        for name in ["w.npy", "x.npy", "w/a.npy"] {
            place.write(name, npy("<f4", "2,", &[0; 8]));
        }
        place.write("patch.json", r#"{"numIpus":1}"#);
        place.write("team.toml", "num-ipus = 1\n");
        place.run(&["extract", "model.popef", "-o", "model"]).good();
        place.run(&["extract", "model.popef", "-o", "weights.safetensors"]).good();
        place.write("model.json", place.run(&["cat", "model.popef", "--blob", "1"]).good().out);
        for (name, form) in
            [("models.manifest", "--format=json"), ("model.manifest", "--format=json"), ("SHA256SUMS", "--sums")]
        {
            place.write(name, place.run(&["hash", form, "model.popef"]).good().out);
        }
        let help = command.get_after_help().unwrap().to_string();
        let examples = help.split_once("Examples:\n").unwrap().1.split("\n\n").next().unwrap();
        let lines = examples.lines().filter(|line| !line.starts_with("   "));
        for line in lines.map(|line| line.trim().split("   ").next().unwrap().split("  ").next().unwrap()) {
            let mut bash = place.command_of("bash");
            bash.args(["-c", &format!("{OTHERS}{line}")]).env("HOME", place.path("")).env("PATH", path_with_tool());
            let run = finish(&mut bash);
            let wrong = ["error: ", "[wrong-arguments]", "[not-found]", "not found", "syntax error"];
            assert!(!wrong.iter().any(|wrong| run.err.contains(wrong)), "{line}: {run:?}");
            count += 1;
        }
    }
    assert!(count > 100, "{count}");
}

/// What is in brackets can be left out, and nothing else can.
#[test]
fn usage_lines_are_true() {
    let place = Place::with(&[]);
    let help = place.run(&["--help"]).good();
    for (name, _) in commands(help.text()) {
        let help = place.run(&[&name, "-h"]).good();
        let usage = help.text().split_once("Usage: popef ").unwrap().1.lines().next().unwrap();
        let needs_nothing = usage.split(' ').skip(1).all(|word| word.starts_with('['));
        let bare = place.run(&[&name]);
        assert_eq!((bare.status == 0, bare.status == 2), (needs_nothing, !needs_nothing), "{usage}");
    }
}

#[test]
fn names_are_written_in_full() {
    let place = Place::with(&["interop/executable.popef"]);
    let run = place.run(&["dum", "executable.popef"]);
    assert_eq!((run.text(), run.status), ("", 2));
    assert!(run.err.contains("'dump'"), "{}", run.err);
    let run = place.run(&["ls", "--full", "executable.popef"]);
    assert_eq!((run.text(), run.status), ("", 2));
    assert!(run.err.contains("'--full-names'"), "{}", run.err);
    assert!(place.run(&["--version"]).good().text().starts_with("popef "));
}

/// What people write first, who know other tools.
#[test]
fn usual_mistakes_get_a_tip() {
    let place = Place::with(&["interop/executable.popef"]);
    for (line, tip) in [
        ("compress executable.popef", "'--in-place' replaces the input, and '--dry-run' only shows what would be done"),
        ("set executable.popef --set numIpus=4", "'--in-place' replaces the input"),
        ("set executable.popef numIpus=4", "to set a field, use '--set numIpus=4'"),
        ("set executable.popef --set numIpus 4", "to set a field, use '--set numIpus=4'"),
        ("strip --drop feed executable.popef new.popef", "to write to 'new.popef', use '-o new.popef'"),
        (
            "set executable.popef --tensors a.npz b.npz -o new.popef",
            "to add the arrays of 'b.npz', use '--tensors b.npz': it is repeated for each file",
        ),
        ("hash -i executable.popef", "--filter <GLOB>|--exclude <GLOB>"),
        ("ls -i executable.popef", "--ignore-case needs --filter or --exclude"),
        ("strip -i --drop feed executable.popef -o new.popef", "--ignore-case needs a GLOB in --drop, or --exclude"),
        ("verify executable.popef", "binary data, and not a manifest"),
        ("pack executable.popef -o new.popef", "it is a file; needed is a folder that popef extract made"),
    ] {
        let run = place.run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!((run.text(), run.status), ("", 2), "{line}");
        assert!(run.err.contains(tip), "{line}: {}", run.err);
    }
    let merge = place.run(&["merge", "executable.popef"]);
    assert!(!merge.err.contains("in-place"), "{}", merge.err);
    assert_eq!(place.names(), ["executable.popef"]);
}

/// Each command has a section with recipes, in the same order.
#[test]
fn every_command_has_recipes() {
    let help = Place::with(&[]).run(&["--help"]).good();
    let recipes = fs::read_to_string(testdata().join("../docs/TOOLBOX.md")).unwrap();
    let headings = recipes.lines().filter_map(|line| line.strip_prefix("## popef ")?.split_once(':'));
    let headings: Vec<_> = headings.map(|(name, _)| name.to_owned()).collect();
    let names: Vec<_> = commands(help.text()).into_iter().map(|(name, _)| name).collect();
    assert_eq!(headings, names);
    for name in &names {
        assert!(recipes.contains(&format!("\npopef {name}")), "{name}");
    }
}

/// After an intended change: `POPEF_RENEW=1 cargo test -p popef-toolbox --test toolbox help::`
#[test]
fn help_is_as_it_was() {
    hold_golden("help", &[], &["--help"]);
    let help = Place::with(&[]).run(&["--help"]).good();
    let mut names: Vec<_> = commands(help.text()).into_iter().map(|(name, _)| name).collect();
    for name in &names {
        hold_golden(&format!("help-{name}"), &[], &[&format!("{name} --help")]);
    }
    names.sort();
    let files = fs::read_dir(testdata().join("toolbox")).unwrap();
    let files = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let held = files.filter_map(|file| Some(file.strip_prefix("help-")?.strip_suffix(".out")?.to_owned()));
    let mut held: Vec<_> = held.collect();
    held.sort();
    assert_eq!(held, names);
}

/// What the exit status means is with the command, so that a script can be written from its help alone.
#[test]
fn each_command_says_its_exit_status_in_its_help_and_its_page() {
    let place = Place::with(&[]);
    let help = place.run(&["--help"]).good();
    let of = |line: &[&str]| {
        let help = place.run(&[line, &["--help"]].concat()).good();
        let (_, status) = help.text().split_once("\nExit status:\n").unwrap_or_else(|| panic!("{line:?}"));
        assert_eq!(help.text().matches("Exit status").count(), 1, "{line:?}");
        status.to_owned()
    };
    for (name, _) in commands(help.text()) {
        let status = of(&[&name]);
        let words: Vec<_> = status.split_whitespace().collect();
        assert!(["0", "2", "130,", "143"].iter().all(|number| words.contains(number)), "{name}: {status}");
        assert!(place.run(&["man", &name]).good().text().contains(".SH \"EXIT STATUS\""), "{name}");
        let says_no = ["check", "diff", "verify", "profile"].contains(&name.as_str());
        assert_eq!(words.contains(&"1"), says_no, "{name}: {status}");
    }
    assert_eq!(of(&["diff"]), of(&["graph", "diff"]));
    assert!(of(&["tiles", "exec"]).contains("Everything was done."));
}

/// A report of an error needs it: who built the tool, and with what.
#[test]
fn the_version_has_the_features_of_the_build() {
    let version = Place::with(&[]).run(&["--version"]).good();
    let rows: Vec<_> = version.text().lines().collect();
    assert_eq!(rows[0], concat!("popef ", env!("CARGO_PKG_VERSION")));
    assert_eq!(rows[1], if cfg!(feature = "remote") { "network: yes" } else { "network: no" });
    assert_eq!(rows[2..], ["features: lz4, zstd, popart, poptorch, tensorflow"]);
}

/// A table without rows is nobody's wish.
#[test]
fn tables_have_rows() {
    let place = Place::with(&[]);
    for command in
        ["graph x", "graph diff x y", "profile x --by tile", "profile diff x y", "tiles exec x", "tiles model x"]
    {
        let line: Vec<_> = command.split(' ').chain(["--top", "0"]).collect();
        let run = place.run(&line);
        assert!(run.status == 2 && run.err.contains("it must be a number from 1 on"), "{run:?}");
    }
}
