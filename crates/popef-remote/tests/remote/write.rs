//! Objects are written as a whole or not at all, and replace only what they may.
//!
//! Credentials come from the environment: see `stores`.

use std::env;
use std::fs::File;
use std::io::{Seek, Write};
use std::process::Command;

use popef_remote::{Code, Location, Need, Remote, Replace};

use super::common::NO_SERVICES;
use super::common::azurite::Azurite;
use super::common::content::Sparse;
use super::common::google::Google;
use super::common::moto::Moto;
use super::{open, quick};

/// The program runs again with this, for the test `in_another_environment`: the address of a folder.
const FOLDER: &str = "POPEF_REMOTE_TEST_WRITE";

fn run_again(folder: &str, environment: Vec<(String, String)>) {
    let done = Command::new(env::current_exe().unwrap())
        .args(["--exact", "write::in_another_environment", "--nocapture"])
        .env(FOLDER, folder)
        .envs(NO_SERVICES)
        .envs(environment)
        .output()
        .unwrap();
    let said = format!("{}\n{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{said}");
    assert!(said.contains("all was written"), "{said}");
}

/// What is written with one request, and in parts.
fn small() -> Vec<u8> {
    Sparse::tensors(2, 100).bytes()
}

fn large() -> Vec<u8> {
    Sparse::tensors(2, 9 << 20).bytes()
}

fn file(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file.rewind().unwrap();
    file
}

#[test]
fn in_another_environment() {
    let Ok(folder) = env::var(FOLDER) else { return };
    let remote = Remote::new(quick()).unwrap();
    if folder.starts_with("gs:") {
        // The emulator knows no conditions, and no uploads in parts.
        let location = Location::parse(&format!("{folder}small.popef")).unwrap();
        remote.write(&location, file(&small()), &Replace::Anything).unwrap();
        println!("all was written");
        return;
    }
    let is_azure = folder.starts_with("az:");
    for (name, bytes) in [("small", small()), ("large", large())] {
        let url = format!("{folder}{name}.popef");
        let location = Location::parse(&url).unwrap();
        let write = |bytes: &[u8], replace: Replace| {
            remote.write(&location, file(bytes), &replace).map_err(|error| error.code())
        };
        let blobs = || open(&remote, &url, Need::Data).unwrap().file.unwrap().len();
        remote.check_write(&location, &Replace::Nothing).unwrap();
        write(&bytes, Replace::Nothing).unwrap();
        assert_eq!(blobs(), 2, "{name}");
        // It is there now, and stays.
        let three = [&bytes[..], &small()[..small().len() / 2]].concat();
        assert_eq!(remote.check_write(&location, &Replace::Nothing).unwrap_err().code(), Code::Exists);
        assert_eq!(write(&three, Replace::Nothing), Err(Code::Exists), "{name}");
        assert_eq!(blobs(), 2, "{name}");
        write(&three, Replace::Anything).unwrap();
        assert_eq!(blobs(), 3, "{name}");
        if is_azure && name == "large" {
            assert_eq!(write(&bytes, Replace::Opened), Err(Code::NoCondition));
            continue;
        }
        write(&bytes, Replace::Opened).unwrap_or_else(|code| panic!("{name}: {code:?}"));
        // That was another version than was opened.
        assert_eq!(write(&three, Replace::Opened), Err(Code::Changed), "{name}");
        assert_eq!(blobs(), 2, "{name}");
        // Who has opened nothing cannot say which one may be replaced.
        let other = Remote::new(quick()).unwrap();
        assert_eq!(other.write(&location, file(&three), &Replace::Opened).unwrap_err().code(), Code::NoCondition);
    }
    let mut options = quick();
    options.stopped = Some(|| true);
    let location = Location::parse(&format!("{folder}stopped.popef")).unwrap();
    let error = Remote::new(options).unwrap().write(&location, file(&large()), &Replace::Nothing).unwrap_err();
    assert_eq!(error.code(), Code::Stopped);
    let address = Location::parse("https://localhost/file.popef").unwrap();
    assert_eq!(remote.write(&address, file(b""), &Replace::Nothing).unwrap_err().code(), Code::Output);
    println!("all was written");
}

#[test]
fn s3() {
    let Some(moto) = Moto::start() else { return };
    run_again("s3://models/new/", moto.environment());
    assert!(moto.get("new/small.popef") == Some(small()), "other bytes");
    assert!(moto.get("new/large.popef") == Some(large()), "other bytes");
    assert_eq!(moto.get("new/stopped.popef"), None);
    assert_eq!(moto.open_uploads(), 0, "each upload that failed was taken back");
}

#[test]
fn azure() {
    let Some(azurite) = Azurite::start() else { return };
    run_again("az://models/new/", azurite.environment());
    assert!(azurite.get("new/small.popef") == Some(small()), "other bytes");
    assert_eq!(azurite.get("new/stopped.popef"), None);
}

#[test]
fn google() {
    let Some(google) = Google::start() else { return };
    run_again("gs://models/new/", google.environment());
    assert!(google.get("new/small.popef") == Some(small()), "other bytes");
}
