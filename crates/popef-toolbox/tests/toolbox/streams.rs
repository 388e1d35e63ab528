//! Standard input and output: what is said if they have nothing, or take nothing.

use crate::common::{Place, finish, testdata};

/// `ssh host cat model.popef | popef ...`, if there is no such host.
#[test]
fn an_input_without_any_bytes_is_no_model() {
    let place = Place::with(&["interop/executable.popef"]);
    let empty = "standard input: it has no bytes; the program that should write them may have failed";
    for command in [
        "cat - w",
        "extract - -o new",
        "set - --set-version 1 -o new",
        "compress - -o new",
        "decompress - -o -",
        "merge executable.popef - -o new",
        "split - --by kind --stem model -o new",
        "strip - --drop feed -o new",
        "diff - executable.popef",
        "report - -o new",
        "recover - -o new",
    ] {
        let run = place.run_with_input(&command.split(' ').collect::<Vec<_>>(), b"");
        assert_eq!((run.text(), run.status), ("", 2), "{command}: {run:?}");
        assert!(run.err.contains(&format!("{empty} [empty-input]\n")), "{command}: {run:?}");
    }
    assert_eq!(place.names(), ["executable.popef"]);
    for command in ["ls", "dump"] {
        let run = place.run_with_input(&[command, "-"], b"");
        assert_eq!((run.err.as_str(), run.status), (format!("popef {command}: {empty}\n").as_str(), 0));
    }
    // A rule of the checks says it.
    assert_eq!(place.run_with_input(&["check", "-"], b"").status, 1);
    // A regular file is what it is.
    let whole = testdata().join("interop/empty.popef");
    assert_eq!(place.run(&["ls", whole.to_str().unwrap()]).good().err, "");
}

/// `get-policy | popef check --policy - ...`, if there is no such program.
#[test]
fn a_policy_without_any_bytes_is_none() {
    let place = Place::with(&["interop/executable.popef"]);
    place.write("empty", "");
    for command in ["check --policy - executable.popef", "profile --check --policy - executable.popef"] {
        let run = place.run_with_input(&command.split(' ').collect::<Vec<_>>(), b"");
        assert_eq!(run.status, 2, "{command}: {run:?}");
        if command.starts_with("check") {
            let words = "standard input: the policy has no bytes; the program that should write it may have failed";
            assert!(run.err.contains(words), "{run:?}");
        }
    }
    place.run(&["check", "--policy", "empty", "executable.popef"]).good();
}

/// Something is there, but no model.
#[cfg(unix)]
#[test]
fn a_device_that_is_no_model_has_bytes() {
    let run = Place::with(&[]).run(&["ls", "/dev/zero"]);
    assert!(run.status == 2 && run.err.contains("zeros") && !run.err.contains("no bytes"), "{run:?}");
}

#[test]
fn arrays_and_patches_are_not_read_twice_or_from_nowhere() {
    let place = Place::with(&["interop/executable.popef"]);
    for (command, words) in [
        ("pack --tensors - -o new", "arrays are not read from standard input (-)"),
        ("pack --feed w=- -o new", "not read from standard input (-)"),
        ("pack --feed =w.npy -o new", "NAME of NAME=FILE is empty"),
        ("set executable.popef --tensors - -o new", "arrays are not read from standard input (-)"),
        ("set - --merge - -o new", "standard input (-) can be read only once"),
        ("set executable.popef --merge - --merge - -o new", "standard input (-) can be read only once"),
    ] {
        let run = place.run_with_input(&command.split(' ').collect::<Vec<_>>(), b"{}");
        assert!(run.status == 2 && run.err.contains(words), "{command}: {run:?}");
    }
}

#[test]
fn what_is_no_list_is_a_wrong_argument() {
    let place = Place::with(&["interop/executable.popef"]);
    for command in ["ls", "check", "hash", "compress -o new"] {
        let words: Vec<_> = command.split(' ').chain(["--files-from", "executable.popef"]).collect();
        let run = place.run(&words);
        let said = "executable.popef: it is a PopEF file, not a list of files; give it without --files-from";
        assert!(run.status == 2 && run.err.contains(&format!("{said} [wrong-arguments]")), "{command}: {run:?}");
    }
}

