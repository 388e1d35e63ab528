//! How the tool behaves towards shells, pipes, terminals and the file system.

mod common;

use std::fs;
use std::io::Read as _;
use std::process::Stdio;

use common::{command, finish, golden, interop, run, run_with_input, testdata};

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

/// Each is shown in its place; at the end the first hundred are told again, and how many more there are.
#[test]
fn very_many_faults_are_not_all_told_twice() {
    let folder = tempfile::tempdir().unwrap();
    let faulty = fs::read(testdata().join("broken/data-short.popef")).unwrap();
    fs::write(folder.path().join("many.popef"), faulty.repeat(300)).unwrap();
    for args in [&[][..], &["--all"], &["--format", "json"], &["--format", "ndjson"]] {
        let run = run(folder.path(), &[args, &["many.popef"]].concat());
        assert_eq!((run.status, run.out.matches("too short").count()), (2, 300), "{args:?}");
        let lines: Vec<_> = run.err.lines().collect();
        assert_eq!(lines.len(), 101, "{args:?}");
        assert_eq!(*lines[100], *"popef-dump: many.popef: 200 more errors are shown above, each at its blob");
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
fn standard_input_is_read_like_a_file() {
    for file in common::files(&interop(), ".popef") {
        let bytes = fs::read(interop().join(&file)).unwrap();
        // Data is kept only if it was asked for, so without -v there are no payloads.
        for args in [&["--all"][..], &["--format", "json", "-v"], &["--all", "--values"], &["-v"]] {
            let piped = run_with_input(&interop(), &[args, &["-"]].concat(), &bytes);
            let opened = run(&interop(), &[args, &[&file]].concat());
            let renamed = opened.out.replace(&format!("PopEF file: {file}"), "PopEF file: -");
            let renamed = renamed.replace(&format!("\"path\":\"{file}\""), "\"path\":\"-\"");
            assert_eq!((piped.out, piped.status), (renamed, 0), "{file} {args:?}");
        }
    }
}

#[test]
fn standard_input_is_read_once() {
    for args in [&["-", "-"][..], &["-", "--files-from", "-"]] {
        let run = run(&interop(), args);
        assert_eq!((run.status, run.err.as_str()), (2, "popef-dump: standard input (-) can be read only once\n"));
    }
}

#[test]
fn the_exit_status_says_whether_all_was_read() {
    let cases: &[(&[&str], i32)] = &[
        (&["executable.popef"], 0),
        (&["empty.popef"], 0),
        (&["executable.popef", "no-such-file.popef"], 2),
        (&["../golden/damaged.popef"], 2),
        (&["../golden/broken-data.popef"], 2),
        (&["-e", "../golden/broken-data.popef", "executable.popef"], 0),
        (&["-t", "--filter", "good", "../golden/broken-data.popef"], 0),
        (&["--values", "--filter", "not_bool", "../golden/broken-data.popef"], 2),
        (&["--filter", "not_bool", "../golden/broken-data.popef"], 0),
        (&["../golden/unknown-types.popef"], 0),
        (&["."], 2),
        (&[], 2),
        (&["--no-such-option", "executable.popef"], 2),
        (&["--format", "xml", "executable.popef"], 2),
        (&["--filter", "[", "executable.popef"], 2),
        (&["--values=many", "executable.popef"], 2),
        (&["--files-from", "no-such-list"], 2),
        (&["--help"], 0),
        (&["--version"], 0),
    ];
    for (args, status) in cases {
        let run = run(&interop(), args);
        assert_eq!(run.status, *status, "{args:?}: {run:?}");
        assert_eq!(run.err.is_empty(), *status == 0, "{args:?}: {run:?}");
    }
}

#[test]
fn wrong_values_are_told_in_plain_words() {
    let cases: &[(&[&str], &str)] = &[
        (&["--values=ten", "x"], "invalid value 'ten' for '--values[=<N>]': this is not a whole number, such as 10"),
        (&["--values=-1", "x"], "invalid value '-1' for '--values[=<N>]': this is not a whole number, such as 10"),
        (&["--values=", "x"], "this is not a whole number"),
        (&["--filter", "[z-a]", "x"], "for '--filter <GLOB>': the range z-a is backwards; write a-z"),
        (&["--exclude", "a[", "x"], "for '--exclude <GLOB>': a `[` has no `]` after it; `[[]` is the letter `[`"),
        (&[""], "invalid value '' for '[FILE]...': the name is empty"),
        (&["--validate", "x", ""], "the name is empty; is a variable of the shell not set?"),
        (&["--files-from", ""], "for '--files-from <LIST>': the name is empty"),
        (&["--validate", "--policy=", "x"], "for '--policy <POLICY>': the name is empty"),
        (&["--explain", "101"], "there is no rule \"101\"; did you mean PE101?"),
    ];
    for (args, said) in cases {
        let run = run(&interop(), args);
        assert!((run.status, run.out.as_str()) == (2, "") && run.err.contains(said), "{args:?}: {run:?}");
    }
    let all = "99999999999999999999999";
    assert_eq!(run(&interop(), &[&format!("--values={all}"), "executable.popef"]).status, 0);
}

#[test]
fn damage_is_told_with_file_blob_and_byte_and_the_rest_is_shown() {
    let run = run(&golden(), &["-o", "damaged.popef", "../interop/two-models.popef"]);
    assert!(run.err.starts_with("popef-dump: damaged.popef: blob 2, byte 215: the blob is incomplete"), "{}", run.err);
    assert_eq!(run.err.lines().count(), 1);
    for name in ["first", "tensorflow", "poptorch"] {
        assert!(run.out.contains(&format!("Name: \"{name}\":")), "{name}");
    }
}

/// The tensor with the data of an anchor may be in the part that is lost.
#[test]
fn who_provides_the_data_of_an_anchor_is_unknown_if_not_all_was_read() {
    let folder = tempfile::tempdir().unwrap();
    let whole = fs::read(interop().join("executable.popef")).unwrap();
    let providers = |args: &[&str]| {
        let document = run(folder.path(), &[&["--format", "json", "-a"], args].concat()).json();
        let anchors = document["files"][0]["blobs"][0]["info"]["anchors"].as_array().unwrap().clone();
        anchors.iter().map(|anchor| anchor["providedBy"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    fs::write(folder.path().join("whole.popef"), &whole).unwrap();
    fs::write(folder.path().join("cut.popef"), &whole[..whole.len() - 1]).unwrap();
    let known = providers(&["whole.popef"]);
    assert!(known.contains(&"popef".to_owned()) && known.contains(&"user".to_owned()), "{known:?}");
    assert_eq!(providers(&["cut.popef"]), vec!["unknown"; known.len()]);
    let beside_a_cut_file: Vec<_> = known.iter().map(|known| known.replace("user", "unknown")).collect();
    for other in ["cut.popef", "missing.popef"] {
        assert_eq!(providers(&["whole.popef", other]), beside_a_cut_file, "{other}");
    }

    let listing = run(folder.path(), &["-u", "cut.popef"]).out;
    assert!(listing.contains("    Inputs (Provider unknown):\n") && !listing.contains("provided"), "{listing}");
    assert_eq!(listing.matches("Name:").count(), known.len());
    let overview = run(folder.path(), &["cut.popef"]).out;
    assert!(overview.contains(" inputs (0 user provided, 2 with unknown provider)"), "{overview}");
}

#[test]
fn other_files_are_named_for_what_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let mut tar = vec![b'x'; 600];
    tar[257..262].copy_from_slice(b"ustar");
    let safetensors = [&2u64.to_le_bytes()[..], b"{}"].concat();
    let cases: &[(&[u8], &str)] = &[
        (b"PK\x03\x04rest of it, long enough", "a ZIP archive"),
        (b"\x7fELF\x02\x01\x01", "an ELF file"),
        (b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
        (b"\x1f\x8b\x08\0\0\0\0\0", "compressed with gzip; for a PopEF file in it: gzip -dc FILE | popef-dump -"),
        (b"\x28\xb5\x2f\xfd\x04", "compressed with zstd"),
        (b"\x80\x04\x95\0\0", "a Python pickle"),
        (b"GC_EXE_3........", "a bare Poplar executable"),
        (b"version https://git-lfs.github.com/spec/v1\n", "a Git LFS pointer"),
        (b"some words\n", "a text file"),
        (&[0; 4096], "nothing but zeros"),
        (&safetensors, "a safetensors file"),
        (&tar, "a tar archive"),
        (b"\x08\x07\x12\x07pytorch\x1a\x05", "probably an ONNX model"),
    ];
    for (bytes, what) in cases {
        fs::write(folder.path().join("f"), bytes).unwrap();
        for run in [run(folder.path(), &["f"]), run_with_input(folder.path(), &["-"], bytes)] {
            assert!(run.err.contains("not a PopEF file, it is") && run.err.contains(what), "{what}: {}", run.err);
            assert_eq!(run.status, 2);
        }
    }
    let folder = run(&interop(), &["--format", "json", "."]).json();
    assert_eq!(folder["files"][0]["error"]["kind"], "notPopef");
}

#[cfg(unix)]
#[test]
fn pipes_with_names_are_read_as_streams() {
    let script = "cat executable.popef | \"$0\" --all /dev/stdin";
    let program = env!("CARGO_BIN_EXE_popef-dump");
    let output =
        std::process::Command::new("sh").args(["-c", script, program]).current_dir(interop()).output().unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    let expected = run(&interop(), &["--all", "executable.popef"]).out;
    assert_eq!(shown.lines().skip(1).collect::<Vec<_>>(), expected.lines().skip(1).collect::<Vec<_>>());
}

#[test]
fn lists_name_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| interop().join(name).to_str().unwrap().to_owned();
    let (one, two) = (path("add-clean.popef"), path("two-models.popef"));
    let expected = run(folder.path(), &["-o", &one, &two]).out;
    for list in [format!("{one}\n\n{two}\n"), format!("{one}\r\n{two}"), format!("{one}\0{two}\0")] {
        fs::write(folder.path().join("list"), &list).unwrap();
        assert_eq!(run(folder.path(), &["-o", "--files-from", "list"]).out, expected);
        assert_eq!(run(folder.path(), &["-o", &one, "--files-from=list"]).out.matches("PopEF file").count(), 3);
        assert_eq!(run_with_input(folder.path(), &["-o", "--files-from", "-"], list.as_bytes()).out, expected);
    }
}

/// A model as the list is a slip that everybody makes once.
#[test]
fn what_is_no_list_is_one_error() {
    let run = run(&interop(), &["--files-from", "executable.popef"]);
    let said = "popef-dump: executable.popef: cannot read the list: it is a PopEF file, not a list of files; \
                give it without --files-from\n";
    assert_eq!(run, common::Run { out: String::new(), err: said.to_owned(), status: 2 });
}

/// What the error about a folder advises to run.
#[cfg(unix)]
#[test]
fn the_advice_for_a_folder_works() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a b.popef", "c\nd.poptorch", "other"] {
        fs::copy(interop().join("two-models.popef"), folder.path().join(name)).unwrap();
    }
    let said = run(folder.path(), &["."]).err;
    let (_, advice) = said.trim_end().split_once("list of them: ").unwrap();
    let script = advice.replace("FOLDER", ".").replace("popef-dump", "\"$0\"");
    let mut sh = std::process::Command::new("sh");
    let run = finish(sh.args(["-c", &script, env!("CARGO_BIN_EXE_popef-dump")]).current_dir(folder.path()));
    assert_eq!((run.status, run.out.matches("PopEF file: ").count()), (0, 2), "{run:?}");
    assert!(run.out.contains("c\\nd.poptorch"), "{}", run.out);
}

/// More files than are held open at once; names link across all of them, and the order is that given.
#[test]
fn many_files_come_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let names: Vec<String> = (0..300).map(|number| format!("{number}.popef")).collect();
    for (number, name) in names.iter().enumerate() {
        let source =
            ["split-executable", "empty", "two-models", "split-tensors"][if number == 299 { 3 } else { number % 3 }];
        fs::copy(interop().join(format!("{source}.popef")), folder.path().join(name)).unwrap();
    }
    let args: Vec<&str> = names.iter().map(String::as_str).collect();
    let run = run_with_few_descriptors(folder.path(), &[&["-a"], &args[..]].concat());
    let files: Vec<_> = run.out.lines().filter_map(|line| line.strip_prefix("PopEF file: ")).collect();
    assert_eq!((files, run.status), (args, 0));
    assert_eq!(run.out.matches("Inputs (Popef provided):\n      Name: \"input_parameter\"").count(), 100);
}

#[cfg(unix)]
fn run_with_few_descriptors(folder: &std::path::Path, args: &[&str]) -> common::Run {
    let script = "ulimit -n 100; exec \"$0\" \"$@\"";
    finish(
        std::process::Command::new("sh")
            .args(["-c", script, env!("CARGO_BIN_EXE_popef-dump")])
            .args(args)
            .current_dir(folder),
    )
}

#[cfg(not(unix))]
use common::run as run_with_few_descriptors;

/// Names of files are as untrusted as those in them.
#[cfg(unix)]
#[test]
fn names_of_files_are_escaped() {
    let folder = tempfile::tempdir().unwrap();
    let name = "a\nPopEF file: \u{1b}[31mb\u{202e}";
    for args in [&[][..], &["--all"]] {
        let run = run(folder.path(), &[args, &[name]].concat());
        assert!(run.out.starts_with("PopEF file: a\\nPopEF file: \\u{1b}[31mb\\u{202e}\n"), "{}", run.out);
        assert!(run.err.starts_with("popef-dump: a\\nPopEF file: \\u{1b}[31mb\\u{202e}: cannot open"), "{}", run.err);
    }
    assert_eq!(run(folder.path(), &["--format", "json", name]).json()["files"][0]["path"], name);
}

#[cfg(target_os = "linux")]
#[test]
fn paths_that_are_not_utf8_have_their_bytes_beside() {
    use std::os::unix::ffi::OsStrExt as _;
    let folder = tempfile::tempdir().unwrap();
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9.popef");
    fs::copy(interop().join("split-tensors.popef"), folder.path().join(name)).unwrap();
    let run = |format| finish(command(folder.path()).args(["--format", format]).arg(name));
    let (document, lines) = (run("json").json(), run("ndjson").json_lines());
    assert_eq!(document["files"][0]["path"], "caf\u{fffd}.popef");
    assert_eq!(
        (&document["files"][0]["pathBytes"], &lines[0]["fileBytes"]),
        (&"636166e92e706f706566".into(), &"636166e92e706f706566".into())
    );
}

/// More values than fit into the buffers on the way, so that none is lost at their borders.
#[test]
fn all_values_of_a_tensor_can_be_shown() {
    let args = ["--values=1000000", "--filter", "ramp", "values.popef"];
    let values =
        run(&golden(), &[&["--format", "ndjson"], &args[..]].concat()).json_lines()[0]["info"]["values"]["first"]
            .clone();
    let values = values.as_array().unwrap();
    assert_eq!((values.len(), &values[0], &values[5]), (100_000, &(-5000.0).into(), &"NaN".into()));
    assert_eq!(values[99_999], 7499.875);
    let text = run(&golden(), &[&["-t"], &args[..]].concat()).out;
    let line = text.lines().find_map(|line| line.trim().strip_prefix("Values: [")).unwrap();
    assert_eq!(line.trim_end_matches(']').split(", ").count(), 100_000);
}

/// Held to NumPy's figures; the mean may differ by the rounding of a sum.
#[test]
fn figures_are_numpys() {
    let expected = fs::read_to_string(golden().join("values.json")).unwrap();
    let expected: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&expected).unwrap();
    let run = run(&golden(), &["--format", "ndjson", "--values", "values.popef"]);
    let mut compared = 0;
    for line in run.json_lines() {
        let name = line["info"]["name"].as_str().unwrap();
        let Some(expected) = expected.get(name) else { continue };
        for (key, value) in expected.as_object().unwrap() {
            let shown = &line["info"]["values"][key];
            match (key.as_str(), value.as_f64(), shown.as_f64()) {
                ("mean", Some(expected), Some(shown)) => {
                    assert!((shown - expected).abs() <= expected.abs() * 1e-14, "{name}: {shown} for {expected}");
                }
                _ => assert_eq!(shown, value, "{name} {key}"),
            }
        }
        compared += 1;
    }
    assert_eq!(compared, expected.len());
}

