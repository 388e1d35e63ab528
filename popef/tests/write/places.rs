//! Writing to full and read-only file systems, under limits, and to files that vanish meanwhile. File systems that
//! share blocks.
//!
//! Most tests mount a file system, which only the superuser may. For other users they say so and pass.
#![cfg(target_os = "linux")]

use crate::common::writing;

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use popef::error::*;
use popef::read::*;
use popef::types::*;
use popef::write::*;
use writing::opaque;

/// A folder with a file of two blobs, on a file system of its own if one was mounted.
struct Place {
    folder: tempfile::TempDir,
    mounted: bool,
    bytes: Vec<u8>,
}

impl Place {
    fn new() -> Self {
        Place { folder: tempfile::tempdir().unwrap(), mounted: false, bytes: Vec::new() }.with_file(20_000)
    }

    /// A file system in memory with this many bytes.
    fn of_size(size: &str) -> Option<Self> {
        Place::mounted(&["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"])
    }

    fn mounted(what: &[&str]) -> Option<Self> {
        let mut place = Place { folder: tempfile::tempdir().unwrap(), mounted: false, bytes: Vec::new() };
        run("mount", |command| command.args(what).arg(place.folder.path()))?;
        place.mounted = true;
        Some(place)
    }

    fn with_file(mut self, len: usize) -> Self {
        let mut writer = Writer::create(self.path()).unwrap();
        writer.write_opaque(&opaque("first"), &vec![1; len]).unwrap();
        writer.write_executable("model", b"its bytes").unwrap();
        writer.finish().unwrap();
        self.bytes = fs::read(self.path()).unwrap();
        self
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("model.popef")
    }

