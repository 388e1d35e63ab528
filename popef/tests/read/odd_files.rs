//! A path that is no regular file, or that cannot be reached, is an error at once.

#![cfg(unix)]

use crate::common;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use common::testdata;
use popef::error::ErrorKind;
use popef::{Error, File, Writer};

/// Opens a file in parts and maps it, which must give the same. The test fails if that takes a minute.
fn open(path: &Path) -> Result<usize, Error> {
    let (send, receive) = mpsc::channel();
    let of_thread = path.to_owned();
    std::thread::spawn(move || {
        let opened = File::open(&of_thread).map(|file| file.len());
        // SAFETY: nobody changes the file while the test reads it.
        let mapped = unsafe { File::map(&of_thread) }.map(|file| file.len());
        send.send((opened, mapped))
    });
    let (opened, mapped) = receive.recv_timeout(Duration::from_secs(60)).expect("opening it hangs");
    let told = |result: &Result<usize, Error>| result.as_ref().copied().map_err(ToString::to_string);
    assert_eq!(told(&opened), told(&mapped));
    opened
}

fn assert_error(path: &Path, reason: &str) {
    let error = open(path).unwrap_err();
    let kind = if reason.starts_with("cannot open") { ErrorKind::Io } else { ErrorKind::Unsupported };
    assert_eq!((error.kind(), error.path()), (kind, Some(path)), "{error}");
    assert!(error.reason().contains(reason), "{error}");
}

const NOT_REGULAR: &str = "cannot read it by position: it is not a regular file";

#[test]
fn opening_a_pipe_is_an_error_and_does_not_wait() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe.popef");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert_error(&pipe, NOT_REGULAR);
}

/// The path can be a file's when it is looked at, and a pipe's when it is opened.
#[test]
fn a_file_replaced_by_a_pipe_is_opened_without_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.popef");
    let [pipe, file] = ["pipe", "file"].map(|name| folder.path().join(name));
    let put_a_file = |to: &Path| fs::copy(testdata("interop/split-tensors.popef"), to).map(drop).unwrap();
    put_a_file(&path);
    let ended = Arc::new(AtomicBool::new(false));
    let swapping = {
        let (path, ended) = (path.clone(), Arc::clone(&ended));
        std::thread::spawn(move || {
            while !ended.load(Ordering::Relaxed) {
                assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
                put_a_file(&file);
                fs::rename(&pipe, &path).unwrap();
                fs::rename(&file, &path).unwrap();
            }
        })
    };
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        for _ in 0..3000 {
            drop(File::open(&path));
            drop(Writer::create(&path).map(Writer::discard));
            drop(Writer::append(&path).map(Writer::discard));
        }
        send.send(()).unwrap();
    });
    receive.recv_timeout(Duration::from_secs(60)).expect("opening it hangs");
    ended.store(true, Ordering::Relaxed);
    swapping.join().unwrap();
}

#[test]
fn folders_devices_and_sockets_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    assert_error(folder.path(), NOT_REGULAR);
    for device in ["/dev/zero", "/dev/null", "/dev/full"] {
        assert_error(Path::new(device), NOT_REGULAR);
    }
    let socket = folder.path().join("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    assert_error(&socket, NOT_REGULAR);
}

/// Such a file says that its length is 0, or some length that it does not have.
#[cfg(target_os = "linux")]
#[test]
fn files_of_proc_and_sys_are_errors() {
    for made_up in ["/proc/self/status", "/proc/self/maps", "/proc/cpuinfo"] {
        assert_error(Path::new(made_up), "cannot read it by position: it has bytes, but says that it has none");
    }
    let of_sysfs = Path::new("/sys/kernel/mm/transparent_hugepage/enabled");
    if of_sysfs.exists() {
        open_in_parts_fails(of_sysfs);
    }
}

#[cfg(target_os = "linux")]
fn open_in_parts_fails(path: &Path) {
    let error = File::open(path).unwrap_err();
    assert_eq!(error.path(), Some(path), "{error}");
}

#[test]
fn links_are_followed_and_loops_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let link = |name: &str, to: &Path| {
        let path = folder.path().join(name);
        std::os::unix::fs::symlink(to, &path).unwrap();
        path
    };
    let looped = link("loop", Path::new("loop"));
    assert_error(&looped, "cannot open the file: ");
    let dangling = link("dangling", Path::new("nowhere"));
    assert_error(&dangling, "cannot open the file: ");
    let good = link("good", &testdata("interop/split-tensors.popef").canonicalize().unwrap());
    assert_eq!(open(&good).unwrap(), 1);
}

#[test]
fn a_file_without_permission_to_read_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("secret.popef");
    fs::copy(testdata("interop/split-tensors.popef"), &path).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    // The superuser may read every file.
    match fs::read(&path) {
        Ok(_) => assert_eq!(open(&path).unwrap(), 1),
        Err(_) => assert_error(&path, "cannot open the file: "),
    }
}

#[test]
fn file_names_that_are_not_utf_8_can_be_opened() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(OsStr::from_bytes(b"caf\xe9.popef"));
    assert_error(&path, "cannot open the file: ");
    // Some file systems refuse such a name.
    if fs::copy(testdata("interop/split-tensors.popef"), &path).is_ok() {
        assert_eq!(open(&path).unwrap(), 1);
    }
}

#[test]
fn paths_of_4000_bytes_can_be_opened() {
    let folder = tempfile::tempdir().unwrap();
    let path_of = |len: usize| {
        let mut path: PathBuf = folder.path().to_owned();
        while path.as_os_str().len() + 201 < len {
            path.push("d".repeat(200));
        }
        path.join("m".repeat(len - path.as_os_str().len() - 1))
    };
    let long = path_of(4000);
    assert_eq!(long.as_os_str().len(), 4000);
    assert_error(&long, "cannot open the file: ");
    // The system's own limit is 4,096 on Linux and less elsewhere.
    if fs::create_dir_all(long.parent().unwrap()).is_ok() {
        fs::copy(testdata("interop/split-tensors.popef"), &long).unwrap();
        assert_eq!(open(&long).unwrap(), 1);
    }
    assert_error(&path_of(5000), "cannot open the file: ");
}
