//! The example programs run, and what they write is what they say.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use popef::{Compression, File};

/// An example's program. `cargo test` builds them beside the tests, `cargo test --test examples` does not.
fn example(name: &str) -> Command {
    let tests = std::env::current_exe().unwrap();
    let folder = tests.parent().and_then(Path::parent).unwrap().join("examples");
    let program = folder.join(name).with_extension(std::env::consts::EXE_EXTENSION);
    if !program.exists() {
        let built = Command::new(env!("CARGO")).args(["build", "--quiet", "--example", name]).status();
        assert!(built.unwrap().success() && program.exists(), "example {name} cannot be built");
    }
    Command::new(program)
}

fn run(command: &mut Command, input: &[u8]) -> String {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{command:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn interop(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/interop").join(name)
}

#[test]
fn build_model() {
    let folder = tempfile::tempdir().unwrap();
    let (executable, model) = (folder.path().join("model.bin"), folder.path().join("model.popef"));
    fs::write(&executable, [7; 100_000]).unwrap();
    let said = run(example("build_model").args([&executable, &model]), b"");
    let file = File::open(&model).unwrap();
    assert_eq!(said, format!("{} bytes\n", file.size()));
    let executable = file.executable("my-model").unwrap();
    assert_eq!(executable.compression().unwrap(), Some(Compression::Zlib));
    assert_eq!(std::io::read_to_string(executable.unpack().unwrap()).unwrap(), "\u{7}".repeat(100_000));
    assert_eq!(file.metadata().next().unwrap().read().unwrap().anchors.len(), 4);
    let weights = file.tensor("weights").unwrap().elements().unwrap();
    assert_eq!(*weights.to_slice::<f32>().unwrap(), [0.5, -1.0, 2.0, 0.25]);
    let labels = file.feed("label").unwrap();
    let labels: Vec<_> = labels.items().map(|label| label.unwrap().to_slice::<i32>().unwrap()[0]).collect();
    assert_eq!(labels, [7, 8, 9]);
    assert_eq!(*file.feed("image").unwrap().item(1).unwrap().to_slice::<f32>().unwrap(), [1.0, 1.5]);
    assert!(file.opaque("my-framework").is_some());
}

#[test]
fn split_weights() {
    let folder = tempfile::tempdir().unwrap();
    let (rest, weights) = (folder.path().join("rest.popef"), folder.path().join("weights.popef"));
    run(example("split_weights").args([&interop("all-types.popef"), &rest, &weights]), b"");
    let whole = File::open(interop("all-types.popef")).unwrap();
    let (rest, weights) = (File::open(rest).unwrap(), File::open(weights).unwrap());
    assert!(weights.len() > 15 && weights.tensors().count() == weights.len());
    assert_eq!((rest.tensors().count(), rest.len() + weights.len()), (0, whole.len()));
    for tensor in whole.tensors() {
        let moved = weights.tensor(tensor.name().as_bytes()).unwrap();
        assert_eq!(moved.info(), tensor.info());
        assert_eq!(moved.blob().data().read().unwrap(), tensor.blob().data().read().unwrap());
    }
}

#[test]
fn compress_executables() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.popef");
    fs::copy(interop("executable.popef"), &path).unwrap();
    let old = File::from_bytes(fs::read(&path).unwrap()).unwrap();
    // In place of the file that is read.
    run(example("compress_executables").args([&path, &path]), b"");
    let new = File::open(&path).unwrap();
    assert_eq!(new.len(), old.len());
    for (old, new) in old.executables().zip(new.executables()) {
        assert_eq!((old.is_compressed(), new.compression().unwrap()), (false, Some(Compression::Zlib)));
        let mut unpacked = Vec::new();
        std::io::copy(&mut new.unpack().unwrap(), &mut unpacked).unwrap();
        assert_eq!(unpacked, *old.data().read().unwrap());
    }
}

#[test]
fn append_opaque() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.popef");
    fs::copy(interop("executable.popef"), &path).unwrap();
    let old = fs::read(&path).unwrap();
    run(example("append_opaque").arg(&path).args(["notes", "model"]), b"from a pipe");
    assert!(fs::read(&path).unwrap().starts_with(&old));
    let file = File::open(&path).unwrap();
    let notes = file.opaque("notes").unwrap();
    assert_eq!(
        (notes.executable().to_string(), &*notes.data().read().unwrap()),
        ("model".to_owned(), &b"from a pipe"[..])
    );
}
