//! `popef pack`.

use std::fs;

use crate::common::{Place, hold_golden, npy, testdata};
use crate::peers::python;

#[test]
fn what_is_packed_is_shown() {
    let files = [
        "interop/executable.popef",
        "arrays/f32.npy",
        "arrays/u8.npy",
        "arrays/stored.npz",
        "arrays/float8.safetensors",
    ];
    let lines = [
        "extract executable.popef -o model",
        "pack model -o same.popef",
        "pack model --compression zlib:6 -o small.popef",
        "pack model --tensors f32.npy -o more.popef",
        "pack --tensors f32.npy stored.npz float8.safetensors --feed images=u8.npy -o weights.popef",
        "ls weights.popef",
        "pack --executable u8.npy:model --opaque notes=f32.npy -o named.popef",
        "ls named.popef",
        "pack model --dry-run --format json",
        "pack model -o same.popef",
        "pack nowhere -o other.popef",
        "pack . -o other.popef",
        "pack --tensors . -o other.popef",
        "pack -o other.popef",
        "pack --feed images=stored.npz -o other.popef",
    ];
    hold_golden("pack", &files, &lines);
}

/// Extracts `executable.popef` into the folder `model`.
fn extracted() -> Place {
    let place = Place::with(&["interop/executable.popef", "arrays/f32.npy", "arrays/f16.npy"]);
    place.run(&["extract", "executable.popef", "-o", "model"]).good();
    place
}

#[test]
fn a_changed_folder_gives_a_changed_file() {
    let place = extracted();
    let old = place.read("model/tensors/input_parameter.npy");
    let mut new = old.clone();
    new.truncate(old.len() - 8);
    new.extend([3.5f32, -1.0].iter().flat_map(|value| value.to_le_bytes()));
    place.write("model/tensors/input_parameter.npy", new);
    let json = String::from_utf8(place.read("model/metadata/3284579348837926701.json")).unwrap();
    place.write("model/metadata/3284579348837926701.json", json.replace("\"numProcesses\": 1", "\"numProcesses\": 7"));
    let run = place.run(&["pack", "model", "-o", "new.popef"]).good();
    assert!(run.text().contains("changed: metadata 3284579348837926701"), "{run:?}");
    assert!(run.text().contains("changed: tensor input_parameter"), "{run:?}");
    assert!(!run.text().contains("popart"), "{run:?}");
    let file = popef::File::open(place.path("new.popef")).unwrap();
    assert_eq!(*file.tensor("input_parameter").unwrap().elements().unwrap().to_slice::<f32>().unwrap(), [3.5, -1.0]);
    assert_eq!(file.metadata().next().unwrap().read().unwrap().num_processes, 7);
    // Everything else is as it was, also what follows the tensor.
    let was = popef::File::open(place.path("executable.popef")).unwrap();
    for (new, old) in file.blobs().zip(was.blobs()) {
        assert_eq!(new.size(), old.size());
        assert_eq!(new.header_bytes().read().unwrap(), old.header_bytes().read().unwrap());
    }
    assert_eq!(file.tensor("input_parameter").unwrap().surplus(), 8);
}

#[test]
fn data_that_does_not_fit_its_anchor_is_refused() {
    let place = extracted();
    for (file, words) in [
        ("f32.npy", "has the shape [2, 3], but its anchor has [2]"),
        ("f16.npy", "has the type F16, but its anchor has F32"),
    ] {
        fs::copy(place.path(file), place.path("model/tensors/input_parameter.npy")).unwrap();
        let run = place.run(&["pack", "model", "-o", "new.popef"]);
        assert!(run.status == 2 && run.err.contains(words) && run.err.contains("[does-not-fit]"), "{run:?}");
        assert!(!place.path("new.popef").exists());
        let run = place.run(&["pack", "model", "--unchecked", "-o", file]);
        assert_eq!(run.status, 2, "a source is not replaced: {run:?}");
        let run = place.run(&["pack", "model", "--unchecked", "--dry-run"]).good();
        assert!(run.text().contains(words), "{run:?}");
    }
}

#[test]
fn an_index_names_only_files_of_its_folder() {
    let place = extracted();
    place.write("secret.bin", "secret");
    let index = String::from_utf8(place.read("model/index.json")).unwrap();
    let absolute = place.path("secret.bin").to_str().unwrap().replace('\\', "/");
    let names = [
        "../secret.bin",
        "opaque/../../secret.bin",
        &absolute,
        "",
        ".",
        "opaque",
        "opaque\\\\popart.bin",
        "c:popart.bin",
        "no\\u0000ne",
    ];
    for name in names {
        place.write("model/index.json", index.replace("opaque/popart.bin", name));
        let run = place.run(&["pack", "model", "-o", "new.popef"]);
        assert!(run.status == 2 && !place.path("new.popef").exists(), "{name}: {run:?}");
    }
    #[cfg(unix)]
    for (link, to) in [("model/opaque/link.bin", "../../secret.bin"), ("model/folder", "..")] {
        std::os::unix::fs::symlink(to, place.path(link)).unwrap();
        let name = if link.ends_with("folder") { "folder/secret.bin" } else { "opaque/link.bin" };
        place.write("model/index.json", index.replace("opaque/popart.bin", name));
        let run = place.run(&["pack", "model", "-o", "new.popef"]);
        assert!(run.status == 2 && run.err.contains("leads through a link"), "{run:?}");
    }
    // Opening one would wait for ever.
    #[cfg(unix)]
    {
        fs::remove_file(place.path("model/index.json")).unwrap();
        std::process::Command::new("mkfifo").arg(place.path("model/index.json")).status().unwrap();
        let run = place.run(&["pack", "model", "-o", "new.popef"]);
        assert!(run.status == 2 && run.err.contains("not a regular file"), "{run:?}");
    }
}

