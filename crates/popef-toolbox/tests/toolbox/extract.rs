//! `popef extract`.

use std::fs;
use std::process::Stdio;

use popef::{DataType, File};

use crate::common::{Place, finish, hold_golden};
use crate::peers::python;

#[test]
fn what_is_extracted_is_shown() {
    let lines = [
        "extract executable.popef --dry-run",
        "extract executable.popef -o model",
        "extract executable.popef -o model",
        "extract executable.popef split-tensors.popef -o both --type tensor",
        "extract executable.popef -o -",
        "extract executable.popef -o model --force --format json",
    ];
    hold_golden("extract", &["interop/executable.popef", "interop/split-tensors.popef"], &lines);
}

#[test]
fn nothing_is_written_through_a_link_or_over_what_is_there() {
    let place = Place::with(&["interop/executable.popef"]);
    fs::create_dir(place.path("mine")).unwrap();
    place.write("mine/notes", "mine");
    for (args, words) in [
        (&["extract", "executable.popef", "-o", "mine"][..], "has no index.json [in-the-way]"),
        (&["extract", "executable.popef", "-o", "mine", "--force"], "has no index.json"),
        (&["extract", "executable.popef", "-o", "executable.popef", "--force"], "not a folder"),
    ] {
        let run = place.run(args);
        assert!(run.status == 2 && run.err.contains(words), "{run:?}");
    }
    #[cfg(unix)]
    {
        fs::create_dir(place.path("target")).unwrap();
        std::os::unix::fs::symlink("target", place.path("link")).unwrap();
        for args in [&["-o", "link"][..], &["-o", "link/"], &["-o", "link", "--force"]] {
            let run = place.run(&[&["extract", "executable.popef"], args].concat());
            let words = "it is a link, and nothing is written through links [in-the-way]\npopef extract: Choose another path.\n";
            assert!(run.status == 2 && run.err.ends_with(words), "{run:?}");
        }
        assert_eq!(fs::read_dir(place.path("target")).unwrap().count(), 0);
        // Links in a folder that is replaced go with it, and what they lead to stays.
        place.run(&["extract", "executable.popef", "-o", "target"]).good();
        let (npy, mine) = (place.path("target/tensors/input_parameter.npy"), place.path("mine"));
        fs::remove_file(&npy).unwrap();
        std::os::unix::fs::symlink(mine.join("notes"), &npy).unwrap();
        fs::remove_dir_all(place.path("target/opaque")).unwrap();
        std::os::unix::fs::symlink(&mine, place.path("target/opaque")).unwrap();
        place.run(&["extract", "executable.popef", "-o", "target", "--force"]).good();
        assert!(fs::symlink_metadata(&npy).unwrap().is_file() && place.path("target/opaque/popart.bin").exists());
        assert_eq!(fs::read_dir(&mine).unwrap().count(), 1);
    }
    assert_eq!(place.read("mine/notes"), b"mine");
    let names: &[&str] =
        if cfg!(unix) { &["executable.popef", "link", "mine", "target"] } else { &["executable.popef", "mine"] };
    assert_eq!(place.names(), names);
}

#[test]
fn folders_above_the_new_one_are_made_and_go_if_it_fails() {
    let place = Place::with(&["interop/executable.popef", "interop/compressed-zlib.popef"]);
    place.run(&["extract", "executable.popef", "-o", "a/b/model"]).good();
    assert!(place.path("a/b/model/index.json").exists());
    let mut bytes = place.read("compressed-zlib.popef");
    let file = File::open(place.path("compressed-zlib.popef")).unwrap();
    let blob = *file.executable("z").unwrap().blob();
    // The last byte is one of the checksum.
    bytes[(blob.data_offset() + blob.data().len() - 1) as usize] ^= 1;
    place.write("damaged.popef", bytes);
    let run = place.run(&["extract", "damaged.popef", "--unpacked", "-o", "new/and/more"]);
    assert!(run.status == 2 && !place.path("new").exists(), "{run:?}");
}

