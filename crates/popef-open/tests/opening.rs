//! What becomes of the paths that a user names.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use popef_open::{Inputs, Opened, Presence, Provided, StreamData, listed, open};

fn testdata(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(path)
}

#[test]
fn each_path_says_what_it_is() {
    let cases = [
        ("interop/executable.popef", Some(4), None, None),
        ("opaque/poptorch/poptorch25.poptorch", Some(2), None, None),
        ("golden/damaged.popef", Some(2), Some("blob 2, byte 215: the blob is incomplete"), None),
        ("no-such-file.popef", None, Some("cannot open the file: "), None),
        ("interop", None, Some("cannot "), Some("this is a folder")),
        ("float8/e4m3fnuz.txt", Some(0), Some("blob 0, byte 0: "), Some("this is not a PopEF file, it is a text file")),
    ];
    let begins = |found: &Option<String>, start: Option<&str>| match (found, start) {
        (Some(found), Some(start)) => found.starts_with(start),
        (found, start) => found.is_none() && start.is_none(),
    };
    for (path, blobs, error, foreign) in cases {
        let opened = open(&testdata(path), StreamData::Skip);
        assert_eq!(opened.file().map(popef::File::len), blobs, "{path}");
        let found = opened.error().map(|error| format!("{}{}", error.location(), error.reason()));
        assert!(begins(&found, error), "{path}: {found:?}");
        let found = opened.foreign.map(|foreign| foreign.to_string());
        assert!(begins(&found, foreign), "{path}: {found:?}");
    }
}

#[test]
fn an_address_that_is_not_read_is_told_from_a_file_that_lacks() {
    let said = |path: &str| open(Path::new(path), StreamData::Skip).foreign.map(|foreign| foreign.to_string());
    let found = said("ftp://host/model.popef");
    assert!(found.as_ref().is_some_and(|found| found.starts_with("this looks like an address")), "{found:?}");
    assert_eq!(said("no/such/folder://model.popef"), None);
}

/// SDK 2.5 put a pickle before PopEF. In a pipe, it is held in memory until its end is found.
#[test]
fn popef_is_found_after_a_pickle() {
    let opened = open(&testdata("opaque/poptorch/poptorch25.poptorch"), StreamData::Skip);
    assert_eq!(opened.file().and_then(|file| file.blob(0)).map(|blob| blob.offset()), Some(1350));
    assert!(opened.before_popef().unwrap().starts_with("a Python pickle of 1350 bytes comes before PopEF"));
    assert_eq!(open(&testdata("interop/executable.popef"), StreamData::Skip).before_popef(), None);
    // A pickle alone is something else.
    let opened = open(&testdata("opaque/poptorch/poptorch25.pickle"), StreamData::Skip);
    assert!(
        opened.foreign.as_ref().unwrap().to_string().starts_with("this is not a PopEF file, it is a Python pickle")
    );
    assert!(opened.error().is_some());
}