#[test]
fn a_damaged_index_is_refused() {
    let place = extracted();
    let index = String::from_utf8(place.read("model/index.json")).unwrap();
    for (old, new) in [
        ("\"indexVersion\": 1", "\"indexVersion\": 2"),
        ("\"indexVersion\": 1, ", ""),
        ("\"modified\"", "\"unknown\": 1, \"modified\""),
        ("\"form\":\"npy\"", "\"form\":\"npz\""),
        ("\"form\":\"npy\"", "\"form\":\"json\""),
        ("\"form\":\"json\"", "\"form\":\"raw\""),
        ("\"form\":\"raw\"", "\"form\":\"other\""),
        ("\"blob\":\"metadata\"", "\"blob\":{\"unknown\":1}"),
        ("\"blob\":\"metadata\"", "\"blob\":\"metadata\",\"head\":\"0\""),
        ("\"blob\":\"metadata\",\"data\"", "\"blob\":\"metadata\",\"surplus\""),
        ("\"F32\"", "\"X32\""),
        ("]}\n", ""),
        ("{", "[["),
    ] {
        assert!(index.contains(old), "{old}");
        place.write("model/index.json", index.replacen(old, new, 1));
        let run = place.run(&["pack", "model", "-o", "new.popef"]);
        assert!(run.status == 2 && !place.path("new.popef").exists(), "{new}: {run:?}");
    }
    // What only says something else gives way to the files.
    for (old, new) in [
        ("\"shape\":[2]", "\"shape\":[9223372036854775807,9223372036854775807]"),
        ("\"shape\":[2]", "\"shape\":[-1]"),
        ("\"blob\":\"metadata\"", "\"blob\":\"metadata\",\"head\":\"00ff\""),
        ("\"uncompressedSize\":null", "\"uncompressedSize\":18446744073709551614"),
    ] {
        assert!(index.contains(old), "{old}");
        place.write("model/index.json", index.replacen(old, new, 1));
        place.run(&["pack", "model", "--dry-run"]).good();
    }
}

/// A small folder could otherwise become a file of any size.
#[test]
fn an_index_that_names_a_file_twice_is_refused() {
    let place = extracted();
    let executable = "executables/3284579348837926701.bin";
    for (form, new, words) in [
        ("npy", "opaque/popart.bin", "it names \"opaque/popart.bin\" twice"),
        ("npy", "opaque//popart.bin", "twice"),
        ("npy", "OPAQUE/Popart.bin", "twice"),
        ("npz", "opaque/popart.bin", "twice"),
    ] {
        place.run(&["extract", "executable.popef", "-o", "model", "--tensors-as", form, "--force"]).good();
        let index = String::from_utf8(place.read("model/index.json")).unwrap();
        assert!(index.contains(executable));
        place.write("model/index.json", index.replace(executable, new));
        let run = place.run(&["pack", "model", "-o", "new.popef"]);
        assert!(run.status == 2 && run.err.contains(words) && run.err.contains("[bad-index]"), "{new}: {run:?}");
        place.write("model/index.json", index);
    }
    // An array of a file with several, too. The file itself is named by all of them.
    let index = String::from_utf8(place.read("model/index.json")).unwrap();
    let tensor = index.lines().find(|line| line.contains("tensors.npz")).unwrap().trim_end_matches(',');
    let mut again: serde_json::Value = serde_json::from_str(tensor).unwrap();
    again.as_object_mut().unwrap().remove("surplus").unwrap();
    let refused = |blobs: &[&serde_json::Value], words: &str| {
        let blobs: String = blobs.iter().map(|blob| format!(",\n{blob}")).collect();
        place.write("model/index.json", index.replace(tensor, &format!("{tensor}{blobs}")));
        let run = place.run(&["pack", "model", "-o", "new.popef"]);
        assert!(run.status == 2 && run.err.contains(words), "{run:?}");
        assert!(!place.path("new.popef").exists());
    };
    refused(&[&again], "it names array \"input_parameter\" of \"tensors.npz\" twice");
    // Only arrays of such files have keys, and no key is an empty one.
    let with_key = |file: &str, form: &str, key: serde_json::Value| {
        let mut blob = again.clone();
        blob["data"] = serde_json::json!({"file": file, "form": form, "key": key});
        blob
    };
    place.write("model/one.npy", fs::read(testdata().join("arrays/f32.npy")).unwrap());
    let [one, other] = ["one", "other"].map(|key| with_key("one.npy", "npy", key.into()));
    refused(&[&one, &other], "it names \"one.npy\" twice");
    let [none, empty] = [serde_json::Value::Null, "".into()].map(|key| with_key("tensors.npz", "npz", key));
    refused(&[&none, &empty], "it names array \"\" of \"tensors.npz\" twice");
}