    fn is_as_it_was(&self) {
        assert_eq!(names(self.folder.path()), ["model.popef"]);
        assert!(fs::read(self.path()).unwrap() == self.bytes);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.mounted {
            let _ = Command::new("umount").arg(self.folder.path()).status();
        }
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The output of a command. If it cannot run or fails, this says so and returns none.
fn run(program: &str, with: impl FnOnce(&mut Command) -> &mut Command) -> Option<String> {
    let reason = match with(&mut Command::new(program)).output() {
        Ok(output) if output.status.success() => return Some(String::from_utf8_lossy(&output.stdout).into_owned()),
        Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
        Err(e) => e.to_string(),
    };
    eprintln!("SKIPPED: {program}: {reason}");
    None
}

type Job<'j> = Box<dyn Fn() -> Result<Written, Error> + 'j>;

/// Every way to write to a file, with this many bytes.
fn jobs(path: &Path, len: usize) -> [(&'static str, Job<'_>); 6] {
    let info = move |name: &str, data_type| {
        let shape = [i64::try_from(len).unwrap()];
        TensorDataInfo { name: name.to_owned().into(), tensor_info: TensorInfo::new(data_type, shape) }
    };
    [
        ("create", Box::new(move || Writer::create(path)?.then(|w| w.write_opaque(&opaque("new"), &vec![2; len])))),
        ("append", Box::new(move || Writer::append(path)?.then(|w| w.write_opaque(&opaque("new"), &vec![2; len])))),
        (
            "append small blobs",
            Box::new(move || {
                let info = info("small", DataType::U8);
                let small = TensorDataInfo { tensor_info: TensorInfo::new(DataType::U8, [100]), ..info };
                Writer::append(path)?.then(|writer| {
                    (0..len / 100).try_for_each(|_| writer.write_tensor_bytes(&small, &[3; 100]).map(drop))
                })
            }),
        ),
        (
            "append feeds",
            Box::new(move || {
                let TensorDataInfo { name, tensor_info } = info("feed", DataType::U8);
                let feed = FeedDataInfo { name, tensor_info, num_tensors: 1 };
                Writer::append(path)?.then(|writer| {
                    let mut feeds = writer.feeds(&[feed.clone(), feed])?;
                    feeds.push_bytes(1, &vec![4; len])?;
                    feeds.push_bytes(0, &vec![5; len])?;
                    feeds.finish().map(drop)
                })
            }),
        ),
        (
            "create packed",
            Box::new(move || {
                let data: Vec<_> = (0..len).flat_map(|_| [6; 10]).collect();
                let pack = |w: &mut Writer<_>| w.write_packed_executable("packed", &data, Packing::Zlib(0));
                Writer::create(path)?.then(|writer| pack(writer))
            }),
        ),
        (
            "rewrite",
            Box::new(move || {
                let old = File::open(path)?;
                Writer::create(path)?.then(|writer| {
                    writer.copy_all(old.blobs())?;
                    writer.write_opaque(&opaque("new"), &vec![7; len]).map(drop)
                })
            }),
        ),
    ]
}

trait Then {
    /// Writes and finishes.
    fn then<T>(self, write: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<Written, Error>;
}

impl<D: Destination> Then for Writer<D> {
    fn then<T>(mut self, write: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<Written, Error> {
        write(&mut self)?;
        self.finish()
    }
}

/// The job fails, the error names the file and the reason, and nothing has changed.
fn fails(place: &Place, len: usize, reason: &str) {
    for (what, job) in jobs(&place.path(), len) {
        let error = job().unwrap_err();
        assert_eq!((error.kind(), error.path()), (ErrorKind::Io, Some(&*place.path())), "{what}: {error}");
        assert!(error.to_string().contains(reason), "{what}: {error}");
        place.is_as_it_was();
    }
}

const ALONE: &str = "POPEF_TEST_ALONE";

/// Runs in a process of its own: other tests start programs, which have this process' files open until they begin. The space
/// of a removed file is still taken then.
#[test]
fn a_full_file_system_leaves_the_old_file() {
    if std::env::var_os(ALONE).is_none() {
        let mut own = Command::new(std::env::current_exe().unwrap());
        own.args(["--exact", "places::a_full_file_system_leaves_the_old_file", "--nocapture"]);
        let done = own.env(ALONE, "1").output().unwrap();
        eprintln!("{}", String::from_utf8_lossy(&done.stderr));
        let said = String::from_utf8_lossy(&done.stdout);
        assert!(done.status.success() && said.contains("1 passed"), "{said}");
        return;
    }
    for (size, old, len) in [("64k", 20_000, 60_000), ("64k", 1000, 200_000), ("600k", 350_000, 300_000)] {
        let Some(place) = Place::of_size(size) else { return };
        let place = place.with_file(old);
        fails(&place, len, "No space left on device");
        // After that, a blob that fits is written.
        Writer::append(place.path()).unwrap().then(|writer| writer.write_opaque(&opaque("fits"), &[8; 500])).unwrap();
        assert_eq!(File::open(place.path()).unwrap().len(), 3);
    }
}

#[test]
fn a_full_device_is_an_error() {
    let full = || fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    for len in [10, 1_000_000] {
        let error = Writer::stream(full()).then(|writer| writer.write_opaque(&opaque("new"), &vec![1; len]));
        let error = error.unwrap_err();
        assert_eq!(error.code(), ErrorCode::StorageFull);
        assert!(error.to_string().contains("No space left on device"));
    }
    let place = Place::new();
    let source = File::open(place.path()).unwrap();
    let error = Writer::stream(full()).then(|writer| writer.copy_all(source.blobs())).unwrap_err();
    assert!(error.to_string().contains("No space left on device"), "{error}");
    for error in [Writer::create("/dev/full").unwrap_err(), Writer::append("/dev/full").unwrap_err()] {
        assert_eq!(error.code(), ErrorCode::NotReplaceable, "{error}");
    }
}

#[test]
fn a_read_only_file_system_is_an_error() {
    let Some(place) = Place::of_size("64k") else { return };
    let place = place.with_file(1000);
    let read_only = ["-o", "remount,ro"];
    if run("mount", |command| command.args(read_only).arg(place.folder.path())).is_some() {
        fails(&place, 100, "Read-only file system");
        assert!(recover(place.path()).unwrap_err().to_string().contains("Read-only file system"));
        place.is_as_it_was();
    }
}

/// New files cannot be made in one folder, and the file in the other cannot be changed.
#[test]
fn files_and_folders_that_may_not_be_changed_stay() {
    assert_eq!(Writer::create("/proc/self/model.popef").unwrap_err().kind(), ErrorKind::Io);
    let place = Place::new();
    for locked in [place.path(), place.folder.path().to_owned()] {
        if run("chattr", |command| command.arg("+i").arg(&locked)).is_none() {
            return;
        }
        let results: Vec<_> = jobs(&place.path(), 100).map(|(what, job)| (what, job())).into();
        let path = locked.clone();
        run("chattr", move |command| command.arg("-i").arg(&path)).unwrap();
        let is_folder = locked != place.path();
        for (what, result) in results {
            // The files of a locked folder can still be written to.
            assert!(result.is_err() != (is_folder && what.starts_with("append")), "{what} in {}", locked.display());
        }
        if !is_folder {
            place.is_as_it_was();
        }
        assert!(fs::read(place.path()).unwrap().starts_with(&place.bytes));
        assert_eq!(names(place.folder.path()), ["model.popef"]);
    }
}

const FILE: &str = "POPEF_TEST_FILE";

/// A child process with a limit runs this. It does nothing in the test itself.
#[test]
fn child() {
    let Some(path) = std::env::var_os(FILE) else { return };
    for (what, job) in jobs(Path::new(&path), 200_000) {
        println!("{what}: {}", job().unwrap_err());
    }
}

fn child_limited_to_8_kib(path: &Path, first: &str) -> Output {
    let script = format!("{first} ulimit -f 8; exec \"$0\" --exact places::child --nocapture --test-threads=1");
    let own = std::env::current_exe().unwrap();
    Command::new("bash").args(["-c", &script]).arg(own).env(FILE, path).output().unwrap()
}

#[test]
fn a_limit_on_the_size_of_files_leaves_the_old_file() {
    if std::env::var_os(FILE).is_some() {
        return;
    }
    let place = Place { folder: tempfile::tempdir().unwrap(), mounted: false, bytes: Vec::new() }.with_file(5000);
    let output = child_limited_to_8_kib(&place.path(), "trap '' XFSZ;");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    let errors: Vec<_> = said.lines().filter(|line| line.contains("model.popef: ")).collect();
    assert_eq!(errors.len(), 6, "{said}");
    assert!(errors.iter().all(|error| error.contains("File too large")), "{said}");
    place.is_as_it_was();

    const SIGXFSZ: i32 = 25;
    let output = child_limited_to_8_kib(&place.path(), "");
    assert_eq!(output.status.signal(), Some(SIGXFSZ));
    assert!(fs::read(place.path()).unwrap() == place.bytes);
    assert_eq!(names(place.folder.path()), [".model.popef.popef-new", "model.popef"]);
    Writer::create(place.path()).unwrap().discard().unwrap();
    place.is_as_it_was();
}

/// A file of somebody else is never taken for the temporary one. Appended blobs are in some file, or there is an error.
#[test]
fn files_that_vanish_while_they_are_written_lose_no_data_silently() {
    let creating = |place: &Place| {
        let mut writer = Writer::create(place.path()).unwrap();
        writer.write_opaque(&opaque("new"), &[2; 100_000]).unwrap();
        (writer, place.folder.path().join(".model.popef.popef-new"))
    };
    let appending = |place: &Place| {
        let mut writer = Writer::append(place.path()).unwrap();
        writer.write_opaque(&opaque("new"), &[2; 100_000]).unwrap();
        writer
    };
    let moved = |place: &Place| {
        let elsewhere = place.folder.path().with_extension("moved");
        fs::rename(place.folder.path(), &elsewhere).unwrap();
        elsewhere
    };

    let place = Place::new();
    let (writer, temporary) = creating(&place);
    fs::remove_file(&temporary).unwrap();
    let error = writer.finish().unwrap_err();
    assert!(error.to_string().contains("its temporary file was removed or replaced by somebody else"), "{error}");
    place.is_as_it_was();
    let (writer, temporary) = creating(&place);
    fs::remove_file(&temporary).unwrap();
    fs::write(&temporary, "of somebody else").unwrap();
    let error = writer.finish().unwrap_err();
    assert!(error.to_string().contains("its temporary file was removed or replaced by somebody else"), "{error}");
    assert!(fs::read(place.path()).unwrap() == place.bytes);
    assert_eq!(fs::read(&temporary).unwrap(), b"of somebody else");
    fs::remove_file(&temporary).unwrap();

    // A new file does not need the old one.
    let (writer, _) = creating(&place);
    fs::remove_file(place.path()).unwrap();
    writer.finish().unwrap();
    assert_eq!(File::open(place.path()).unwrap().len(), 1);

    // The folder was moved with the old file and the temporary one, which the next writer removes.
    let place = Place::new();
    let (writer, _) = creating(&place);
    let elsewhere = moved(&place);
    assert_eq!(writer.finish().unwrap_err().kind(), ErrorKind::Changed);
    assert!(fs::read(elsewhere.join("model.popef")).unwrap() == place.bytes);
    Writer::create(elsewhere.join("model.popef")).unwrap().discard().unwrap();
    assert_eq!(names(&elsewhere), ["model.popef"]);
    fs::rename(&elsewhere, place.folder.path()).unwrap();
    let (writer, _) = creating(&place);
    fs::remove_dir_all(place.folder.path()).unwrap();
    assert_eq!(writer.finish().unwrap_err().kind(), ErrorKind::Changed);
    assert!(!place.folder.path().exists());

    // The file that was appended to is cut back, also under another name.
    let place = Place::new();
    let writer = appending(&place);
    let elsewhere = moved(&place);
    assert_eq!(writer.finish().unwrap_err().kind(), ErrorKind::Changed);
    fs::rename(&elsewhere, place.folder.path()).unwrap();
    place.is_as_it_was();
    let writer = appending(&place);
    fs::remove_file(place.path()).unwrap();
    assert_eq!(writer.finish().unwrap_err().kind(), ErrorKind::Changed);
    let place = Place::new();
    let writer = appending(&place);
    fs::write(place.folder.path().join("other"), "of somebody else").unwrap();
    fs::rename(place.folder.path().join("other"), place.path()).unwrap();
    assert_eq!(writer.finish().unwrap_err().kind(), ErrorKind::Changed);
    assert_eq!(fs::read(place.path()).unwrap(), b"of somebody else");
}

/// The file system tells which blocks a rewritten file shares with the old one. The first and the last blocks differ.
#[test]
fn copies_share_blocks_where_the_file_system_can() {
    for (make, options) in [("mkfs.xfs", ["-q", "-mreflink=1"]), ("mkfs.btrfs", ["-q", "-f"])] {
        let images = tempfile::tempdir().unwrap();
        let image = images.path().join("image");
        fs::File::create(&image).unwrap().set_len(400 << 20).unwrap();
        let mounted = run(make, |command| command.args(options).arg(&image))
            .and_then(|_| Place::mounted(&["-o", "loop", image.to_str().unwrap()]));
        let Some(mut place) = mounted else { continue };
        place = place.with_file(3_000_000);
        let opened = File::open(place.path()).unwrap();
        // SAFETY: the file is replaced, and never written to.
        #[expect(unsafe_code, reason = "what is mapped is shared too")]
        let mapped = unsafe { File::map(place.path()) }.unwrap();
        for old in [&opened, &mapped] {
            let to = place.folder.path().join("new.popef");
            let mut writer = Writer::create(&to).unwrap();
            writer.copy_all(old.blobs()).unwrap();
            writer.write_opaque(&opaque("new"), b"data").unwrap();
            writer.finish().unwrap();
            assert!(fs::read(&to).unwrap().starts_with(&place.bytes));
            let Some(extents) = run("filefrag", |command| command.arg("-v").arg(&to)) else { return };
            let blocks = |line: &str| line.split(':').nth(3).and_then(|count| count.trim().parse::<usize>().ok());
            let shared = extents.lines().filter(|line| line.contains("shared")).filter_map(blocks).sum::<usize>();
            // The first and the last of the blocks of 4096 bytes are not whole.
            assert!(shared >= place.bytes.len() / 4096 - 2, "{make}: {shared} blocks of\n{extents}");
            assert!(fs::remove_file(&to).is_ok());
        }
    }
}
