//! What README shows is what the tool does.

use std::env::{join_paths, split_paths, var_os};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{Place, finish, testdata};

fn readme() -> String {
    fs::read_to_string(root().join("README.md")).unwrap()
}

fn root() -> PathBuf {
    testdata().join("..")
}

/// What follows a line, up to the end of its block.
fn blocks<'r>(readme: &'r str, start: &str) -> impl Iterator<Item = &'r str> {
    readme
        .split(start)
        .skip(1)
        .map(|block| block.split_once("```").expect("the block ends").0)
        .collect::<Vec<_>>()
        .into_iter()
}

#[test]
fn the_outputs_of_popef_in_readme_are_real() {
    let readme = readme();
    let mut shown = 0;
    for block in blocks(&readme, "```text\n$ popef ") {
        let (arguments, expected) = block.split_once('\n').expect("there is output");
        let run = finish(Place::with(&[]).command().args(arguments.split_whitespace()).current_dir(root()));
        assert_eq!(run.text(), expected, "popef {arguments}");
        shown += 1;
    }
    assert!(shown > 0, "no outputs were found");
}

/// The lines that people copy, one after the other, on files of these names.
#[test]
fn the_commands_of_popef_in_readme_work_as_they_are_typed() {
    let place = Place::with(&["interop/executable.popef"]);
    fs::copy(testdata().join("interop/split-executable.popef"), place.path("model.popef")).unwrap();
    for (name, from) in [("cached", "executable"), ("fresh", "split-executable"), ("weights", "split-tensors")] {
        fs::copy(testdata().join(format!("interop/{from}.popef")), place.path(format!("{name}.popef"))).unwrap();
    }
    place.run(&["merge", "executable.popef", "-o", "model.popef", "--force"]).good();
    place.run(&["extract", "weights.popef", "--tensors-as", "safetensors", "-o", "trained"]).good();
    fs::copy(place.path("trained/tensors.safetensors"), place.path("trained.safetensors")).unwrap();
    place.run(&["split", "--by", "kind", "-o", "kinds", "executable.popef"]).good();
    fs::copy(place.path("kinds/executable-executables.popef"), place.path("executable.popef")).unwrap();

    let mut large = popef::Writer::create(place.path("large.popef")).unwrap();
    large.write_executable("model", &crate::tiles::archive(8, 9, b".rodata")[..]).unwrap();
    large.finish().unwrap();

    for part in ["graph", "execution"] {
        fs::copy(testdata().join(format!("profile/tiny.{part}.json")), place.path(format!("{part}.json"))).unwrap();
    }

    let tools = Path::new(env!("CARGO_BIN_EXE_popef")).parent().unwrap().to_owned();
    let path = join_paths([tools].into_iter().chain(split_paths(&var_os("PATH").unwrap()))).unwrap();
    let readme = readme();
    let lines = blocks(&readme, "```sh\n").find(|block| block.starts_with("popef ")).expect("README has the commands");
    for line in lines.lines() {
        let run = finish(Command::new("bash").args(["-c", line]).env("PATH", &path).current_dir(place.path("")));
        let expected = if line.starts_with("popef diff") { 1 } else { 0 };
        assert_eq!(run.status, expected, "{line}\n{run:?}");
    }
}
