//! The example programs do what they say, on files of testdata. What they write is read by other programs where
//! possible.

#[path = "common/peers.rs"]
mod peers;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use popef::read::Compression;
use popef::{DataType, File, Model};

use peers::{hex, pycapnp_reads, python, skip};
use serde_json::{Value, json};

/// The program of an example. `cargo test` builds the examples, `cargo test --test examples` does not.
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
fn the_files_of_the_documentation_are_copies_of_testdata() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let copies: Vec<_> = fs::read_dir(package.join("examples/data")).unwrap().map(|entry| entry.unwrap()).collect();
    assert!(!copies.is_empty());
    for copy in copies {
        let name = copy.file_name();
        let folders = ["interop", "pickles", "opaque", "opaque/poptorch"];
        let originals = folders.map(|folder| package.join("../testdata").join(folder).join(&name));
        let original = originals.iter().find(|original| original.exists()).unwrap();
        assert!(fs::read(copy.path()).unwrap() == fs::read(original).unwrap(), "{name:?}");
    }
}

#[test]
fn build_model() {
    let folder = tempfile::tempdir().unwrap();
    let (executable, model) = (folder.path().join("model.bin"), folder.path().join("model.popef"));
    fs::write(&executable, [7; 100_000]).unwrap();
    let said = run(example("build_model").args([&executable, &model]), b"");
    let size = fs::metadata(&model).unwrap().len();
    assert_eq!(said, format!("{size} bytes\n"));
    assert!(size < 10_000, "the executable is not compressed");

    let Some(read) = pycapnp_reads([&model]) else { return };
    let [executable, metadata, weights, images, labels, opaque] = &read[0].as_array().unwrap()[..] else {
        panic!("{} blobs", read[0].as_array().unwrap().len())
    };
    let tensor_info = |data_type, shape: &[i64]| json!({ "dataType": data_type, "shape": shape });
    let is =
        |blob: &Value, info: Value, data: &[u8]| assert_eq!((&blob["info"], &blob["data"]), (&info, &hex(data).into()));
    is(executable, json!({ "name": "my-model", "uncompressedSize": 100_000 }), &[7; 100_000]);
    let anchors = metadata["info"]["anchors"].as_array().unwrap();
    let anchors: Vec<_> =
        anchors.iter().map(|anchor| (&anchor["name"], &anchor["handle"], &anchor["programs"])).collect();
    let expected = [("weights", 0), ("image", 1), ("label", 1), ("answer", 1)];
    let expected = expected.map(|(name, program)| (json!(name), json!(format!("h2d_{name}")), json!([program])));
    assert_eq!(anchors, expected.each_ref().map(|(name, handle, programs)| (name, handle, programs)));
    let floats = |floats: &[f32]| floats.iter().flat_map(|float| float.to_le_bytes()).collect::<Vec<u8>>();
    let f32 = DataType::F32.number();
    is(
        weights,
        json!({ "name": "weights", "tensorInfo": tensor_info(f32, &[2, 2]) }),
        &floats(&[0.5, -1.0, 2.0, 0.25]),
    );
    let feed = |name: &str, tensor_info| json!({ "name": name, "tensorInfo": tensor_info, "numTensors": 3 });
    is(images, feed("image", tensor_info(f32, &[2])), &floats(&[0.0, 0.5, 1.0, 1.5, 2.0, 2.5]));
    is(labels, feed("label", tensor_info(DataType::S32.number(), &[])), &[7, 0, 0, 0, 8, 0, 0, 0, 9, 0, 0, 0]);
    is(opaque, json!({ "name": "my-framework", "executable": "my-model" }), b"what only my framework understands");
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
    // The new file replaces the one that is read.
    run(example("compress_executables").args([&path, &path]), b"");
    let new = File::open(&path).unwrap();
    assert!(new.executables().all(|executable| executable.compression().unwrap() == Some(Compression::Zlib)));

    let Some(mut read) = pycapnp_reads([&interop("executable.popef"), &path]) else { return };
    for blob in read.iter_mut().flat_map(|blobs| blobs.as_array_mut().unwrap()) {
        let len = blob["data"].as_str().unwrap().len() / 2;
        if let Some(uncompressed) = blob["info"].get_mut("uncompressedSize") {
            // The first file says that its executable is not compressed.
            assert!([u64::MAX, len as u64].contains(&uncompressed.as_u64().unwrap()));
            *uncompressed = Value::Null;
        }
        (blob["header"]["size"], blob["offset"]) = (Value::Null, Value::Null);
    }
    assert_eq!(read[0], read[1]);
}

