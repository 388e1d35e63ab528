//! `popef verify`.

use crate::common::{Place, hold_text};

const FILES: [&str; 4] =
    ["interop/executable.popef", "interop/add-clean.popef", "compressed/zlib-1.popef", "compressed/plain-poplar.popef"];

/// A place with files and three manifests of them.
fn place() -> Place {
    let place = Place::with(&FILES);
    let names = ["executable.popef", "zlib-1.popef"];
    for (manifest, options) in [
        ("whole.json", &["hash", "--format", "json", "--whole"][..]),
        ("lines.ndjson", &["hash", "--format", "ndjson", "--algorithm", "both"]),
        ("SUMS", &["hash", "--sums"]),
    ] {
        let run = place.run(&[options, &names].concat()).good();
        place.write(manifest, run.out);
    }
    place
}

#[test]
fn files_are_what_they_were() {
    let place = place();
    for manifest in ["whole.json", "lines.ndjson", "SUMS"] {
        let run = place.run(&["verify", manifest]).good();
        assert_eq!(run.text(), "executable.popef: OK\nzlib-1.popef: OK\n", "{manifest}");
        assert_eq!(place.run(&["verify", "-q", manifest]).good().text(), "");
        let from_stdin = place.run_with_input(&["verify", "-", "zlib-1.popef"], &place.read(manifest));
        assert_eq!(from_stdin.text(), "zlib-1.popef: OK\n", "{manifest}");
    }
    for manifest in ["whole.json", "lines.ndjson"] {
        place.run(&["verify", "--content", manifest]).good();
    }
    assert_eq!(place.run(&["verify", "--content", "SUMS"]).status, 2);
}

#[test]
fn every_changed_byte_is_found() {
    let place = place();
    let bytes = place.read("zlib-1.popef");
    for at in (0..bytes.len()).step_by(61) {
        let mut changed = bytes.clone();
        changed[at] ^= 0x10;
        place.write("zlib-1.popef", changed);
        for manifest in ["whole.json", "lines.ndjson", "SUMS"] {
            assert_eq!(place.run(&["verify", manifest]).status, 1, "byte {at}, {manifest}");
        }
    }
    place.write("zlib-1.popef", &bytes[..bytes.len() - 1]);
    assert_eq!(place.run(&["verify", "whole.json"]).status, 1);
}

/// What was only stored in another way passes by its content, and nothing else does.
#[test]
fn content_is_what_compression_does_not_change() {
    let place = Place::with(&[
        "compressed/zlib-1.popef",
        "compressed/lz4.popef",
        "compressed/gzip-name.popef",
        "interop/executable.popef",
    ]);
    let manifest = place.run(&["hash", "--format", "json", "--whole", "zlib-1.popef"]).good();
    place.write("manifest", manifest.out);
    for (file, by_content, exactly) in [("zlib-1", 0, 0), ("lz4", 0, 1), ("gzip-name", 0, 1), ("executable", 1, 1)] {
        let file = format!("{file}.popef");
        assert_eq!(place.run(&["verify", "--content", "manifest", &file]).status, by_content, "{file}");
        assert_eq!(place.run(&["verify", "manifest", &file]).status, exactly, "{file}");
    }
}

