//! Runs the tool as people do.

#![allow(dead_code, reason = "each module uses some of it")]

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// What a run left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) out: Vec<u8>,
    pub(crate) err: String,
    pub(crate) status: i32,
}

impl Run {
    /// Standard output as text.
    #[track_caller]
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.out).unwrap()
    }

    /// The document on standard output.
    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.out).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }

    /// The run, which must have succeeded.
    #[track_caller]
    pub(crate) fn good(self) -> Self {
        assert_eq!(self.status, 0, "{self:?}");
        self
    }
}

pub(crate) fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata")
}

/// Where the tool looks for the credentials of a machine in a cloud: nowhere. No test may ask the real services.
const NO_SERVICES: [(&str, &str); 5] = [
    ("AWS_METADATA_ENDPOINT", "http://127.0.0.1:1"),
    ("GCE_METADATA_HOST", "127.0.0.1:1"),
    ("GCE_METADATA_ROOT", "127.0.0.1:1"),
    ("GCE_METADATA_IP", "127.0.0.1:1"),
    ("IDENTITY_ENDPOINT", "http://127.0.0.1:1"),
];

/// A temporary folder in which the tool runs.
pub(crate) struct Place(TempDir);

impl Place {
    /// With copies of files of testdata, under their own names.
    pub(crate) fn with(files: &[&str]) -> Self {
        let place = Place(tempfile::tempdir().unwrap());
        for file in files {
            let from = testdata().join(file);
            fs::copy(&from, place.path(from.file_name().unwrap())).unwrap();
        }
        place
    }

    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).unwrap();
    }

    /// The names of all files in it, in order.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The tool, with nothing in its environment that could change the output.
    pub(crate) fn command(&self) -> Command {
        self.command_of(env!("CARGO_BIN_EXE_popef"))
    }

    /// Another program in the same place, such as a shell that runs the tool.
    pub(crate) fn command_of(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "POPEF_LOG_LEVEL", "POPEF_LOG_DEST", "COLUMNS"] {
            command.env_remove(variable);
        }
        command.current_dir(self.0.path()).env("TERM", "xterm").envs(NO_SERVICES).stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Run {
        finish(self.command().args(args))
    }

    /// The same with bytes on standard input.
    pub(crate) fn run_with_input(&self, args: &[&str], input: &[u8]) -> Run {
        let mut command = self.command();
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_owned();
        // The tool may have seen enough before all is written.
        let writer = std::thread::spawn(move || stdin.write_all(&input).is_ok());
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        made(output)
    }
}

/// The programs that a shell finds, with the tool among them.
pub(crate) fn path_with_tool() -> String {
    let folder = Path::new(env!("CARGO_BIN_EXE_popef")).parent().unwrap();
    format!("{}:{}", folder.display(), std::env::var("PATH").unwrap())
}

pub(crate) fn finish(command: &mut Command) -> Run {
    made(command.stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap())
}

pub(crate) fn made(output: std::process::Output) -> Run {
    let err = String::from_utf8(output.stderr).unwrap();
    Run { out: output.stdout, err, status: output.status.code().unwrap() }
}

/// Runs commands in a folder with these files of testdata, and holds what a terminal would show to the file
/// `testdata/toolbox/NAME.out`, or renews that.
#[track_caller]
pub(crate) fn hold_golden(name: &str, files: &[&str], commands: &[&str]) {
    let place = Place::with(files);
    let mut shown = String::new();
    for line in commands {
        let run = place.run(&line.split(' ').collect::<Vec<_>>());
        shown.push_str(&format!("$ popef {line}\n{}---- stderr\n{}", run.text(), run.err));
        shown.push_str(&format!("---- exit status {}\n", run.status));
    }
    hold_text(name, &shown);
}

/// Holds a text to the file `testdata/toolbox/NAME.out`, or renews that.
#[track_caller]
pub(crate) fn hold_text(name: &str, shown: &str) {
    let path = testdata().join("toolbox").join(format!("{name}.out"));
    if std::env::var_os("POPEF_RENEW").is_some() {
        fs::write(path, shown).unwrap();
        return;
    }
    let kept = fs::read_to_string(path).unwrap_or_default();
    assert_eq!(shown, kept, "If the change is wanted: POPEF_RENEW=1 cargo test -p popef-toolbox");
}

/// The paths of all PopEF files in a folder of testdata.
pub(crate) fn popef_files(folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(testdata().join(folder)).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries.filter(|path| path.extension().is_some_and(|ending| ending == "popef")).collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

/// The text of a check without the commands that mend what was found, which only a file on this machine has.
pub(crate) fn without_mends(text: &str) -> Vec<&str> {
    let is_mend = |line: &str| line.starts_with("    This ") || line.starts_with("      popef ");
    text.lines().filter(|line| !is_mend(line)).collect()
}

/// What `numpy.save` writes for an array of a type and shape with these bytes.
pub(crate) fn npy(descr: &str, shape: &str, bytes: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}");
    let header = format!("{header:117}\n");
    [b"\x93NUMPY\x01\x00\x76\x00".as_slice(), header.as_bytes(), bytes].concat()
}
