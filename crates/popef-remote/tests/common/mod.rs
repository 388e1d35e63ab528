//! Servers on this machine for tests: real ones of other people, and one of ours that makes mistakes.
//!
//! A server ends when its value is dropped, also when a test panics. Without its program, a test is skipped with a word; in CI,
//! where the variable `CI` is `true`, it fails.

#![allow(dead_code, reason = "each test program uses a part of it")]

pub(crate) mod azurite;
pub(crate) mod client;
pub(crate) mod content;
pub(crate) mod google;
pub(crate) mod http;
pub(crate) mod moto;
pub(crate) mod nginx;
pub(crate) mod process;

use std::path::{Path, PathBuf};

/// Where the credentials of a machine in a cloud are looked for: nowhere. No test may ask the real services.
pub(crate) const NO_SERVICES: [(&str, &str); 5] = [
    ("AWS_METADATA_ENDPOINT", "http://127.0.0.1:1"),
    ("GCE_METADATA_HOST", "127.0.0.1:1"),
    ("GCE_METADATA_ROOT", "127.0.0.1:1"),
    ("GCE_METADATA_IP", "127.0.0.1:1"),
    ("IDENTITY_ENDPOINT", "http://127.0.0.1:1"),
];

/// The folder of this repository.
pub(crate) fn repository() -> PathBuf {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a crate is in a folder");
    crates.parent().expect("the folder of crates is in the repository").to_owned()
}

/// The files of the official library, by name.
pub(crate) fn interop() -> Vec<(String, PathBuf)> {
    let folder = std::fs::read_dir(repository().join("testdata/interop")).expect("the folder is there");
    let mut files: Vec<(String, PathBuf)> = folder
        .map(|entry| entry.expect("the folder can be read"))
        .map(|entry| (entry.file_name().into_string().expect("the name is text"), entry.path()))
        .filter(|(name, _)| name.ends_with(".popef"))
        .collect();
    files.sort();
    assert!(files.len() > 10, "the files are there");
    files
}
