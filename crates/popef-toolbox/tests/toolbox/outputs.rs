//! What all commands that make a file have in common: where it may go, and who may read it.

use crate::common::Place;

const FILES: &[&str] = &[
    "interop/executable.popef",
    "interop/split-tensors.popef",
    "profile/tiny.graph.json",
    "profile/tiny.execution.json",
    "graph/train.json",
    "executables/tiles.a",
];

/// Commands that make one file, without its path. The last word is the option for the path.
const COMMANDS: &[&str] = &[
    "compress executable.popef -o",
    "decompress executable.popef -o",
    "merge executable.popef split-tensors.popef --keep first -o",
    "strip executable.popef --drop tensor -o",
    "set executable.popef --set numIpus=4 -o",
    "recover executable.popef -o",
    "pack model -o",
    "report executable.popef -o",
    "profile tiny.graph.json tiny.execution.json -o",
    "profile tiny.graph.json tiny.execution.json --trace",
    "graph train.json -o",
];

fn place() -> Place {
    let place = Place::with(FILES);
    place.run(&["extract", "executable.popef", "-o", "model"]).good();
    place
}

fn run(place: &Place, command: &str, more: &[&str]) -> crate::common::Run {
    place.run(&command.split(' ').chain(more.iter().copied()).collect::<Vec<_>>())
}

#[test]
fn a_folder_that_is_missing_is_told_with_what_to_do() {
    let place = place();
    let names = place.names();
    for command in COMMANDS {
        let name = command.split(' ').next().unwrap();
        let dry_runs: &[&[&str]] = if command.contains(".json") || name == "report" { &[] } else { &[&["--dry-run"]] };
        for more in [&[&[][..], &["--force"]], dry_runs].concat() {
            let made = run(&place, command, &[&["missing/new"], more].concat());
            let words = format!(
                "popef {name}: missing/new: the folder missing does not exist [no-folder]\n\
                 popef {name}: Make the folder, or choose another path.\n"
            );
            assert_eq!((made.status, &*made.err), (2, &*words), "{command}");
            let made = run(&place, command, &[&["new/"], more].concat());
            let words = format!(
                "popef {name}: new/: this is the path of a folder that does not exist [no-folder]\n\
                 popef {name}: Make the folder, or choose another path.\n"
            );
            assert_eq!((made.status, &*made.err), (2, &*words), "{command}");
        }
    }
    assert_eq!(place.names(), names);
}

/// What a file holds is what --format says, or else what its name says, in all commands that can write several formats.
#[test]
fn the_name_of_a_file_says_its_format() {
    let place = place();
    let commands: &[(&str, &[&str])] = &[
        ("check executable.popef", &["json", "ndjson", "sarif", "junit", "text"]),
        ("report executable.popef", &["html"]),
        ("profile tiny.graph.json", &["html", "json", "ndjson", "text"]),
        ("profile tiny.graph.json --by tile", &["csv", "json", "ndjson", "text"]),
        ("graph train.json", &["html", "json", "ndjson", "dot", "mermaid", "text"]),
        ("tiles exec tiles.a", &["svg", "json", "ndjson", "csv", "text"]),
    ];
    for (command, formats) in commands {
        for format in *formats {
            let file =
                format!("out.{}", format.replace("text", "TXT").replace("mermaid", "mmd").replace("junit", "xml"));
            let made = run(&place, command, &["-o", &file]).good();
            assert_eq!((made.text(), &*made.err), ("", ""), "{command} -o {file}");
            let printed = match *command {
                "report executable.popef" => run(&place, command, &["-o", "-"]),
                _ => run(&place, command, &["--format", format]),
            };
            assert!(place.read(&file) == printed.good().out, "{command} -o {file}");
            let refused = run(&place, command, &["-o", &file]);
            assert!(refused.status == 2 && refused.err.contains("[file-exists]"), "{}", refused.err);
            std::fs::remove_file(place.path(&file)).unwrap();
        }
        let other = if formats.contains(&"svg") { "html" } else { "svg" };
        let refused = run(&place, command, &["-o", &format!("out.{other}")]);
        assert!(refused.status == 2 && refused.err.contains("[wrong-arguments]"), "{command}: {refused:?}");
        assert!(refused.err.contains(&format!("does not write {other}")), "{command}: {}", refused.err);
    }
    run(&place, "check executable.popef", &["-o", "out.sarif.json"]).good();
    assert_eq!(place.read("out.sarif.json"), run(&place, "check executable.popef", &["--format", "sarif"]).out);
    // --format counts more than the name, and a name that says nothing gets the page or the picture.
    for (command, start) in [
        ("graph train.json", "<!doctype html>"),
        ("tiles exec tiles.a", "<svg "),
        ("profile tiny.graph.json", "<!doctype html>"),
    ] {
        run(&place, command, &["-o", "other", "--force"]).good();
        assert!(place.read("other").starts_with(start.as_bytes()), "{command}");
        run(&place, command, &["-o", "other.html", "--format", "json", "--force"]).good();
        assert!(place.read("other.html").starts_with(b"{"), "{command}");
        assert!(run(&place, command, &["-o", "-"]).good().text().starts_with(start), "{command}");
    }
    let input = run(&place, "graph train.json", &["-o", "train.json", "--force"]);
    assert!(input.err.contains("[output-is-input]"), "{}", input.err);
}

