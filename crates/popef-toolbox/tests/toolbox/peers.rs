//! Programs that share no code with this project. A test whose program is missing is skipped, except in CI.

use std::ffi::OsStr;
use std::process::Command;

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
