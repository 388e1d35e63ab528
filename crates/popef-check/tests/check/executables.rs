//! What the contents of executables are found to be: by their first bytes always, by all of them in deep checks.

use std::fs;

use popef::write::Packing;
use popef::{File, OpenOptions};
use popef_check::{CheckOptions, Level, Policy, Severity, check};

use crate::files::written;

/// The rules that the only executable of a file breaks, without reading all of it and with it. An empty one, and one
/// without metadata, are told by other rules.
fn broken(file: &File) -> [Vec<(&'static str, String)>; 2] {
    [false, true].map(|deep| {
        let report = check([file], CheckOptions::new().deep(deep));
        assert!(report.is_complete(), "{:?}", report.skipped);
        let findings = report.findings.into_iter().filter(|finding| !["PE017", "PE103"].contains(&finding.rule.id));
        findings.map(|finding| (finding.rule.id, finding.message)).collect()
    })
}

fn stored(data: &[u8]) -> File {
    written(|writer| {
        writer.write_executable("e", data).unwrap();
    })
}

fn packed(data: &[u8]) -> File {
    written(|writer| {
        writer.write_packed_executable("e", data, Packing::default()).unwrap();
    })
}

#[test]
fn what_is_no_executable_is_found_also_inside_a_compressed_one() {
    for (data, what) in [
        (&[0; 10_000][..], "zeros, at least at its start"),
        (b"<!DOCTYPE html><html><body>404", "an HTML page"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "a Git LFS pointer"),
        (b"\x7fELF\x02\x01\x01", "an ELF program"),
        (b"\x80\x04\x95\x0a\0\0\0\0\0\0\0}\x94.", "a Python pickle"),
        (b"(dp0\nVa\np1\nI1\ns.", "a Python pickle"),
        (b"cos\nsystem\n(S'id'\ntR.", "a Python pickle"),
        (b"(K\x01K\x02t.", "a Python pickle"),
        (b"\x80\x02cos\nsystem\nX\x02\0\0\0id\x85R.", "a Python pickle"),
        (b"\x80\x03K\x01.", "a Python pickle"),
        (b"\x80\x04K\x01.", "a Python pickle"),
        (b"\x1f\x8b\x08\0\0\0\0\0", "data compressed with gzip"),
        (b"\x28\xb5\x2f\xfd\x24", "data compressed with zstd"),
    ] {
        let message = |verb: &str| vec![("PE018", format!("executable \"e\" {verb} {what}"))];
        assert_eq!(broken(&stored(data)), [message("is"), message("is")], "{what}");
        assert_eq!(broken(&packed(data)), [vec![], message("unpacks to")], "{what}");
    }
    for data in [&b""[..], b"GC_EXE_", &[&[0; 5000][..], b"end"].concat()] {
        let is_zeros = data.starts_with(&[0; 4096]);
        let others = broken(&stored(data)).concat().into_iter().filter(|(id, _)| *id == "PE018");
        assert_eq!(others.count() == 0, !is_zeros, "{}", data.len());
    }
    // A few leading zeros are not enough.
    assert_eq!(broken(&stored(&[&[0; 100][..], b"program"].concat()))[0], []);
}

/// An unknown beginning is a note, because the list of Poplar's formats is not public. A policy can make it an error.
#[test]
fn an_executable_that_begins_as_nothing_known_is_a_note() {
    let random: Vec<u8> = (0..3000u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 24) as u8 | 1).collect();
    for data in [&random[..], b"this is a text, not a program", b"N.B. a text", b"GC_EXO_3"] {
        let note = vec![("PE410", "executable \"e\" does not begin with GC_EXE_, as Poplar's do".to_owned())];
        for file in [stored(data), packed(data)] {
            assert_eq!(broken(&file), [vec![], note.clone()], "{}", data.escape_ascii());
        }
    }
    // Poplar's header, which states no archive, and anything after it.
    for (number, what) in [
        (b'1', "has Poplar's header, which states an empty archive"),
        (b'2', "has Poplar's header, which states an empty archive"),
        (b'3', "has Poplar's header, which states an empty archive"),
        (b'0', "begins with GC_EXE_, but not with a number that is known"),
        (b'4', "begins with GC_EXE_, but not with a number that is known"),
        (b'A', "begins with GC_EXE_, but not with a number that is known"),
    ] {
        let empty = [&b"GC_EXE_"[..], &[number], &[0; 32], b"<!DOCTYPE html>"].concat();
        let note = vec![("PE410", format!("executable \"e\" {what}"))];
        assert_eq!([broken(&stored(&empty)), broken(&packed(&empty))], [[vec![], note.clone()], [vec![], note]]);
    }
    let deep = |policy| check([&stored(&random)], CheckOptions::new().deep(true).policy(policy)).count(Severity::Error);
    assert_eq!(deep(Policy::default()), 0);
    assert_eq!(deep(Policy { rules: [("PE410".to_owned(), Level::Error)].into(), ..Policy::default() }), 1);
    assert!(poplar(|_| {}).concat().iter().all(|(id, _)| *id != "PE410"));
}