#[test]
fn a_dry_run_fails_as_the_real_run_would() {
    let place = Place::with(&["interop/executable.popef"]);
    place.run(&["extract", "executable.popef", "-o", "model"]).good();
    place.write("model/mine", "mine");
    for args in [
        &["extract", "executable.popef", "-o", "model"][..],
        &["extract", "executable.popef", "-o", "model", "--force"],
        &["extract", "executable.popef", "-o", "executable.popef"],
        &["extract", "executable.popef", "-o", "executable.popef/new"],
    ] {
        let real = place.run(args);
        let trial = place.run(&[args, &["--dry-run"]].concat());
        assert!(real.status == 2 && !real.err.is_empty(), "{real:?}");
        assert_eq!(trial, real);
    }
    place.run(&["extract", "executable.popef", "-o", "a/b/model", "--dry-run"]).good();
    assert_eq!(place.names(), ["executable.popef", "model"]);
}

/// The files in a folder, with their sizes.
fn files_in(folder: &std::path::Path, within: &str) -> Vec<(String, u64)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{within}{}", entry.file_name().to_str().unwrap());
        match entry.metadata().unwrap() {
            found if found.is_dir() => files.extend(files_in(&entry.path(), &format!("{name}/"))),
            found => files.push((name, found.len())),
        }
    }
    files.sort();
    files
}

