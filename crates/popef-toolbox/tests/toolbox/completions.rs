//! Completion in real shells: what a Tab makes of a command line. The shells and Python that are missing are skipped, but not
//! in CI.

#![cfg(unix)]

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use popef::types::TensorDataInfo;
use popef::{DataType, TensorInfo, Writer};
use serde_json::json;

use crate::common::{Place, hold_text};

/// The shortest of the three.
#[test]
fn a_script_stays_as_it_is() {
    hold_text("completions", Place::with(&[]).run(&["completions", "bash"]).good().text());
}

/// What is typed before a Tab, and the arguments that the shell makes of it, in a folder with the one file `a b.popef`.
const CASES: &[(&str, &[&str])] = &[
    ("expl", &["explain"]),
    ("--col", &["--color"]),
    ("--color=nev", &["--color=never"]),
    ("--color always expl", &["--color", "always", "explain"]),
    ("--color=always expl", &["--color=always", "explain"]),
    ("ls a", &["ls", "a b.popef"]),
    ("ls --sor", &["ls", "--sort"]),
    ("ls --sort na", &["ls", "--sort", "name"]),
    ("ls --format=nd", &["ls", "--format=ndjson"]),
    ("ls --files-from a", &["ls", "--files-from", "a b.popef"]),
    ("ls --values a", &["ls", "--values", "a b.popef"]),
    ("ls --color ne", &["ls", "--color", "never"]),
    ("check --format sa", &["check", "--format", "sarif"]),
    ("check --for popart,tr", &["check", "--for", "popart,triton"]),
    ("check --policy=a", &["check", "--policy=a b.popef"]),
    ("check -q a", &["check", "-q", "a b.popef"]),
    ("dump --all a", &["dump", "--all", "a b.popef"]),
    ("cat --unp", &["cat", "--unpacked"]),
    ("cat a", &["cat", "a b.popef"]),
    ("recover --in-p", &["recover", "--in-place"]),
    ("recover -o a", &["recover", "-o", "a b.popef"]),
    // The only rule whose id begins so.
    ("explain PE31", &["explain", "PE310"]),
    ("explain PE012,pe31", &["explain", "PE012,PE310"]),
    ("completions z", &["completions", "zsh"]),
    ("man expl", &["man", "explain"]),
    ("help expl", &["help", "explain"]),
    ("tiles pl", &["tiles", "plan"]),
    ("tiles --format nd", &["tiles", "--format", "ndjson"]),
    ("tiles plan --ipu", &["tiles", "plan", "--ipus"]),
    ("tiles plan --format=nd", &["tiles", "plan", "--format=ndjson"]),
    ("graph a", &["graph", "a b.popef"]),
    ("graph di", &["graph", "diff"]),
    ("graph a --to", &["graph", "a", "--top"]),
    ("graph diff --sche", &["graph", "diff", "--scheduled"]),
    ("tiles model a", &["tiles", "model", "a b.popef"]),
    ("ls -- a", &["ls", "--", "a b.popef"]),
];

/// The same for names out of a file: those of `m.popef`, which is on the line.
const NAMES: &[(&str, &[&str])] = &[
    ("cat m.popef layer.o", &["cat", "m.popef", "layer.one"]),
    ("cat m.popef layer\\ t", &["cat", "m.popef", "layer two's $HOME"]),
    ("cat m.popef x:", &["cat", "m.popef", "x:y"]),
    ("cat m.popef ta", &["cat", "m.popef", "tab"]),
    ("extract -o a m.popef --exclude layer.o", &["extract", "-o", "a", "m.popef", "--exclude", "layer.one"]),
    ("ls m.popef --filter=wei", &["ls", "m.popef", "--filter=weights[[]0]"]),
    ("strip m.popef --drop tensor:x", &["strip", "m.popef", "--drop", "tensor:x:y"]),
    ("set m.popef --rename layer.o", &["set", "m.popef", "--rename", "layer.one="]),
    ("tiles exec m.popef --filter wei", &["tiles", "exec", "m.popef", "--filter", "weights[[]0]"]),
];

/// Names that only a shell, a screen or the tool itself could misread are not offered: the other `ta` is.
const TENSORS: [&str; 9] =
    ["layer.one", "layer two's $HOME", "x:y", "weights[0]", "tab", "ta\tb", "ta\nb", "ta\\b", "ta\u{202e}b"];

