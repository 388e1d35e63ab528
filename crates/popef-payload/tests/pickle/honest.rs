//! What honest programs write gives no alarm.

use std::fs;
use std::path::PathBuf;

use popef_payload::pickle::{ArchiveKind, Pickle};

fn honest() -> Vec<PathBuf> {
    let folder = fs::read_dir("../../testdata/pickles-honest").unwrap();
    let mut files: Vec<_> = folder.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|end| end != "py"));
    files.sort();
    files
}

#[test]
fn no_file_of_an_honest_program_gives_an_alarm() {
    let mut alarms = Vec::new();
    for path in honest() {
        let pickle = Pickle::scan_bytes(&fs::read(&path).unwrap());
        let pickle = pickle.unwrap_or_else(|| panic!("{} is not told to be a pickle", path.display()));
        if !pickle.is_safe(|_| false) {
            let odd =
                pickle.imports.iter().filter(|import| import.class > popef_payload::pickle::ImportClass::Ordinary);
            let odd: Vec<_> = odd.map(|import| format!("{} {}", import.class, import.path)).collect();
            alarms.push(format!("{}: {odd:?} {:?} {:?}", path.display(), pickle.fault, pickle.unseen));
        }
    }
    assert!(alarms.is_empty(), "{alarms:#?}");
    assert!(honest().len() > 40);
}

/// An archive is not passed over: its pickle is found, with what it imports.
#[test]
fn the_archives_of_torch_are_opened() {
    for path in honest().into_iter().filter(|path| path.extension().unwrap() == "zip") {
        let pickle = Pickle::scan_bytes(&fs::read(&path).unwrap()).unwrap();
        assert_eq!((pickle.archive, pickle.pickles), (Some(ArchiveKind::Zip), 1), "{}", path.display());
        let rebuild = pickle.imports.iter().find(|import| import.path == "torch._utils._rebuild_tensor_v2").unwrap();
        let member = rebuild.member.as_deref().unwrap();
        let inside = if path.to_string_lossy().contains("nested") { "inner.pt > " } else { "" };
        assert_eq!(member, format!("{inside}archive/data.pkl"), "{}", path.display());
    }
}
