//! Runs the tool as people do.

#![allow(dead_code, reason = "each test file uses some of it")]

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The results of a run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) status: i32,
}

impl Run {
    /// The document on standard output.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }

    /// The lines on standard output, each a document.
    pub(crate) fn json_lines(&self) -> Vec<serde_json::Value> {
        self.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

pub(crate) fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata")
}

pub(crate) fn interop() -> PathBuf {
    testdata().join("interop")
}

pub(crate) fn golden() -> PathBuf {
    testdata().join("golden")
}

/// The tool in a folder, with nothing in its environment that could change the output.
pub(crate) fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_popef-dump"));
    for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "POPEF_LOG_LEVEL", "POPEF_LOG_DEST"] {
        command.env_remove(variable);
    }
    command.current_dir(folder).env("TERM", "xterm").stdin(Stdio::null());
    command
}

pub(crate) fn finish(command: &mut Command) -> Run {
    let output = command.stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap();
    Run {
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
        status: output.status.code().unwrap(),
    }
}

pub(crate) fn run(folder: &Path, args: &[&str]) -> Run {
    finish(command(folder).args(args))
}

/// Runs the tool with bytes on standard input.
pub(crate) fn run_with_input(folder: &Path, args: &[&str], input: &[u8]) -> Run {
    let mut command = command(folder);
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    // The tool may have seen enough before all is written.
    let writer = std::thread::spawn(move || stdin.write_all(&input).is_ok());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Run {
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
        status: output.status.code().unwrap(),
    }
}

/// The files of a folder whose names end with `end`, in order.
pub(crate) fn files(folder: &Path, end: &str) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.filter(|name| name.ends_with(end)).collect();
    names.sort();
    names
}

/// A run as in a terminal: the command, standard output, standard error, and the exit status.
pub(crate) fn transcript(folder: &Path, arguments: &str) -> String {
    let run = finish(command(folder).args(arguments.split(' ')));
    let quote = |word: &str| if word.contains(['*', '?']) { format!("'{word}'") } else { word.to_owned() };
    let quoted: Vec<_> = arguments.split(' ').map(quote).collect();
    let command = quoted.join(" ");
    format!("$ popef-dump {command}\n{}---- stderr\n{}---- exit status {}\n", run.out, run.err, run.status)
}

/// Compares each case, a name and arguments, with its transcript in the folder, or renews the transcript.
#[track_caller]
pub(crate) fn hold_golden(folder: &Path, cases: &[(&str, &str)]) {
    let renew = std::env::var_os("POPEF_RENEW").is_some();
    let mut wrong = Vec::new();
    for (name, arguments) in cases {
        let path = folder.join(format!("{name}.out"));
        // A build of the whole workspace reads from other machines, because another crate asks for that.
        let shown = transcript(folder, arguments).replace("\nnetwork: yes\n", "\nnetwork: no\n");
        if renew {
            fs::write(path, shown).unwrap();
        } else if fs::read_to_string(path).unwrap_or_default() != shown {
            wrong.push(format!("{name}.out is not what this prints now:\n{shown}"));
        }
    }
    assert!(wrong.is_empty(), "{}\nIf the change is wanted: POPEF_RENEW=1 cargo test -p popef-dump", wrong.join("\n"));
}