#[test]
fn a_folder_is_no_output() {
    let place = Place::with(&["interop/executable.popef"]);
    std::fs::create_dir(place.path("folder")).unwrap();
    for command in ["set executable.popef --set-version 1", "report executable.popef"] {
        for force in [&[][..], &["--force"]] {
            let words: Vec<_> = command.split(' ').chain(["-o", "folder"]).chain(force.iter().copied()).collect();
            let run = place.run(&words);
            let said =
                run.err.contains("folder: this is a folder: name a file in it") || run.err.contains("a file in it");
            assert!(run.status == 2 && said && !run.err.contains("give files"), "{command}: {run:?}");
        }
    }
}

#[test]
fn standard_input_is_called_so() {
    let place = Place::with(&[]);
    for command in ["ls -", "dump -", "cat - x", "hash -", "merge - -o new", "verify -", "report - -o -"] {
        let run = place.run_with_input(&command.split(' ').collect::<Vec<_>>(), b"hello");
        assert!(run.err.contains(": standard input: ") && run.status == 2, "{command}: {run:?}");
    }
}

#[test]
fn a_list_without_files_is_an_error() {
    let place = Place::with(&[]);
    place.write("list", "\n");
    for command in ["ls", "dump", "check", "hash", "merge -o new", "extract -o new", "compress -o new", "report -o new"]
    {
        let words: Vec<_> = command.split(' ').chain(["--files-from", "list"]).collect();
        let run = place.run(&words);
        assert!(run.err.contains("list names no files") || run.err.contains("list list names no files"), "{run:?}");
        assert_eq!((run.text(), run.status), ("", 2), "{command}");
    }
}

/// What only prints must say when it could not.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_for_help_too() {
    let place = Place::with(&["interop/executable.popef"]);
    for command in [
        "--help",
        "-h",
        "--version",
        "help merge",
        "merge --help",
        "man",
        "man ls",
        "completions bash",
        "ls executable.popef",
    ] {
        let mut tool = place.command();
        tool.args(command.split(' '));
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = tool.stdout(full).output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert!(err.starts_with("popef") && err.contains(": cannot write the output: "), "{command}: {err}");
        assert!(!command.starts_with("ls") || err.contains("[storage-full]\npopef ls: Free some space"), "{err}");
        assert_eq!(output.status.code(), Some(2), "{command}");
    }
    // A reader that has seen enough is no error.
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "\"$0\" --help | true; \"$0\" man | head -1", env!("CARGO_BIN_EXE_popef")]);
    let run = finish(&mut shell);
    assert_eq!((run.err.as_str(), run.status), ("", 0));
}

/// What was not looked at must not pass because somebody had read enough.
#[test]
fn a_closed_pipe_is_no_yes() {
    let place = Place::with(&["interop/executable.popef", "golden/values.popef"]);
    let many: Vec<_> = (0..300).map(|number| format!("{number}.popef")).collect();
    for name in &many {
        place.write(name, place.read("executable.popef"));
    }
    let manifest = place.run(&["hash", "--format", "json", "executable.popef", "values.popef"]).good().out;
    place.write("manifest", manifest);
    for (command, status) in [
        ("diff executable.popef values.popef", 1),
        ("diff --format json executable.popef executable.popef", 0),
        ("verify manifest", 0),
        ("verify --format ndjson manifest", 0),
        ("ls executable.popef", 0),
        ("check executable.popef", 0),
        (&format!("check --each {}", many.join(" ")), 2),
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = place.command().args(command.split(' ')).stdout(writer).output().unwrap();
        assert_eq!((output.stderr.as_slice(), output.status.code()), (&b""[..], Some(status)), "{command}");
    }
}
