//! `popef cat`. The official Cap'n Proto library says where the data of a blob lies, and `hexdump` what bytes look like.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::common::{Place, hold_golden, testdata};

/// What the official library says of files, in `testdata/interop`.
fn known_files() -> Vec<(String, Vec<Value>)> {
    let names = ["executable", "all-types", "compressed-zlib", "two-models", "split", "add-clean"];
    let files = names.iter().flat_map(|name| {
        let text = fs::read_to_string(testdata().join(format!("interop/{name}.json"))).unwrap();
        let document: Value = serde_json::from_str(&text).unwrap();
        document["files"].as_array().unwrap().clone()
    });
    files.map(|file| (file["path"].as_str().unwrap().to_owned(), file["blobs"].as_array().unwrap().clone())).collect()
}

/// The metadata as it is in its file, without what others know of its anchors.
fn as_stored(info: &Value) -> Value {
    let mut info = info.clone();
    for anchor in info["anchors"].as_array_mut().unwrap() {
        anchor.as_object_mut().unwrap().remove("providedBy");
    }
    info
}

#[test]
fn data_is_what_the_file_has() {
    let mut count = 0;
    for (file, blobs) in known_files() {
        let place = Place::with(&[&format!("interop/{file}")]);
        let bytes = place.read(&file);
        for (index, blob) in blobs.iter().enumerate() {
            let shown = place.run(&["cat", &file, "--blob", &index.to_string()]).good();
            let number = |key: &str| usize::try_from(blob[key].as_u64().unwrap()).unwrap();
            let (from, len) = (number("dataOffset"), number("dataSize"));
            match blob["type"].as_str() {
                Some("metadata") => assert_eq!(shown.json(), as_stored(&blob["info"]), "{file} {index}"),
                _ => assert_eq!(shown.out, &bytes[from..from + len], "{file} {index}"),
            }
            assert_eq!(shown.err, "");
            count += 1;
        }
    }
    assert!(count > 40, "{count}");
}

#[test]
fn parts_of_data_are_the_parts_of_the_whole() {
    let place = Place::with(&["compressed/zlib-poplar.popef", "compressed/plain-poplar.popef"]);
    let cat = |file: &str, more: &[&str]| place.run(&[&["cat", file, "model"], more].concat()).good().out;
    let plain = cat("plain-poplar.popef", &[]);
    assert_eq!(cat("zlib-poplar.popef", &["--unpacked"]), plain);
    assert_eq!(cat("plain-poplar.popef", &["--unpacked"]), plain);
    assert_eq!(cat("zlib-poplar.popef", &["--unpacked", "--skip", "1000", "--length", "0x20"]), &plain[1000..1032]);
    assert_eq!(cat("plain-poplar.popef", &["-s", "0x10", "-n", "5"]), &plain[16..21]);
    assert_eq!(cat("plain-poplar.popef", &["-s", &plain.len().to_string()]), b"");
    let past = place.run(&["cat", "plain-poplar.popef", "model", "-s", "9999999"]);
    assert_eq!((past.out.as_slice(), past.status), (b"".as_slice(), 2));
    assert!(past.err.contains("--skip 9999999 is past the end"), "{}", past.err);
}

#[test]
fn unpacked_executables_are_what_the_compressors_got() {
    let payload = fs::read(testdata().join("compressed/payload.bin")).unwrap();
    for name in ["zlib-1", "zlib-9", "gzip", "gzip-two-members", "zstd", "lz4"] {
        let file = format!("compressed/{name}.popef");
        let place = Place::with(&[&file]);
        let run = place.run(&["cat", "--unpacked", &format!("{name}.popef"), "--blob", "0"]).good();
        assert!(run.out == payload, "{name}");
    }
}

#[test]
fn an_npy_file_is_that_of_extract() {
    let place = Place::with(&["interop/all-types.popef", "interop/executable.popef", "golden/natural.popef"]);
    let mut count = 0;
    for file in ["all-types.popef", "executable.popef"] {
        place.run(&["extract", file, "-o", "model", "--force"]).good();
        let index: Value = serde_json::from_slice(&place.read("model/index.json")).unwrap();
        for (number, blob) in index["blobs"].as_array().unwrap().iter().enumerate() {
            let npy = place.run(&["cat", file, "--blob", &number.to_string(), "--format", "npy"]);
            let Some(path) = blob["data"]["file"].as_str().filter(|path| path.ends_with(".npy")) else {
                assert!(npy.status == 2 && npy.err.contains("is no tensor or feed"), "{npy:?}");
                continue;
            };
            assert_eq!(npy.clone().good().out, place.read(&format!("model/{path}")), "{path}");
            assert_eq!(npy.err.contains("left out"), file == "executable.popef");
            count += 1;
        }
    }
    assert!(count > 10, "{count}");
    let run = place.run(&["cat", "executable.popef", "input_parameter", "--format", "npy", "--hex"]);
    assert!(run.status == 2 && run.err.contains("--hex is for bytes"), "{run:?}");
}