/// What was not compared may be what differs.
#[test]
fn only_what_was_compared_is_said_to_be_the_same() {
    let place = Place::with(&["interop/executable.popef"]);
    let hash = ["hash", "--format", "json", "--whole", "executable.popef"];
    let (original, all) = (place.read("executable.popef"), place.run(&hash).good());
    let chosen = place.run(&[hash.as_slice(), &["--type", "tensor"]].concat()).good();
    let whole = format!(r#"{{"path":"executable.popef","whole":{},"blobs":[]}}"#, all.json()["files"][0]["whole"]);
    let is_said = |manifest: &[u8], words: &str| {
        let run = place.run_with_input(&["verify", "-"], manifest);
        assert_eq!((run.status, run.text()), (1, &*format!("executable.popef: FAILED\n  ~ {words}\n")));
    };
    let manifests = [chosen.out.as_slice(), whole.as_bytes()];
    place.run(&["set", "executable.popef", "--set", "numIpus=7", "--in-place"]).good();
    for manifest in manifests {
        is_said(manifest, "the bytes differ; the manifest does not say where");
    }
    place.write("executable.popef", original);
    place.run(&["set", "executable.popef", "--set-version", "9.9", "--in-place"]).good();
    is_said(&all.out, "only order, versions, the encoding of messages or bytes after tensors");
}

/// Without the digest of the whole file too: those of the headers and of the data cover each byte.
#[test]
fn a_manifest_covers_headers_and_order() {
    let place = Place::with(&["interop/executable.popef"]);
    place.write("m.json", place.run(&["hash", "--format", "json", "executable.popef"]).good().out);
    assert_eq!(place.run(&["verify", "m.json"]).good().text(), "executable.popef: OK\n");
    let original = place.read("executable.popef");
    let words = "executable.popef: FAILED\n  ~ only order, versions, the encoding of messages or bytes after tensors\n";
    let other_version = ["set", "executable.popef", "--set-version", "9.9", "--in-place"];
    let other_order =
        "merge parts/executable-tensors.popef parts/executable-executables.popef -o executable.popef --force";
    place.run(&["split", "executable.popef", "--by", "kind", "-o", "parts"]).good();
    for change in [other_version.to_vec(), other_order.split(' ').collect()] {
        place.write("executable.popef", &original);
        place.run(&change).good();
        let run = place.run(&["verify", "m.json"]);
        assert_eq!((run.status, run.text()), (1, words), "{change:?}");
        place.run(&["verify", "--content", "m.json"]).good();
    }
}

/// A manifest that was made before it had digests of headers, or of chosen blobs.
#[test]
fn what_a_manifest_cannot_tell_is_said() {
    let place = Place::with(&["interop/executable.popef"]);
    let hash = ["hash", "--format", "json", "executable.popef"];
    let mut old = place.run(&hash).good().json();
    old["files"][0].as_object_mut().unwrap().remove("headers").unwrap();
    let chosen = place.run(&[&hash[..], &["--type", "tensor"]].concat()).good().json();
    let mut without_blobs = place.run(&hash).good().json();
    without_blobs["files"][0]["blobs"] = serde_json::json!([]);
    let of_data =
        "bytes after tensors and how executables are stored were not compared: the manifest has no digests of blobs";
    let of_headers = "headers, versions and order were not compared: the manifest has no digest of them";
    let of_blobs = "only chosen blobs were compared: the manifest has no others";
    for (manifest, words) in [(old, of_headers), (chosen, of_blobs), (without_blobs, of_data)] {
        place.write("m.json", manifest.to_string());
        let run = place.run(&["verify", "m.json"]).good();
        assert_eq!(run.text(), format!("executable.popef: OK\n  note: {words}\n"));
        assert_eq!(place.run(&["verify", "--content", "m.json"]).good().text(), "executable.popef: OK\n");
        assert_eq!(place.run(&["verify", "-q", "m.json"]).good().text(), "");
        let found = place.run(&["verify", "--format", "json", "m.json"]).good().json();
        assert_eq!((&found["files"][0]["ok"], found["files"][0].get("whole")), (&true.into(), None));
    }
}

/// 64 hex digits do not say which algorithm they are of.
#[test]
fn lines_of_either_algorithm_fit() {
    let place = Place::with(&["interop/executable.popef"]);
    place.write("B3SUMS", place.run(&["hash", "--sums", "--algorithm", "blake3", "executable.popef"]).good().out);
    place.run(&["verify", "B3SUMS"]).good();
    place.run(&["verify", "--algorithm", "blake3", "B3SUMS"]).good();
    assert_eq!(place.run(&["verify", "--algorithm", "sha256", "B3SUMS"]).status, 1);
    place.run(&["set", "executable.popef", "--set-version", "9.9", "--in-place"]).good();
    assert_eq!(place.run(&["verify", "B3SUMS"]).status, 1);
}

#[test]
fn a_manifest_of_a_later_version_is_refused() {
    let place = place();
    let manifest = String::from_utf8(place.read("whole.json")).unwrap();
    place.write("later", manifest.replace(r#""schemaVersion":1"#, r#""schemaVersion":9"#));
    let run = place.run(&["verify", "later"]);
    assert!(run.status == 2 && run.err.contains("schemaVersion is 9, and only 1 is known"), "{run:?}");
}

/// A manifest may come from anybody.
#[test]
fn all_documents_of_a_manifest_count() {
    let place = place();
    let manifests = ["executable.popef", "zlib-1.popef"].map(|file| {
        let run = place.run(&["hash", "--format", "json", "--whole", file]);
        run.good().text().to_owned()
    });
    place.write("both", manifests.concat());
    place.run(&["verify", "both"]).good();
    place.write("cut", format!("{}{{", manifests[0]));
    assert_eq!(place.run(&["verify", "cut"]).status, 2);
    let mut changed = place.read("zlib-1.popef");
    *changed.last_mut().unwrap() ^= 1;
    place.write("zlib-1.popef", changed);
    let run = place.run(&["verify", "both"]);
    assert!(run.status == 1 && run.text().contains("zlib-1.popef: FAILED"), "{run:?}");
}

#[test]
fn no_manifest_does_harm() {
    let place = place();
    let digest = "0".repeat(64);
    let entry = |path: &str, rest: &str| format!("{{\"path\":\"{path}\",\"size\":1{rest}}}");
    let nested = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let cases = [
        String::new(),
        "{".into(),
        "{}".into(),
        "{\"files\":[]}".into(),
        "{\"files\":[{}]}".into(),
        format!("{{\"files\":{nested}}}"),
        entry("executable.popef", ""),
        entry("executable.popef", ",\"whole\":{}"),
        entry("executable.popef", ",\"whole\":{\"sha256\":\"12\"}"),
        entry("executable.popef", ",\"whole\":{\"md5\":\"12\"}"),
        entry("executable.popef", ",\"pathBytes\":\"zz\""),
        entry("-", &format!(",\"whole\":{{\"sha256\":\"{digest}\"}}")),
        entry("/dev/zero", &format!(",\"whole\":{{\"sha256\":\"{digest}\"}}")),
        format!("{digest}  /dev/zero\n"),
        format!("{digest}  /\n"),
        "no digest".into(),
        "\u{1b}[31m".into(),
    ];
    for case in cases {
        place.write("manifest", &case);
        let run = place.run(&["verify", "manifest"]);
        assert_eq!(run.status, 2, "{case:.100}: {run:?}");
        assert!(!run.text().contains('\u{1b}') && !run.err.contains('\u{1b}'), "{run:?}");
    }
}

#[test]
fn what_is_wrong_is_shown() {
    let manifest = "hash --format ndjson --whole executable.popef zlib-1.popef";
    let place = Place::with(&FILES);
    place.write("manifest", place.run(&manifest.split(' ').collect::<Vec<_>>()).good().out);
    let shown = |args: &[&str]| {
        let run = place.run(args);
        format!("$ popef {}\n{}{}exit status {}\n", args.join(" "), run.text(), run.err, run.status)
    };
    let mut text = shown(&["verify", "manifest"]);
    place.write("zlib-1.popef", place.read("plain-poplar.popef"));
    place.write("executable.popef", place.read("add-clean.popef"));
    text += &shown(&["verify", "manifest"]);
    text += &shown(&["verify", "--content", "manifest"]);
    text += &shown(&["verify", "--format", "json", "manifest"]);
    place.write("zlib-1.popef", &place.read("executable.popef")[..3000]);
    std::fs::remove_file(place.path("executable.popef")).unwrap();
    text += &shown(&["verify", "manifest"]);
    text += &shown(&["verify", "manifest", "add-clean.popef"]);
    hold_text("verify", &text);
}

/// What is not chosen may differ, in the file, in the manifest, and in the order of blobs.
#[test]
fn only_chosen_blobs_are_compared() {
    let place = place();
    let all = place.read("executable.popef");
    // The tensor is the last blob, and has as many surplus bytes as elements.
    let mut changed = all.clone();
    changed[all.len() - 16] ^= 1;
    for manifest in ["whole.json", "lines.ndjson"] {
        let verify = |args: &[&str]| place.run(&[&["verify", manifest, "executable.popef"], args].concat());
        place.write("executable.popef", &changed);
        let run = verify(&["--type", "executable,opaque"]).good();
        assert_eq!(run.text(), "executable.popef: OK (2 blobs chosen; the file as a whole was not compared)\n");
        let run = verify(&["--filter", "INPUT*", "-i"]);
        assert_eq!(run.status, 1);
        assert!(
            run.text().contains("(1 blob chosen; ") && run.text().contains("tensor \"input_parameter\" differs"),
            "{run:?}"
        );
        let report = &verify(&["--type", "metadata", "--format", "json"]).good().json()["files"][0];
        assert_eq!((&report["status"], &report["chosen"]), (&"same".into(), &1.into()));
        assert!(["whole", "content", "prefix"].iter().all(|key| report.get(key).is_none()), "{report}");
        let run = verify(&["--filter", "nothing"]);
        assert!(run.status == 2 && run.err.contains("[nothing-chosen]") && !run.text().contains("OK"), "{run:?}");
        let json = verify(&["--filter", "nothing", "--format", "json"]);
        assert!(json.status == 2 && json.text().contains("\"status\":\"nothingChosen\""), "{json:?}");

        // A blob is missing, which is one of the chosen or not, and the order is another one.
        place.write("executable.popef", &all);
        place.run(&["strip", "--in-place", "executable.popef", "--drop", "opaque"]).good();
        verify(&["--exclude", "popart"]).good();
        let run = verify(&["--type", "opaque"]);
        assert!(run.status == 1 && run.text().contains("opaque \"popart\" is missing"), "{run:?}");
        place.write("executable.popef", &all);
    }
    let run = place.run(&["verify", "SUMS", "--type", "tensor"]);
    assert!(run.status == 2 && run.err.contains("none can be chosen; popef hash"), "{run:?}");
}

#[test]
fn of_a_file_without_blobs_none_can_be_chosen() {
    let place = Place::with(&["interop/executable.popef"]);
    place.write("e.popef", "");
    let manifest = place.run(&["hash", "--format", "json", "executable.popef", "e.popef"]).good();
    place.write("man", &manifest.out);
    let run = place.run(&["verify", "man", "--type", "tensor"]);
    assert!(run.status == 0 && run.text().contains("\ne.popef: NOTHING CHOSEN"), "{run:?}");
    place.write("e.popef", place.read("executable.popef"));
    let run = place.run(&["verify", "man", "--type", "tensor"]);
    assert!(run.status == 1 && run.text().contains("\ne.popef: FAILED"), "{run:?}");
}

#[test]
fn who_chooses_blobs_of_lines_of_sums_is_told_what_to_make() {
    let place = Place::with(&["interop/executable.popef"]);
    let sums = place.run(&["hash", "--sums", "executable.popef"]).good();
    place.write("SHA256SUMS", &sums.out);
    let run = place.run(&["verify", "SHA256SUMS", "--type", "tensor"]);
    assert!(run.status == 2 && run.err.contains("popef hash --format json makes a manifest that has them"), "{run:?}");
    assert!(!run.err.contains("lines of sha256sum"), "{run:?}");
}
