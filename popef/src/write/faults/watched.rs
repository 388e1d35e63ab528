//! Tests in which another user tries to open the files after each operation of a writer, and must not get any access
//! that the old file did not allow.
//!
//! Only the superuser can start a process of another user. For other users, the tests print that they are skipped, and
//! pass.

use std::fs;
use std::io::{self, BufRead as _, BufReader, Read as _, Take, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex};

use super::super::append::append_in;
use super::super::create::CreateOptions;
use super::super::rights::Rights;
use super::super::storage::{Access, Found, Handle, OpenTo, Storage, System};
use super::{old_file, write_blobs};
use crate::error::Error;
use crate::read;

/// The number of the user `nobody` on most systems, and of a group.
const SOMEBODY: u32 = 65534;

/// A process of another user that tries to open all files of a folder on request.
struct Looker {
    process: Child,
    ask: ChildStdin,
    answers: BufReader<ChildStdout>,
    folder: PathBuf,
    /// What the user may do with the old file.
    allowed: Vec<Access>,
    looks: usize,
    /// What the user could open, but should not.
    got_into: Vec<(Access, PathBuf)>,
}

const LOOK: &str = r#"
while read -r folder; do
    for file in "$folder"/* "$folder"/.[!.]*; do
        if [ -e "$file" ]; then
            if true <"$file"; then echo "read $file"; fi
            if true >>"$file"; then echo "write $file"; fi
        fi
    done 2>/dev/null
    echo
done"#;

impl Looker {
    fn start(folder: &Path, target: &Path) -> Option<Looker> {
        let mut shell = Command::new("sh");
        shell.args(["-c", LOOK]).uid(SOMEBODY).gid(SOMEBODY).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = match shell.spawn() {
            Ok(process) => process,
            Err(e) => {
                eprintln!("SKIPPED: cannot start a process of another user: {e}");
                return None;
            }
        };
        let (ask, answers) = (process.stdin.take().unwrap(), BufReader::new(process.stdout.take().unwrap()));
        let (folder, allowed, got_into) = (folder.to_owned(), Vec::new(), Vec::new());
        let mut looker = Looker { process, ask, answers, folder, allowed, looks: 0, got_into };
        looker.allowed =
            looker.gets_into().into_iter().filter(|(_, path)| path == target).map(|(how, _)| how).collect();
        Some(looker)
    }

    /// The files in the folder that the user can open, and how.
    fn gets_into(&mut self) -> Vec<(Access, PathBuf)> {
        writeln!(self.ask, "{}", self.folder.display()).unwrap();
        let mut found = Vec::new();
        for line in self.answers.by_ref().lines().map(Result::unwrap).take_while(|line| !line.is_empty()) {
            let (how, path) = line.split_once(' ').unwrap();
            found.push((if how == "read" { Access::Read } else { Access::ReadWrite }, path.into()));
        }
        found
    }

    fn look(&mut self) {
        self.looks += 1;
        let found = self.gets_into();
        self.got_into.extend(found.into_iter().filter(|(how, _)| !self.allowed.contains(how)));
    }
}

impl Drop for Looker {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The real file system, with an attempt of the other user after each operation.
#[derive(Clone)]
struct Watched(Arc<Mutex<Looker>>);

impl Watched {
    fn then_look<T>(&self, done: T) -> T {
        self.0.lock().unwrap().look();
        done
    }

    fn handle(&self, inner: io::Result<Box<dyn Handle>>) -> io::Result<Box<dyn Handle>> {
        let watched = self.clone();
        self.then_look(inner).map(|inner| Box::new(WatchedFile { inner, watched }) as Box<dyn Handle>)
    }
}

impl Storage for Watched {
    fn look(&self, path: &Path) -> io::Result<Option<Found>> {
        self.then_look(System.look(path))
    }

    fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        self.then_look(System.read_link(path))
    }

    fn create_new(&self, path: &Path, open_to: OpenTo) -> io::Result<Box<dyn Handle>> {
        self.handle(System.create_new(path, open_to))
    }

    fn open(&self, path: &Path, access: Access) -> io::Result<Box<dyn Handle>> {
        self.handle(System.open(path, access))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.then_look(System.rename(from, to))
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.then_look(System.link(from, to))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.then_look(System.remove(path))
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        self.then_look(System.sync_folder(folder))
    }
}

struct WatchedFile {
    inner: Box<dyn Handle>,
    watched: Watched,
}

impl Handle for WatchedFile {
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write_at(at, bytes);
        self.watched.then_look(written)
    }

    fn copy_at(&mut self, at: u64, from: &mut Take<fs::File>) -> io::Result<()> {
        let copied = self.inner.copy_at(at, from);
        self.watched.then_look(copied)
    }

    fn len(&self) -> io::Result<u64> {
        self.inner.len()
    }

    fn set_len(&mut self, len: u64) -> io::Result<()> {
        let cut = self.inner.set_len(len);
        self.watched.then_look(cut)
    }

    fn sync(&mut self) -> io::Result<()> {
        let synced = self.inner.sync();
        self.watched.then_look(synced)
    }

    fn lock(&self) -> io::Result<bool> {
        self.watched.then_look(self.inner.lock())
    }

    fn is_at(&self, path: &Path) -> io::Result<bool> {
        self.inner.is_at(path)
    }

    fn is_file(&self, file: &fs::File) -> bool {
        self.inner.is_file(file)
    }

    fn rights(&self) -> io::Result<Rights> {
        self.watched.then_look(self.inner.rights())
    }

    fn give_rights(&mut self, rights: &Rights) -> io::Result<()> {
        let given = self.inner.give_rights(rights);
        self.watched.then_look(given)
    }

    fn walk(&self, path: &Path) -> Result<read::File, Error> {
        self.watched.then_look(self.inner.walk(path))
    }
}

/// A POSIX access control list that names `SOMEBODY`, as an extended attribute: version 2, then the tag, permissions
/// and number of each entry.
#[cfg(target_os = "linux")]
fn acl(owner: u16, somebody: u16, group: u16, mask: u16, others: u16) -> Vec<u8> {
    let entries = [
        (1, owner, u32::MAX),
        (2, somebody, SOMEBODY),
        (4, group, u32::MAX),
        (16, mask, u32::MAX),
        (32, others, u32::MAX),
    ];
    let bytes = |(tag, permissions, id): (u16, u16, u32)| {
        [&tag.to_le_bytes()[..], &permissions.to_le_bytes(), &id.to_le_bytes()].concat()
    };
    [2u32.to_le_bytes().to_vec(), entries.map(bytes).concat()].concat()
}

/// A way to set the permissions of a file, and the access that it gives the other user.
struct Door {
    what: &'static str,
    mode: u32,
    group: u32,
    /// The access control lists of the file and of its folder, as extended attributes.
    of_file: Option<Vec<u8>>,
    of_folder: Option<Vec<u8>>,
    lets: &'static [Access],
}

fn doors() -> Vec<Door> {
    let door = |what, mode, group, lets| Door { what, mode, group, of_file: None, of_folder: None, lets };
    let mut doors = vec![
        door("a private file", 0o600, 0, &[][..]),
        door("a file for all to read", 0o644, 0, &[Access::Read]),
        door("a file for the group to read", 0o640, SOMEBODY, &[Access::Read]),
        door("a file for all but the group", 0o604, SOMEBODY, &[]),
        door("a file for all to write", 0o622, 0, &[Access::ReadWrite]),
    ];
    #[cfg(target_os = "linux")]
    doors.extend([
        Door { of_file: Some(acl(6, 0, 4, 4, 4)), ..door("a list that keeps them out", 0o644, 0, &[]) },
        Door { of_file: Some(acl(6, 4, 0, 4, 0)), ..door("a list that lets them in", 0o640, 0, &[Access::Read]) },
        Door { of_folder: Some(acl(7, 7, 7, 7, 5)), ..door("no list, where new files have one", 0o660, 0, &[]) },
    ]);
    doors
}

impl Door {
    /// Makes a file with these permissions, and starts the other user's process. `None` if this system cannot do that.
    fn file(&self) -> Option<(tempfile::TempDir, PathBuf, Watched)> {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let path = folder.path().join("model.popef");
        fs::write(&path, old_file()).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(self.mode)).unwrap();
        let chowned = chown(&path, None, Some(self.group));
        let listed = self.set("system.posix_acl_access", &path, &self.of_file);
        let listed = listed.and(self.set("system.posix_acl_default", folder.path(), &self.of_folder));
        if let Err(e) = chowned.and(listed) {
            eprintln!("SKIPPED: {}: {e}", self.what);
            return None;
        }
        let looker = Looker::start(folder.path(), &path)?;
        assert_eq!(looker.allowed, self.lets, "{}", self.what);
        Some((folder, path, Watched(Arc::new(Mutex::new(looker)))))
    }

    #[cfg(target_os = "linux")]
    fn set(&self, name: &str, path: &Path, list: &Option<Vec<u8>>) -> io::Result<()> {
        let Some(list) = list else { return Ok(()) };
        Ok(rustix::fs::setxattr(path, name, list, rustix::fs::XattrFlags::empty())?)
    }

    #[cfg(not(target_os = "linux"))]
    fn set(&self, _name: &str, _path: &Path, _list: &Option<Vec<u8>>) -> io::Result<()> {
        Ok(())
    }
}

fn who(path: &Path) -> (u32, u32, u32) {
    let metadata = fs::metadata(path).unwrap();
    (metadata.uid(), metadata.gid(), metadata.mode())
}

#[test]
fn nobody_gets_into_a_file_that_is_replaced_or_appended_to_who_was_kept_out() {
    for door in doors() {
        for overwrites in [true, false] {
            let Some((_folder, path, watched)) = door.file() else { continue };
            let before = who(&path);
            if overwrites {
                let mut writer = CreateOptions::new().create_in(Arc::new(watched.clone()), &path).unwrap();
                write_blobs(&mut writer).unwrap();
                writer.finish().unwrap();
            } else {
                let mut writer = append_in(&watched, &path).unwrap();
                write_blobs(&mut writer).unwrap();
                writer.finish().unwrap();
            }
            let mut looker = watched.0.lock().unwrap();
            assert!(looker.looks > 10, "{}: {} looks", door.what, looker.looks);
            assert!(looker.got_into.is_empty(), "{}: {:?}", door.what, looker.got_into);
            assert_eq!(who(&path), before, "{}", door.what);
            let let_in: Vec<_> = looker.gets_into().into_iter().map(|(how, _)| how).collect();
            assert_eq!(let_in, door.lets, "{}: not as before", door.what);
        }
    }
}

/// If a private file appears at the path while a new file is written, the new file becomes just as private.
#[test]
fn a_private_file_that_somebody_makes_meanwhile_is_replaced_by_a_private_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.popef");
    let mut writer = CreateOptions::new().create(&path).unwrap();
    write_blobs(&mut writer).unwrap();
    fs::write(&path, b"private").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    writer.finish().unwrap();
    assert_eq!(who(&path).2 & 0o7777, 0o600);
    assert!(fs::metadata(&path).unwrap().len() > 7);
}
