//! `popef hash`.

use std::fs;
use std::process::Command;

use crate::common::{Place, finish, hold_golden, testdata};
use crate::peers::{python, skip};

#[test]
fn digests_are_shown() {
    let files = [
        "interop/executable.popef",
        "compressed/zlib-1.popef",
        "compressed/plain-poplar.popef",
        "broken/gzip-without-trailer.popef",
        "golden/hostile-names.popef",
        "golden/damaged.popef",
    ];
    let commands = [
        "hash executable.popef zlib-1.popef hostile-names.popef",
        "hash --data --algorithm both --whole executable.popef",
        "hash --type tensor executable.popef",
        "hash gzip-without-trailer.popef",
        "hash damaged.popef no-such-file.popef executable.popef",
        "hash --format json --whole executable.popef zlib-1.popef",
        "hash --format ndjson --algorithm blake3 executable.popef zlib-1.popef",
        "hash --sums executable.popef zlib-1.popef",
        "hash --sums --algorithm both executable.popef",
        "hash --sums --whole executable.popef",
    ];
    hold_golden("hash", &files, &commands);
}

/// Names that `sha256sum` escapes, and large files of which BLAKE3 hashes pieces.
#[test]
fn sums_are_those_of_sha256sum_and_b3sum() {
    let place = Place::with(&[]);
    let names = ["a b", "back\\slash", "line\nend", "return\rhere", " spaces ", "*star", "größe"];
    let mut all: Vec<String> = Vec::new();
    for (number, name) in names.into_iter().enumerate() {
        place.write(name, vec![7; number * 300_000]);
        all.push(name.to_owned());
    }
    for (algorithm, program) in [("sha256", "sha256sum"), ("blake3", "b3sum")] {
        // b3sum 1.2 leaves carriage returns as they are.
        let names: Vec<&str> =
            all.iter().map(String::as_str).filter(|name| algorithm == "sha256" || !name.contains('\r')).collect();
        let ours = place.run(&[&["hash", "--sums", "--algorithm", algorithm], names.as_slice()].concat()).good();
        let mut peer = Command::new(program);
        peer.current_dir(place.path("")).args(&names);
        if peer.output().is_err() {
            skip(&format!("there is no {program}"));
            continue;
        }
        assert_eq!(String::from_utf8_lossy(&ours.out), String::from_utf8_lossy(&finish(&mut peer).out), "{algorithm}");
        place.write("SUMS", &ours.out);
        let mut check = Command::new(program);
        check.current_dir(place.path("")).args(["-c", "SUMS"]);
        assert_eq!(finish(&mut check).status, 0, "{algorithm}");
    }
    let from_stdin = place.run_with_input(&["hash", "--sums", "-"], b"").good();
    assert_eq!(from_stdin.text(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  -\n");
}

/// Several files are hashed at once, and each result comes out as if they were not.
#[test]
fn many_files_come_out_in_their_order() {
    let place = Place::with(&["interop/executable.popef", "compressed/zlib-1.popef", "golden/damaged.popef"]);
    let of = ["executable.popef", "damaged.popef", "zlib-1.popef", "none.popef"];
    let files: Vec<&str> = of.into_iter().cycle().take(50).collect();
    for format in ["text", "ndjson"] {
        let run = |files: &[&str]| place.run(&[&["hash", "--format", format], files].concat());
        let alone = of.map(|file| run(&[file]));
        let all = run(&files);
        let out: String = alone.iter().cycle().take(50).map(|run| run.text()).collect();
        assert_eq!((all.text(), all.status), (out.as_str(), 2));
        let words: String = alone.iter().cycle().take(50).map(|run| run.err.as_str()).collect();
        assert_eq!(all.err, words);
    }
}

/// Python computes every digest anew, from what the documentation says of their form.
#[test]
fn manifests_are_what_python_computes() {
    let mut files: Vec<String> = Vec::new();
    for folder in ["interop", "golden", "elements", "later", "opaque"] {
        for entry in fs::read_dir(testdata().join(folder)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if name.ends_with(".popef") && name != "damaged.popef" {
                files.push(format!("{folder}/{name}"));
            }
        }
    }
    files.extend(
        ["zlib-1", "gzip-two-members", "plain-poplar", "zlib-poplar"].map(|name| format!("compressed/{name}.popef")),
    );
    files.extend(fs::read_dir(testdata().join("opaque/poptorch")).unwrap().filter_map(|entry| {
        let name = entry.unwrap().file_name().into_string().unwrap();
        name.ends_with(".poptorch").then(|| format!("opaque/poptorch/{name}"))
    }));
    let names: Vec<&str> = files.iter().map(String::as_str).collect();
    let place = Place::with(&[]);
    let run = |args: &[&str]| finish(place.command().current_dir(testdata()).args(args).args(&names)).good();
    place.write(
        "dump.json",
        finish(place.command().current_dir(testdata()).args(["dump", "--format", "json"]).args(&names)).out,
    );
    for options in [&["--whole"][..], &[]] {
        place.write("hash.json", run(&[&["hash", "--format", "json"], options].concat()).out);
        let args = [place.path("hash.json"), place.path("dump.json"), testdata()];
        let Some(blobs) = python(include_str!("hash.py"), &["hashlib"], &args) else { return };
        assert!(blobs.trim().parse::<u32>().unwrap() > 100, "{blobs}");
    }
}
