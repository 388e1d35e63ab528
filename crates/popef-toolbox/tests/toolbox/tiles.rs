//! `popef tiles`.

use std::fs;

use crate::common::{Place, hold_golden, testdata};

#[test]
fn mappings_are_planned() {
    let commands = [
        "tiles plan 784x10 F16",
        "tiles plan [128] float --tiles 8 --offset 6 --list",
        "tiles plan 100x100 half --tiles 64 --grain 16 --min-elements 400 --descending",
        "tiles plan 50000x1024 F16 --ipus 4 --offset 5880",
        "tiles plan 0x7 S32",
        "tiles plan 10x10 F32 --tiles 4 --format json",
        "tiles plan scalar U8 --tiles 4 --offset 3 --format ndjson",
        "tiles plan 784x10 F16 --grain 0",
        "tiles plan 4294967296x4294967296 F16",
        "tiles plan 4294967295x4294967297 F64",
        "tiles plan 784by10 F16",
        "tiles plan 784x10 F17",
        "tiles plan --help",
    ];
    hold_golden("tiles-plan", &[], &commands);
}

/// 10^12 elements on the tiles of 128 IPUs: the work grows with intervals, and each element is mapped once.
#[test]
fn large_tensors_are_planned_by_intervals() {
    let run = Place::with(&[]).run(&["tiles", "plan", "1000000x1000000", "F16", "--ipus", "128", "--format", "json"]);
    let plan = run.good().json();
    let mapping = plan["mapping"].as_array().unwrap();
    assert_eq!(mapping.len(), 188_416);
    let mut end = 0;
    for (number, tile) in mapping.iter().enumerate() {
        assert_eq!(tile["tile"], number);
        let [interval] = &tile["intervals"].as_array().unwrap()[..] else { panic!("{tile}") };
        assert_eq!(interval[0], end);
        end = interval[1].as_u64().unwrap();
    }
    assert_eq!(end, 1_000_000_000_000);
}

#[test]
fn maps_of_tensorflow_are_judged() {
    let commands = [
        "tiles map model.tensor_map.json",
        "tiles map model.tensor_map.json --tiles 368 --top 2",
        "tiles map model.tensor_map.json --tiles 100 --ipus 2",
        "tiles map model.tensor_map.json --top 1 --format json",
        "tiles map model.tensor_map.json --top 1 --format ndjson",
        "tiles map vars.json",
        "tiles map no.json",
        "tiles map --help",
    ];
    hold_golden("tiles-map", &["tiles/model.tensor_map.json", "tiles/vars.json"], &commands);
}

#[test]
fn the_memory_of_tiles_is_shown() {
    let commands = [
        "tiles vars vars.json",
        "tiles vars vars.json --tile 0 --top 2",
        "tiles vars vars.json --tile 4",
        "tiles vars vars.json --top 1 --format json",
        "tiles vars vars.json --top 1 --format ndjson",
        "tiles vars model.tensor_map.json",
        "tiles vars --help",
    ];
    hold_golden("tiles-vars", &["tiles/model.tensor_map.json", "tiles/vars.json"], &commands);
}

#[test]
fn models_are_estimated() {
    let files =
        ["interop/many-anchors.popef", "interop/replicated.popef", "golden/damaged.popef", "interop/two-models.popef"];
    let commands = [
        "tiles model many-anchors.popef --top 3",
        "tiles model replicated.popef",
        "tiles model replicated.popef --ipus 1 --tiles 64 --from-zero --format json",
        "tiles model two-models.popef --format ndjson",
        "tiles model replicated.popef --ipus 5000",
        "tiles model damaged.popef",
        "tiles model --help",
    ];
    hold_golden("tiles-model", &files, &commands);
}

/// What is read before the damage is shown, and the exit status says that it is not all.
#[test]
fn damaged_files_are_shown_as_far_as_they_go() {
    let place = Place::with(&["tiles/model.tensor_map.json", "tiles/vars.json"]);
    for (what, name, rows) in [("map", "model.tensor_map.json", "tensor"), ("vars", "vars.json", "tile")] {
        let bytes = place.read(name);
        place.write("cut.json", &bytes[..bytes.len() * 9 / 10]);
        let text = place.run(&["tiles", what, "cut.json"]);
        assert_eq!(text.status, 2, "{text:?}");
        assert!(text.err.contains("cut.json: line 1, byte ") && text.err.contains("[bad-tile-file]"), "{text:?}");
        assert!(text.text().lines().count() > 10, "{text:?}");
        let json = place.run(&["tiles", what, "cut.json", "--format", "json"]);
        assert_eq!((json.status, json.json()["error"]["kind"].as_str()), (2, Some("damaged")));
        let lines = place.run(&["tiles", what, "cut.json", "--format", "ndjson"]);
        assert!(lines.text().contains(&format!("\"kind\":\"{rows}\"")), "{lines:?}");
        assert!(lines.text().lines().last().unwrap().contains("bad-tile-file"), "{lines:?}");
        // From a pipe, it is the same.
        let piped = place.run_with_input(&["tiles", what, "-"], &bytes).good();
        assert_eq!(piped.text().replacen('-', name, 1), place.run(&["tiles", what, name]).text());
    }
}

/// The pictures of the document are what the tool prints.
#[test]
fn the_document_shows_what_the_tool_does() {
    let document = fs::read_to_string(testdata().join("../docs/TILES.md")).unwrap();
    let place = Place::with(&["tiles/model.tensor_map.json", "tiles/vars.json", "interop/many-anchors.popef"]);
    let mut shown = 0;
    for block in document.split("```text\n$ popef ").skip(1) {
        let (line, rest) = block.split_once('\n').unwrap();
        let run = place.run(&line.split(' ').collect::<Vec<_>>()).good();
        assert_eq!(Some(run.text()), rest.split_once("```").map(|(output, _)| output), "popef {line}");
        shown += 1;
    }
    assert_eq!(shown, 7);
}