#[test]
fn only_a_pickle_comes_before_the_first_blob() {
    let place = extracted();
    let index = String::from_utf8(place.read("model/index.json")).unwrap();
    place.write("model/index.json", index.replace("\"modified\"", "\"prefix\": \"prefix.bin\", \"modified\""));
    let whole = place.read("executable.popef");
    for prefix in [&b"not a pickle"[..], b"\0\0\0\0\0\0\0\0", &whole, &whole[..100], b"\x80\x04N.N."] {
        place.write("model/prefix.bin", prefix);
        let run = place.run(&["pack", "model", "-o", "new.popef"]);
        assert!(run.status == 2 && run.err.contains("only a pickle can come before"), "{run:?}");
        assert!(run.err.contains("prefix.bin") && !place.path("new.popef").exists(), "{run:?}");
    }
    place.write("model/prefix.bin", b"\x80\x04N.");
    place.run(&["pack", "model", "-o", "new.popef"]).good();
    assert!(place.read("new.popef") == [b"\x80\x04N.", &whole[..]].concat());
}

/// As `popef set` keeps them.
#[test]
fn changed_metadata_keeps_fields_of_later_versions() {
    let place = Place::with(&["later/metadata.popef"]);
    place.run(&["extract", "metadata.popef", "-o", "model"]).good();
    let json = fs::read_dir(place.path("model/metadata")).unwrap().next().unwrap().unwrap().path();
    let old = fs::read_to_string(&json).unwrap();
    let new = old.replacen("\"numProcesses\": ", "\"numProcesses\": 4", 1);
    assert_ne!(new, old);
    fs::write(&json, &new).unwrap();
    let number = new.split_once("\"numProcesses\": ").unwrap().1.split(',').next().unwrap();
    place.run(&["pack", "model", "-o", "packed.popef"]).good();
    place.run(&["set", "metadata.popef", "--set", &format!("numProcesses={number}"), "-o", "set.popef"]).good();
    assert!(place.read("packed.popef") == place.read("set.popef"));
    assert!(place.read("packed.popef") != place.read("metadata.popef"));
}

#[test]
fn a_tensor_that_is_given_twice_is_refused_with_its_files() {
    let place = extracted();
    fs::create_dir(place.path("other")).unwrap();
    fs::copy(place.path("f32.npy"), place.path("other/f32.npy")).unwrap();
    let run = place.run(&["pack", "--tensors", "f32.npy", "f16.npy", "other/f32.npy", "-o", "new.popef"]);
    assert!(run.err.contains("tensor \"f32\" is given twice: in f32.npy and in other/f32.npy"), "{run:?}");
    fs::copy(place.path("f32.npy"), place.path("input_parameter.npy")).unwrap();
    let run = place.run(&["pack", "model", "--tensors", "input_parameter.npy", "-o", "new.popef"]);
    assert!(run.status == 2 && run.err.contains("input_parameter.npy and in input_parameter.npy"), "{run:?}");
    assert!(!place.path("new.popef").exists());
}

#[test]
fn an_executable_that_would_grow_stays_as_it_is() {
    let place = extracted();
    place.write("small.bin", "small");
    place.run(&["pack", "--executable", "small.bin", "-o", "plain.popef"]).good();
    let run = place.run(&["pack", "--executable", "small.bin", "--compression", "zlib:9", "-o", "new.popef"]).good();
    assert!(run.text().contains("left as it is, because it would not become smaller: executable small"), "{run:?}");
    assert!(place.read("new.popef") == place.read("plain.popef"));
}

#[test]
fn an_unpacked_executable_is_compressed_again() {
    let place = Place::with(&["interop/compressed-zlib.popef"]);
    place.run(&["extract", "compressed-zlib.popef", "-o", "model", "--unpacked"]).good();
    place.run(&["pack", "model", "-o", "new.popef"]).good();
    let unpacked = |name: &str| {
        let file = popef::File::open(place.path(name)).unwrap();
        let executable = file.executables().next().unwrap();
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut executable.unpack().unwrap(), &mut bytes).unwrap();
        (executable.is_compressed(), bytes)
    };
    assert_eq!(unpacked("new.popef"), unpacked("compressed-zlib.popef"));
    assert!(unpacked("new.popef").0);
}

