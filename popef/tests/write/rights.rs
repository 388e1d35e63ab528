//! Replacing a file keeps its rights, or gives fewer if the writer may not keep all of them.
//!
//! Only the superuser can become other users. For other users the tests say so and pass. `src/write/faults/watched.rs`
//! tests what other users can do while a file is written.

#![cfg(target_os = "linux")]

use crate::common::writing;

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

use popef::write::CreateOptions;
use popef::{File, Writer};
use rustix::fs::{XattrFlags, getxattr, setxattr};
use rustix::io::Errno;
use writing::opaque;

/// Three users, each with a group of the same number, and a group that some of them share.
const OWNER: u32 = 61_111;
const WRITER: u32 = 62_222;
const SHARED: u32 = 63_000;

/// The variable that names the file to replace. The test program runs itself again as another user.
const REPLACE: &str = "POPEF_TEST_REPLACE";

fn replace(path: &Path) {
    let mut writer = Writer::create(path).unwrap();
    writer.write_opaque(&opaque("new"), b"new").unwrap();
    writer.finish().unwrap();
}

#[test]
fn child_replaces_the_file_it_is_told() {
    if let Some(path) = std::env::var_os(REPLACE) {
        replace(Path::new(&path));
    }
}

struct Place {
    folder: tempfile::TempDir,
    path: PathBuf,
}

impl Place {
    /// A file of `OWNER` and the shared group, in a folder where everybody may write.
    fn with_file(mode: u32) -> Option<Place> {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
        let path = folder.path().join("model.popef");
        replace(&path);
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        if let Err(e) = chown(&path, Some(OWNER), Some(SHARED)) {
            eprintln!("SKIPPED: cannot give a file to another user: {e}");
            return None;
        }
        Some(Place { folder, path })
    }

    /// Replaces the file as `WRITER`, who is also in these groups.
    fn replace_by_another(&self, groups: &str) {
        // Other users may have no access to the build folder, so the program is copied. Another process copies it: a
        // program that a child of another test has open for writing cannot be started.
        let program = self.folder.path().join("program");
        assert!(Command::new("cp").arg(std::env::current_exe().unwrap()).arg(&program).status().unwrap().success());
        fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
        let user = [format!("--reuid={WRITER}"), format!("--regid={WRITER}"), groups.to_owned()];
        let mut command = Command::new("setpriv");
        command
            .args(user)
            .arg(&program)
            .args(["--exact", "rights::child_replaces_the_file_it_is_told"])
            .env(REPLACE, &self.path);
        let output = command.current_dir("/").output().unwrap();
        assert!(output.status.success(), "{output:?}");
        assert!(File::open(&self.path).unwrap().opaque("new").is_some());
    }

    fn rights(&self) -> (u32, u32, u32) {
        let metadata = fs::metadata(&self.path).unwrap();
        (metadata.uid(), metadata.gid(), metadata.mode() & 0o7777)
    }
}

#[test]
fn a_writer_in_the_group_keeps_the_group() {
    for mode in [0o660, 0o664, 0o640] {
        let Some(place) = Place::with_file(mode) else { return };
        place.replace_by_another(&format!("--groups={SHARED}"));
        assert_eq!(place.rights(), (WRITER, SHARED, mode), "{mode:o}");
    }
}

#[test]
fn the_rights_of_a_group_that_the_writer_is_not_in_are_dropped() {
    // A writer has to read the old file in order to lock and replace it.
    for (mode, left) in [(0o664, 0o644), (0o644, 0o644), (0o606, 0o600), (0o666, 0o666)] {
        let Some(place) = Place::with_file(mode) else { return };
        place.replace_by_another("--clear-groups");
        assert_eq!(place.rights(), (WRITER, WRITER, left), "{mode:o}");
    }
}

#[test]
fn the_superuser_keeps_owner_group_and_mode() {
    for mode in [0o600, 0o660, 0o4750, 0o2755] {
        let Some(place) = Place::with_file(mode) else { return };
        // Changing the owner of a file clears these bits.
        fs::set_permissions(&place.path, Permissions::from_mode(mode)).unwrap();
        replace(&place.path);
        assert_eq!(place.rights(), (OWNER, SHARED, mode), "{mode:o}");
    }
}

/// The writer cannot keep the group of the file, so it is unknown whom its access control list would let in.
#[test]
fn an_access_list_without_its_group_lets_only_the_owner_in() {
    let entries = [(1u16, 6u16, u32::MAX), (2, 4, 12_345), (4, 6, u32::MAX), (16, 6, u32::MAX), (32, 4, u32::MAX)];
    let bytes = entries
        .map(|(tag, permissions, id)| [&tag.to_le_bytes()[..], &permissions.to_le_bytes(), &id.to_le_bytes()].concat());
    let list = [2u32.to_le_bytes().to_vec(), bytes.concat()].concat();
    let acl = "system.posix_acl_access";
    for (groups, owner_and_mode) in
        [("--clear-groups", (WRITER, WRITER, 0o600)), ("--groups=63000", (WRITER, SHARED, 0o664))]
    {
        let Some(place) = Place::with_file(0o664) else { return };
        match setxattr(&place.path, acl, &list, XattrFlags::empty()) {
            Err(Errno::OPNOTSUPP) => return eprintln!("SKIPPED: no access control lists here"),
            result => result.unwrap(),
        }
        place.replace_by_another(groups);
        assert_eq!(place.rights(), owner_and_mode, "{groups}");
        let mut found = [0; 100];
        let kept = getxattr(&place.path, acl, &mut found);
        match groups {
            "--clear-groups" => assert_eq!(kept, Err(Errno::NODATA)),
            _ => assert_eq!(&found[..kept.unwrap()], &list),
        }
    }
}

#[test]
fn a_new_file_allows_no_more_than_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.popef");
    let mode = || fs::metadata(&path).unwrap().mode() & 0o7777;
    fs::write(&path, "").unwrap();
    let usual = mode();
    fs::remove_file(&path).unwrap();
    let temporary = folder.path().join(".model.popef.popef-new");
    for (asked, expected) in
        [(0o666, usual), (0o600, 0o600), (0o7755, usual & 0o644), (0o400, 0o400), (0o044, usual & 0o444)]
    {
        let writer = CreateOptions::new().mode(asked).create(&path).unwrap();
        assert_eq!(fs::metadata(&temporary).unwrap().mode() & 0o7777, expected, "{asked:o} while it is written");
        writer.finish().unwrap();
        assert_eq!(mode(), expected, "{asked:o}");
        // What is replaced keeps its permissions.
        CreateOptions::new().mode(0o666).create(&path).unwrap().finish().unwrap();
        assert_eq!(mode(), expected, "{asked:o}");
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn user_attributes_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.popef");
    replace(&path);
    let long = vec![7; 3000];
    let attributes = [("user.origin", b"s3://models".as_slice()), ("user.empty", b""), ("user.long", &long)];
    for (name, value) in attributes {
        match setxattr(&path, name, value, XattrFlags::empty()) {
            Err(Errno::OPNOTSUPP) => return eprintln!("SKIPPED: no extended attributes here"),
            result => result.unwrap(),
        }
    }
    replace(&path);
    for (name, value) in attributes {
        let mut found = [0; 5000];
        let len = getxattr(&path, name, &mut found).unwrap();
        assert!(&found[..len] == value, "{name}");
    }
}
