//! Runs the tool on a terminal of 60 columns. Python makes the terminal; without Python this is skipped, but not in CI.

#![cfg(target_os = "linux")]

mod common;

use std::path::Path;
use std::process::{Command, Stdio};

use common::{interop, run};
use serde_json::json;

const COMMANDS: &[&[&str]] = &[
    &["executable.popef"],
    &["--validate", "../checks/PE108.popef", "none.popef"],
    &["--explain", "PE101"],
    &["--explain"],
    &["-h"],
    &["--help"],
];

/// The output of the commands on a terminal of 60 columns, without colours, which clap would use in CI even on a dumb terminal.
fn on_terminal(rows: u16) -> Option<Vec<String>> {
    let python = std::env::var_os("PYTHON").unwrap_or_else(|| "python3".into());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/terminal.py");
    let mut command = Command::new(python);
    command.arg(script).current_dir(interop()).env("NO_COLOR", "1").env_remove("COLUMNS");
    command.env_remove("CLICOLOR_FORCE").stdin(Stdio::piped()).stdout(Stdio::piped());
    let Ok(mut child) = command.spawn() else {
        assert!(std::env::var_os("CI").is_none(), "Python is missing");
        eprintln!("skipped: there is no Python");
        return None;
    };
    let commands: Vec<_> = COMMANDS.iter().map(|args| [&[env!("CARGO_BIN_EXE_popef-dump")], *args].concat()).collect();
    let task = json!({ "commands": commands, "rows": rows, "columns": 60 });
    serde_json::to_writer(child.stdin.take().unwrap(), &task).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

/// Some terminals, such as those of build systems, have a width and no height.
#[test]
fn lines_are_as_wide_as_the_terminal() {
    let Some(shown) = on_terminal(24) else { return };
    for (args, shown) in COMMANDS.iter().zip(&shown) {
        let is_fixed = |line: &str| line.trim_start().starts_with("popef-dump --format json m.popef | jq");
        for line in shown.lines().filter(|line| !is_fixed(line)) {
            assert!(line.chars().count() <= 60, "{args:?}: {line}");
        }
        assert!(run(&interop(), args).out.lines().any(|line| line.len() > 60), "{args:?}");
    }
    assert_eq!(on_terminal(0).unwrap(), shown);
}