/// More files than stay open, and the file with the data is the last.
#[test]
fn names_are_those_of_all_files_and_results_come_in_order() {
    let mut paths = vec![testdata("interop/split-executable.popef"); 40];
    paths.push(testdata("interop/split-tensors.popef"));
    let names: Vec<_> =
        popef::File::open(&paths[40]).unwrap().tensors().map(|tensor| tensor.name().into_owned()).collect();
    assert!(!names.is_empty());
    let inputs = Inputs { paths: &paths, data: StreamData::Skip, together: true, opening: &|_| {} };
    let look = |index: usize, opened: &Opened, provided: &Provided<'_>| {
        assert_eq!(opened.path, paths[index]);
        assert!(names.iter().all(|name| provided.has(name) == Presence::Present));
        assert_eq!(provided.has(&"no such name".into()), Presence::Absent);
        index
    };
    let (mut each, mut in_turn) = (Vec::new(), Vec::new());
    inputs.each(look, |index| {
        each.push(index);
        ControlFlow::Continue(())
    });
    inputs.each_in_turn(|index, opened, provided| {
        in_turn.push(look(index, opened, provided));
        if index == 20 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert_eq!(each, (0..41).collect::<Vec<_>>());
    assert_eq!(in_turn, (0..21).collect::<Vec<_>>());
}

#[test]
fn names_of_each_file_alone_are_not_those_of_others() {
    let paths = vec![
        testdata("interop/split-tensors.popef"),
        testdata("interop/split-feeds.popef"),
        testdata("golden/damaged.popef"),
    ];
    let inputs = Inputs { paths: &paths, data: StreamData::Skip, together: false, opening: &|_| {} };
    let look = |_: usize, _: &Opened, provided: &Provided<'_>| provided.has(&"input_parameter".into());
    let (mut each, mut in_turn) = (Vec::new(), Vec::new());
    inputs.each(look, |presence| {
        each.push(presence);
        ControlFlow::Continue(())
    });
    inputs.each_in_turn(|index, opened, provided| {
        in_turn.push(look(index, opened, provided));
        ControlFlow::Continue(())
    });
    assert_eq!(each, [Presence::Present, Presence::Absent, Presence::Unknown]);
    assert_eq!(in_turn, each);
}

/// Whether the incomplete file stays open (few files) or not (many).
#[test]
fn what_may_be_in_a_file_that_was_not_read_completely_is_unknown() {
    for incomplete in ["golden/damaged.popef", "no-such-file.popef", "float8/e4m3fnuz.txt", "interop"] {
        for others in [1, 40] {
            let mut paths = vec![testdata("interop/split-tensors.popef"); others];
            paths.push(testdata(incomplete));
            let inputs = Inputs { paths: &paths, data: StreamData::Skip, together: true, opening: &|_| {} };
            inputs.each_in_turn(|_, _, provided| {
                assert_eq!(provided.has(&"input_parameter".into()), Presence::Present, "{incomplete}");
                assert_eq!(provided.has(&"no such name".into()), Presence::Unknown, "{incomplete}");
                ControlFlow::Break(())
            });
        }
    }
}

#[test]
fn lists_have_lines_or_nul() {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("list");
    for (text, paths) in [
        ("a\nb c\r\n\n-\n", &["a", "b c", "-"][..]),
        ("a\nb\0c\r\0", &["a\nb", "c\r"]),
        ("\u{feff}a\r\nb", &["a", "b"]),
        ("MZ\0BZh.popef\0", &["MZ", "BZh.popef"]),
        ("a\u{1}\u{7f}\0b", &["a\u{1}\u{7f}", "b"]),
        ("last", &["last"]),
        ("", &[]),
    ] {
        fs::write(&list, text).unwrap();
        let found = listed(&list).unwrap();
        assert_eq!(found.iter().map(|path| path.to_str().unwrap()).collect::<Vec<_>>(), paths, "{text:?}");
    }
}

#[test]
fn what_is_no_list_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("list");
    let popef = |name: &str| fs::read(testdata(name)).unwrap();
    let utf16: Vec<u8> = "\u{feff}a.popef\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let cases: [(&[u8], &str); 6] = [
        (&popef("interop/executable.popef"), "it is a PopEF file, not a list of files; give it without --files-from"),
        (&popef("interop/split-tensors.popef"), "it is a PopEF file"),
        (&utf16, "it is text in UTF-16; save it as UTF-8"),
        (b"\x1f\x8b\x08\0\x04", "it is compressed with gzip, not a list of files"),
        (b"PK\x03\x04\x14\0", "it is a ZIP archive, not a list of files"),
        (b"\x05\0\0\x06", "it is not a list of files: it has binary data"),
    ];
    for (bytes, said) in cases {
        fs::write(&list, bytes).unwrap();
        let error = listed(&list).unwrap_err().to_string();
        assert!(error.starts_with(said), "{error}");
    }
}