/// A file with tensors of these names.
fn tensors<'n>(place: &Place, file: &str, names: impl IntoIterator<Item = &'n str>) {
    let mut writer = Writer::create(place.path(file)).unwrap();
    for name in names {
        let info = TensorDataInfo { name: name.to_owned().into(), tensor_info: TensorInfo::new(DataType::U8, [1]) };
        writer.write_tensor(&info, &[7u8]).unwrap();
    }
    writer.finish().unwrap();
}

/// What the tool answers a shell that asks for names.
fn names(place: &Place, kind: &str, typed: &str, words: &[&str]) -> Vec<String> {
    let run = place.run(&[&["--__names", kind, typed], words].concat()).good();
    assert_eq!(run.err, "");
    run.text().lines().map(str::to_owned).collect()
}

#[test]
fn only_names_that_nothing_misreads_are_offered() {
    let place = Place::with(&["golden/hostile-names.popef", "interop/two-models.popef"]);
    tensors(&place, "m.popef", TENSORS);
    tensors(&place, "-x.popef", ["-x", "x"]);
    assert_eq!(names(&place, "blob", "", &["cat", "m.popef"]), TENSORS[..5]);
    assert_eq!(names(&place, "glob", "", &["m.popef"])[3], "weights[[]0]");
    assert_eq!(names(&place, "drop", "", &["m.popef"])[0], "tensor:layer.one");
    assert_eq!(names(&place, "blob", "", &["-x.popef"]), ["x"]);
    assert_eq!(names(&place, "blob", "", &["hostile-names.popef"]), ["größe/вес/重み/हिन्दी"]);
    let file = popef::File::open(place.path("two-models.popef")).unwrap();
    let models: Vec<_> = file.metadata().map(|metadata| metadata.executable().to_string()).collect();
    assert_eq!(names(&place, "executable", "", &["set", "two-models.popef"]), models);
    assert!(models.len() > 1);
}

/// A shell gives words as they were typed, and a file may be damaged.
#[test]
fn files_are_found_as_they_are_typed() {
    let place = Place::with(&[]);
    tensors(&place, "a b.popef", ["one", "two"]);
    let bytes = place.read("a b.popef");
    for word in ["a b.popef", "a\\ b.popef", "'a b.popef'", "\"a b.popef", "~/a b.popef"] {
        let run =
            crate::common::finish(place.command().env("HOME", place.path("")).args(["--__names", "blob", "", word]));
        assert_eq!(run.text(), "one\ntwo\n", "{word}");
    }
    place.write("cut.popef", &bytes[..bytes.len() - 8]);
    assert_eq!(names(&place, "blob", "", &["cut.popef"]), ["one"]);
}

/// Nothing is opened that is not a file on this machine: a pipe would never end, and a server would learn what is typed.
#[test]
fn only_files_on_this_machine_are_asked() {
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    server.set_nonblocking(true).unwrap();
    let place = Place::with(&[]);
    let made = Command::new("mkfifo").arg(place.path("pipe")).status().unwrap();
    assert!(made.success());
    let address = format!("http://{}/model.popef", server.local_addr().unwrap());
    let words = ["pipe", &address, "s3://bucket/model.popef", "-", ".", "none.popef"];
    assert_eq!(names(&place, "blob", "", &words), [""; 0]);
    assert_eq!(server.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}

#[test]
fn of_very_many_names_those_are_offered_that_begin_as_the_word_does() {
    let place = Place::with(&[]);
    let all: Vec<_> = (0..1200).map(|number| format!("t{number}")).collect();
    tensors(&place, "many.popef", all.iter().map(String::as_str));
    assert_eq!(names(&place, "blob", "", &["many.popef"]), all[..1000]);
    assert_eq!(names(&place, "blob", "t119", &["many.popef"]).len(), 11);
}

/// Whether a program is there. In CI it has to be.
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
fn folders(shell: &str) -> Place {
    let place = Place::with(&[]);
    for folder in ["files", "start"] {
        fs::create_dir(place.path(folder)).unwrap();
    }
    place.write("files/a b.popef", "");
    tensors(&place, "files/m.popef", TENSORS);
    let program = place.path("start/popef");
    let asks = format!("[ \"$1\" = --__names ] && exec '{}' \"$@\"", env!("CARGO_BIN_EXE_popef"));
    fs::write(&program, format!("#!/bin/sh\n{asks}\necho @ARGS; for word; do echo \"$word\"; done; echo @END\n"))
        .unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let script = place.run(&["completions", shell]).good().out;
    place.write("start/completions", script);
    place
}

fn complete_py() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../popef-dump/tests/complete.py")
}

