//! Programs that share no code with this project, and what it means if one is missing.

#![allow(dead_code, unreachable_pub, reason = "no test file uses all of it")]

use std::process::{Command, Output};

/// The interpreter that `PYTHON` names. Without one the test is skipped.
pub fn python() -> Option<Command> {
    let python = std::env::var_os("PYTHON").map(Command::new);
    if python.is_none() {
        skip("PYTHON names no interpreter");
    }
    python
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
