//! Files, streams and lists of them, also damaged and foreign ones.

use std::fs;

use crate::common::{command, finish, golden, interop, run, run_with_input, testdata};

#[test]
fn standard_input_is_read_like_a_file() {
    for file in crate::common::files(&interop(), ".popef") {
        let bytes = fs::read(interop().join(&file)).unwrap();
        // Data is kept only if it was asked for, so without -v there are no payloads.
        for args in [&["--all"][..], &["--format", "json", "-v"], &["--all", "--values"], &["-v"]] {
            let piped = run_with_input(&interop(), &[args, &["-"]].concat(), &bytes);
            let opened = run(&interop(), &[args, &[&file]].concat());
            let renamed = opened.out.replace(&format!("PopEF file: {file}"), "PopEF file: -");
            let renamed = renamed.replace(&format!("\"path\":\"{file}\""), "\"path\":\"-\"");
            let renamed = renamed.replace(&format!("\"file\":\"{file}\""), "\"file\":null");
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
fn damage_is_told_with_file_blob_and_byte_and_the_rest_is_shown() {
    let run = run(&golden(), &["-o", "damaged.popef", "../interop/two-models.popef"]);
    assert!(run.err.starts_with("popef-dump: damaged.popef: blob 2, byte 215: the blob is incomplete"), "{}", run.err);
    assert_eq!(run.err.lines().count(), 2);
    for name in ["first", "tensorflow", "poptorch"] {
        assert!(run.out.contains(&format!("Name: \"{name}\":")), "{name}");
    }
}

/// The lost part may have the tensor with the data of an anchor.
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
        (
            b"\x1f\x8b\x08\0\0\0\0\0",
            "compressed with gzip [not-popef]\npopef-dump: For a PopEF file in it: gzip -dc FILE | popef-dump -",
        ),
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
    assert_eq!(folder["files"][0]["error"]["code"], "is-folder");
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

/// Everybody passes a model as the list once.
#[test]
fn what_is_no_list_is_one_error() {
    let run = run(&interop(), &["--files-from", "executable.popef"]);
    let said = "popef-dump: executable.popef: it is a PopEF file, not a list of files; \
                give it without --files-from\n";
    assert_eq!(run, crate::common::Run { out: String::new(), err: said.to_owned(), status: 2 });
}

/// Runs the command that the error about a folder advises.
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
fn run_with_few_descriptors(folder: &std::path::Path, args: &[&str]) -> crate::common::Run {
    let script = "ulimit -n 100; exec \"$0\" \"$@\"";
    finish(
        std::process::Command::new("sh")
            .args(["-c", script, env!("CARGO_BIN_EXE_popef-dump")])
            .args(args)
            .current_dir(folder),
    )
}

#[cfg(not(unix))]
use crate::common::run as run_with_few_descriptors;

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

/// Independent models do not hide each other's user inputs.
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

/// A program without the feature for addresses must not show secrets in them either.
#[test]
fn nothing_secret_of_an_address_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let words: [&[&str]; 6] = [&[], &["-v"], &["--validate"], &["--explain"], &["--first-request"], &["--files-from"]];
    for address in
        ["https://u:SECRET@h:x/a?sig=SECRET", "ftp://u:SECRET@h/a", "http:/u:SECRET@h/a", "s3:///k?sig=SECRET"]
    {
        for words in words {
            let run = finish(command(folder.path()).args(words).arg(address));
            assert!(run.status == 2 && !run.err.contains("SECRET") && !run.out.contains("SECRET"), "{words:?} {run:?}");
        }
    }
}
