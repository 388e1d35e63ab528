//! The walls of docs/ARCHITECTURE.md: which crate, which folder of this crate, and which file may use which. The tables there are what is tested.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

mod circles;

/// What a room may use, and why no other: a row of a table.
struct Room {
    may_use: Vec<String>,
    because: String,
}

type Rooms = BTreeMap<String, Room>;

/// A use of one room by another, and where it stands.
#[derive(Debug, PartialEq, Eq)]
struct Use {
    from: String,
    of: String,
    place: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The table below a heading of docs/ARCHITECTURE.md.
fn rooms(heading: &str) -> Rooms {
    let text = fs::read_to_string(root().join("docs/ARCHITECTURE.md")).unwrap();
    let (_, rest) = text.split_once(&format!("\n## {heading}\n")).unwrap_or_else(|| panic!("no heading {heading:?}"));
    let section = rest.split("\n## ").next().unwrap();
    section.lines().filter(|line| line.starts_with("| `")).map(room).collect()
}

/// `| `name` | `a`, `b` | because |`
fn room(row: &str) -> (String, Room) {
    let cells: Vec<_> = row.trim_matches('|').split('|').map(str::trim).collect();
    let [name, may_use, because] = cells[..] else { panic!("a row has three cells: {row}") };
    let may_use = may_use.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    (name.trim_matches('`').to_owned(), Room { may_use, because: because.to_owned() })
}

/// The uses that no row allows, each with the sentence that forbids it.
fn breaches(rooms: &Rooms, uses: &[Use]) -> Vec<String> {
    let breach = |it: &Use| match rooms.get(&it.from) {
        None => Some(format!("{}: {} has no row in docs/ARCHITECTURE.md", it.place, it.from)),
        Some(room) if room.may_use.contains(&it.of) => None,
        Some(room) => Some(format!("{}: {} may not use {}: {}", it.place, it.from, it.of, room.because)),
    };
    uses.iter().filter_map(breach).collect()
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let is_rust = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "rs");
    paths
        .into_iter()
        .flat_map(|path| if path.is_dir() { rust_files(&path) } else { vec![path] })
        .filter(is_rust)
        .filter(|path| !path.ends_with("tests.rs"))
        .collect()
}

/// The lines of code of a file, with their numbers: no comments, and no tests.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut test_indent = None;
    let is_code = move |(_, line): &(usize, &str)| {
        let (indent, rest) = line.split_at(line.len() - line.trim_start().len());
        let in_test = test_indent;
        if rest == "#[cfg(test)]" {
            test_indent = Some(indent.len());
            return false;
        }
        if in_test == Some(indent.len()) && rest.ends_with([';', '}']) {
            test_indent = None;
        }
        in_test.is_none() && !rest.starts_with("//")
    };
    (1..).zip(text.lines()).filter(is_code)
}

/// The crates of the workspace, each with its folder.
fn crates() -> Vec<(String, PathBuf)> {
    let text = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let members = text.split("members = [").nth(1).unwrap().split(']').next().unwrap();
    let folders = members.split('"').skip(1).step_by(2).map(|member| root().join(member));
    folders.map(|folder| (folder.file_name().unwrap().to_str().unwrap().to_owned(), folder)).collect()
}

/// What a manifest says that its crate needs, but for tests.
fn needed(name: &str, manifest: &str, known: &[String]) -> Vec<Use> {
    let mut section = "";
    let mut uses = Vec::new();
    for (number, line) in (1..).zip(manifest.lines()) {
        if line.starts_with('[') {
            section = line;
        }
        let of = line.split(['.', ' ', '=']).next().unwrap_or_default();
        let is_needed = section.contains("dependencies") && !section.contains("dev-dependencies");
        if is_needed && known.iter().any(|it| it == of) {
            uses.push(Use { from: name.to_owned(), of: of.to_owned(), place: format!("{name}/Cargo.toml:{number}") });
        }
    }
    uses
}

