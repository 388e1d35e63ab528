//! What all commands that make a file have in common: where it may go, and who may read it.

use crate::common::Place;

const FILES: &[&str] = &[
    "interop/executable.popef",
    "interop/split-tensors.popef",
    "profile/tiny.graph.json",
    "profile/tiny.execution.json",
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
                "popef {name}: new/: this is the path of a folder that does not exist: make it, and name a file in it [no-folder]\n"
            );
            assert_eq!((made.status, &*made.err), (2, &*words), "{command}");
        }
    }
    assert_eq!(place.names(), names);
}