#[test]
fn how_an_executable_was_and_is_compressed_is_told() {
    let names = ["gzip", "zlib-6", "zstd", "lz4"];
    let files = names.map(|name| format!("compressed/{name}.popef"));
    let place = Place::with(&files.each_ref().map(|file| &**file));
    for (name, note, words) in [
        ("zlib-6", "recompressed", "compressed anew with zlib: executable"),
        ("gzip", "recompressed", "compressed anew with gzip: executable"),
        ("zstd", "as-zlib", "compressed anew with zlib, and no longer with zstd: executable"),
        ("lz4", "as-zlib", "compressed anew with zlib, and no longer with lz4: executable"),
    ] {
        let (file, folder) = (format!("{name}.popef"), format!("{name}-unpacked"));
        let run = place.run(&["extract", &file, "-o", &folder, "--unpacked", "--format", "json"]).good();
        assert_eq!(run.json()["files"][0]["blobs"][0]["notes"], serde_json::json!([note]), "{run:?}");
        let run = place.run(&["pack", &folder, "--dry-run"]).good();
        assert!(run.text().contains(words), "{run:?}");
        // One that was not unpacked is told in the same way.
        place.run(&["extract", &file, "-o", name]).good();
        let run = place.run(&["pack", name, "--compression", "gzip:9", "--dry-run", "--format", "json"]).good();
        let blob = &run.json()["blobs"][0];
        let (state, was) = (blob["state"].as_str().unwrap(), name.split('-').next().unwrap());
        assert!(state == "wouldGrow" || (blob["was"] == was && blob["now"] == "gzip"), "{blob}");
    }
    place.write("zeros.bin", [0; 1000]);
    place.run(&["pack", "--executable", "zeros.bin", "-o", "zeros.popef"]).good();
    place.run(&["extract", "zeros.popef", "-o", "zeros"]).good();
    let run = place.run(&["pack", "zeros", "--compression", "zlib", "--dry-run"]).good();
    assert!(run.text().contains("compressed with zlib: executable zeros"), "{run:?}");
}

#[test]
fn a_damaged_entry_is_named() {
    let place = Place::with(&["arrays/checksum.npz"]);
    let run = place.run(&["pack", "--tensors", "checksum.npz", "-o", "new", "--format", "json"]);
    assert!(run.err.contains("popef pack: checksum.npz: entry \"weights.npy\": its checksum is wrong"), "{run:?}");
    assert_eq!(run.json()["error"]["file"], "checksum.npz");
}

/// Saves arrays of all types in all ways, and prints the name, type, shape and bytes of each as they must be read.
const SAVE: &str = r#"
import sys
import numpy as np
from safetensors.numpy import save_file

TYPES = {"bool": "BOOL", "float16": "F16", "float32": "F32", "float64": "F64", "int8": "S8", "uint8": "U8", "int16": "S16",
         "uint16": "U16", "int32": "S32", "uint32": "U32", "int64": "S64", "uint64": "U64"}
random = np.random.default_rng(7)
folder = sys.argv[1]
arrays = {}
for name in TYPES:
    for shape in [(), (3,), (0, 4), (2, 3, 4), (70, 700)]:
        bits = random.integers(0, 2, shape) if name == "bool" else random.integers(-100, 100, shape)
        arrays[f"{name}/{shape}"] = np.asarray(bits).astype(name)
save_file(arrays, f"{folder}/all.safetensors", metadata={"format": "np"})
np.savez(f"{folder}/all.npz", **arrays)
np.savez_compressed(f"{folder}/deflated.npz", **{name: np.array(array, order='F') for name, array in arrays.items()})
np.save(f"{folder}/big-endian.npy", arrays["float32/(2, 3, 4)"].astype(">f4"))
for name, array in arrays.items():
    print(name, TYPES[array.dtype.name], list(array.shape), array.tobytes().hex(), sep="|")
"#;

#[test]
fn what_numpy_and_safetensors_save_is_packed() {
    let place = Place::with(&[]);
    let Some(saved) = python(SAVE, &["numpy", "safetensors"], &[place.path("")]) else { return };
    let mut saved: Vec<&str> = saved.lines().collect();
    saved.sort();
    for file in ["all.safetensors", "all.npz", "deflated.npz"] {
        place.run(&["pack", "--tensors", file, "-o", "packed.popef", "--force"]).good();
        let packed = popef::File::open(place.path("packed.popef")).unwrap();
        let mut read: Vec<String> = packed
            .tensors()
            .map(|tensor| {
                let hex: String = tensor.data().read().unwrap().iter().map(|byte| format!("{byte:02x}")).collect();
                format!("{}|{}|{:?}|{hex}", tensor.name(), tensor.data_type(), tensor.shape().to_vec())
            })
            .collect();
        read.sort();
        assert!(read == saved, "{file}");
    }
    place.run(&["pack", "--tensors", "big-endian.npy", "all.npz", "-o", "packed.popef", "--force"]).good();
    let packed = popef::File::open(place.path("packed.popef")).unwrap();
    let bytes = |name: &str| packed.tensor(name).unwrap().data().read().unwrap().into_owned();
    assert_eq!(bytes("big-endian"), bytes("float32/(2, 3, 4)"));
}

