//! No files of a crate need each other in a circle, by the paths in their code. The table of docs/ARCHITECTURE.md has the exceptions.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::{Use, code, crates, rooms, root, rust_files};

/// The files of a crate by their modules: `read/file.rs` is `["read", "file"]`.
#[derive(Default)]
struct Files(BTreeMap<Vec<String>, File>);

#[derive(Default)]
struct File {
    place: String,
    paths: Vec<NamePath>,
    /// What names of imports stand for, also of those that the file only passes on.
    imports: BTreeMap<String, NamePath>,
}

/// A path in code, in full: `use a::{b, c as d}` has two.
#[derive(Clone)]
struct NamePath {
    line: usize,
    /// How many modules of the file are around it.
    depth: usize,
    names: Vec<String>,
    is_import: bool,
}

impl Files {
    fn insert(&mut self, inside: &Path, place: &str, text: &str) {
        let inside = inside.with_extension("");
        let mut module: Vec<_> = inside.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
        module.pop_if(|last| last == "mod" || last == "lib");
        let mut reader = Reader { tokens: tokens(text), at: 0, file: File::default() };
        reader.read();
        self.0.insert(module, File { place: place.to_owned(), ..reader.file });
    }

    /// The first use of each file by each other. A file may use the modules that it is a part of.
    fn uses(&self) -> Vec<Use> {
        let mut uses = Vec::new();
        for (module, file) in &self.0 {
            let mut used = BTreeSet::new();
            for path in &file.paths {
                if let Some(of) = self.file(module, path).filter(|of| !module.starts_with(of) && used.insert(*of)) {
                    let (from, of) = (file.place.clone(), self.0[of].place.clone());
                    uses.push(Use { place: format!("{from}:{}", path.line), from, of });
                }
            }
        }
        uses
    }

    /// The file that defines what a path leads to, or imports it from another crate. `None` if it leads to a module or to no file.
    fn file(&self, module: &[String], path: &NamePath) -> Option<&[String]> {
        let (first, rest) = path.names.split_first()?;
        match first.as_str() {
            "crate" => self.file_within(&[], rest),
            "self" => self.file_within(module, rest),
            "super" => {
                let supers = path.names.iter().take_while(|name| *name == "super").count();
                let above = module.len().checked_sub(supers.saturating_sub(path.depth))?;
                self.file_within(&module[..above], &path.names[supers..])
            }
            _ if self.0.contains_key(&child(module, first)) => self.file_within(module, &path.names),
            // From another crate, or from a module within the file.
            _ if path.is_import => self.0.get_key_value(module).map(|(known, _)| known.as_slice()),
            _ => self.file_of_import(module, first, rest),
        }
    }

    fn file_within(&self, module: &[String], names: &[String]) -> Option<&[String]> {
        let (first, rest) = names.split_first()?;
        let (known, file) = self.0.get_key_value(module)?;
        let child = child(module, first);
        if self.0.contains_key(&child) {
            self.file_within(&child, rest)
        } else if file.imports.contains_key(first) {
            self.file_of_import(module, first, rest)
        } else {
            Some(known)
        }
    }

    fn file_of_import(&self, module: &[String], name: &str, rest: &[String]) -> Option<&[String]> {
        let import = self.0[module].imports.get(name)?;
        self.file(module, &NamePath { names: [&import.names, rest].concat(), ..import.clone() })
    }
}

fn child(module: &[String], name: &str) -> Vec<String> {
    module.iter().map(String::as_str).chain([name]).map(str::to_owned).collect()
}

