//! What goes to the terminal, to pipes and to the log.

use std::fs;
use std::io::Read as _;
use std::process::Stdio;

use crate::common::{command, finish, interop, run, testdata};

const ESCAPE: char = '\u{1b}';

#[test]
fn bare_color_never_takes_the_file() {
    for args in [["-c", "executable.popef"], ["--color", "executable.popef"], ["-ca", "executable.popef"]] {
        let run = run(&interop(), &args);
        assert!(run.status == 0 && run.out.contains(ESCAPE), "{args:?}: {run:?}");
    }
    assert_eq!(run(&interop(), &["--color=never", "executable.popef"]), run(&interop(), &["executable.popef"]));
}

/// Lines are not padded to one long name: 1,000 lines of its length would be 70 MB.
#[test]
fn a_name_of_any_length_makes_only_its_own_line_long() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = popef::Writer::create(folder.path().join("long.popef")).unwrap();
    for name in std::iter::once("x".repeat(70_000)).chain((1..1000).map(|index| index.to_string())) {
        let info = popef::types::OpaqueInfo { name: name.into(), ..Default::default() };
        writer.write_opaque(&info, b"").unwrap();
    }
    writer.finish().unwrap();
    let run = run(folder.path(), &["long.popef"]);
    assert!(run.status == 0 && run.out.len() < 70_000 + 1000 * 300, "{} bytes", run.out.len());
    assert!(run.out.contains(&"x".repeat(70_000)));
}

#[test]
fn color_obeys_the_environment() {
    let colored = |variables: &[(&str, &str)], args: &[&str]| {
        let run = finish(command(&interop()).envs(variables.iter().copied()).args(args).arg("executable.popef"));
        run.out.contains(ESCAPE)
    };
    assert!(!colored(&[], &[]));
    assert!(colored(&[("CLICOLOR_FORCE", "1")], &[]));
    assert!(colored(&[("CLICOLOR_FORCE", "1"), ("TERM", "dumb")], &["-a"]));
    assert!(!colored(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], &[]));
    assert!(!colored(&[("CLICOLOR_FORCE", "0")], &[]));
    assert!(colored(&[("NO_COLOR", "1")], &["--color=always"]));
    assert!(!colored(&[("CLICOLOR_FORCE", "1")], &["--color=never"]));
}

#[test]
fn json_has_no_color() {
    for args in [&["--format=json", "executable.popef"][..], &["--validate", "--format=json", "executable.popef"]] {
        let run = run(&interop(), &[&["-c"], args].concat());
        assert!(!run.out.contains(ESCAPE), "{args:?}");
        let _ = run.json();
    }
}

#[test]
fn color_adds_nothing_but_color() {
    for args in [&["--all"][..], &[], &["-t", "--values"]] {
        let args = [args, &["many-anchors.popef", "all-types.popef"]].concat();
        let colored = run(&interop(), &[&["--color"], &args[..]].concat()).out;
        let mut plain = String::new();
        for (index, piece) in colored.split(ESCAPE).enumerate() {
            plain.push_str(if index == 0 { piece } else { piece.split_once('m').unwrap().1 });
        }
        assert_eq!(plain, run(&interop(), &args).out);
    }
}

/// Each fault is shown in its place. At the end, the first hundred are repeated, with the number of further ones.
#[test]
fn very_many_faults_are_not_all_told_twice() {
    let folder = tempfile::tempdir().unwrap();
    let faulty = fs::read(testdata().join("broken/data-short.popef")).unwrap();
    fs::write(folder.path().join("many.popef"), faulty.repeat(300)).unwrap();
    for args in [&[][..], &["--all"], &["--format", "json"], &["--format", "ndjson"]] {
        let run = run(folder.path(), &[args, &["many.popef"]].concat());
        assert_eq!((run.status, run.out.matches("too short").count()), (2, 300), "{args:?}");
        let lines: Vec<_> = run.err.lines().collect();
        assert_eq!(lines.len(), 102, "{args:?}");
        assert_eq!(*lines[101], *"popef-dump: many.popef: 200 more errors are shown above, each at its blob");
    }
}