/// They are bytes in the file, so that numpy's functions load it.
#[test]
fn eight_bit_floats_keep_their_types_in_safetensors() {
    let place = Place::with(&["interop/all-types.popef"]);
    place.run(&["extract", "all-types.popef", "-o", "all", "--tensors-as", "safetensors", "--format", "json"]).good();
    let types = |file: &str| {
        let file = popef::File::open(place.path(file)).unwrap();
        let types = file.tensors().map(|tensor| (tensor.name().to_string(), tensor.data_type()));
        types.collect::<std::collections::BTreeMap<_, _>>()
    };
    let weights = "all/tensors.safetensors";
    place.run(&["pack", "--tensors", weights, "-o", "weights.popef"]).good();
    assert_eq!(types("weights.popef"), types("all-types.popef"));
    assert!(types("weights.popef").values().any(|data_type| *data_type == popef::DataType::F8143));
    place.run(&["set", "all-types.popef", "--tensors", weights, "-o", "set.popef"]).good();
    assert_eq!(place.read("set.popef"), place.read("all-types.popef"));
    place.run(&["pack", "all", "-o", "again.popef"]).good();
    assert_eq!(place.read("again.popef"), place.read("all-types.popef"));
    assert!(!place.read(weights).windows(4).any(|bytes| bytes == b"FNUZ"), "numpy reads no type of such a name");
}

/// What `popef check` warns of, `pack` warns of too.
#[test]
fn data_that_fits_but_is_hardly_meant_is_told() {
    let place = extracted();
    let pack = |shape: &str, len: usize, name: &str, more: &[&str]| {
        place.write("feed.npy", npy("<f4", shape, &vec![7; len]));
        let feed = format!("{name}=feed.npy");
        place.run(&[&["pack", "model", "--feed", &feed, "-o", "new.popef", "--force"], more].concat())
    };
    for (shape, len, words) in [
        ("3, 5", 60, Some("feed \"user_input\" has 15 samples, and each call takes 2: the last call lacks 1")),
        ("3, 1", 12, Some("feed \"user_input\" has 3 samples, and each call takes 2: the last call lacks 1")),
        ("0, 2", 0, Some("feed \"user_input\" has 0 tensors")),
        ("3, 2", 24, None),
        ("4, 1", 16, None),
    ] {
        let run = pack(shape, len, "user_input", &[]).good();
        let warning = words.map(|words| format!("popef pack: warning: {words}\n")).unwrap_or_default();
        assert_eq!(run.err, warning, "{shape}");
        let check = place.run(&["check", "new.popef"]);
        assert!(check.text().contains(words.unwrap_or("0 warnings")), "{check:?}");
        let run = pack(shape, len, "user_input", &["--format", "json"]).good();
        assert_eq!(run.json()["warningCount"], u64::from(words.is_some()), "{shape}");
        assert_eq!(run.json()["warnings"][0].as_str(), words, "{shape}");
    }
    let run = pack("3, 2", 24, "usr_input", &[]).good();
    assert!(run.err.contains("warning: feed \"usr_input\": no anchor has this name"), "{run:?}");
    let run = pack("3, 2, 1", 24, "user_input", &[]);
    assert!(run.status == 2 && run.err.contains("has the shape [2, 1], but its anchor has [2]"), "{run:?}");
}

#[test]
fn feeds_of_different_lengths_are_told_if_one_is_changed() {
    let place = Place::with(&["checks/PE310.popef"]);
    place.run(&["extract", "PE310.popef", "-o", "model"]).good();
    let pack = || place.run(&["pack", "model", "-o", "new.popef", "--force"]).good();
    assert_eq!(pack().err, "", "it was so before");
    place.write("model/feeds/x.npy", npy("<f4", "4, 1", &[7; 16]));
    let run = pack();
    assert!(run.err.contains("warning: feed \"z\" is enough for 3 calls"), "{run:?}");
    place.write("model/feeds/x.npy", npy("<f4", "3, 1", &[7; 12]));
    assert_eq!(pack().err, "");
}

#[test]
fn bytes_become_the_8_bit_floats_of_their_anchor() {
    let place = Place::with(&["interop/executable.popef"]);
    let fields = [
        "inputs[input_parameter].tensorInfo.dataType=F8143",
        "outputs[input_parameter].tensorInfo.dataType=F8143",
        "inputs[user_input].tensorInfo.dataType=F8152",
        "inputs[user_input].tensorInfo.shape=[5]",
    ];
    let sets: Vec<_> = fields.iter().flat_map(|field| ["--set", field]).collect();
    let args = [&["set", "executable.popef", "-o", "float8.popef"][..], &sets].concat();
    place.run(&args).good();
    place.run(&["extract", "float8.popef", "-o", "model", "--type", "executable,metadata"]).good();
    let only = |folder: &str| fs::read_dir(place.path(folder)).unwrap().next().unwrap().unwrap().path();
    let (executable, metadata) = (only("model/executables"), only("model/metadata"));
    let model = ["pack", "--executable", executable.to_str().unwrap(), "--metadata", metadata.to_str().unwrap()];
    place.write("input_parameter.npy", npy("|u1", "2,", &[7; 2]));
    place.write("feed.npy", npy("|u1", "3, 5", &[7; 15]));
    let data = ["--tensors", "input_parameter.npy", "--feed", "user_input=feed.npy", "-o", "new.popef", "--force"];
    let run = place.run(&[&model[..], &data].concat()).good();
    assert!(run.text().contains("new, its bytes taken as F8143 like its anchor: tensor input_parameter"), "{run:?}");
    let run = place.run(&[&model[..], &data, &["--format", "json"]].concat()).good();
    let taken: Vec<_> = run.json()["blobs"].as_array().unwrap().iter().map(|blob| blob["takenAs"].clone()).collect();
    assert_eq!(taken, [serde_json::Value::Null, serde_json::Value::Null, "F8143".into(), "F8152".into()]);
    let file = popef::File::open(place.path("new.popef")).unwrap();
    assert_eq!(file.tensor("input_parameter").unwrap().data_type(), popef::DataType::F8143);
    let feed = file.feed("user_input").unwrap();
    assert_eq!((feed.data_type(), feed.num_tensors()), (popef::DataType::F8152, 3));
    // Other bytes stay what they are, and do not fit.
    place.write("input_parameter.npy", npy("|u1", "2, 1", &[7; 2]));
    let run = place.run(&[&model[..], &data].concat());
    assert!(run.status == 2 && run.err.contains("has the type U8, but its anchor has F8143"), "{run:?}");
    // Without metadata, nothing says that they are floats.
    place.run(&["pack", "--tensors", "input_parameter.npy", "-o", "weights.popef"]).good();
    let weights = popef::File::open(place.path("weights.popef")).unwrap();
    assert_eq!(weights.tensor("input_parameter").unwrap().data_type(), popef::DataType::U8);
}

