//! The example programs run, and what they write is what they say.

#[path = "common/peers.rs"]
mod peers;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use popef::File;
use popef::read::Compression;

use peers::{python, skip};

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
    String::from_utf8(run_bytes(command, input)).unwrap()
}

fn run_bytes(command: &mut Command, input: &[u8]) -> Vec<u8> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{command:?}");
    output.stdout
}

fn interop(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/interop").join(name)
}

/// The examples of the documentation read copies, so that they run from the published package too.
#[test]
fn what_the_documentation_reads_is_the_test_data() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let copies: Vec<_> = fs::read_dir(package.join("examples/data")).unwrap().map(|entry| entry.unwrap()).collect();
    assert!(!copies.is_empty());
    for copy in copies {
        let name = copy.file_name();
        let folder = if copy.path().extension().unwrap() == "popef" { "interop" } else { "pickles" };
        let original = package.join("../testdata").join(folder).join(&name);
        assert!(fs::read(copy.path()).unwrap() == fs::read(original).unwrap(), "{name:?}");
    }
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

#[test]
fn serve() {
    let paths = [interop("executable.popef"), interop("all-types.popef")];
    let said = run_bytes(example("serve").args(&paths), b"input_parameter\ninput_parameter\n");
    let weights = [1.5f32, -2.25, 1.5, -2.25].map(f32::to_le_bytes).concat();
    assert_eq!(said, weights);
}

#[test]
fn merge() {
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole.popef");
    let parts = ["split-executable.popef", "split-tensors.popef", "split-feeds.popef"].map(interop);
    run(example("merge").arg(&whole).args(&parts), b"");
    assert_eq!(fs::read(&whole).unwrap(), parts.each_ref().map(|part| fs::read(part).unwrap()).concat());
    // Two executables of one name are refused.
    let status = example("merge").arg(&whole).args([&parts[0], &parts[0]]).stderr(Stdio::null()).status().unwrap();
    assert_eq!(status.code(), Some(1));
}

#[test]
fn rename_tensor() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.popef");
    fs::copy(interop("executable.popef"), &path).unwrap();
    let old = File::from_bytes(fs::read(&path).unwrap()).unwrap();
    let names = ["input_parameter", "a longer name"];
    run(example("rename_tensor").arg(&path).args(names).arg(&path), b"");
    let new = File::open(&path).unwrap();
    let [before, after] = [old.tensor(names[0]).unwrap(), new.tensor(names[1]).unwrap()];
    assert_eq!(after.data().read().unwrap(), before.data().read().unwrap());
    for (old, new) in old.blobs().zip(new.blobs()).filter(|(old, _)| old.index() != before.blob().index()) {
        assert_eq!((old.header_bytes(), old.info_bytes()), (new.header_bytes(), new.info_bytes()));
        assert_eq!(old.data().read().unwrap(), new.data().read().unwrap());
    }
}

#[test]
fn diff() {
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (interop("split-executable.popef"), folder.path().join("new.popef"));
    let mut bytes = fs::read(&old).unwrap();
    let said = |new: &Path| example("diff").args([&old, new]).stderr(Stdio::inherit()).output().unwrap();
    assert_eq!(said(&old).status.code(), Some(0));
    let executable = File::from_bytes(bytes.clone()).unwrap();
    let data = executable.executables().next().unwrap().blob().data_offset() as usize;
    bytes[data + 5] ^= 1;
    fs::write(&new, [&*bytes, &fs::read(interop("split-tensors.popef")).unwrap()].concat()).unwrap();
    let output = said(&new);
    let name = executable.executables().next().unwrap().name();
    let tensor = "only in the new file: dataTensor \"input_parameter\"";
    let expected = format!("other data from byte 5: poplarExecutable {name:?}\n{tensor}\n");
    assert_eq!((String::from_utf8(output.stdout).unwrap(), output.status.code()), (expected, Some(1)));
}

/// Over curl's own files, which it reads in ranges as it does what lies on a server.
#[test]
fn list_remote() {
    if Command::new("curl").arg("--version").stdout(Stdio::null()).status().is_err() {
        return skip("there is no curl");
    }
    let path = fs::canonicalize(interop("two-models.popef")).unwrap();
    let said = run(example("list_remote").arg(format!("file://{}", path.display())), b"");
    assert_eq!(said.lines().count(), File::open(&path).unwrap().len());
    assert!(said.contains("poplarExecutable"), "{said}");
}

/// Every type that numpy has too, loaded by numpy.
#[test]
fn to_npy() {
    let folder = tempfile::tempdir().unwrap();
    let model = interop("all-types.popef");
    let said = run(example("to_npy").args([&model, folder.path()]), b"");
    let file = File::open(&model).unwrap();
    assert_eq!(said.lines().count(), file.tensors().count());
    let Some(mut python) = python() else { return };
    let script = "import sys, numpy\nfor path in sys.argv[1:]:\n a = numpy.load(path)\n print(a.dtype.name, list(a.shape), a.tobytes().hex())";
    let tensors: Vec<_> = file.tensors().filter(|tensor| !tensor.data_type().to_string().starts_with("F8")).collect();
    let paths = tensors.iter().map(|tensor| folder.path().join(format!("{}.npy", tensor.blob().index())));
    let loaded = run(python.args(["-c", script]).args(paths), b"");
    assert_eq!(loaded.lines().count(), tensors.len());
    for (line, tensor) in loaded.lines().zip(tensors) {
        let hex: String = tensor.data().read().unwrap().iter().map(|byte| format!("{byte:02x}")).collect();
        assert!(line.ends_with(&format!("{} {hex}", tensor.shape())), "{line}");
    }
}
