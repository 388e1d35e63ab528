//! The scan compared with what Python does with the same random pickles.

use std::collections::BTreeSet;
use std::fs;

use popef_payload::pickle::Pickle;

use super::FOLDER;

/// A line of random.jsonl: a pickle, and what Python found in it.
struct ByPython {
    bytes: Vec<u8>,
    /// The byte of the opcode, if it is known, and the path.
    imports: Vec<(Option<u64>, String)>,
    inside: Vec<String>,
    stop: Option<u64>,
}

impl ByPython {
    fn read(line: &str) -> Self {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let hex = line["pickle"].as_str().unwrap();
        let path = |path: &serde_json::Value| path.as_str().unwrap().to_owned();
        let list = |key: &str| line[key].as_array().unwrap().clone();
        ByPython {
            bytes: (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect(),
            imports: list("imports").iter().map(|import| (import[0].as_u64(), path(&import[1]))).collect(),
            inside: list("inside").iter().map(path).collect(),
            stop: line["stop"].as_u64(),
        }
    }
}

/// What Python imports before it stops is found at the same byte. The variable POPEF_RANDOM_PICKLES may name another
/// file of make_random.py, with more pickles.
#[test]
fn every_import_that_python_makes_is_found() {
    let file = std::env::var("POPEF_RANDOM_PICKLES").unwrap_or(format!("{FOLDER}/random.jsonl"));
    let lines = fs::read_to_string(file).unwrap();
    let wrong: Vec<_> = (1..)
        .zip(lines.lines().map(ByPython::read))
        .flat_map(|(number, by_python)| {
            missed(&by_python).into_iter().map(move |what| format!("line {number}: {what}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(lines.lines().count() > 400);
}

fn missed(by_python: &ByPython) -> Vec<String> {
    let ByPython { bytes, imports, inside, stop } = by_python;
    let len = Some(bytes.len() as u64);
    let Some(pickle) = Pickle::scan_bytes(bytes) else {
        // Without a mark, data that neither ends as a pickle nor imports a name may be anything.
        let is_name = |path: &str| path.split('.').all(|part| part.starts_with(|first: char| first.is_alphabetic()));
        let is_pickle = matches!(bytes[..], [0x80, 0..=5, ..]) || imports.iter().any(|(_, path)| is_name(path));
        return if is_pickle || *stop == len { vec!["not told to be a pickle".to_owned()] } else { Vec::new() };
    };
    let mut missed = Vec::new();
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for (offset, path) in imports {
        let place = pickle.imports.iter().find(|import| import.path == *path).map(|import| import.offset);
        let is_first = seen.insert(path) && !inside.contains(path);
        if place.is_none() || is_first && offset.is_some() && place != *offset {
            missed.push(format!("{path} at {offset:?} is found at {place:?}"));
        }
    }
    let found: BTreeSet<_> = pickle.imports.iter().map(|import| &import.path).collect();
    missed.extend(inside.iter().filter(|path| !found.contains(path)).map(|path| format!("{path} inside is not found")));
    missed.extend(pickle.fault.filter(|_| *stop == len).map(|fault| format!("Python loads it, and here {fault:?}")));
    missed
}