/// The format forbids executables without a name or with that of another, but files have them.
#[test]
fn names_that_the_format_forbids_come_back_only_from_the_file_that_had_them() {
    for file in ["PE010.popef", "PE105.popef", "PE602.popef"] {
        let place = Place::with(&[&format!("checks/{file}")]);
        for form in [&[][..], &["--unpacked"]] {
            place.run(&[&["extract", file, "-o", "model", "--force"], form].concat()).good();
            place.run(&["pack", "model", "-o", "same.popef", "--force"]).good();
            assert_eq!(place.read("same.popef"), place.read(file));
        }
        place.run(&["pack", "model", "--compression", "zlib:0", "-o", "small.popef"]).good();
        let index = String::from_utf8(place.read("model/index.json")).unwrap();
        assert!(index.contains("\"anyName\":true"), "{index}");
        place.write("model/index.json", index.replace("\"anyName\":true,", "").replace(",\"anyName\":true", ""));
        let run = place.run(&["pack", "model", "-o", "new.popef"]);
        assert!(run.status == 2 && run.err.contains("executable-unnamed") != run.err.contains("duplicate"), "{run:?}");
        assert!(!place.path("new.popef").exists());
    }
}

#[test]
fn no_input_is_replaced_by_force() {
    let place = extracted();
    let refused = |args: &[&str], kept: &str| {
        let before = place.read(kept);
        let run = place.run(&[args, &["-o", kept, "--force"]].concat());
        assert!(run.status == 2 && run.err.contains("[output-is-input]"), "{args:?}: {run:?}");
        assert!(place.read(kept) == before, "{kept}");
    };
    let files = [
        "index.json",
        "metadata/3284579348837926701.json",
        "executables/3284579348837926701.bin",
        "opaque/popart.bin",
        "tensors/input_parameter.npy",
    ];
    for file in files {
        refused(&["pack", "model"], &format!("model/{file}"));
        refused(&["pack", "model", "--dry-run"], &format!("model/{file}"));
    }
    refused(
        &["pack", "--metadata", "model/metadata/3284579348837926701.json"],
        "model/metadata/3284579348837926701.json",
    );
    let array = "model/tensors/input_parameter.npy";
    refused(&["set", "executable.popef", "--tensors", array], array);
    refused(&["set", "executable.popef", "--tensors", "model"], array);
    place.write("patch.json", "{\"numIpus\": 4}");
    refused(&["set", "executable.popef", "--merge", "patch.json"], "patch.json");
    place.write("list", "executable.popef\n");
    refused(&["merge", "--files-from", "list"], "list");
    refused(&["compress", "--files-from", "list"], "list");
    refused(&["decompress", "--files-from", "list"], "list");
    refused(&["report", "--files-from", "list"], "list");
}

#[test]
fn what_the_index_does_not_name_is_told() {
    let place = extracted();
    let quiet = place.run(&["pack", "model", "-o", "model/new.popef"]).good();
    assert_eq!(quiet.err, "");
    // An output in the folder is no part of it.
    let again = place.run(&["pack", "model", "-o", "model/new.popef", "--force"]).good();
    assert_eq!(again.err, "");
    fs::remove_file(place.path("model/new.popef")).unwrap();
    fs::copy(place.path("f32.npy"), place.path("model/tensors/bias.npy")).unwrap();
    let run = place.run(&["pack", "model", "-o", "new.popef", "--format", "json"]).good();
    assert!(run.err.contains("model/tensors/bias.npy was left out") && run.err.contains("--tensors"), "{run:?}");
    assert_eq!(run.json()["leftOut"], serde_json::json!([{"file": "model/tensors/bias.npy"}]));
    let run = place.run(&["pack", "model", "--tensors", "model/tensors/bias.npy", "-o", "given.popef"]).good();
    assert_eq!(run.err, "popef pack: warning: tensor \"bias\": no anchor has this name\n", "it is packed");
    // In place of a file with several arrays, one that was saved with others.
    place.run(&["extract", "executable.popef", "-o", "several", "--tensors-as", "safetensors"]).good();
    let header = br#"{"bias":{"dtype":"F32","shape":[1],"data_offsets":[8,12]},"input_parameter":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#;
    let len = u64::try_from(header.len()).unwrap().to_le_bytes();
    place.write("several/tensors.safetensors", [&len, header.as_slice(), &[0; 12]].concat());
    let run = place.run(&["pack", "several", "-o", "other.popef"]).good();
    assert!(run.err.contains("array \"bias\" of several/tensors.safetensors was left out"), "{run:?}");
    let before = place.read("executable.popef");
    for arrays in ["several", "several/tensors.safetensors"] {
        let run = place.run(&["set", "executable.popef", "--tensors", arrays, "--in-place"]);
        assert!(run.status == 2 && run.err.contains("no tensor or feed has the name \"bias\""), "{run:?}");
        assert!(run.err.contains("[no-such-name]"), "{run:?}");
    }
    assert!(place.read("executable.popef") == before);
}