/// The archive and the metadata after Poplar's header are LZ4 frames; testdata/README.md has their sizes.
const ARCHIVE: usize = 2465;

fn poplar(change: impl FnOnce(&mut [u8])) -> [Vec<(&'static str, String)>; 2] {
    let mut bytes = fs::read("../../testdata/compressed/plain-poplar.popef").unwrap();
    let file = OpenOptions::new().bytes(bytes.clone()).unwrap();
    let start = file.blob(0).unwrap().data_offset() as usize;
    change(&mut bytes[start..]);
    broken(&OpenOptions::new().bytes(bytes).unwrap())
}

#[test]
fn a_part_that_does_not_begin_as_lz4_is_always_found() {
    assert_eq!(poplar(|_| ()), [vec![], vec![]]);
    for (at, part) in [(40, "archive"), (40 + ARCHIVE, "metadata")] {
        let message = format!("executable \"model\": its {part} does not begin like an LZ4 frame");
        let [shallow, deep] = poplar(|data| data[at] ^= 1);
        assert_eq!(shallow, [("PE407", message)]);
        assert_eq!(deep, shallow);
    }
}

#[test]
fn a_part_that_does_not_unpack_is_found_by_a_deep_check() {
    for (at, part) in [(40 + 5, "archive"), (40 + ARCHIVE + 5, "metadata")] {
        // A reserved bit of the frame's header.
        let [shallow, deep] = poplar(|data| data[at] |= 0x80);
        assert_eq!(shallow, []);
        assert_eq!(deep.len(), 1);
        let start = format!("executable \"model\": its {part} is damaged: the LZ4 data is damaged: ");
        assert!(deep[0].0 == "PE407" && deep[0].1.starts_with(&start), "{deep:?}");
    }
    // Another size once unpacked than the header says, of either part.
    for at in [8, 24] {
        let [shallow, deep] = poplar(|data| data[at] ^= 1);
        assert_eq!((shallow.len(), deep.len()), (0, 1));
        assert!(deep[0].1.contains("unpacks to"), "{deep:?}");
    }
}

/// The rule says what to do.
#[test]
fn a_finding_about_damaged_data_says_only_what_is_wrong() {
    let mut bytes = fs::read("../../testdata/compressed/zlib-poplar.popef").unwrap();
    let blob = File::from_bytes(bytes.clone()).unwrap().blob(0).map(|blob| blob.data_offset() as usize).unwrap();
    bytes[blob + 2] = 0xff;
    let [shallow, deep] = broken(&File::from_bytes(bytes).unwrap());
    assert_eq!((shallow.len(), deep.len(), deep[0].0), (0, 1, "PE401"));
    assert!(deep[0].1.contains("the zlib data is damaged: ") && !deep[0].1.contains("again"), "{}", deep[0].1);
}

/// Two layers of compression could turn a few bytes into very many.
#[test]
fn a_check_says_that_it_unpacks_only_one_layer() {
    let skipped = |file: &str| {
        let file = OpenOptions::new().open(format!("../../testdata/compressed/{file}.popef")).unwrap();
        let report = check([&file], CheckOptions::new().deep(true));
        report.skipped.iter().map(|skipped| skipped.what.clone()).collect::<Vec<_>>()
    };
    assert_eq!(skipped("zlib-poplar"), ["what is inside 1 compressed Poplar executable"]);
    assert_eq!(skipped("plain-poplar"), [""; 0]);
}

/// A cut executable is reported once, and the sizes in its header are not followed.
#[test]
fn a_cut_poplar_executable_is_found_by_its_header() {
    let [shallow, deep] = poplar(|data| data[16 + 4] = 1);
    assert_eq!((shallow.len(), shallow[0].0), (1, "PE406"));
    assert_eq!(deep, shallow);
    let whole = b"GC_EXE_3\0\0\0\0\0\0\0\0";
    assert_eq!(
        broken(&stored(whole))[0],
        [("PE406", "executable \"e\" is cut in Poplar's header: it has only 16 bytes".to_owned())]
    );
    assert_eq!(broken(&packed(whole))[1][0].0, "PE406");
}
