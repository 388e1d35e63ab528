//! The scan for pickles: pickles by Python's own picklers, and some that no pickler writes.

#[path = "../../../../popef/tests/common/mod.rs"]
mod common;
#[path = "../../../popef-check/tests/costs/mod.rs"]
mod costs;

mod archives;
mod classes;
mod honest;
mod in_parts;
mod limits;
mod nested;
mod python;
mod walk;

use std::collections::BTreeSet;
use std::fs;

use popef_payload::pickle::{ImportClass, Pickle};

const FOLDER: &str = "../../testdata/pickles";

fn scan(file: &str) -> Option<Pickle> {
    Pickle::scan_bytes(&fs::read(format!("{FOLDER}/{file}")).unwrap())
}

/// The class of the import whose path ends with `path`.
fn class_of(bytes: &[u8], path: &str) -> ImportClass {
    let pickle = Pickle::scan_bytes(bytes).unwrap();
    let import = pickle.imports.iter().find(|import| import.path == path);
    import.unwrap_or_else(|| panic!("{path}: {pickle:?}")).class
}

/// Whether the bytes import something dangerous. All places that the scan gives must lie within them.
fn is_dangerous(bytes: &[u8]) -> bool {
    let Some(pickle) = Pickle::scan_bytes(bytes) else { return false };
    let len = bytes.len() as u64;
    assert!(pickle.imports.iter().all(|import| import.offset < len), "{pickle:?}");
    assert!(pickle.fault.iter().all(|fault| fault.offset <= len), "{pickle:?}");
    pickle.worst().is_some_and(|worst| worst.class == ImportClass::Dangerous)
}

/// A pickle of protocol 4 that holds bytes.
fn holding(content: &[u8]) -> Vec<u8> {
    [b"\x80\x04B", &(content.len() as u32).to_le_bytes()[..], content, b"."].concat()
}

fn verdict(pickle: &Pickle) -> String {
    let worst = pickle.worst().map_or(ImportClass::Ordinary, |import| import.class);
    match (worst, &pickle.fault) {
        (ImportClass::Ordinary, Some(_)) => "odd".to_owned(),
        (ImportClass::Ordinary, None) if !pickle.unseen.is_empty() => "unseen".to_owned(),
        (worst, None) if !pickle.unseen.is_empty() => format!("{worst}-unseen"),
        (worst, Some(_)) => format!("{worst}-odd"),
        (worst, None) => worst.to_string(),
    }
}

/// A line as in expected.txt: the verdict, then each import of the worst class, or the version.
fn line(file: &str) -> String {
    let Some(pickle) = scan(file) else { return format!("{file} none") };
    let mut line = vec![file.to_owned(), verdict(&pickle)];
    let worst = pickle.worst().filter(|import| import.class > ImportClass::Ordinary);
    let decisive = worst.into_iter().flat_map(|worst| pickle.imports_of(worst.class));
    line.extend(decisive.map(|import| import.path.clone()));
    line.extend(pickle.poptorch_version.map(|version| format!("version={version}")));
    line.join(" ")
}

#[test]
fn each_pickle_of_testdata_has_the_expected_verdict() {
    let expected = fs::read_to_string(format!("{FOLDER}/expected.txt")).unwrap();
    let wrong: Vec<_> = expected
        .lines()
        .map(|expected| (expected, line(expected.split(' ').next().unwrap())))
        .filter(|(expected, found)| expected != found)
        .collect();
    assert!(wrong.is_empty(), "(expected, found): {wrong:#?}");
}

#[test]
fn every_pickle_of_testdata_has_a_line_in_the_table() {
    let expected = fs::read_to_string(format!("{FOLDER}/expected.txt")).unwrap();
    let named: BTreeSet<_> = expected.lines().map(|line| line.split(' ').next().unwrap().to_owned()).collect();
    let there = fs::read_dir(FOLDER).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let there: BTreeSet<_> = there.filter(|name| name.ends_with(".pickle")).collect();
    assert_eq!(named, there);
}

#[test]
fn imports_are_listed_with_their_places() {
    let pickle = scan("poptorch-4.pickle").unwrap();
    assert_eq!(pickle.protocol, 4);
    let imports: Vec<_> = pickle.imports.iter().map(|import| (import.path.as_str(), import.offset)).collect();
    // The offsets are those of python3 -m pickletools.
    assert_eq!(imports[0], ("poptorch._poptorch_data.PoptorchData", 52));
    assert_eq!(imports[1], ("poptorch.options.Options", 99));
    assert_eq!(imports[2], ("torch.nn.modules.linear.Linear", 230));
}

#[test]
fn the_version_is_that_of_poptorchs_own_data() {
    let version = |class: &str, items: &str| {
        let bytes = format!("cpoptorch._poptorch_data\n{class}\n)\u{81}}}({items}ub.");
        let bytes: Vec<_> = bytes.chars().map(|letter| letter as u8).collect();
        Pickle::scan_bytes(&bytes).unwrap().poptorch_version
    };
    let items = "S'other'\nS'1'\nK\x01S'2'\nS'version'\nS'3.3'\nS'last'\nN";
    assert_eq!(version("PoptorchData", items).as_deref(), Some("3.3"));
    assert_eq!(version("Options", items), None);
    for without in ["S'other'\nS'1'\n", "S'version'\nN", "S'1'\nS'version'\nS'2'\nS'3'\n"] {
        assert_eq!(version("PoptorchData", without), None, "{without}");
    }
    let called_by = |function: &str| {
        let bytes = format!("c{function}\n(cpoptorch\nPoptorchData\nNNtR}}S'version'\nS'3.3'\nsb.");
        Pickle::scan_bytes(bytes.as_bytes()).unwrap().poptorch_version
    };
    assert_eq!(called_by("copyreg\n_reconstructor").as_deref(), Some("3.3"));
    assert_eq!(called_by("model\nfunction"), None);
}

/// Somebody may also scan a text or a file, so all files of testdata are.
#[test]
fn every_file_of_testdata_can_be_scanned() {
    let mut folders = vec![common::testdata("")];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else {
                is_dangerous(&fs::read(&path).unwrap());
            }
        }
    }
}

#[test]
fn classes_have_names() {
    let names: Vec<_> = ImportClass::ALL.iter().map(|class| class.as_str()).collect();
    assert_eq!(names, ["ordinary", "unknown", "dangerous"]);
    assert!(ImportClass::ALL.iter().all(|class| class.to_string().parse() == Ok(*class)));
}