#[test]
fn append_opaque() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.popef");
    fs::copy(interop("executable.popef"), &path).unwrap();
    let old = fs::read(&path).unwrap();
    run(example("append_opaque").arg(&path).args(["notes", "model"]), b"from a pipe");
    assert!(fs::read(&path).unwrap().starts_with(&old));
    let Some(read) = pycapnp_reads([&path]) else { return };
    let notes = read[0].as_array().unwrap().last().unwrap();
    assert_eq!(notes["offset"], old.len());
    assert_eq!(notes["info"], json!({ "name": "notes", "executable": "model" }));
    assert_eq!(notes["data"], hex(b"from a pipe"));
}

#[test]
fn python_wrapper() {
    let folder = tempfile::tempdir().unwrap();
    let (model, copy) = (interop("all-types.popef"), folder.path().join("copy.popef"));
    run(example("python_wrapper").args([&model, &copy]), b"");
    let (model, copy) = (File::open(model).unwrap(), File::open(copy).unwrap());
    assert_eq!((copy.len(), copy.tensors().count()), (model.tensors().count(), model.tensors().count()));
    for (tensor, copied) in model.tensors().zip(copy.tensors()) {
        assert_eq!(copied.blob().info_bytes().read().unwrap(), tensor.blob().info_bytes().read().unwrap());
        assert_eq!(copied.data().read().unwrap(), tensor.elements().unwrap().data().read().unwrap());
    }
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
    let bytes = fs::read(&path).unwrap();
    let old = File::from_bytes(bytes.clone()).unwrap();
    let names = ["input_parameter", "a longer name"];
    run(example("rename_tensor").arg(&path).args(names).arg(&path), b"");
    // The opaque blob, and the data of all blobs, are the same.
    let new = File::open(&path).unwrap();
    assert_eq!(new.blob(0).unwrap().info_bytes().read().unwrap(), old.blob(0).unwrap().info_bytes().read().unwrap());
    for (new, old) in new.blobs().zip(&old) {
        assert_eq!(new.data().read().unwrap(), old.data().read().unwrap());
    }
    // The model still finds its weight.
    let users = |file: &File| Model::link([file]).unwrap()[0].inputs_from_user().count();
    assert_eq!((users(&new), users(&old)), (1, 1));

    let Some(mut read) = pycapnp_reads([&interop("executable.popef"), &path]) else { return };
    let [before, after] = &mut read[..] else { panic!("two files were read") };
    let tensor = old.tensor(names[0]).unwrap().blob().index();
    let metadata = old.metadata().next().unwrap().blob().index();
    let anchors = after[metadata]["info"]["anchors"].as_array_mut().unwrap().iter_mut();
    let mut renamed: Vec<_> = anchors.map(|anchor| &mut anchor["name"]).filter(|name| **name == names[1]).collect();
    assert_eq!(renamed.len(), 2, "an input and an output have the weight's name");
    renamed.iter_mut().for_each(|name| **name = names[0].into());
    let renamed = &mut after[tensor]["info"]["name"];
    assert_eq!(renamed.take(), names[1]);
    *renamed = names[0].into();
    for blob in [before, after].into_iter().flat_map(|blobs| blobs.as_array_mut().unwrap()) {
        (blob["header"]["size"], blob["offset"]) = (Value::Null, Value::Null);
    }
    assert_eq!(read[0], read[1]);
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

/// curl answers ranges of local files as a server does.
#[test]
fn list_remote() {
    if Command::new("curl").arg("--version").stdout(Stdio::null()).status().is_err() {
        return skip("there is no curl");
    }
    let path = fs::canonicalize(interop("executable.popef")).unwrap();
    let said = run(example("list_remote").arg(format!("file://{}", path.display())), b"");
    let document: Value = serde_json::from_slice(&fs::read(path.with_extension("json")).unwrap()).unwrap();
    let blobs = document["files"][0]["blobs"].as_array().unwrap();
    let line = |blob: &Value| {
        let name = blob["info"]["name"].as_str().filter(|_| blob["type"] != "metadata").unwrap_or_default();
        format!("{} {} {name:?}", blob["size"], blob["type"].as_str().unwrap())
    };
    assert_eq!(said.lines().collect::<Vec<_>>(), blobs.iter().map(line).collect::<Vec<_>>());
}

/// NumPy loads every type that it has.
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
    assert!(tensors.len() > 10);
    let paths = tensors.iter().map(|tensor| folder.path().join(format!("{}.npy", tensor.blob().index())));
    let loaded = run(python.args(["-c", script]).args(paths), b"");
    assert_eq!(loaded.lines().count(), tensors.len());
    for (line, tensor) in loaded.lines().zip(tensors) {
        assert_eq!(
            line,
            format!("{} {} {}", numpy_name(tensor.data_type()), tensor.shape(), hex(&tensor.data().read().unwrap()))
        );
    }
}

fn numpy_name(data_type: DataType) -> String {
    match data_type {
        DataType::Bool => "bool".to_owned(),
        DataType::F16 | DataType::F32 | DataType::F64 => data_type.to_string().replace('F', "float"),
        other => other.to_string().replace('U', "uint").replace('S', "int"),
    }
}
