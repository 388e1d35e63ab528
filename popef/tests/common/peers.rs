//! Programs that share no code with this project. A test whose program is missing is skipped, except in CI.

#![allow(dead_code, unreachable_pub, reason = "no test file uses all of it")]

use std::ffi::OsStr;
use std::process::{Command, Output};

use serde_json::Value;

/// The interpreter that `PYTHON` names. Without one the test is skipped.
pub fn python() -> Option<Command> {
    let python = std::env::var_os("PYTHON").map(Command::new);
    if python.is_none() {
        skip("PYTHON names no interpreter");
    }
    python
}

/// What the official Cap'n Proto library reads from files: an array of blobs for each file. Data is unpacked and in
/// hexadecimal. None if there is no Python.
pub fn pycapnp_reads(files: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Option<Vec<Value>> {
    let package = env!("CARGO_MANIFEST_DIR");
    let mut python = python()?;
    python
        .arg(format!("{package}/tests/read_with_pycapnp.py"))
        .arg(format!("{package}/schema/popef.capnp"))
        .args(files);
    let lines = printed(python.output().unwrap());
    Some(lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Says that a test is skipped. Where `CI` is set, nothing may be.
pub fn skip(why: &str) {
    assert!(std::env::var_os("CI").is_none(), "this test must not be skipped here: {why}");
    eprintln!("SKIPPED: {why}");
}

/// What a program printed. It must have succeeded.
pub fn printed(output: Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