#[test]
fn what_the_checks_find_in_the_new_file_is_told_or_refused() {
    let place = extracted();
    let line = ["pack", "--metadata", "model/metadata/3284579348837926701.json", "-o", "new.popef"];
    let told = place.run(&line).good();
    assert!(told.err.contains("the checks find now: error PE101: blob 0: "), "{told:?}");
    let refused = place.run(&[&line[..], &["--force", "--strict"]].concat());
    assert!(refused.status == 2 && refused.err.contains("PE101"), "{refused:?}");
    let fine = place.run(&["pack", "model", "-o", "fine.popef", "--strict"]).good();
    assert_eq!(fine.err, "");
}

/// A `.safetensors` file with F32 tensors of one element, as another program writes it.
fn write_safetensors(place: &Place, file: &str, names: &[&str]) {
    let members: Vec<String> = names
        .iter()
        .enumerate()
        .map(|(at, name)| {
            let (name, start) = (serde_json::to_string(name).unwrap(), 4 * at);
            format!("{name}:{{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[{start},{}]}}", start + 4)
        })
        .collect();
    let header = format!("{{{}}}", members.join(","));
    let data = vec![1; 4 * names.len()];
    place.write(file, [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &data].concat());
}

/// The types and names of all tensors and feeds.
fn listed(place: &Place, file: &str) -> Vec<(popef::types::BlobType, String)> {
    let file = popef::File::open(place.path(file)).unwrap();
    let mut all: Vec<_> =
        file.blobs().filter_map(|blob| Some((blob.blob_type(), blob.as_data()?.name().to_string()))).collect();
    all.sort_by_key(|(_, name)| name.clone());
    all
}

const ONNX: [&str; 3] = ["/encoder/layer.0/MatMul_output_0", "encoder.w", "tab\t"];

fn onnx() -> Place {
    let place = Place::with(&[]);
    write_safetensors(&place, "onnx.safetensors", &ONNX);
    place.run(&["pack", "--tensors", "onnx.safetensors", "-o", "o.popef"]).good();
    place
}

#[test]
fn files_have_their_true_names_wherever_they_are_named_from() {
    let place = onnx();
    let wanted = listed(&place, "o.popef");
    place.run(&["extract", "o.popef", "-o", "od"]).good();
    let npys = ["_encoder_layer.0_MatMul_output_0.npy", "encoder.w.npy", "tab_.npy"];
    let within = |args: &[&str]| {
        let mut command = place.command();
        crate::common::finish(command.current_dir(place.path("od/tensors")).args(args))
    };
    within(&[&["pack", "-o", "../../c.popef", "--tensors"], &npys[..]].concat()).good();
    assert_eq!(listed(&place, "c.popef"), wanted);
    within(&["pack", "-o", "../../d.popef", "--tensors", "./_encoder_layer.0_MatMul_output_0.npy"]).good();
    assert_eq!(listed(&place, "d.popef"), wanted[..1]);
    within(&["set", "../../o.popef", "--tensors", ".", "--dry-run"]).good();
}

#[test]
fn archives_of_a_folder_have_their_true_names_too() {
    let place = onnx();
    let wanted = listed(&place, "o.popef");
    for form in ["npz", "safetensors"] {
        place.run(&["extract", "o.popef", "-o", form, "--tensors-as", form]).good();
        let file = format!("{form}/tensors.{form}");
        place.run(&["pack", "--tensors", &file, "-o", "c.popef", "--force"]).good();
        assert_eq!(listed(&place, "c.popef"), wanted, "{form}");
        place.run(&["set", "o.popef", "--tensors", &file, "--dry-run"]).good();
    }
}

#[test]
fn a_file_with_other_keys_has_the_names_or_says_that_it_has_not() {
    let place = onnx();
    let run = place.run(&["extract", "o.popef", "-o", "one.safetensors"]).good();
    let words = "the file has another key for it; popef.name.KEY in __metadata__ has the name; KEY is tab_\n";
    assert!(run.text().contains(words), "{run:?}");
    place.run(&["pack", "--tensors", "one.safetensors", "-o", "c.popef"]).good();
    assert_eq!(listed(&place, "c.popef"), listed(&place, "o.popef"));
    place.run(&["set", "o.popef", "--tensors", "one.safetensors", "--dry-run"]).good();
    let run = place.run(&["extract", "o.popef", "-o", "one.npz"]).good();
    let words = "take that key, KEY, for the name; KEY is _encoder_layer.0_MatMul_output_0\n";
    assert!(run.text().contains(words), "{run:?}");
}