/// The crates that paths in a source file begin with.
fn imported(name: &str, place: &str, text: &str, known: &[String]) -> Vec<Use> {
    let mut uses = Vec::new();
    for (number, line) in code(text) {
        let before = line.split("::").collect::<Vec<_>>();
        for part in before.iter().take(before.len().saturating_sub(1)) {
            let word =
                part.rsplit(|letter: char| !letter.is_alphanumeric() && letter != '_').next().unwrap_or_default();
            // The library of popef-dump has another name, because a program has that one.
            let of = if word == "popef_dump_tool" { "popef-dump".to_owned() } else { word.replace('_', "-") };
            let is_inside = part.ends_with(&format!("::{word}")) || of == name;
            if !is_inside && known.contains(&of) {
                uses.push(Use { from: name.to_owned(), of, place: format!("{place}:{number}") });
            }
        }
    }
    uses
}

/// The folders of this crate that a file's paths lead to.
fn folders_used(path: &Path, text: &str, known: &[String]) -> Vec<Use> {
    let inside = path.with_extension("");
    let mut module: Vec<_> = inside.iter().map(|part| part.to_str().unwrap()).collect();
    let from = module[0].to_owned();
    if module.last() == Some(&"mod") {
        module.pop();
    }
    let mut uses = Vec::new();
    for (number, line) in code(text) {
        let line = line.replace("$crate::", "");
        let absolute = line.split("crate::").skip(1);
        let outside = "super::".repeat(module.len());
        let relative = line.split(outside.as_str()).skip(1).filter(|rest| !rest.starts_with("super::"));
        for rest in absolute.chain(relative) {
            let of: String = rest.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect();
            if of != from && known.contains(&of) {
                uses.push(Use { from: from.clone(), of, place: format!("popef/src/{}:{number}", path.display()) });
            }
        }
    }
    uses
}

#[test]
fn crates_use_only_what_their_rows_allow() {
    let crates = crates();
    let known: Vec<_> = crates.iter().map(|(name, _)| name.clone()).collect();
    let mut uses = Vec::new();
    for (name, folder) in &crates {
        uses.extend(needed(name, &fs::read_to_string(folder.join("Cargo.toml")).unwrap(), &known));
        for path in rust_files(&folder.join("src")) {
            let place = path.strip_prefix(root()).unwrap().display().to_string();
            uses.extend(imported(name, &place, &fs::read_to_string(&path).unwrap(), &known));
        }
    }
    assert!(uses.len() > 100, "only {} uses were found", uses.len());
    let rooms = rooms("The walls between crates");
    let breaches = breaches(&rooms, &uses);
    assert!(breaches.is_empty(), "\n{}", breaches.join("\n"));
    // A row for a crate that is gone, or that a crate does not use any more, would allow it to come back unseen.
    for (name, room) in &rooms {
        for of in &room.may_use {
            assert!(
                uses.iter().any(|it| it.from == *name && it.of == *of),
                "{name} does not use {of}: take it out of its row"
            );
        }
    }
}

/// The lines of a crate that start threads with the standard library.
fn threads(name: &str, place: &str, text: &str) -> Vec<String> {
    const STARTS: [&str; 4] = ["thread::spawn", "thread::scope", "thread::Builder", "std::thread::{"];
    let names_them = |(_, line): &(usize, &str)| STARTS.iter().any(|start| line.contains(start));
    let told =
        |(number, _)| format!("{place}:{number}: {name} may not start threads: popef-work has the budget for them");
    code(text).filter(names_them).map(told).collect()
}

#[test]
fn only_popef_work_starts_threads() {
    let mut told = Vec::new();
    for (name, folder) in crates().iter().filter(|(name, _)| name != "popef-work") {
        for path in rust_files(&folder.join("src")) {
            let place = path.strip_prefix(root()).unwrap().display().to_string();
            told.extend(threads(name, &place, &fs::read_to_string(&path).unwrap()));
        }
    }
    assert!(told.is_empty(), "\n{}", told.join("\n"));
    let text = "/// std::thread::spawn\nuse std::thread;\nuse std::thread::{Builder};\nthread::scope(|_| ());\nthread::park();\n";
    let lines = [3, 4].map(|line| format!("x.rs:{line}: x may not start threads: popef-work has the budget for them"));
    assert_eq!(threads("x", "x.rs", text), lines);
}

