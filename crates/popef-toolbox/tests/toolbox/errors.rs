//! The codes of all crates: no code has two meanings, and `docs/ERRORS.md` has all of them.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io;

use popef::error::{CodeInfo, ErrorKind};

use super::common::testdata;

type Row = (CodeInfo, Option<io::ErrorKind>);

macro_rules! rows {
    ($codes:ty) => {
        <$codes>::ALL.iter().map(|code| (code.info(), code.io_kind())).collect()
    };
}

/// Each table, and the crate that it is of.
fn tables() -> [(&'static str, Vec<Row>); 5] {
    [
        ("popef", rows!(popef::error::ErrorCode)),
        ("popef-open", rows!(popef_open::Code)),
        ("popef-ops", rows!(popef_ops::Code)),
        ("popef-remote", rows!(popef_remote::Code)),
        ("poplar-inspect", rows!(poplar_inspect::ErrorCode)),
    ]
}

/// The errors of calculations, which are not about files: each has its code and its text.
const CALCULATIONS: [(&str, &[(&str, &str)]); 2] =
    [("poplar-graph", poplar_graph::Error::CODES), ("poplar-inspect::tiles", poplar_inspect::tiles::Error::CODES)];

#[test]
fn no_code_has_two_meanings() {
    let mut names = BTreeSet::new();
    let of_tables = tables().into_iter().flat_map(|(_, rows)| rows).map(|(info, _)| info.name);
    let of_calculations = CALCULATIONS.iter().flat_map(|(_, codes)| *codes).map(|(name, _)| *name);
    for name in of_tables.chain(of_calculations) {
        assert!(names.insert(name), "{name} is there twice");
    }
    assert!(names.len() > 150);
}

/// All texts of the tables are sentences, so that every program can show them as they are.
#[test]
fn meanings_and_advice_are_sentences() {
    for (info, _) in tables().into_iter().flat_map(|(_, rows)| rows) {
        for text in [info.meaning, info.advice.words()] {
            assert!(
                text.starts_with(|first: char| first.is_uppercase()) && text.ends_with('.'),
                "{}: {text}",
                info.name
            );
        }
    }
}

#[test]
fn docs_errors_md_is_made_from_the_tables() {
    let mut page = String::from(PAGE_HEAD);
    for kind in ErrorKind::ALL {
        writeln!(page, "- `{kind}`: {}", kind.meaning()).unwrap();
    }
    for (name, rows) in tables() {
        write!(page, "\n## Codes of {name}\n\n").unwrap();
        page += "| code | kind | in `std::io` | what happened | what to do |\n|---|---|---|---|---|\n";
        for (CodeInfo { name, kind, meaning, advice }, io_kind) in rows {
            let io_kind = io_kind.map_or("the source's".to_owned(), |kind| format!("`{kind:?}`"));
            writeln!(page, "| `{name}` | `{kind}` | {io_kind} | {meaning} | {advice} |").unwrap();
        }
    }
    for (name, codes) in CALCULATIONS {
        write!(page, "\n## Codes of {name}\n\nThese are no errors of files. Each code has its text, in which `{{...}}` is a value.\n\n").unwrap();
        codes.iter().for_each(|(code, words)| writeln!(page, "- `{code}`: {words}").unwrap());
    }
    let path = testdata().join("../docs/ERRORS.md");
    if std::env::var_os("POPEF_RENEW").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let before = fs::read_to_string(path).unwrap_or_default().replace("\r\n", "\n");
    assert!(before == page, "docs/ERRORS.md is not as before; if this is meant, run the test with POPEF_RENEW=1");
}

const PAGE_HEAD: &str = "\
# The errors

Each error has a stable code, and each code belongs to a kind. This page is made from the tables of all crates. After a change of
one, `POPEF_RENEW=1 cargo test -p popef-toolbox --test toolbox errors::` renews it.

- In Rust, `Error::info()` returns the row of the table, and `Error::describe()` a `Diagnostic`: the code, the kind, the message, the
  file, the blob, the byte, how much was needed, how much was found, and advice.
- The tools show the code in brackets after the message, and then the advice. `popef explain CODE` says the same as this page, with
  the names of options. All JSON has errors in one form: [error.schema.json](error.schema.json).
- Python has the same as attributes of the exception ([PYTHON.md](PYTHON.md#errors)), and a few codes of its own.
- A code is never used for another error, and never moves to another kind. Later versions add codes and kinds, so a program
  needs a branch for unknown ones.
- The text of an error is for people and may change. Advice is a value (`Advice`) that each program words for its users: here are
  the words for a programmer.
- An error that passes through `std::io`, for example from a reader, is a `std::io::Error` of the kind in the third column.
  \"The source's\" means the kind of the system's own error, which is the `source()`.

## Kinds

";