/// The listing of many anchors is larger than a pipe holds, so the tool meets the closed pipe.
#[test]
fn a_closed_pipe_ends_it_quietly() {
    for args in
        [&["--all"][..], &["--format", "json"], &["--format", "ndjson"], &[], &["--help"], &["--generate", "man"]]
    {
        let mut command = command(&interop());
        let files = if args.contains(&"--generate") { &[][..] } else { &["many-anchors.popef"; 20] };
        command.args(args).args(files);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut first = [0; 10];
        child.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]), "{args:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    for args in [&["--all", "executable.popef"][..], &["--generate", "man"]] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = command(&interop()).args(args).stdout(full).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.starts_with("popef-dump: cannot write the output: "), "{error}");
        assert_eq!(output.status.code(), Some(2));
    }
}

#[test]
fn the_log_goes_where_it_is_sent() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let logged = |level: &str, to: &str, args: &[&str]| {
        let mut command = command(&interop());
        finish(command.env("POPEF_LOG_LEVEL", level).env("POPEF_LOG_DEST", to).args(args).arg("executable.popef"))
    };
    assert!(logged("DEBUG", "", &[]).err.contains("executable.popef: reading"));
    assert!(logged("TRACE", "stderr", &[]).err.contains("blob 3, byte 66722: dataTensor"));
    assert!(logged("TRACE", "stdout", &[]).out.contains("blob 3, byte 66722: dataTensor"));
    assert_eq!(logged("OFF", "stderr", &[]).err, "");
    assert_eq!(logged("INFO", "stderr", &[]).err, "");
    assert_eq!(logged("DEBUG", log.to_str().unwrap(), &["-v"]).err, "");
    assert!(fs::read_to_string(&log).unwrap().contains("executable.popef: reading"));
    let unknown = logged("LOUD", "stderr", &[]);
    assert!(unknown.status == 0 && unknown.err.contains("POPEF_LOG_LEVEL is \"LOUD\""), "{unknown:?}");
    assert!(run(&interop(), &["-v", "executable.popef"]).err.contains("executable.popef: read 4 blobs"));
}

#[test]
fn both_names_are_the_same_program() {
    let other = std::process::Command::new(env!("CARGO_BIN_EXE_popef_dump"));
    let mut other = other;
    let output = other.args(["--all", "executable.popef"]).current_dir(interop()).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), run(&interop(), &["--all", "executable.popef"]).out);
}

#[test]
fn completions_and_manual_are_generated() {
    let cases = [
        ("completions-bash", " popef-dump popef_dump\n"),
        ("completions-zsh", "#compdef popef-dump popef_dump\n"),
        ("completions-fish", "complete -c popef_dump"),
        ("man", ".TH popef-dump"),
    ];
    for (what, mark) in cases {
        let run = run(&testdata(), &["--generate", what]);
        assert!(run.status == 0 && run.out.contains(mark) && run.out.contains("anchors"), "{what}: {run:?}");
    }
}

/// `-h` is a summary: each option takes one line. `--help` says more.
#[test]
fn the_short_help_has_one_line_per_option() {
    let (short, long) = (run(&interop(), &["-h"]).out, run(&interop(), &["--help"]).out);
    let is_option = |line: &&str| line.starts_with("  -") || line.starts_with("      --");
    let lines = |text: &str| text.lines().filter(is_option).count();
    let more: Vec<_> = short.lines().filter(|line| line.starts_with("       ")).collect();
    assert_eq!(more, [""; 0]);
    assert!(short.lines().all(|line| line.chars().count() <= 100), "{short}");
    assert!(lines(&short) > 25 && lines(&short) == lines(&long), "{short}");
    for what in ["completions-bash", "completions-zsh", "completions-fish", "man"] {
        assert!(long.contains(what) && run(&interop(), &["--generate", what]).status == 0, "{what}");
    }
}