/// A link is followed: the file that it leads to is replaced, or made if there is none.
#[cfg(unix)]
#[test]
fn a_link_is_followed_and_stays() {
    use std::os::unix::fs::symlink;

    let place = place();
    let others = ["check executable.popef -o", "tiles exec tiles.a -o", "extract executable.popef --filter input* -o"];
    for command in COMMANDS.iter().chain(&others) {
        // Its name is that of one file for `extract`.
        for (number, [link, real]) in [["link.bin", "real.bin"], ["deep.bin", "dir/real.bin"]].into_iter().enumerate() {
            std::fs::create_dir_all(place.path("dir")).unwrap();
            place.write("real.bin", "old");
            symlink(real, place.path(link)).unwrap();
            if number == 0 {
                let refused = run(&place, command, &[link]);
                assert!(refused.status == 2 && refused.err.contains("[file-exists]"), "{command}: {refused:?}");
                assert_eq!(place.read("real.bin"), b"old", "{command}");
                run(&place, command, &[link, "--force"]).good();
            } else {
                run(&place, command, &[link]).good();
            }
            assert!(place.path(link).is_symlink(), "{command} replaced {link}");
            assert!(place.read(real).len() > 3, "{command}");
            std::fs::remove_file(place.path(link)).unwrap();
            std::fs::remove_dir_all(place.path("dir")).unwrap();
        }
        // What a link of the system leads to may have no path. For `extract`, its name is that of a folder.
        let refused = run(&place, command, &["/dev/stdout", "--force"]);
        let code = if command.starts_with("extract") { "[in-the-way]" } else { "[not-replaceable]" };
        assert!(refused.status == 2 && refused.err.contains(code), "{command}: {refused:?}");
    }
    std::fs::remove_file(place.path("real.bin")).unwrap();
    symlink("executable.popef", place.path("link")).unwrap();
    place.run(&["strip", "link", "--drop", "tensor", "--in-place"]).good();
    assert!(place.path("link").is_symlink());
    assert!(!place.run(&["ls", "executable.popef"]).good().text().contains("  tensor  "));
}

/// A bucket has no folders into which a file would go under its old name. That is said before anybody is asked.
#[test]
#[cfg(feature = "remote")]
fn the_folder_of_a_bucket_is_no_output() {
    let place = place();
    let names = place.names();
    for command in COMMANDS {
        for folder in ["s3://b/dir/", "s3://b/", "s3://b", "gs://b/dir/", "az://c/dir/", "https://h/m.popef"] {
            let made = run(&place, command, &[folder]);
            let words = match command.split(' ').next() {
                Some("report" | "profile" | "graph") => "only PopEF files are written to other machines",
                _ if folder.starts_with("https") => "it is not in a bucket",
                _ => "it ends like a folder",
            };
            assert!(made.status == 2 && made.err.contains(words), "{command} {folder}: {made:?}");
        }
    }
    assert_eq!(place.names(), names);
}

#[cfg(unix)]
mod rights {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;

    use super::{COMMANDS, FILES, place, run};
    use crate::common::Place;

