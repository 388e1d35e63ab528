//! Standard input and output: what is said if they have nothing, or take nothing.

use crate::common::{Place, finish, path_with_tool, testdata};

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
            assert!(
                run.status == 2 && run.err.contains("Name a file in it.") && !run.err.contains("give files"),
                "{command}: {run:?}"
            );
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

/// A run that nobody reads.
fn unread(place: &Place, command: &str) -> (String, i32) {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = place.command().args(command.split(' ')).stdout(writer).output().unwrap();
    (String::from_utf8(output.stderr).unwrap(), output.status.code().unwrap())
}

/// The exit status is that of the work, and what is said on standard error too, whether anybody reads the output or not.
#[test]
fn a_closed_pipe_changes_no_exit_status() {
    let place = Place::with(&[
        "interop/executable.popef",
        "golden/values.popef",
        "golden/damaged.popef",
        "graph/train.json",
        "graph/train-changed.json",
        "tiles/vars.json",
        "profile/tiny.graph.json",
        "profile/model.graph.json",
    ]);
    let many: Vec<_> = (0..300).map(|number| format!("{number}.popef")).collect();
    for name in &many {
        place.write(name, place.read("executable.popef"));
    }
    let manifest = place.run(&["hash", "--format", "json", "executable.popef", "values.popef"]).good().out;
    place.write("manifest", manifest);
    let vars = place.read("vars.json");
    place.write("cut.json", &vars[..vars.len() / 2]);
    let all = many.join(" ");
    for (command, status) in [
        ("diff executable.popef values.popef", 1),
        ("diff --format json executable.popef executable.popef", 0),
        ("verify manifest", 0),
        ("verify --format ndjson manifest", 0),
        ("ls executable.popef", 0),
        ("ls no.popef executable.popef", 2),
        ("dump executable.popef no.popef", 2),
        ("check executable.popef", 0),
        (&format!("check --each {all}"), 0),
        (&format!("check --format ndjson --each {all} damaged.popef"), 1),
        (&format!("check --each {all} no.popef"), 2),
        (&format!("hash {all} no.popef"), 2),
        ("hash --format json no.popef executable.popef", 2),
        ("hash --sums executable.popef no.popef", 2),
        ("report damaged.popef -o -", 2),
        ("report executable.popef -o -", 0),
        ("graph train.json", 0),
        ("graph diff train.json train-changed.json", 1),
        ("graph diff train.json train.json --format json", 0),
        ("tiles vars vars.json", 0),
        ("tiles vars cut.json", 2),
        ("tiles model damaged.popef", 2),
        ("profile tiny.graph.json --format html", 0),
        ("profile diff tiny.graph.json model.graph.json", 1),
        ("split executable.popef --by kind -o parts", 0),
        ("explain PE101", 0),
    ] {
        let (err, left) = unread(&place, command);
        assert_eq!(left, status, "{command}: {err}");
        let read = place.run(&command.replace("-o parts", "-o others").split(' ').collect::<Vec<_>>());
        assert_eq!(read.status, status, "{command}: {read:?}");
        // A listing ends where it finds that nobody reads it, which may be before its words.
        assert!(err == read.err || command.starts_with("ls") || command.starts_with("dump"), "{command}: {err}");
    }
}

/// What changes files goes on to the last one.
#[test]
fn files_are_changed_although_nobody_reads_the_report() {
    let place = Place::with(&[]);
    let names: Vec<_> = (0..20).map(|number| format!("{number}.popef")).collect();
    let mut old = Vec::new();
    let mut writer = popef::Writer::stream(&mut old);
    writer.write_executable("model", &[7; 10_000]).unwrap();
    writer.finish().unwrap();
    names.iter().for_each(|name| place.write(name, &old));
    let all = names.join(" ");
    for format in ["text", "ndjson"] {
        let (err, status) = unread(&place, &format!("compress --in-place --format {format} {all}"));
        assert!(status == 0 && err.contains("it is not known which formats"), "{err}");
        assert!(names.iter().all(|name| place.read(name).len() < old.len()));
        assert_eq!(unread(&place, &format!("decompress --in-place --format {format} {all}")), (String::new(), 0));
        assert!(names.iter().all(|name| place.read(name) == old));
    }
}

/// Opening such a pipe would wait for its writer, who may never come. A pipe that is open already is read.
#[cfg(unix)]
#[test]
fn a_pipe_with_a_name_is_an_error_at_once() {
    let place = Place::with(&["interop/executable.popef"]);
    assert!(std::process::Command::new("mkfifo").arg(place.path("pipe")).status().unwrap().success());
    place.write("list", "pipe\n");
    for command in [
        "ls pipe",
        "ls --each executable.popef pipe",
        "ls --files-from list",
        "ls --files-from pipe",
        "dump pipe",
        "check pipe",
        "check --policy pipe executable.popef",
        "cat pipe w",
        "hash executable.popef pipe",
        "hash --sums pipe",
        "verify pipe",
        "diff executable.popef pipe",
        "merge executable.popef pipe -o new",
        "set pipe --set numIpus=2 --in-place",
        "set executable.popef --merge pipe -o new",
        "compress pipe --in-place",
        "extract pipe -o new",
        "pack --tensors pipe -o new",
        "report pipe --dry-run",
        "graph pipe",
        "profile pipe",
        "tiles exec pipe",
        "tiles map pipe",
        "check executable.popef -o pipe --force",
    ] {
        let run = finish(place.command().args(command.split(' ')));
        assert_eq!(run.status, 2, "{command}: {run:?}");
        assert!(
            run.err.contains("pipe: ") && run.err.contains("regular file") || run.err.contains("named pipe"),
            "{run:?}"
        );
    }
    for (command, other_end) in [
        ("ls pipe", "cat executable.popef > pipe"),
        ("check pipe -o new", "cat executable.popef > pipe"),
        ("merge executable.popef pipe --keep first -o merged", "cat executable.popef > pipe"),
        ("compress executable.popef -o pipe", "cat pipe > read"),
        ("check executable.popef -o pipe --force", "cat pipe > read"),
        ("report executable.popef -o pipe", "cat pipe > read"),
    ] {
        let run = place.run(&command.split(' ').collect::<Vec<_>>());
        let mut lines =
            run.err.lines().filter_map(|line| line.split_once(" standard input: ").or(line.split_once(" output: ")));
        let line = lines.next_back().and_then(|(_, line)| line.split(" [").next()).unwrap_or_else(|| panic!("{run:?}"));
        let script = format!("({other_end}) 2> /dev/null & {line} && wait || {{ kill $!; exit 9; }}");
        let run = finish(place.command_of("sh").args(["-c", &script]).env("PATH", path_with_tool()));
        assert_eq!(run.status, 0, "{command}: {line}: {run:?}");
    }
    let script = "cat executable.popef | \"$0\" ls /dev/stdin && cat executable.popef | \"$0\" check /dev/fd/0";
    finish(place.command_of("sh").args(["-c", script, env!("CARGO_BIN_EXE_popef")])).good();
    for command in ["set --set numIpus=2", "strip --drop tensor"] {
        let script = format!("cat executable.popef | \"$0\" {command} --in-place /dev/stdin");
        let run = finish(place.command_of("sh").args(["-c", &script, env!("CARGO_BIN_EXE_popef")]));
        assert!(run.err.contains("/dev/stdin: what comes through a pipe cannot be changed in place"), "{run:?}");
    }
}
