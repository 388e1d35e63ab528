//! Programs that share no code with this project. A test whose program is missing is skipped, except in CI.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::common::finish;

/// Says that a test is skipped. In CI nothing may be.
pub(crate) fn skip(why: &str) {
    assert!(std::env::var_os("CI").is_none(), "this test must not be skipped here: {why}");
    eprintln!("SKIPPED: {why}");
}

/// What a Python script prints. None if a package that it imports is missing.
#[track_caller]
pub(crate) fn python(script: &str, packages: &[&str], args: &[impl AsRef<OsStr>]) -> Option<String> {
    let interpreter = || Command::new(std::env::var_os("PYTHON").unwrap_or_else(|| "python3".into()));
    for package in packages {
        if interpreter().args(["-c", &format!("import {package}")]).output().is_ok_and(|output| output.status.success())
        {
            continue;
        }
        skip(&format!("Python has no {package}"));
        return None;
    }
    let run = finish(interpreter().args(["-c", script]).args(args));
    assert_eq!(run.status, 0, "{}", run.err);
    Some(run.text().to_owned())
}

/// What the official Cap'n Proto library reads from files: an array of blobs for each file. Data is unpacked and in hexadecimal.
#[track_caller]
pub(crate) fn pycapnp_reads(files: &[PathBuf]) -> Option<Vec<Vec<Value>>> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../popef");
    let script = fs::read_to_string(package.join("tests/read_with_pycapnp.py")).unwrap();
    let args = [&[package.join("schema/popef.capnp")], files].concat();
    let lines = python(&script, &["capnp"], &args)?;
    Some(lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

/// The blobs as pycapnp reads them, without what may differ where they say the same: their places and sizes, and whether an
/// executable is compressed.
pub(crate) fn without_places(blobs: &[Value]) -> Vec<Value> {
    let mut blobs = blobs.to_vec();
    for blob in &mut blobs {
        blob["offset"].take();
        blob["header"]["size"].take();
        if let Some(info) = blob["info"].as_object_mut() {
            info.remove("uncompressedSize");
        }
    }
    blobs
}