/// Also those that belong to no blob, and what follows a tensor.
#[test]
fn a_dry_run_names_all_files_with_their_sizes() {
    let place = Place::with(&["interop/executable.popef", "opaque/poptorch/poptorch25.poptorch"]);
    for input in place.names() {
        for form in ["npy", "raw"] {
            let args = ["extract", &input, "--tensors-as", form, "-o", "out"];
            let with = |more: &[&'static str]| place.run(&[&args[..], more].concat()).good();
            let text = with(&["--dry-run"]).text().to_owned();
            let report = |run: crate::common::Run| run.json()["files"][0].take();
            let dry = report(with(&["--dry-run", "--format", "json"]));
            assert_eq!(report(with(&["--format", "json"])), dry);
            let part =
                |part: &serde_json::Value| (part["path"].as_str().unwrap().to_owned(), part["size"].as_u64().unwrap());
            let mut named: Vec<_> = dry["others"].as_array().unwrap().iter().map(part).collect();
            for blob in dry["blobs"].as_array().unwrap() {
                let surplus = blob.get("surplus").map(part);
                let size = blob["extractedSize"].as_u64().unwrap() - surplus.as_ref().map_or(0, |(_, size)| *size);
                named.push((blob["path"].as_str().unwrap().to_owned(), size));
                named.extend(surplus);
            }
            named.sort();
            assert_eq!(named, files_in(&place.path("out"), ""), "{input}");
            for (name, _) in named {
                assert!(
                    text.contains(&format!(": {name}, ")) || text.contains(&format!("\n  {name}, ")),
                    "{name}: {text}"
                );
            }
            fs::remove_dir_all(place.path("out")).unwrap();
        }
    }
}

#[test]
fn only_what_was_extracted_is_replaced() {
    let place = Place::with(&["interop/executable.popef"]);
    let extract = |input: &str| place.run(&["extract", input, "-o", "model", "--force"]);
    let again = |words: &str| {
        let run = extract("executable.popef");
        assert!(run.status == 2 && run.err.contains(words), "{run:?}");
    };
    fs::create_dir(place.path("model")).unwrap();
    place.write("model/index.json", r#"{"schemaVersion": 2}"#);
    again("an index.json of another kind");
    fs::remove_file(place.path("model/index.json")).unwrap();

    extract("executable.popef").good();
    place.write("model/tensors/mine", "mine");
    again("only one that was extracted is replaced: tensors/mine in this one was not [in-the-way]");
    fs::remove_file(place.path("model/tensors/mine")).unwrap();
    place.write("model/in.popef", place.read("executable.popef"));
    assert_eq!(extract("model/in.popef").status, 2);
    assert_eq!(place.read("model/in.popef"), place.read("executable.popef"));
    fs::remove_file(place.path("model/in.popef")).unwrap();
    extract("executable.popef").good();
    assert_eq!(place.names(), ["executable.popef", "model"]);
}

/// A folder that only its owner may read stays so.
#[cfg(unix)]
#[test]
fn a_folder_that_is_replaced_keeps_its_permissions() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::with(&["interop/executable.popef"]);
    let mode = || fs::metadata(place.path("model")).unwrap().permissions().mode() & 0o7777;
    fs::create_dir(place.path("model")).unwrap();
    fs::set_permissions(place.path("model"), fs::Permissions::from_mode(0o700)).unwrap();
    place.run(&["extract", "executable.popef", "-o", "model"]).good();
    assert_eq!(mode(), 0o700);
    fs::set_permissions(place.path("model"), fs::Permissions::from_mode(0o750)).unwrap();
    place.run(&["extract", "executable.popef", "-o", "model", "--force"]).good();
    assert_eq!(mode(), 0o750);
}

/// Loads every array that index.json names, and prints its file, key, type, shape and bytes.
const LOAD: &str = r#"
import json, pathlib, sys
import numpy as np
from safetensors import safe_open
from safetensors.numpy import load_file

folder = pathlib.Path(sys.argv[1])
for entry in json.loads((folder / "index.json").read_text())["blobs"]:
    data = entry.get("data", {"form": "none"})
    if data["form"] == "npy":
        array = np.load(folder / data["file"], allow_pickle=False)
    elif data["form"] == "npz":
        with np.load(folder / data["file"], allow_pickle=False) as arrays:
            array = arrays[data["key"]]
    elif data["form"] == "safetensors":
        array = load_file(folder / data["file"])[data["key"]]
        with safe_open(folder / data["file"], "np") as tensors:
            said = (tensors.metadata() or {}).get("popef.dataType." + data["key"])
            info = entry["blob"].get("tensor") or entry["blob"]["feed"]
            wanted = info["tensorInfo"]["dataType"]
            assert said == (wanted if wanted.startswith("F8") else None), (said, wanted)
    else:
        continue
    assert array.flags["C_CONTIGUOUS"]
    print(array.dtype.str, array.dtype.name, list(array.shape), array.tobytes().hex() or "none")
"#;

/// What numpy calls a type, or that of its bytes if numpy has none.
fn numpy_names(data_type: DataType) -> (&'static str, &'static str) {
    match data_type {
        DataType::Bool => ("|b1", "bool"),
        DataType::F16 => ("<f2", "float16"),
        DataType::F32 => ("<f4", "float32"),
        DataType::F64 => ("<f8", "float64"),
        DataType::S8 => ("|i1", "int8"),
        DataType::S16 => ("<i2", "int16"),
        DataType::U16 => ("<u2", "uint16"),
        DataType::S32 => ("<i4", "int32"),
        DataType::U32 => ("<u4", "uint32"),
        DataType::S64 => ("<i8", "int64"),
        DataType::U64 => ("<u8", "uint64"),
        _ => ("|u1", "uint8"),
    }
}

/// What numpy and safetensors must load of a file.
fn expected(file: &File) -> String {
    let mut lines = String::new();
    for data in file.blobs().filter_map(|blob| blob.as_data()) {
        let mut shape = data.shape().to_vec();
        if data.is_feed() {
            shape.insert(0, data.num_tensors().into());
        }
        let (code, name) = numpy_names(data.data_type());
        let len = data.size_in_bytes().unwrap() * u64::from(data.num_tensors());
        let bytes = data.data().range(0..len).unwrap().read().unwrap();
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let bytes = if hex.is_empty() { "none" } else { &hex };
        lines.push_str(&format!("{code} {name} {shape:?} {bytes}\n"));
    }
    lines
}

#[test]
fn numpy_and_safetensors_load_what_is_extracted() {
    let arrays = ["arrays/scalar.npy", "arrays/none.npy", "arrays/bool.npy"];
    let files = ["elements/elements.popef", "interop/all-types.popef", "golden/hostile-names.popef"];
    let place = Place::with(&[&arrays[..], &files].concat());
    place.run(&["pack", "--tensors", "scalar.npy", "none.npy", "bool.npy", "-o", "odd.popef"]).good();
    for file in ["elements.popef", "all-types.popef", "hostile-names.popef", "odd.popef"] {
        for form in ["npy", "npz", "safetensors"] {
            let folder = format!("{form}-{file}");
            place.run(&["extract", file, "-o", &folder, "--tensors-as", form]).good();
            let Some(loaded) = python(LOAD, &["numpy", "safetensors"], &[place.path(&folder)]) else { return };
            assert_eq!(loaded, expected(&File::open(place.path(file)).unwrap()), "{file} as {form}");
        }
    }
}

/// NumPy takes the names of entries for keys too.
#[test]
fn an_npz_has_no_key_that_leads_to_another_array() {
    let place = Place::with(&[]);
    let names = ["w", "w.npy", "W.NPY", "v.npy", "w.npy.npy"];
    let mut writer = popef::Writer::create(place.path("keys.popef")).unwrap();
    for (name, byte) in names.into_iter().zip(1u8..) {
        let tensor_info = popef::TensorInfo::new(DataType::U8, []);
        writer.write_tensor(&popef::types::TensorDataInfo { name: name.into(), tensor_info }, &[byte]).unwrap();
    }
    writer.finish().unwrap();
    place.run(&["extract", "keys.popef", "-o", "model", "--tensors-as", "npz"]).good();
    let index: serde_json::Value = serde_json::from_slice(&fs::read(place.path("model/index.json")).unwrap()).unwrap();
    let blobs = index["blobs"].as_array().unwrap();
    let keys: Vec<&str> = blobs.iter().map(|blob| blob["data"]["key"].as_str().unwrap()).collect();
    assert_eq!(keys, ["w", "w.npy~2", "W.NPY", "v.npy", "w.npy.npy~3"]);
    place.run(&["pack", "model", "-o", "again.popef"]).good();
    assert_eq!(place.read("again.popef"), place.read("keys.popef"));
    let Some(loaded) = python(LOAD, &["numpy", "safetensors"], &[place.path("model")]) else { return };
    assert_eq!(loaded, expected(&File::open(place.path("keys.popef")).unwrap()));
}

/// Every file is where its name cannot have led.
#[test]
fn hostile_names_stay_in_the_folder() {
    let place = Place::with(&["arrays/scalar.npy"]);
    let names = [
        "../up",
        "../../up",
        "/absolute",
        "C:\\drive",
        "a/b",
        "a\\b",
        "a:b",
        "A:B",
        "..",
        ".",
        "",
        "con",
        "NUL",
        "aux.txt",
        "-rf",
        ".hidden",
        "end.",
        "end ",
        "\u{1b}[2J",
        "e\u{301}",
        "\u{e9}",
        "\u{202e}txt.exe",
        "__metadata__",
        "index",
        "nul\0end",
    ];
    let long = "n".repeat(5000);
    let mut writer = popef::Writer::create(place.path("hostile.popef")).unwrap();
    for name in names.into_iter().chain([&*long]) {
        let tensor_info = popef::TensorInfo::new(DataType::U8, []);
        let info = popef::types::TensorDataInfo { name: name.to_owned().into(), tensor_info };
        writer.write_tensor(&info, &[7u8]).unwrap();
        let info = popef::types::OpaqueInfo { name: name.to_owned().into(), executable: name.to_owned().into() };
        writer.write_opaque(&info, name.as_bytes()).unwrap();
    }
    writer.finish().unwrap();
    for form in ["npy", "npz", "safetensors", "raw"] {
        place.run(&["extract", "hostile.popef", "-o", "model", "--tensors-as", form]).good();
        let mut found = 0;
        for folder in ["tensors", "opaque"] {
            let Ok(entries) = fs::read_dir(place.path("model").join(folder)) else { continue };
            for entry in entries {
                let name = entry.unwrap().file_name().into_string().unwrap();
                let hostile = |letter: char| letter.is_control() || "/\\:*?\"<>|\u{202e}".contains(letter);
                assert!(!name.contains(hostile) && name.len() <= 255 && !name.starts_with(['.', '-']), "{name}");
                found += 1;
            }
        }
        assert_eq!(found, if form == "npy" || form == "raw" { 52 } else { 26 }, "{form}");
        place.run(&["pack", "model", "-o", "again.popef", "--force"]).good();
        assert_eq!(place.read("again.popef"), place.read("hostile.popef"));
        fs::remove_dir_all(place.path("model")).unwrap();
    }
    assert_eq!(place.names(), ["again.popef", "hostile.popef", "scalar.npy"]);
}

/// A file with tensors of these names. Each has one byte, its number from 1 on.
fn with_names(place: &Place, path: &str, names: &[&str]) {
    let mut writer = popef::Writer::create(place.path(path)).unwrap();
    for (name, byte) in names.iter().zip(1u8..) {
        let tensor_info = popef::TensorInfo::new(DataType::U8, [1]);
        writer
            .write_tensor(&popef::types::TensorDataInfo { name: (*name).to_owned().into(), tensor_info }, &[byte])
            .unwrap();
    }
    writer.finish().unwrap();
}

#[test]
fn letters_of_all_scripts_stay_in_names() {
    let place = Place::with(&[]);
    let long = "日".repeat(100);
    let names = ["größe", "重み.1", "модель (2)", "e\u{301}", "\u{e9}", "É", "a\u{202e}b", "dense/kernel:0", &long];
    with_names(&place, "names.popef", &names);
    place.run(&["extract", "names.popef", "-o", "model"]).good();
    let cut = format!("{}.npy", "日".repeat(76));
    let files: Vec<String> = files_in(&place.path("model/tensors"), "").into_iter().map(|(name, _)| name).collect();
    let mut expected = [
        "größe.npy",
        "重み.1.npy",
        "модель (2).npy",
        "e\u{301}.npy",
        "\u{e9}~2.npy",
        "É~3.npy",
        "a_b.npy",
        "dense_kernel_0.npy",
        &cut,
    ];
    expected.sort_unstable();
    assert_eq!(files, expected);
    place.run(&["pack", "model", "-o", "again.popef"]).good();
    assert_eq!(place.read("again.popef"), place.read("names.popef"));
}

/// Also without the folder's index.json: each file alone says which tensor it is, as far as its name can.
#[test]
fn what_was_extracted_can_be_given_back() {
    let place = Place::with(&[]);
    with_names(&place, "old.popef", &["größe", "dense/kernel:0", "W", "w"]);
    with_names(&place, "new.popef", &["w", "W", "dense/kernel:0", "größe"]);
    let new: Vec<u8> =
        File::open(place.path("new.popef")).unwrap().tensors().map(|tensor| tensor.data().read().unwrap()[0]).collect();
    place.run(&["extract", "new.popef", "-o", "new"]).good();
    place.run(&["extract", "new.popef", "-o", "new.npz"]).good();
    place.run(&["extract", "new.popef", "-o", "new.safetensors"]).good();
    let file = |name: &str| format!("new/tensors/{name}.npy");
    let each = ["größe", "dense_kernel_0", "w", "W~2"].map(file);
    let each: Vec<&str> = each.iter().flat_map(|path| ["--tensors", path]).collect();
    for tensors in [
        &["--tensors", "new"][..],
        &["--tensors", "new/tensors"],
        &each,
        &["--tensors", "new.npz"],
        &["--tensors", "new.safetensors"],
    ] {
        place.run(&[&["set", "old.popef", "-o", "set.popef", "--force"], tensors].concat()).good();
        let set = File::open(place.path("set.popef")).unwrap();
        let set: Vec<u8> = set.tensors().map(|tensor| tensor.data().read().unwrap()[0]).collect();
        assert_eq!((set, &new[..]), (vec![4, 3, 2, 1], &[1, 2, 3, 4][..]), "{tensors:?}");
    }
    let files: Vec<&str> = each.iter().copied().filter(|word| *word != "--tensors").collect();
    place.run(&[&["pack", "-o", "packed.popef", "--tensors"], &files[..]].concat()).good();
    let packed = File::open(place.path("packed.popef")).unwrap();
    let names: Vec<String> = packed.tensors().map(|tensor| tensor.name().to_string()).collect();
    assert_eq!(names, ["größe", "dense/kernel:0", "w", "W"]);
}

#[test]
fn one_file_is_made_by_its_ending() {
    let place = Place::with(&["interop/executable.popef", "interop/all-types.popef", "interop/split-feeds.popef"]);
    let cat = |args: &[&str]| place.run(&[&["cat"], args].concat()).good().out;
    let extract = |args: &[&str]| place.run(&[&["extract"], args].concat());
    place.run(&["extract", "executable.popef", "-o", "model"]).good();
    let npy = place.read("model/tensors/input_parameter.npy");

    let run = extract(&["executable.popef", "-o", "w.npy"]).good();
    assert_eq!(
        run.text(),
        "executable.popef: 1 blob with 16 B of data extracted to w.npy, 3 left out\n  note: input_parameter: bytes after the last tensor were left out\n"
    );
    assert_eq!(place.read("w.npy"), npy);
    extract(&["executable.popef", "-o", "w.bin", "--type", "tensor"]).good();
    assert_eq!(place.read("w.bin"), cat(&["executable.popef", "input_parameter"]));
    extract(&["executable.popef", "-o", "m.json"]).good();
    assert_eq!(place.read("m.json"), cat(&["executable.popef", "--blob", "1"]));
    extract(&["executable.popef", "-o", "e.bin", "--type", "executable", "--unpacked"]).good();
    assert_eq!(place.read("e.bin"), cat(&["executable.popef", "--blob", "2", "--unpacked"]));
    // A slash makes a folder, and so does another ending.
    extract(&["executable.popef", "-o", "folder.npy/"]).good();
    extract(&["executable.popef", "-o", "folder.v1"]).good();
    assert_eq!(place.read("folder.npy/tensors/input_parameter.npy"), npy);
    assert_eq!(place.read("folder.v1/tensors/input_parameter.npy"), npy);

    let report = extract(&["executable.popef", "-o", "j.npy", "--format", "json"]).good().json()["files"][0].take();
    assert_eq!((&report["output"], &report["blobs"][0]["path"]), (&"j.npy".into(), &"j.npy".into()));
    assert_eq!(report["extractedSize"], npy.len());
    let before = place.names();
    let trial =
        extract(&["executable.popef", "-o", "k.npy", "--format", "json", "--dry-run"]).good().json()["files"][0].take();
    assert_eq!(trial["blobs"][0]["extractedSize"], npy.len());
    assert_eq!(place.names(), before);
}

#[test]
fn what_one_file_cannot_be_is_told() {
    let place = Place::with(&["interop/executable.popef", "interop/all-types.popef"]);
    place.write("there.npy", "mine");
    for (args, words) in [
        (&["all-types.popef", "-o", "x.npy"][..], "an .npy file has one tensor or feed, and "),
        (&["all-types.popef", "-o", "x.bin"], "a .bin file has the bytes of one blob other than metadata, and "),
        (
            &["executable.popef", "-o", "x.npy", "--type", "executable"],
            "an .npy file has one tensor or feed, and none is chosen [nothing-chosen]",
        ),
        (
            &["executable.popef", "all-types.popef", "-o", "x.npz"],
            "x.npz is one file, for the blobs of one input; for several, name a folder",
        ),
        (&["executable.popef", "-o", "x.npy", "--tensors-as", "raw"], "--tensors-as raw does not fit x.npy"),
        (&["executable.popef", "-o", "there.npy"], "there.npy: "),
        (&["executable.popef", "-o", "no/x.npy"], "no/x.npy: "),
        (&["executable.popef", "-o", "-"], "see popef cat, also for --format npy"),
    ] {
        for more in [&[][..], &["--dry-run"]] {
            let run = place.run(&[&["extract"], args, more].concat());
            assert!(run.status == 2 && run.err.contains(words), "{args:?} {run:?}");
        }
    }
    assert_eq!(place.names(), ["all-types.popef", "executable.popef", "there.npy"]);
    place.run(&["extract", "executable.popef", "-o", "there.npy", "--force"]).good();
    assert!(place.read("there.npy").starts_with(b"\x93NUMPY"));
}

#[test]
fn numpy_and_safetensors_load_one_file() {
    let place = Place::with(&["interop/all-types.popef", "golden/hostile-names.popef"]);
    for file in ["all-types.popef", "hostile-names.popef"] {
        for ending in ["npz", "safetensors"] {
            place.run(&["extract", file, "-o", &format!("{file}.{ending}")]).good();
            let script = "import sys, numpy, safetensors.numpy\npath = sys.argv[1]\n\
                load = safetensors.numpy.load_file if path.endswith('s') else numpy.load\n\
                arrays = load(path)\nprint(sum(arrays[key].nbytes for key in arrays.keys()), len(list(arrays.keys())))\n";
            let path = place.path(format!("{file}.{ending}"));
            let Some(loaded) = python(script, &["numpy", "safetensors"], &[path]) else { return };
            let opened = File::open(place.path(file)).unwrap();
            let data: Vec<_> = opened.blobs().filter_map(|blob| blob.as_data()).collect();
            let bytes: u64 =
                data.iter().map(|data| data.size_in_bytes().unwrap() * u64::from(data.num_tensors())).sum();
            assert_eq!(loaded.trim(), format!("{bytes} {}", data.len()), "{file} {ending}");
        }
    }
}

/// Whenever it is stopped, there is no folder, or the whole one.
#[test]
#[cfg(unix)]
fn what_is_killed_leaves_nothing_that_looks_whole() {
    let place = Place::with(&["arrays/scalar.npy"]);
    let mut writer = popef::Writer::create(place.path("large.popef")).unwrap();
    for number in 0..300 {
        let tensor_info = popef::TensorInfo::new(DataType::U8, [200_000]);
        let info = popef::types::TensorDataInfo { name: format!("tensor {number}").into(), tensor_info };
        writer.write_tensor(&info, &vec![7u8; 200_000]).unwrap();
    }
    writer.finish().unwrap();
    for nth in 0..8 {
        let mut child =
            place.command().args(["extract", "large.popef", "-o", "model"]).stdout(Stdio::null()).spawn().unwrap();
        // Killed once it has begun to write, and each time later.
        let begun = || {
            fs::read_dir(place.path(""))
                .unwrap()
                .filter_map(Result::ok)
                .find(|entry| entry.file_name().to_string_lossy().starts_with(".popef-extract-"))
        };
        let mut written = 0;
        while written < nth * 30 && child.try_wait().unwrap().is_none() {
            let folder = begun().map(|folder| folder.path().join("tensors"));
            written = folder.and_then(|folder| fs::read_dir(folder).ok()).map_or(0, Iterator::count);
        }
        let _ = child.kill();
        child.wait().unwrap();
        if place.path("model").exists() {
            assert_eq!(fs::read_dir(place.path("model/tensors")).unwrap().count(), 300);
            assert!(place.path("model/index.json").exists());
            fs::remove_dir_all(place.path("model")).unwrap();
        }
        while let Some(left) = begun() {
            fs::remove_dir_all(left.path()).unwrap();
        }
    }
}

/// A limit on the length of files stands for a full disk.
#[cfg(unix)]
#[test]
fn a_full_disk_is_said_of_the_file_that_could_not_be_written() {
    let place = Place::with(&[]);
    let mut writer = popef::Writer::create(place.path("large.popef")).unwrap();
    let info =
        popef::types::TensorDataInfo { name: "w".into(), tensor_info: popef::TensorInfo::new(DataType::U8, [1 << 20]) };
    writer.write_tensor_bytes(&info, &vec![1; 1 << 20]).unwrap();
    writer.finish().unwrap();
    for (args, path) in
        [("extract large.popef -o folder", "folder/tensors/w.npy: "), ("cat large.popef w", "standard output: ")]
    {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", "trap '' XFSZ; ulimit -f 256; exec \"$@\" > out", "sh", env!("CARGO_BIN_EXE_popef")]);
        let run = finish(shell.args(args.split(' ')).current_dir(place.path("")).env("LC_ALL", "C"));
        let line = format!("{path}cannot write the data: File too large");
        assert!(run.status == 2 && run.err.contains(&line) && !run.err.contains("large.popef"), "{run:?}");
        assert!(!place.path("folder").exists());
    }
}

#[test]
fn endings_count_in_capital_letters_too() {
    let place = Place::with(&["interop/executable.popef"]);
    place.run(&["extract", "executable.popef", "-o", "w.NPY", "--type", "tensor"]).good();
    assert!(place.path("w.NPY").is_file());
}