#[test]
fn a_filter_goes_by_any_name() {
    let names = |args: &[&str]| {
        let document = run(&golden(), &[&["--format", "json"], args].concat()).json();
        let blobs = document["files"][0]["blobs"].as_array().unwrap().clone();
        blobs.iter().map(|blob| blob["info"]["name"].as_str().unwrap_or("-").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(
        names(&["--filter", "layer.?.*", "natural.popef"]),
        ["layer.2.weight", "layer.1.weight", "layer.2.bias"]
    );
    assert_eq!(names(&["--filter", "*[!1]", "--filter", "bias", "natural.popef"]).len(), 5);
    assert_eq!(names(&["--filter", "größe/*", "hostile-names.popef"]), ["größe/вес/重み/हिन्दी"]);
    assert_eq!(names(&["--filter", "user_*", "../interop/executable.popef"]), ["-"]);
    let anchors = run(&interop(), &["-a", "--filter", "user_*", "executable.popef"]).out;
    assert_eq!((anchors.matches("Name:").count(), anchors.matches("user_input").count()), (1, 2));
}

#[test]
fn what_shows_nothing_says_so() {
    let cases: &[(&[&str], &str)] = &[
        (&["--filter", "nosuch"], "nothing matches --filter nosuch"),
        (&["-t", "--filter", "nosuch", "--filter=x*"], "nothing matches --filter nosuch --filter x*"),
        (&["--format", "ndjson", "--filter", "nosuch", "add-clean.popef"], "nothing matches --filter nosuch"),
        (&["-t", "--filter", "*", "--exclude", "*"], "nothing matches --filter * --exclude *"),
        // The name is one of an anchor.
        (&["-t", "--filter", "user_input"], "nothing matches --filter user_input"),
        // The name is the executable's, and only anchors are shown.
        (&["-a", "--filter", "3284579348837926701"], "nothing matches --filter 3284579348837926701"),
        (&["--format", "ndjson", "empty.popef"], "empty.popef: the file has no blobs"),
    ];
    for (args, said) in cases {
        let run = run(&interop(), &[args, &["executable.popef"][..]].concat());
        assert_eq!((run.status, run.err), (0, format!("popef-dump: {said}\n")), "{args:?}");
    }
    let weights: &[(&[&str], &str)] = &[
        (&["-m"], "the file has no metadata"),
        (&["--format", "json", "-m", "-o"], "the file has no metadata or opaque blobs"),
        (&["-u"], "the file has no anchors whose data you must provide"),
        (&["-e", "-f", "empty.popef"], "none of the files has executables or feeds"),
        (&["-m", "--filter", "*"], "nothing matches --filter *"),
    ];
    for (args, said) in weights {
        let run = run(&interop(), &[args, &["split-tensors.popef"][..]].concat());
        assert_eq!((run.status, run.err), (0, format!("popef-dump: {said}\n")), "{args:?}");
    }
    for (args, said) in
        [(&["--all"][..], true), (&["--all", "--format=ndjson"], true), (&["--format=json"], false), (&[], false)]
    {
        let run = run(&interop(), &[args, &["empty.popef"]].concat());
        assert_eq!(run.err, if said { "popef-dump: empty.popef: the file has no blobs\n" } else { "" }, "{args:?}");
    }
    assert_eq!(run(&interop(), &["-m", "none.popef"]).err.lines().count(), 1);
    for args in [&["-a", "--filter", "user_input"][..], &["-t", "--filter", "input*"], &["-t"], &["-m"]] {
        assert_eq!(run(&interop(), &[args, &["add-clean.popef", "executable.popef"]].concat()).err, "", "{args:?}");
    }
    for parts in [&["-a"][..], &["-e", "-m"], &["-u"]] {
        let run = run(&interop(), &[parts, &["--values", "executable.popef"]].concat());
        assert!(run.status == 2 && run.out.is_empty() && run.err.contains("--tensors or --feeds"), "{run:?}");
    }
}

/// Each message names the option that is missing, or the two that exclude each other.
#[test]
fn options_without_effect_are_errors() {
    let cases: &[(&[&str], &str)] = &[
        (&["--deep"], "--deep needs --validate"),
        (&["--strict"], "--strict needs --validate"),
        (&["--for", "triton"], "--for needs --validate"),
        (&["-q"], "--quiet needs --validate"),
        (&["--allow-empty", "--policy=p", "--deep"], "--deep, --policy and --allow-empty need --validate"),
        (&["--validate", "-m"], "--metadata cannot be used with --validate"),
        (&["--validate", "-t", "--values=3"], "--tensors and --values cannot be used with --validate"),
        (&["--validate", "--generate=man"], "FILE and --validate cannot be used with --generate"),
        (&["--generate=man", "--full-names"], "FILE and --full-names cannot be used with --generate"),
        (&["--explain=PE101", "-v"], "FILE and --verbose cannot be used with --explain"),
        (&["--explain", "--generate=man"], "FILE and --explain cannot be used with --generate"),
        (&["-i"], "--ignore-case needs --filter or --exclude"),
        (&["--full-names", "-m"], "--full-names is for the overview: other listings always have full names"),
        (&["--full-names", "--format=json"], "--full-names is for the overview: other listings always have full names"),
        (&["-o", "--values"], "--values shows elements of tensors and feeds: it needs --tensors or --feeds"),
        (&["--format=sarif"], "--format sarif is for findings: it needs --validate"),
    ];
    for (args, said) in cases {
        let refused = run(&interop(), &[args, &["executable.popef"][..]].concat());
        let expected = common::Run { out: String::new(), err: format!("popef-dump: {said}\n"), status: 2 };
        assert_eq!(refused, expected, "{args:?}");
    }
    for args in [&["--generate=man"][..], &["--explain"]] {
        for useless in [&["-v"][..], &["--each"], &["--filter=x"], &["-i"], &["--values"], &["--sort=name"], &["-q"]] {
            let refused = run(&interop(), &[args, useless].concat());
            assert!(refused.status == 2 && refused.out.is_empty(), "{args:?} {useless:?}: {refused:?}");
        }
        // An alias may have it.
        assert_eq!(run(&interop(), &[args, &["--color=never"]].concat()).status, 0);
    }
}

#[test]
fn values_that_became_files_are_recognized() {
    for (args, meant) in [
        (&["--values", "3"][..], "--values=3"),
        (&["--color", "never"], "--color=never"),
        (&["-c", "auto"], "--color=auto"),
        (&["--explain", "PE013", "--color", "never"], "--color=never"),
        (&["--explain", "PE013", "pe014"], "--explain pe014"),
    ] {
        let run = run(&interop(), &[args, &["executable.popef"]].concat());
        let word = meant.rsplit(['=', ' ']).next().unwrap();
        let said = format!("popef-dump: there is no file {word}; did you mean {meant}?\n");
        assert_eq!((run.status, run.out.as_str(), run.err), (2, "", said));
    }
    let header = run(&interop(), &["--header", "executable.popef"]).err;
    assert!(!header.contains("similar"), "{header}");
    // Such a file is read if there is one.
    let folder = tempfile::tempdir().unwrap();
    fs::copy(interop().join("empty.popef"), folder.path().join("3")).unwrap();
    assert_eq!(run(folder.path(), &["--values", "3"]).status, 0);
}

#[test]
fn sorting_is_natural_by_name_and_largest_first_by_size() {
    let names = |order: &str| {
        let out = run(&golden(), &["-t", "--sort", order, "natural.popef"]).out;
        out.lines()
            .filter_map(|line| Some(line.trim().strip_prefix("Name: \"")?.trim_end_matches("\":").to_owned()))
            .collect::<Vec<_>>()
    };
    assert_eq!(names("name"), ["bias", "layer.1.weight", "layer.2.bias", "layer.2.weight", "layer.10.weight"]);
    assert_eq!(names("size"), ["bias", "layer.2.weight", "layer.10.weight", "layer.2.bias", "layer.1.weight"]);
    assert_eq!(names("offset")[0], "layer.10.weight");
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

/// Boost's program options, which the vendor's tool uses, take any unambiguous beginning.
#[test]
fn options_can_be_shortened() {
    for (beginning, option) in [("--meta", "-m"), ("--e", "-e"), ("--ex", "-e"), ("--al", "--all")] {
        let expected = run(&interop(), &[option, "executable.popef"]);
        assert_eq!(run(&interop(), &[beginning, "executable.popef"]), expected, "{beginning}");
    }
    assert!(run(&interop(), &["--", "--e"]).err.contains("--e: cannot open"));
}

/// Models that have nothing to do with each other do not hide each other's user inputs.
#[test]
fn each_file_on_its_own_is_listed_as_if_it_were_alone() {
    let names = ["split-executable.popef", "executable.popef", "split-tensors.popef", "two-models.popef"];
    for args in [&["-u"][..], &["-a", "-t", "--values"], &["--format", "ndjson"], &["--format", "ndjson", "-u"]] {
        // In text, an empty line comes between files.
        let of =
            |names: &[&str], each: &[&str]| run(&interop(), &[args, each, names].concat()).out.replace("\n\n", "\n");
        let alone: String = names.iter().map(|name| of(&[name], &[])).collect();
        assert_eq!(of(&names, &["--each"]), alone, "{args:?}");
        assert_ne!(of(&names, &[]), alone, "{args:?}");
    }
}

/// What is excluded is what is missing, for any filter.
#[test]
fn excluding_is_the_opposite_of_filtering() {
    let shown = |args: &[&str]| {
        let lines = run(&golden(), &[&["--format=ndjson"], args, &["natural.popef"]].concat()).json_lines();
        lines.iter().map(|line| line["index"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    let all = shown(&[]);
    for glob in ["*", "*.weight", "b?as", "LAYER*", "[l-z]*", "none"] {
        for case in [&[][..], &["--ignore-case"]] {
            let of = |option| shown(&[&[option, glob], case].concat());
            let mut both = [of("--filter"), of("--exclude")].concat();
            both.sort_unstable();
            assert_eq!(both, all, "{glob}");
        }
        let lower = glob.to_lowercase();
        assert_eq!(shown(&["-i", "--filter", glob]), shown(&["--filter", &lower]), "{glob}");
    }
}

/// Metadata whose executable is excluded is left out, with its anchors. An anchor is left out alone.
#[test]
fn anchors_and_metadata_are_excluded_by_name() {
    let anchors = |args: &[&str]| {
        let document = run(&interop(), &[&["-a", "--format=json"], args, &["executable.popef"]].concat()).json();
        let metadata = document["files"][0]["blobs"].as_array().unwrap().clone();
        metadata.iter().map(|blob| blob["info"]["anchors"].as_array().unwrap().len()).collect::<Vec<_>>()
    };
    assert_eq!(anchors(&[]), [4]);
    assert_eq!(anchors(&["--exclude", "user_input"]), [3]);
    assert_eq!(anchors(&["--exclude", "328*"]), [0_usize; 0]);
    assert_eq!(anchors(&["--filter", "*input*", "--exclude", "user_input"]), [2]);
}

/// The figures are the file's. What a filter leaves of them is shown beside.
#[test]
fn the_overview_says_what_a_filter_leaves() {
    let of = |args: &[&str]| run(&interop(), &[args, &["executable.popef"]].concat()).out;
    assert!(!of(&[]).contains("shown:"));
    for (args, shown) in [
        (&["--filter", "*Add*"][..], "1 of 4 blobs"),
        (&["--exclude", "popart"], "3 of 4 blobs"),
        (&["--filter", "none"], "0 of 4 blobs"),
    ] {
        let overview = of(args);
        assert!(overview.contains(" in 4 blobs: "), "{overview}");
        assert!(overview.contains(&format!("\n  shown: {shown}\n")), "{overview}");
    }
}

#[test]
fn the_overview_of_a_file_without_readable_blobs_counts_none() {
    let folder = tempfile::tempdir().unwrap();
    let cut = fs::read(interop().join("executable.popef")).unwrap();
    for bytes in [&cut[..32], b"this is a text, and no PopEF file"] {
        fs::write(folder.path().join("f"), bytes).unwrap();
        let overview = run(folder.path(), &["f"]).out;
        assert_eq!(overview, format!("PopEF file: f\n  {} B, but no blob could be read\n", bytes.len()));
        // The length of a stream is not known.
        let overview = run_with_input(folder.path(), &["-"], bytes).out;
        assert_eq!(overview, "PopEF file: -\n  nothing could be read\n");
    }
    assert_eq!(run(&interop(), &["empty.popef"]).out, "PopEF file: empty.popef\n  0 B in 0 blobs\n");
}

/// A file with models for several targets names each target once, and not more than fit.
#[test]
fn the_overview_says_what_models_run_on() {
    let bytes = |name: &str| fs::read(interop().join(name)).unwrap();
    let of = |models: &[Vec<u8>]| run_with_input(&interop(), &["-"], &models.concat()).out;
    let one = "  runs on 1 IPU, IPU version 2, 1 replica\n";
    assert_eq!(of(&[bytes("executable.popef"), bytes("executable.popef")]).matches("runs on").count(), 1);
    let several = of(&[bytes("replicated.popef"), bytes("executable.popef")]);
    assert!(several.contains(one) && several.matches("runs on").count() == 2, "{several}");
    assert!(!of(&[bytes("split-tensors.popef")]).contains("runs on"));
    let folder = tempfile::tempdir().unwrap();
    let many = folder.path().join("many.popef");
    let mut writer = popef::Writer::create(&many).unwrap();
    for num_ipus in 1..=10 {
        writer.write_metadata(&popef::Metadata { num_ipus, ..popef::Metadata::default() }).unwrap();
    }
    writer.finish().unwrap();
    let many = run(folder.path(), &["many.popef"]).out;
    assert!(
        many.contains("  runs on 3 IPUs, IPU version 2, 1 replica\n  and on 7 more targets, which -m shows\n"),
        "{many}"
    );
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

/// A pipe too: the pickle is held in memory until its end is found.
#[test]
fn popef_after_a_pickle_is_shown_as_without_one() {
    let bytes = fs::read(testdata().join("opaque/poptorch/poptorch25.poptorch")).unwrap();
    let without_path = |out: &str| out.split_once('\n').unwrap().1.to_owned();
    let alone = run(&interop(), &["--all", "split-executable.popef"]);
    for after in [
        run(&testdata().join("opaque/poptorch"), &["--all", "poptorch25.poptorch"]),
        run_with_input(&interop(), &["--all", "-"], &bytes),
    ] {
        assert_eq!((after.status, without_path(&after.out)), (0, without_path(&alone.out)));
        assert!(after.err.contains("a Python pickle of 1350 bytes comes before PopEF"), "{after:?}");
    }
}