#[test]
fn a_damaged_checksum_is_found() {
    let place = Place::with(&["compressed/zlib-1.popef"]);
    let mut bytes = place.read("zlib-1.popef");
    *bytes.last_mut().unwrap() ^= 1;
    place.write("wrong.popef", &bytes);
    let run = place.run(&["cat", "--unpacked", "wrong.popef", "--blob", "0"]);
    assert_eq!(run.status, 2, "{}", run.err);
}

#[test]
fn hexadecimal_is_that_of_hexdump() {
    if Command::new("hexdump").arg("-V").output().is_err() {
        assert!(std::env::var_os("CI").is_none(), "hexdump is missing");
        eprintln!("skipped: hexdump is missing");
        return;
    }
    let place = Place::with(&["interop/executable.popef", "compressed/plain-poplar.popef"]);
    for file in ["executable.popef", "plain-poplar.popef"] {
        let index = if file == "executable.popef" { "2" } else { "0" };
        place.write("data.bin", place.run(&["cat", file, "--blob", index]).good().out);
        for (ours, theirs) in [
            (&["--length", "all"][..], &[][..]),
            (&[], &["-n", "256"]),
            (&["-s", "0x123", "-n", "1000"], &["-s", "0x123", "-n", "1000"]),
            (&["-n", "0"], &["-n", "0"]),
        ] {
            let shown = place.run(&[&["cat", "--hex", file, "--blob", index], ours].concat()).good();
            let expected = Command::new("hexdump").arg("-C").args(theirs).arg(place.path("data.bin")).output().unwrap();
            assert_eq!(shown.text(), String::from_utf8(expected.stdout).unwrap(), "{file} {ours:?}");
        }
    }
}

#[test]
fn a_blob_is_found_by_the_name_that_is_shown() {
    let place = Place::with(&["golden/hostile-names.popef", "interop/executable.popef", "golden/damaged.popef"]);
    let by_name = place.run(&["cat", "hostile-names.popef", "safe\\u{202e}txt.exe"]).good().out;
    assert_eq!(by_name, place.run(&["cat", "hostile-names.popef", "safe\u{202e}txt.exe"]).good().out);
    assert_eq!(by_name, place.run(&["cat", "hostile-names.popef", "--blob", "2"]).good().out);
    let piped = place.run_with_input(&["cat", "-", "input_parameter"], &place.read("executable.popef")).good();
    assert_eq!(piped.out[..8], [0, 0, 0xc0, 0x3f, 0, 0, 0x10, 0xc0]);
}

#[test]
fn a_closed_pipe_is_no_error() {
    let place = Place::with(&["interop/executable.popef"]);
    for args in [&["--blob", "2"][..], &["--blob", "2", "--hex", "-n", "all"], &["--blob", "2", "--unpacked"]] {
        let mut command = place.command();
        command.args(["cat", "executable.popef"]).args(args).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.stderr.as_slice(), output.status.code()), (b"".as_slice(), Some(0)));
    }
}

#[test]
fn what_is_shown() {
    let files =
        ["interop/executable.popef", "golden/damaged.popef", "golden/hostile-names.popef", "golden/natural.popef"];
    hold_golden(
        "cat",
        &files,
        &[
            "cat --hex executable.popef input_parameter",
            "cat --hex -n 32 executable.popef --blob 2",
            "cat --hex --color always -n 32 executable.popef --blob 0",
            "cat -x executable.popef --type executable 3284579348837926701",
            "cat executable.popef 3284579348837926701",
            "cat executable.popef input_paramter",
            "cat executable.popef --type feed input_parameter",
            "cat executable.popef --blob 4",
            "cat --hex executable.popef --blob 1",
            "cat --unpacked executable.popef input_parameter",
            "cat -n ten executable.popef --blob 0",
            "cat hostile-names.popef evil",
            "cat natural.popef weight",
            "cat --hex damaged.popef second",
            "cat damaged.popef third",
            "cat none.popef third",
            "cat . third",
        ],
    );
}