#[test]
fn folders_of_the_format_use_only_what_their_rows_allow() {
    let rooms = rooms("The walls within popef");
    let known: Vec<_> = rooms.keys().cloned().collect();
    let source = root().join("popef/src");
    let mut uses = Vec::new();
    for path in rust_files(&source) {
        let inside = path.strip_prefix(&source).unwrap();
        if inside != Path::new("lib.rs") && !inside.starts_with("write/faults") {
            uses.extend(folders_used(inside, &fs::read_to_string(&path).unwrap(), &known));
        }
    }
    assert!(uses.len() > 100, "only {} uses were found", uses.len());
    let breaches = breaches(&rooms, &uses);
    assert!(breaches.is_empty(), "\n{}", breaches.join("\n"));
}

/// The files that docs/ARCHITECTURE.md names without saying which of several they are. A name is as much of a path as tells a
/// file from all others, or from those in the folder that the page named last. Each module has a `problem.rs`.
fn unclear_names(text: &str, files: &[String]) -> Vec<String> {
    let mut folder = "";
    let mut unclear = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.starts_with("## ") {
            folder = "";
        }
        for name in line.split('`').skip(1).step_by(2) {
            if name.ends_with('/') && ["crates/", "popef/", "popef-dump/"].iter().any(|top| name.starts_with(top)) {
                folder = name;
            }
            let is_meant = |file: &&String| file.ends_with(&format!("/{name}")) || *file == name;
            let found: Vec<_> = files.iter().filter(is_meant).collect();
            let is_clear = found.len() == 1 || found.iter().filter(|file| file.starts_with(folder)).count() == 1;
            if name.ends_with(".rs") && name != "problem.rs" && !is_clear {
                unclear.push(format!("docs/ARCHITECTURE.md:{}: {name} is one of {} files", number + 1, found.len()));
            }
        }
    }
    unclear
}

#[test]
fn the_page_names_files_that_are_there() {
    let root = root();
    let files = ["popef", "popef-dump", "crates"].iter().flat_map(|top| rust_files(&root.join(top)));
    let shown = |path: PathBuf| path.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
    let files: Vec<_> = files.map(shown).filter(|file| !file.contains("/target/")).collect();
    let text = fs::read_to_string(root.join("docs/ARCHITECTURE.md")).unwrap();
    let unclear = unclear_names(&text, &files);
    assert!(unclear.is_empty(), "\n{}", unclear.join("\n"));

    let files = ["popef/src/a/x.rs", "popef/src/b/x.rs", "crates/c/src/x.rs"].map(str::to_owned);
    assert_eq!(
        unclear_names("`x.rs`, `a/x.rs`\n`crates/c/` has `x.rs` and `y.rs`", &files),
        ["docs/ARCHITECTURE.md:1: x.rs is one of 3 files", "docs/ARCHITECTURE.md:2: y.rs is one of 0 files",]
    );
}

#[test]
fn a_broken_wall_is_told_with_its_line_and_its_sentence() {
    let rooms = Rooms::from([
        room("| `types` | `error` | values know no bytes |"),
        room("| `popef` | | the format and nothing else |"),
    ]);
    let known = ["error", "read", "types"].map(str::to_owned);
    let text = "//! crate::read\nuse crate::error::Error;\nuse super::super::read::File;\nuse super::text::Text;\n#[cfg(test)]\nuse crate::read::File;\n";
    let uses = folders_used(Path::new("types/metadata.rs"), text, &known);
    assert_eq!(
        breaches(&rooms, &uses),
        ["popef/src/types/metadata.rs:3: types may not use read: values know no bytes"]
    );
    let known = ["popef", "popef-check"].map(str::to_owned);
    let manifest = "[dependencies]\nserde = \"1\"\npopef-check.workspace = true\n[dev-dependencies]\npopef-check.workspace = true\n";
    assert_eq!(
        breaches(&rooms, &needed("popef", manifest, &known)),
        ["popef/Cargo.toml:3: popef may not use popef-check: the format and nothing else"]
    );
    let source = "// popef_check::x\nlet all = popef_check::rules();\nuse popef::seam;\n";
    assert_eq!(
        breaches(&rooms, &imported("popef", "popef/src/lib.rs", source, &known)),
        ["popef/src/lib.rs:2: popef may not use popef-check: the format and nothing else"]
    );
    let stray = Use { from: "other".to_owned(), of: "popef".to_owned(), place: "x:1".to_owned() };
    assert_eq!(breaches(&rooms, &[stray]), ["x:1: other has no row in docs/ARCHITECTURE.md"]);
}