#[test]
fn feeds_stay_feeds_or_it_is_told() {
    let place = Place::with(&["interop/all-types.popef"]);
    let wanted = listed(&place, "all-types.popef");
    place.run(&["extract", "all-types.popef", "-o", "as.safetensors"]).good();
    place.run(&["pack", "--tensors", "as.safetensors", "-o", "c.popef"]).good();
    let kinds = |file: &str| {
        let mut all = listed(&place, file);
        all.sort_by_key(|(kind, name)| (kind.number(), name.clone()));
        all
    };
    assert_eq!(kinds("c.popef"), kinds("all-types.popef"));
    place.run(&["extract", "all-types.popef", "-o", "ad"]).good();
    place.run(&["pack", "--tensors", "ad/feeds/f_f32.npy", "-o", "f.popef"]).good();
    assert_eq!(listed(&place, "f.popef"), [(popef::types::BlobType::DataFeed, "f_f32".to_owned())]);
    place.run(&["pack", "--tensors", "f_f32=ad/feeds/f_f32.npy", "-o", "t.popef"]).good();
    assert_eq!(listed(&place, "t.popef"), [(popef::types::BlobType::DataTensor, "f_f32".to_owned())]);
    let run = place.run(&["extract", "all-types.popef", "-o", "all.npz"]).good();
    assert!(run.text().contains("given as --feed NAME=FILE\n"), "{run:?}");
    place.run(&["pack", "--feed", "f_f32=all.npz", "-o", "g.popef"]).good();
    assert_eq!(listed(&place, "g.popef"), listed(&place, "f.popef"));
    assert!(wanted.len() > 2);
}

#[test]
fn metadata_comes_from_standard_input() {
    let place = Place::with(&["interop/executable.popef"]);
    place.run(&["extract", "executable.popef", "-o", "m"]).good();
    let json = fs::read_dir(place.path("m/metadata")).unwrap().next().unwrap().unwrap().path();
    let args = ["pack", "--metadata", "-", "-o", "x.popef"];
    let mut command = place.command();
    let stdin = fs::File::open(&json).unwrap();
    crate::common::finish(command.args(args).stdin(stdin)).good();
    place.run(&["pack", "--metadata", json.to_str().unwrap(), "-o", "y.popef"]).good();
    assert_eq!(place.read("x.popef"), place.read("y.popef"));
    let run = place.run(&["pack", "--metadata", "-", "-o", "z.popef"]);
    assert!(run.status == 2 && run.err.contains("standard input: it is no metadata as JSON"), "{run:?}");
}

/// A dry run finds what the real one does, also without a path.
#[test]
fn a_strict_dry_run_says_what_the_real_run_would() {
    let place = Place::with(&["interop/executable.popef", "checks/PE302.popef"]);
    for (model, folder) in [("PE302.popef", "bad"), ("executable.popef", "good")] {
        place.run(&["extract", model, "-o", folder]).good();
    }
    for (line, is_refused) in [
        ("pack bad", true),
        ("pack good", false),
        ("merge PE302.popef", true),
        ("merge executable.popef", false),
        ("set executable.popef --set numIpus=0", true),
        ("set executable.popef --set numIpus=2", false),
    ] {
        let line: Vec<_> = line.split(' ').chain(["--strict"]).collect();
        let run = |more: &[&str]| place.run(&[&line[..], more].concat());
        let before = place.names();
        let dry = [run(&["--dry-run"]), run(&["--dry-run", "-o", "new", "--force"])];
        assert_eq!(place.names(), before, "{line:?}");
        let real = run(&["-o", "new", "--force"]);
        assert_eq!((real.status == 2, real.err.contains("[new-findings]")), (is_refused, is_refused), "{real:?}");
        assert!(dry.iter().all(|dry| (dry.status, &dry.err) == (real.status, &real.err)), "{dry:?}, but {real:?}");
        let [piped, dry] = [run(&["-o", "-"]), run(&["-o", "-", "--dry-run"])];
        assert_eq!((piped.status, &piped.err), (2, &dry.err), "{line:?}");
    }
}

/// An unchanged folder is not compared with its anchors before it is packed.
#[test]
fn errors_that_the_folder_had_are_told() {
    let place = Place::with(&["checks/PE302.popef"]);
    place.run(&["extract", "PE302.popef", "-o", "model"]).good();
    let run = place.run(&["pack", "model", "-o", "new.popef", "--format", "json"]).good();
    assert!(run.err.contains("the checks find now: error PE302: "), "{run:?}");
    assert_eq!(run.json()["newFindings"][0]["rule"], "PE302");
    let told = place.run(&["pack", "model", "--unchecked", "-o", "again.popef"]).good();
    assert_eq!(told.err.matches("PE302").count(), 1, "{told:?}");
}
