//! Pickles in a file that is read in parts: the same is found as in memory, and no byte is read many times.

use crate::{common, costs};

use std::path::Path;

use costs::worst::pickles::worst_pickles;
use popef::types::OpaqueInfo;
use popef::{Content, File, Writer};
use popef_payload::pickle::Pickle;

/// What a scan of the one blob finds, and how many bytes it reads, if the system tells.
fn scan(path: &Path) -> (Option<Pickle>, Option<u64>) {
    let counted = || common::io_counters(["rchar", "syscr"]).map(|[bytes, _]| bytes);
    let file = File::open(path).unwrap();
    let Content::Opaque(opaque) = file.blob(0).unwrap().content() else { panic!("not opaque") };
    let before = counted();
    let pickle = Pickle::scan(&opaque.data()).unwrap();
    (pickle, counted().zip(before).map(|(after, before)| after - before))
}

#[test]
fn a_file_read_in_parts_gives_the_same_findings_and_is_read_about_once() {
    let mut all: Vec<_> = worst_pickles().iter().map(|worst| (worst.name.to_owned(), (worst.make)(100_000))).collect();
    for entry in std::fs::read_dir(common::testdata("pickles")).unwrap() {
        let path = entry.unwrap().path();
        all.push((path.display().to_string(), std::fs::read(&path).unwrap()));
    }
    // The lines and texts are longer than a window and end in the middle of one.
    for len in [65_536, 100_000, 1 << 20, (1 << 20) + 1] {
        let line = [b"N0V".repeat(9), b"a".repeat(len), b"\n0cm\nn\n.".to_vec()].concat();
        all.push((format!("a line of {len}"), line));
        let text = [b"X".as_slice(), &(len as u32).to_le_bytes(), &b"\xc2\x80".repeat(len / 2), b"cm\nn\n."].concat();
        all.push((format!("a text of {len}"), text));
    }

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pickle.popef");
    for (name, bytes) in all {
        let mut writer = Writer::create(&path).unwrap();
        writer.write_opaque(&OpaqueInfo::default(), &bytes).unwrap();
        writer.finish().unwrap();
        let (found, read) = scan(&path);
        assert_eq!(found, Pickle::scan_bytes(&bytes), "{name}");
        // The headers of members are read before the members.
        let again = if name.starts_with("an archive") { bytes.len() as u64 + (192 << 10) } else { 0 };
        // The end of an archive is looked for in the last 65,557 bytes.
        let most = (76 << 10) + bytes.len() as u64 * 5 / 4 + again;
        assert!(read.is_none_or(|read| read <= most), "{name}: {read:?} bytes of {}", bytes.len());
    }
}
