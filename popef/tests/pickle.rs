//! Pickles by Python's own pickler, and some that no pickler writes, each told right.

use std::collections::BTreeSet;
use std::fs;

use popef::{ImportClass, Pickle};

const FOLDER: &str = "../testdata/pickles";

fn scan(file: &str) -> Option<Pickle> {
    Pickle::scan_bytes(&fs::read(format!("{FOLDER}/{file}")).unwrap())
}

fn verdict(pickle: &Pickle) -> String {
    let worst = pickle.worst().map_or(ImportClass::Ordinary, |import| import.class);
    match (worst, &pickle.fault) {
        (ImportClass::Ordinary, Some(_)) => "odd".to_owned(),
        (worst, Some(_)) => format!("{worst}-odd"),
        (worst, None) => worst.to_string(),
    }
}

/// The verdict, then each import of the worst class, or the version.
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
fn each_pickle_is_told_right() {
    let expected = fs::read_to_string(format!("{FOLDER}/expected.txt")).unwrap();
    let wrong: Vec<_> = expected
        .lines()
        .map(|expected| (expected, line(expected.split(' ').next().unwrap())))
        .filter(|(expected, found)| expected != found)
        .collect();
    assert!(wrong.is_empty(), "(expected, found): {wrong:#?}");
}

#[test]
fn every_pickle_is_expected_to_be_something() {
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
    // By python3 -m pickletools.
    assert_eq!(imports[0], ("poptorch._poptorch_data.PoptorchData", 52));
    assert_eq!(imports[1], ("poptorch.options.Options", 99));
    assert_eq!(imports[2], ("torch.nn.modules.linear.Linear", 230));
}

#[test]
fn the_fault_is_where_the_walk_ended() {
    let fault = scan("bad-opcode.pickle").unwrap().fault.unwrap();
    assert_eq!((fault.offset, fault.reason), (6, "a byte is no opcode"));
}

/// Every prefix and every byte changed: no panic, and what was dangerous before the cut stays so.
#[test]
fn no_bytes_bring_the_walk_down() {
    for file in
        ["os-system-0.pickle", "nested-2.pickle", "getattr-reach.pickle", "extension-2.pickle", "plain-5.pickle"]
    {
        let bytes = fs::read(format!("{FOLDER}/{file}")).unwrap();
        for cut in 0..bytes.len() {
            Pickle::scan_bytes(&bytes[..cut]);
        }
        for at in 0..bytes.len() {
            for value in (0..=255).step_by(9) {
                let mut changed = bytes.clone();
                changed[at] = value;
                Pickle::scan_bytes(&changed);
            }
        }
    }
}

/// A chain of tuples in tuples, and values without end, take neither the stack nor the memory.
#[test]
fn a_pickle_of_one_opcode_over_and_over_is_bounded() {
    for opcode in [b"\x85", b"2", b"("] {
        let mut bytes = b"\x80\x04)".to_vec();
        bytes.extend(opcode.repeat((1 << 20) + 10));
        Pickle::scan_bytes(&bytes).unwrap();
    }
}

#[test]
fn a_path_that_grows_is_bounded() {
    let mut bytes = b"\x80\x04cbuiltins\ngetattr\n\x94(ccollections\nCounter\n".to_vec();
    for _ in 0..10_000 {
        bytes.extend(b"\x8c\x02ab\x86h\x002");
    }
    let pickle = Pickle::scan_bytes(&bytes).unwrap();
    assert!(pickle.fault.is_some());
}