/// A word or a mark, with its line and the number of modules of the file around it.
type Token<'a> = (&'a str, usize, usize);

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut modules = Vec::new();
    let mut tokens = Vec::new();
    for (number, line) in code(text) {
        let indent = line.len() - line.trim_start().len();
        if line.ends_with('{') && line.split(' ').any(|word| word == "mod") {
            modules.push(indent);
        }
        modules.pop_if(|of_module| *of_module == indent && line.trim_start() == "}");
        // A text without spaces may be a path, in an attribute.
        let is_code = |(at, part): &(usize, &str)| at % 2 == 0 || !part.contains(' ');
        let parts = line.split(" // ").next().unwrap().split('"').enumerate().filter(is_code);
        for mut rest in parts.map(|(_, part)| part) {
            while let Some(first) = rest.chars().next() {
                let end = match rest.find(|letter| !is_word(letter)) {
                    Some(0) if rest.starts_with("::") => 2,
                    Some(0) => first.len_utf8(),
                    end => end.unwrap_or(rest.len()),
                };
                if !first.is_whitespace() {
                    tokens.push((&rest[..end], number, modules.len()));
                }
                rest = &rest[end..];
            }
        }
    }
    tokens
}

struct Reader<'a> {
    tokens: Vec<Token<'a>>,
    at: usize,
    file: File,
}

impl<'a> Reader<'a> {
    fn text(&self, ahead: usize) -> &'a str {
        self.tokens.get(self.at + ahead).map_or("", |(text, ..)| text)
    }

    fn read(&mut self) {
        let mut before = "";
        while self.at < self.tokens.len() {
            let text = self.text(0);
            if text == "use" {
                self.at += 1;
                self.read_path(Vec::new(), Some(["pub", ")"].contains(&before)));
            } else if text.starts_with(is_word) && ![".", "::"].contains(&before) {
                self.read_path(Vec::new(), None);
            } else {
                self.at += 1;
            }
            before = self.tokens[self.at - 1].0;
        }
    }

    /// Reads a path, or all paths of a group. `passes_on` is `None` if it is no import.
    fn read_path(&mut self, mut names: Vec<String>, passes_on: Option<bool>) {
        if self.text(0) == "{" {
            self.at += 1;
            while !["}", ""].contains(&self.text(0)) {
                self.read_path(names.clone(), passes_on);
                self.at += usize::from(self.text(0) == ",");
            }
            self.at += 1;
            return;
        }
        names.push(self.text(0).to_owned());
        self.at += 1;
        if self.text(0) == "::" && (self.text(1).starts_with(is_word) || ["{", "*"].contains(&self.text(1))) {
            self.at += 1;
            return self.read_path(names, passes_on);
        }
        let (_, line, depth) = self.tokens[self.at - 1];
        names.pop_if(|last| last == "self");
        let path = NamePath { line, depth, names, is_import: passes_on.is_some() };
        let mut name = path.names.last().cloned().unwrap_or_default();
        if path.is_import && self.text(0) == "as" {
            name = self.text(1).to_owned();
            self.at += 2;
        }
        if passes_on != Some(true) {
            self.file.paths.push(path.clone());
        }
        if path.is_import && depth == 0 && path.names.len() > 1 {
            self.file.imports.insert(name, path);
        }
    }
}

/// The uses that lie on a circle, by the files of the circle.
fn circles(uses: &[Use]) -> BTreeMap<BTreeSet<&str>, Vec<&Use>> {
    let mut used: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    uses.iter().for_each(|it| used.entry(&it.from).or_default().push(&it.of));
    let needed: BTreeMap<_, _> = used.keys().map(|file| (*file, needed(file, &used))).collect();
    let needs = |from: &str, of: &str| needed.get(from).is_some_and(|needed| needed.contains(of));
    let mut circles: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for it in uses.iter().filter(|it| needs(&it.of, &it.from)) {
        let circle = needed[it.from.as_str()].iter().copied().filter(|of| needs(of, &it.from)).collect();
        circles.entry(circle).or_default().push(it);
    }
    circles
}

/// The files that a file uses, and those that they use in turn.
fn needed<'a>(file: &'a str, used: &BTreeMap<&'a str, Vec<&'a str>>) -> BTreeSet<&'a str> {
    let mut needed = BTreeSet::new();
    let mut ahead = vec![file];
    while let Some(file) = ahead.pop() {
        ahead.extend(used.get(file).into_iter().flatten().filter(|of| needed.insert(**of)));
    }
    needed
}

