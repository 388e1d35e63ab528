//! `popef pack`.

use std::fs;

use crate::common::{Place, hold_golden};

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
        "pack model --compress zlib:6 -o small.popef",
        "pack model --tensors f32.npy -o more.popef",
        "pack --tensors f32.npy stored.npz float8.safetensors --feed images=u8.npy -o weights.popef",
        "ls weights.popef",
        "pack --executable u8.npy:model --opaque notes=f32.npy -o named.popef",
        "ls named.popef",
        "pack model --dry-run --format json",
        "pack model -o same.popef",
        "pack nowhere -o other.popef",
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
        assert_eq!((new.size(), new.header_bytes()), (old.size(), old.header_bytes()));
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
