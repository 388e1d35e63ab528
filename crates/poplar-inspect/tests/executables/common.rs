//! Fixtures, and archives made in the tests.

#![allow(unreachable_pub, reason = "the tests are one program")]

use std::path::PathBuf;

use poplar_inspect::Error;
use poplar_inspect::executable::{Options, Summary, read, visit};

pub const ARCHIVES: [&str; 5] = ["tiles", "long-names", "kinds", "bsd-names", "sym64"];

pub fn folder() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "../../testdata/executables"].iter().collect()
}

pub fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(folder().join(name)).unwrap()
}

pub fn summary(bytes: &[u8]) -> Result<Summary, Error> {
    read(bytes, &Options::default())
}

/// A member: header, content and padding.
pub fn member(name: &str, content: &[u8]) -> Vec<u8> {
    member_that_says(name, &content.len().to_string(), content)
}

pub fn member_that_says(name: &str, size: &str, content: &[u8]) -> Vec<u8> {
    let header = format!("{name:16}{:12}{:6}{:6}{:8}{size:10}`\n", 0, 0, 0, 644);
    let mut member = [header.as_bytes(), content].concat();
    member.resize(member.len().next_multiple_of(2), b'\n');
    member
}

pub fn archive(members: &[Vec<u8>]) -> Vec<u8> {
    [b"!<arch>\n".to_vec(), members.concat()].concat()
}

/// The ELF files of a fixture's tiles.
pub fn elf_files(name: &str) -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    visit(&fixture(name)[..], &Options::default(), |tile| files.push(tile.bytes().to_vec())).unwrap();
    files
}