    fn mode(path: impl AsRef<Path>) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    fn set_mode(path: impl AsRef<Path>, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    /// All files in a folder, and the folders.
    fn all_in(folder: &Path) -> (Vec<u32>, Vec<u32>) {
        let (mut files, mut folders) = (Vec::new(), vec![mode(folder)]);
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                let within = all_in(&path);
                files.extend(within.0);
                folders.extend(within.1);
            } else {
                files.push(mode(path));
            }
        }
        (files, folders)
    }

    #[test]
    fn a_new_file_allows_nobody_more_than_its_inputs_do() {
        let place = place();
        place.write("usual", "");
        let usual = mode(place.path("usual"));
        for command in COMMANDS {
            run(&place, command, &["public"]).good();
            assert_eq!(mode(place.path("public")), usual, "{command}");
            fs::remove_file(place.path("public")).unwrap();
        }
        for asked in [0o600, 0o640, 0o400] {
            FILES.iter().for_each(|file| set_mode(place.path(Path::new(file).file_name().unwrap()), asked));
            let _ = fs::remove_dir_all(place.path("model"));
            place.run(&["extract", "executable.popef", "-o", "model"]).good();
            for command in COMMANDS {
                run(&place, command, &["new"]).good();
                assert_eq!(mode(place.path("new")), asked & usual, "{command}");
                fs::remove_file(place.path("new")).unwrap();
                // What is replaced keeps what it allows.
                place.write("old", "");
                set_mode(place.path("old"), 0o604);
                run(&place, command, &["old", "--force"]).good();
                assert_eq!(mode(place.path("old")), 0o604, "{command}");
                fs::remove_file(place.path("old")).unwrap();
            }
        }
    }

    #[test]
    fn of_several_inputs_what_all_of_them_allow_counts() {
        let place = place();
        set_mode(place.path("executable.popef"), 0o640);
        set_mode(place.path("split-tensors.popef"), 0o604);
        run(&place, COMMANDS[2], &["merged"]).good();
        assert_eq!(mode(place.path("merged")), 0o600);
        set_mode(place.path("model/tensors/input_parameter.npy"), 0o600);
        run(&place, "pack model -o", &["packed"]).good();
        assert_eq!(mode(place.path("packed")), 0o600);
        set_mode(place.path("executable.popef"), 0o644);
        run(&place, "set executable.popef --tensors model/tensors/input_parameter.npy -o", &["weights"]).good();
        assert_eq!(mode(place.path("weights")), 0o600);
        place.write("patch.json", r#"{"numIpus": 4}"#);
        set_mode(place.path("patch.json"), 0o600);
        run(&place, "set executable.popef --merge patch.json -o", &["patched"]).good();
        assert_eq!(mode(place.path("patched")), 0o600);
        // What comes through a pipe has no rights.
        place.write("usual", "");
        let merged = place.read("merged");
        place.run_with_input(&["compress", "-", "-o", "piped"], &merged);
        assert_eq!(mode(place.path("piped")), mode(place.path("usual")));
    }

    #[test]
    fn folders_of_private_files_are_private() {
        let place =
            Place::with(&["interop/executable.popef", "interop/split-tensors.popef", "interop/two-models.popef"]);
        for name in ["executable.popef", "two-models.popef"] {
            set_mode(place.path(name), 0o600);
        }
        for form in ["npy", "npz", "safetensors", "raw"] {
            let args = ["extract", "executable.popef", "--tensors-as", form, "-o", form];
            place.run(&args).good();
            place.run(&[&args[..], &["--force"]].concat()).good();
            let (files, folders) = all_in(&place.path(form));
            assert!(files.len() > 4 && files.iter().all(|mode| *mode == 0o600), "{files:?}");
            assert!(folders.len() > 3 && folders.iter().all(|mode| *mode == 0o700), "{folders:?}");
        }
        place.run(&["extract", "executable.popef", "split-tensors.popef", "-o", "both"]).good();
        assert_eq!(all_in(&place.path("both/executable")).0, [0o600; 6]);
        fs::create_dir(place.path("usual")).unwrap();
        place.write("usual/file", "");
        let (usual, usual_folder) = (mode(place.path("usual/file")), mode(place.path("usual")));
        let (files, folders) = all_in(&place.path("both/split-tensors"));
        assert!(files.iter().all(|mode| *mode == usual) && folders.iter().all(|mode| *mode == usual_folder));

        place.run(&["split", "two-models.popef", "--by", "model", "-o", "parts"]).good();
        place.run(&["compress", "two-models.popef", "--output-dir", "parts"]).good();
        assert_eq!(all_in(&place.path("parts")).0, [0o600; 4]);
    }
}
