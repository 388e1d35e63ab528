//! Pickles in archives: where they are, and which archives no reader can be sure of.

use popef_payload::pickle::{ArchiveKind, Pickle};

use super::scan;

fn fault(file: &str) -> &'static str {
    scan(file).unwrap().fault.unwrap_or_else(|| panic!("{file}")).reason
}

fn unseen(file: &str) -> Vec<(String, &'static str)> {
    let pickle = scan(file).unwrap();
    pickle.unseen.iter().map(|unseen| (unseen.member.to_string(), unseen.why)).collect()
}

#[test]
fn an_import_tells_the_member_that_it_is_in_and_the_byte() {
    for (file, member, opcode) in [
        ("archive-stored.pickle", "a/data.pkl", true),
        ("archive-nested.pickle", "b.pt > c.pt > a/data.pkl", false),
        ("archive-nested-deflated.pickle", "b.pt > a/data.pkl", false),
        ("archive-in-pickle.pickle", "a/data.pkl", false),
        ("archive-tar.pickle", "pickle", true),
    ] {
        let pickle = scan(file).unwrap();
        let import = pickle.worst().unwrap();
        assert_eq!((&*import.path, import.member.as_deref()), ("posix.system", Some(member)), "{file}");
        let bytes = std::fs::read(format!("{}/{file}", super::FOLDER)).unwrap();
        // In a copy there is no byte to tell, so it is that of what was unpacked, or of the opcode around it.
        let at = &bytes[import.offset as usize..];
        assert_eq!(at.starts_with(b"cposix\nsystem\n"), opcode, "{file}");
    }
    assert_eq!(scan("archive-tar.pickle").unwrap().archive, Some(ArchiveKind::Tar));
    assert_eq!(scan("archive-in-pickle.pickle").unwrap().archive, None);
}

#[test]
fn archives_that_readers_read_differently_are_faults() {
    for (file, reason) in [
        ("archive-cut", "a zip archive has no directory at its end"),
        ("archive-bytes-before", "a zip archive has bytes before it, so readers find different members"),
        ("archive-behind-pickle", "a zip archive has bytes before it, so readers find different members"),
        (
            "archive-bytes-behind",
            "a zip archive has bytes behind it, or two ends that differ, so readers find different directories",
        ),
        ("archive-two-ends", "a zip archive has bytes before it, so readers find different members"),
        ("archive-other-local-name", "a member of a zip archive has another header than the directory says"),
        ("archive-other-local-length", "a member of a zip archive has another header than the directory says"),
        ("archive-overlap", "members of a zip archive overlap"),
        ("archive-gap", "a zip archive has bytes that belong to no member"),
        ("archive-around-comment", "a zip archive has bytes before it, so readers find different members"),
        ("archive-around-pickle", "a zip archive has bytes before it, so readers find different members"),
        ("archive-zero-in-name", "a member of a zip archive has a name that readers read differently"),
        ("archive-two-names", "a member of a zip archive has a name that readers read differently"),
        ("archive-tar-checksum", "a member of a tar archive has a header that cannot be followed"),
        (
            "archive-tar-folder-data",
            "a member of a tar archive that has no data states its length, so readers find different members",
        ),
    ] {
        assert_eq!(fault(&format!("{file}.pickle")), reason, "{file}");
    }
}

#[test]
fn what_cannot_be_looked_at_is_named() {
    for (file, member, why) in [
        ("archive-encrypted", "a/data.pkl", "it is encrypted"),
        ("archive-method", "a/data.pkl", "it is compressed by a method that these checks do not know"),
        ("archive-bomb", "a/data.pkl", "it unpacks to many times the length of the archive"),
        ("archive-tar-sparse", "s", "it is a sparse file, whose parts these checks do not put together"),
    ] {
        assert_eq!(unseen(&format!("{file}.pickle"))[0], (member.to_owned(), why), "{file}");
    }
    assert!(!scan("archive-encrypted.pickle").unwrap().is_safe(|_| true));
}

/// A byte outside of the pickle is changed: the import is told all the same, or that the archive is odd, or the data is no archive
/// for any reader.
#[test]
fn no_change_of_a_byte_makes_an_archive_look_safe() {
    for file in ["archive-stored", "archive-nested", "archive-tar"] {
        let bytes = std::fs::read(format!("{}/{file}.pickle", super::FOLDER)).unwrap();
        let start = bytes.windows(4).position(|window| window == b"\x80\x02cp").unwrap();
        let end = start + bytes[start..].windows(4).position(|window| window == b"Rq\x03.").unwrap() + 4;
        // The numbers of tensors in it are of no interest.
        let places = (0..400).chain(bytes.len() - 400..bytes.len()).filter(|at| !(start..end).contains(at));
        for (at, value) in places.flat_map(|at| [0, 1, 0x50, 0xff].map(|value| (at, value))) {
            let mut changed = bytes.clone();
            changed[at] = value;
            let pickle = Pickle::scan_bytes(&changed);
            let is_other = file == "archive-tar" && at < 512;
            let is_safe = pickle.as_ref().is_none_or(|pickle| pickle.is_safe(|_| false));
            assert!(!is_safe || is_other, "{file}, byte {at} is {value}: {pickle:?}");
        }
    }
}

/// The name of the member is not one of a pickle, and it is too long to be tried. It is told all the same.
#[test]
fn an_archive_of_which_nothing_was_looked_at_is_told() {
    let archive = scan("archive-long-member.pickle").unwrap();
    assert_eq!((archive.archive, archive.pickles, archive.passed_over), (Some(ArchiveKind::Zip), 0, 1));
    assert_eq!(scan("archive-nested-deflated.pickle").unwrap().passed_over, 1);
}

/// The cost follows from the length: members that are not pickles are not unpacked, and what one entry has no other can have.
#[test]
fn a_long_member_that_is_no_pickle_is_not_unpacked() {
    let archive = scan("archive-deflated.pickle").unwrap();
    assert_eq!((archive.pickles, archive.unseen.len()), (1, 0));
    assert_eq!(archive.passed_over, 1);
}
