//! `--validate --deep` looks at the tiles in executables.

mod common;

use std::path::Path;

use common::{Run, run, testdata};
use popef::types::ProgramFlow;
use popef::{Metadata, Writer};

const ENDING: &str = "; this is unverified, as no executable of Poplar is public\n";

fn validate(folder: &Path, file: &str, deep: bool) -> Run {
    let deep: &[&str] = if deep { &["--deep"] } else { &[] };
    run(folder, &[&["--validate", file], deep].concat())
}

/// The files are made with the libraries of Cap'n Proto and LZ4.
#[test]
fn the_archives_in_executables_are_read_by_deep_checks() {
    for (file, rule, message) in [
        (
            "PE801.popef",
            "note PE801: ",
            "executable \"12345\": archive, member \"tile1.elf\", byte 316: the archive ends inside this member, which has \
             187 of its 188 bytes",
        ),
        (
            "PE802.popef",
            "note PE802: ",
            "the metadata is for 1 IPU, and executable \"12345\" has 3 tiles: IPUs of version 2 have 1472 each",
        ),
        ("PE803.popef", "note PE803: ", "executable \"12345\": tile 7 needs 262148 bytes of memory, and has 262144"),
    ] {
        let found = validate(&testdata().join("checks"), file, true);
        let line = found.out.lines().find(|line| line.contains(rule)).unwrap_or_default();
        assert!(format!("{line}\n").ends_with(&format!("{message}{ENDING}")), "{file}: {found:?}");
        assert_eq!((found.status, found.out.matches("note PE8").count()), (0, 1), "{file}: {found:?}");
        let shallow = validate(&testdata().join("checks"), file, false);
        assert!(
            !shallow.out.contains("note PE8") && shallow.out.contains("only a deep check reads them"),
            "{shallow:?}"
        );
    }
}

/// Checks a model whose executable has this archive.
fn check(archive: &[u8]) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let size = u32::try_from(archive.len()).unwrap() | 1 << 31;
    // An LZ4 frame with one block that is stored.
    let part = [b"\x04\x22\x4d\x18\x60\x70\x73", &size.to_le_bytes()[..], archive, &[0; 4]].concat();
    let sizes = [archive.len(), part.len(), 0, 0].map(|size| (size as u64).to_le_bytes());
    let mut writer = Writer::create(folder.path().join("model.popef")).unwrap();
    writer.write_executable("e", &[b"GC_EXE_3", &sizes.concat()[..], &part].concat()).unwrap();
    let program_flow = ProgramFlow { main: vec![0], ..ProgramFlow::default() };
    writer.write_metadata(&Metadata { executable: "e".into(), program_flow, ..Metadata::default() }).unwrap();
    writer.finish().unwrap();
    validate(folder.path(), "model.popef", true)
}

fn member(name: &str, size: usize) -> String {
    format!("{name:16}{:12}{:6}{:6}{:8}{size:<10}`\n", 0, 0, 0, 644)
}

#[test]
fn what_is_no_archive_of_tiles_is_a_finding() {
    let something = check(b"something else");
    let message = "executable \"e\": archive, byte 0: this part was assumed to be a Unix archive, but begins with 0x736f6d657468696e; this";
    assert!(something.out.contains(message), "{something:?}");
    let text = check(format!("!<arch>\n{}text", member("README", 4)).as_bytes());
    let message = format!("executable \"e\": none of its 1 members is the program of a tile{ENDING}");
    assert!(text.out.contains(&message), "{text:?}");
    for found in [something, text] {
        assert_eq!((found.status, found.out.matches("note PE8").count()), (0, 1), "{found:?}");
    }
}

#[test]
fn an_archive_beyond_the_limits_is_not_checked() {
    let found = check(format!("!<arch>\n{}", member("//", 17 << 20)).as_bytes());
    let message = "not checked: the tiles of executable \"e\": archive, byte 68: the table of long names has \
                   17825792 bytes";
    assert!(found.out.contains(message), "{found:?}");
    assert_eq!((found.status, found.out.matches("note PE8").count()), (2, 0), "{found:?}");
}