/// Each circle, with the lines that make it, and what to do.
fn told(circles: &BTreeMap<BTreeSet<&str>, Vec<&Use>>) -> String {
    let circle = |(files, uses): (&BTreeSet<&str>, &Vec<&Use>)| {
        let lines: String = uses.iter().map(|it| format!("  {} uses {}\n", it.place, it.of)).collect();
        format!("{} files need each other:\n{lines}", files.len())
    };
    let circles: String = circles.iter().map(circle).collect();
    format!(
        "\n{circles}Move the plain value that both files of a line need into a file that needs neither, or give the line a row with its reason in \
         docs/ARCHITECTURE.md, \"No circle of files\""
    )
}

/// The uses of the files of a folder by each other.
fn uses_within(source: &Path) -> Vec<Use> {
    let mut files = Files::default();
    for path in rust_files(source) {
        let place = path.strip_prefix(root()).unwrap().to_str().unwrap().replace('\\', "/");
        files.insert(path.strip_prefix(source).unwrap(), &place, &fs::read_to_string(&path).unwrap());
    }
    files.uses()
}

#[test]
fn no_files_need_each_other() {
    let mut uses: Vec<_> = crates().iter().flat_map(|(_, folder)| uses_within(&folder.join("src"))).collect();
    assert!(uses.len() > 1000, "only {} uses were found", uses.len());
    let rooms = rooms("No circle of files");
    let on_circles: Vec<_> = circles(&uses).into_values().flatten().collect();
    for (from, room) in &rooms {
        for of in &room.may_use {
            let is_needed = on_circles.iter().any(|it| it.from == *from && it.of == *of);
            assert!(is_needed, "no circle has {from} and {of} any more: take out the row");
        }
    }
    uses.retain(|it| !rooms.get(&it.from).is_some_and(|room| room.may_use.contains(&it.of)));
    let circles = circles(&uses);
    assert!(circles.is_empty(), "{}", told(&circles));
}

#[test]
fn a_circle_of_files_is_told_with_its_lines() {
    let mut files = Files::default();
    for (name, text) in [
        ("lib.rs", "mod a;\nmod d;\npub use a::{Named, c::{self, Other}};\nuse popef::popef;\n"),
        // What a module passes on it does not use, and what it defines is there for its folder.
        ("a/mod.rs", "mod b;\nmod c;\npub use b::Thing as Named;\nstruct Own;\nfn f() {\n    c::help();\n}\n"),
        (
            "a/b.rs",
            "use super::Own;\nuse super::{c, d::*};\nuse crate::Other;\nfn g() {\n    c::help();\n}\nstruct Thing;\n",
        ),
        (
            "a/c.rs",
            "// use crate::d;\nmod inner {\n    use super::Own;\n    use super::super::Named as It;\n}\npub use inner::Seen;\n",
        ),
        (
            "d.rs",
            "#[cfg(test)]\nmod tests;\nuse crate::a;\n#[with = \"a::c::Seen\"]\nfn h(b: u8) {\n    b.c(\"in a::Named\");\n}\n#[cfg(test)]\nuse crate::Other;\n",
        ),
    ] {
        files.insert(Path::new(name), name, text);
    }
    let uses = files.uses();
    let shown: Vec<_> = uses.iter().map(|it| format!("{} {}", it.place, it.of)).collect();
    assert_eq!(shown, ["a/mod.rs:6 a/c.rs", "a/b.rs:3 a/c.rs", "a/c.rs:4 a/b.rs", "d.rs:4 a/c.rs"]);
    let told = told(&circles(&uses));
    let lines = "\n2 files need each other:\n  a/b.rs:3 uses a/c.rs\n  a/c.rs:4 uses a/b.rs\nMove the plain value that both files";
    assert!(told.starts_with(lines), "{told}");
}
