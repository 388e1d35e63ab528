//! Completion in real shells: the command line after a Tab. Missing shells and Python are skipped, but not in CI.

#![cfg(unix)]

mod common;

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use common::run;
use serde_json::json;

/// The words before a Tab, and the arguments after it, in a folder with the one file `a b.popef`, which has a blob `input_parameter`.
fn cases() -> Vec<(String, Vec<String>)> {
    let cases: &[(&str, &[&str])] = &[
        ("", &["a b.popef"]),
        ("-a a", &["-a", "a b.popef"]),
        ("--met", &["--metadata"]),
        ("--format=js", &["--format=json"]),
        ("--format sa", &["--format", "sarif"]),
        ("--color=n", &["--color=never"]),
        ("-c=al", &["-c=always"]),
        ("--color a", &["--color", "a b.popef"]),
        ("-c a", &["-c", "a b.popef"]),
        ("--values a", &["--values", "a b.popef"]),
        ("--values=3 a", &["--values=3", "a b.popef"]),
        ("--for tr", &["--for", "triton"]),
        ("--for popart,tr", &["--for", "popart,triton"]),
        ("--for=popart,poptorch,te", &["--for=popart,poptorch,tensorflow"]),
        ("--policy a", &["--policy", "a b.popef"]),
        ("--policy=a", &["--policy=a b.popef"]),
        ("--files-from a", &["--files-from", "a b.popef"]),
        ("--generate ma", &["--generate", "man"]),
        ("-- a", &["--", "a b.popef"]),
        ("a\\ b.popef --filter inp", &["a b.popef", "--filter", "input_parameter"]),
        ("a\\ b.popef --exclude=inp", &["a b.popef", "--exclude=input_parameter"]),
    ];
    let owned = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
    let mut cases: Vec<_> = cases.iter().map(|&(typed, words)| (typed.to_owned(), owned(words))).collect();
    let alone = |id: &str| popef_check::rules().filter(|rule| rule.id.starts_with(&id[..4])).count() == 1;
    let rule = popef_check::rules().find(|rule| alone(rule.id)).expect("a rule has an id that four letters tell apart");
    let (typed, id) = (&rule.id[..4], rule.id);
    cases.push((format!("--explain {typed}"), owned(&["--explain", id])));
    cases.push((format!("--explain PE101,{typed}"), owned(&["--explain", &format!("PE101,{id}")])));
    cases.push((format!("--explain {}", typed.to_lowercase()), owned(&["--explain", id])));
    cases
}

/// Whether a program is installed, as it must be in CI.
fn is_there(program: &OsString) -> bool {
    let found =
        Command::new(program).arg("--version").stdout(Stdio::null()).status().is_ok_and(|status| status.success());
    assert!(found || std::env::var_os("CI").is_none(), "{} is missing", program.display());
    if !found {
        eprintln!("skipped: {} is missing", program.display());
    }
    found
}

/// A folder with a file to complete, and beside it one with a program that prints its arguments, and the script.
struct Folders(tempfile::TempDir);

impl Folders {
    fn new(shell: &str) -> Self {
        let folders = Folders(tempfile::tempdir().unwrap());
        for folder in ["files", "start"] {
            fs::create_dir(folders.path(folder)).unwrap();
        }
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/interop/executable.popef");
        fs::copy(file, folders.path("files/a b.popef")).unwrap();
        let program = folders.path("start/popef-dump");
        let asks = format!("[ \"$1\" = --__names ] && exec '{}' \"$@\"", env!("CARGO_BIN_EXE_popef-dump"));
        let says = "echo @ARGS; for word; do echo \"$word\"; done; echo @END";
        fs::write(&program, format!("#!/bin/sh\n{asks}\n{says}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let script = run(&folders.path(""), &["--generate", &format!("completions-{shell}")]).out;
        fs::write(folders.path("start/completions"), script).unwrap();
        folders
    }

    fn path(&self, path: &str) -> std::path::PathBuf {
        self.0.path().join(path)
    }
}

fn in_terminal(shell: &str, command: &[&str], start_file: &str, start: &str, cases: &[(String, Vec<String>)]) {
    let python = std::env::var_os("PYTHON").unwrap_or_else(|| "python3".into());
    if !is_there(&shell.into()) || !is_there(&python) {
        return;
    }
    let folders = Folders::new(shell);
    let program = folders.path("start");
    fs::write(program.join(start_file), format!("PATH={}:$PATH\n{start}\nsource {0}/completions\n", program.display()))
        .unwrap();
    let lines: Vec<_> = cases.iter().map(|(typed, _)| format!("popef-dump {typed}\t")).collect();
    let task = json!({ "shell": command, "lines": lines });
    let mut child = Command::new(python)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/complete.py"))
        .current_dir(folders.path("files"))
        .envs([("TERM", "vt100"), ("LC_ALL", "C.UTF-8")])
        .env("ZDOTDIR", &program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    serde_json::to_writer(child.stdin.take().unwrap(), &task).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{shell}");
    let found: Vec<Vec<String>> = serde_json::from_slice(&output.stdout).unwrap();
    for ((typed, expected), found) in cases.iter().zip(&found) {
        assert_eq!(found, expected, "{shell}: {typed}");
    }
    assert_eq!(found.len(), cases.len());
}

#[test]
fn in_bash() {
    let start = "PS1='@READY@ '\nbind 'set bell-style none'";
    in_terminal("bash", &["bash", "--noprofile", "--rcfile", "../start/bashrc", "-i"], "bashrc", start, &cases());
}

/// `COMP_WORDBREAKS` decides whether bash sees `--format=js` as one word. In one word, bash completes no names of
/// files.
#[test]
fn in_bash_that_does_not_split_words_at_equals_signs() {
    let start = "PS1='@READY@ '\nCOMP_WORDBREAKS=${COMP_WORDBREAKS//=}";
    let cases: Vec<_> = cases().into_iter().filter(|(typed, _)| !typed.starts_with("--policy=")).collect();
    in_terminal("bash", &["bash", "--noprofile", "--rcfile", "../start/bashrc", "-i"], "bashrc", start, &cases);
}

#[test]
fn in_zsh() {
    let start = "PS1='@READY@ '\nunsetopt beep zle_bracketed_paste\nautoload -U compinit && compinit -u -D";
    in_terminal("zsh", &["zsh", "-d", "-i"], ".zshrc", start, &cases());
}

/// fish prints what it would offer.
#[test]
fn in_fish() {
    if !is_there(&"fish".into()) {
        return;
    }
    let folders = Folders::new("fish");
    let mut places = vec![folders.path("start")];
    places.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    let path = std::env::join_paths(places).unwrap();
    let offered = |typed: &str| -> Vec<String> {
        let output = Command::new("fish")
            .args(["--no-config", "-c", "source ../start/completions; complete -C $argv[1]", typed])
            .current_dir(folders.path("files"))
            .env("HOME", folders.path("start"))
            .env("PATH", path.clone())
            .output()
            .unwrap();
        let lines = String::from_utf8(output.stdout).unwrap();
        lines.lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect()
    };
    // fish knows no value after `=` for an option of one letter.
    for (typed, expected) in cases().iter().filter(|(typed, _)| !typed.starts_with("-c=")) {
        assert_eq!(offered(&format!("popef-dump {typed}")), expected[expected.len() - 1..], "fish: {typed}");
    }
    assert_eq!(offered("popef_dump --format=").len(), 6);
}