fn in_terminal(shell: &str, command: &[&str], start_file: &str, start: &str, cases: &[(&str, &[&str])]) {
    let python = std::env::var_os("PYTHON").unwrap_or_else(|| "python3".into());
    if !is_there(&shell.into()) || !is_there(&python) {
        return;
    }
    let place = folders(shell);
    let program = place.path("start");
    let start = format!("PATH={}:$PATH\n{start}\nsource {0}/completions\n", program.display());
    fs::write(program.join(start_file), start).unwrap();
    let lines: Vec<_> = cases.iter().map(|(typed, _)| format!("popef {typed}\t")).collect();
    let mut child = Command::new(python)
        .arg(complete_py())
        .current_dir(place.path("files"))
        .envs([("TERM", "vt100"), ("LC_ALL", "C.UTF-8")])
        .env("ZDOTDIR", &program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    serde_json::to_writer(child.stdin.take().unwrap(), &json!({ "shell": command, "lines": lines })).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{shell}");
    let found: Vec<Vec<String>> = serde_json::from_slice(&output.stdout).unwrap();
    for ((typed, expected), found) in cases.iter().zip(&found) {
        assert_eq!(found, expected, "{shell}: {typed}");
    }
    assert_eq!(found.len(), cases.len());
}

const BASH: &[&str] = &["bash", "--noprofile", "--rcfile", "../start/bashrc", "-i"];

#[test]
fn in_bash() {
    in_terminal("bash", BASH, "bashrc", "PS1='@READY@ '\nbind 'set bell-style none'", &[CASES, NAMES].concat());
}

/// In quotes, a name is completed as it is.
#[test]
fn in_bash_in_quotes() {
    let cases: &[(&str, &[&str])] = &[("cat m.popef \"layer.o", &["cat", "m.popef", "layer.one"])];
    in_terminal("bash", BASH, "bashrc", "PS1='@READY@ '\nbind 'set bell-style none'", cases);
}

/// `COMP_WORDBREAKS` decides whether bash sees `--format=js` as one word. Then bash completes no names of files in it.
#[test]
fn in_bash_that_does_not_split_words_at_equals_signs() {
    let cases = [CASES, NAMES].concat();
    let cases: Vec<_> = cases.into_iter().filter(|(typed, _)| !typed.contains("--policy=")).collect();
    in_terminal("bash", BASH, "bashrc", "PS1='@READY@ '\nCOMP_WORDBREAKS=${COMP_WORDBREAKS//=}", &cases);
}

#[test]
fn in_zsh() {
    let start = "PS1='@READY@ '\nunsetopt beep zle_bracketed_paste\nautoload -U compinit && compinit -u -D";
    in_terminal("zsh", &["zsh", "-d", "-i"], ".zshrc", start, &[CASES, NAMES].concat());
}

/// fish prints what it would offer.
#[test]
fn in_fish() {
    if !is_there(&"fish".into()) {
        return;
    }
    let place = folders("fish");
    let mut folders = vec![place.path("start")];
    folders.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    let path = std::env::join_paths(folders).unwrap();
    let offered = |typed: &str| -> Vec<String> {
        let output = Command::new("fish")
            .args(["--no-config", "-c", "source ../start/completions; complete -C $argv[1]", typed])
            .current_dir(place.path("files"))
            .env("HOME", place.path("start"))
            .env("PATH", path.clone())
            .output()
            .unwrap();
        let lines = String::from_utf8(output.stdout).unwrap();
        lines.lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect()
    };
    for (typed, expected) in [CASES, NAMES].concat() {
        let offers = offered(&format!("popef {typed}"));
        assert_eq!(offers, expected[expected.len() - 1..], "fish: {typed}");
    }
    assert_eq!(offered("popef ls --format="), ["--format=json", "--format=ndjson", "--format=text"]);
    assert!(!offered("popef ls --").contains(&"--unpacked".to_owned()));
    assert!(offered("popef ").contains(&"merge".to_owned()));
}
