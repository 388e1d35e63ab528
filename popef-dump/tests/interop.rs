//! Compares with output of others: the vendor's listings and the official Cap'n Proto library.

mod common;

use common::{files, golden, interop, run, testdata};
use popef::OpenOptions;
use popef::types::FileInfo;
use serde_json::Value;

fn without_indentation(text: &str) -> Vec<&str> {
    text.lines().map(str::trim_start).collect()
}

#[test]
fn listings_are_the_vendors() {
    let run = run(&interop(), &["-a", "-t", "-e", "-o", "executable.popef"]);
    let vendor = include_str!("vendor/anchors-tensors-execs-opaques.txt");
    assert_eq!(without_indentation(&run.out), without_indentation(vendor));
    assert_eq!((run.err.as_str(), run.status), ("", 0));
}

#[test]
fn the_listing_of_metadata_is_the_vendors() {
    let run = run(&interop(), &["-m", "executable.popef"]);
    assert_eq!(without_indentation(&run.out), without_indentation(include_str!("vendor/metadata.txt")));
}

#[test]
fn long_options_are_the_vendors() {
    let short = run(&interop(), &["-m", "-a", "-u", "-e", "-t", "-f", "-o", "executable.popef"]);
    let long = ["--metadata", "--anchors", "--user-anchors", "--execs", "--tensors", "--feeds", "--opaques"];
    let long = run(&interop(), &[&long[..], &["executable.popef"]].concat());
    assert_eq!(short.out, long.out);
}

#[test]
fn json_is_what_the_official_library_reads() {
    let documents = files(&interop(), ".json");
    assert!(documents.len() >= 10);
    for document in documents {
        let name = document.trim_end_matches(".json");
        let inputs = match name {
            "split" => ["executable", "tensors", "feeds"].map(|part| format!("split-{part}.popef")).to_vec(),
            _ => vec![format!("{name}.popef")],
        };
        let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
        let expected = std::fs::read_to_string(interop().join(&document)).unwrap();
        let expected: Value = serde_json::from_str(&expected).unwrap();
        for all in [&["--all", "--format", "json"][..], &["--format=json"]] {
            let run = run(&interop(), &[all, &inputs].concat());
            assert_eq!(run.json(), expected, "{document}");
            assert_eq!((run.err.as_str(), run.status), ("", 0));
        }
    }
}

#[test]
fn lines_say_the_same_as_the_document() {
    for input in files(&interop(), ".popef") {
        let document = run(&interop(), &["--format", "json", &input]).json();
        let mut lines = run(&interop(), &["--format", "ndjson", &input]).json_lines();
        for line in &mut lines {
            let mut take = |key| line.as_object_mut().unwrap().remove(key);
            assert_eq!((take("kind"), take("file")), (Some("blob".into()), Some(input.as_str().into())));
        }
        assert_eq!(document["files"][0]["blobs"].as_array().unwrap(), &lines, "{input}");
    }
}

/// The library's own JSON, with its tool's additions taken away from the tool's.
#[test]
fn json_is_the_librarys() {
    for folder in [interop(), golden(), testdata().join("checks"), testdata().join("compressed")] {
        for input in files(&folder, ".popef") {
            let Ok(file) = OpenOptions::new().damaged(true).open(folder.join(&input)) else { continue };
            let mut of_library = serde_json::to_value(&file).unwrap();
            of_library["path"] = input.as_str().into();
            let mut of_tool = run(&folder, &["--format", "json", &input]).json()["files"][0].take();
            // The tool names options, and the path as it was given.
            let of_errors = |of_tool: &mut Value, of_library: &Value| {
                if let (Some(error), Some(same)) = (of_tool.get_mut("error"), of_library.get("error")) {
                    (error["file"], error["advice"]) = (same["file"].clone(), same["advice"].clone());
                }
            };
            of_errors(&mut of_tool, &of_library);
            let of_library_blobs = of_library["blobs"].as_array().unwrap();
            for (blob, same) in of_tool["blobs"].as_array_mut().unwrap().iter_mut().zip(of_library_blobs) {
                of_errors(blob, same);
                blob.as_object_mut().unwrap().remove("payload");
                let anchors = blob["info"].get_mut("anchors").and_then(Value::as_array_mut);
                for anchor in anchors.into_iter().flatten().filter_map(Value::as_object_mut) {
                    assert!(anchor.remove("providedBy").is_some());
                    anchor.remove("error");
                }
            }
            assert_eq!(of_tool, of_library, "{input}");
            assert_eq!(serde_json::from_value::<FileInfo>(of_tool).unwrap().blobs, file.describe().blobs, "{input}");
        }
    }
}
