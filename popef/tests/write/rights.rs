//! Who may do what with a file stays so when the file is replaced, also by somebody who may not keep all of it.
//!
//! Only the superuser can become other users: elsewhere the tests say so and pass. How other users fare while a file is
//! written is tested in `src/write/faults/watched.rs`.

#![cfg(target_os = "linux")]

use crate::common::writing;

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

use popef::{File, Writer};
use rustix::fs::{XattrFlags, getxattr, setxattr};
use rustix::io::Errno;
use writing::opaque;

/// Three users, each with a group of the same number, and a group that some of them are in.
const OWNER: u32 = 61_111;
const WRITER: u32 = 62_222;
const SHARED: u32 = 63_000;

/// Replaces the file that this variable names: the test itself is run again as another user.
const REPLACE: &str = "POPEF_TEST_REPLACE";

fn replace(path: &Path) {
    let mut writer = Writer::create(path).unwrap();
    writer.write_opaque(&opaque("new"), b"new").unwrap();
    writer.finish().unwrap();
}

#[test]
fn replace_if_told() {
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

    /// Replaces the file as `WRITER`, who is in these groups too.
    fn replace_by_another(&self, groups: &str) {
        // The folder that tests are built in may be closed to others. Another process copies the program: one that
        // another test's child has open for writing, even for a moment, cannot be started.
        let program = self.folder.path().join("program");
        assert!(Command::new("cp").arg(std::env::current_exe().unwrap()).arg(&program).status().unwrap().success());
        fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
        let user = [format!("--reuid={WRITER}"), format!("--regid={WRITER}"), groups.to_owned()];
        let mut command = Command::new("setpriv");
        command.args(user).arg(&program).args(["--exact", "rights::replace_if_told"]).env(REPLACE, &self.path);
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
fn a_member_of_the_group_keeps_the_group() {
    for mode in [0o660, 0o664, 0o640] {
        let Some(place) = Place::with_file(mode) else { return };
        place.replace_by_another(&format!("--groups={SHARED}"));
        assert_eq!(place.rights(), (WRITER, SHARED, mode), "{mode:o}");
    }
}

#[test]
fn who_is_not_in_the_group_lets_nobody_in_by_its_rights() {
    // Only who can read the old file can lock it, and replace it.
    for (mode, left) in [(0o664, 0o644), (0o644, 0o644), (0o606, 0o600), (0o666, 0o666)] {
        let Some(place) = Place::with_file(mode) else { return };
        place.replace_by_another("--clear-groups");
        assert_eq!(place.rights(), (WRITER, WRITER, left), "{mode:o}");
    }
}

#[test]
fn the_superuser_keeps_everything() {
    for mode in [0o600, 0o660, 0o4750, 0o2755] {
        let Some(place) = Place::with_file(mode) else { return };
        // Giving a file away takes these bits off it.
        fs::set_permissions(&place.path, Permissions::from_mode(mode)).unwrap();
        replace(&place.path);
        assert_eq!(place.rights(), (OWNER, SHARED, mode), "{mode:o}");
    }
}

/// A list that names a user, of a file whose group the writer cannot keep: whom it lets in cannot be told then.
#[test]
fn a_list_without_its_group_lets_only_the_owner_in() {
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
fn attributes_of_users_are_kept() {
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
