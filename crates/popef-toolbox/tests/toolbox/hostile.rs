//! Names that want more than to be read: no command shows them as they are.

use popef::types::{
    Anchor, EngineOption, FeedDataInfo, Metadata, OpaqueInfo, ProgramInfo, TensorDataInfo, Text, is_hidden,
};
use popef::{DataType, TensorInfo, Writer};
use serde_json::{Value, json};

use crate::common::{Place, Run, testdata};

/// Escape sequences, also of one byte; letters that reverse the line, have no width or no picture; and lines that runners of CI
/// take for commands.
const ODD: &str = "\n::error file=x::y\n##[command]y\n##vso[task.x]y\u{1b}[31m\u{1b}]0;t\u{7}\u{9b}1m\u{202e}\u{3164}\u{115f}\u{e0041}\u{e000}\u{200b}\r";

/// What a spreadsheet would run, and what runners take for commands at the beginning of a line, with the rest behind it.
fn odd(number: usize) -> String {
    let begin = ["=1+1", "::warning::y", "##vso[task.y]y", "@SUM(1)", "##[error]y", " ::error::y", "+1", "-1"];
    format!("{}{ODD}{number}", begin[number % begin.len()])
}

fn text(number: usize) -> Text<'static> {
    odd(number).into()
}

/// A model of which every name is odd.
fn model(place: &Place, name: &str) {
    let tensor = || TensorInfo::new(DataType::U8, [4]);
    let anchor = |number| {
        let mut anchor = Anchor::default();
        (anchor.name, anchor.handle, anchor.tensor_info) = (text(number), text(number), tensor());
        anchor
    };
    let option = |number| EngineOption { name: text(number), value: text(number + 1) };
    let metadata = Metadata {
        executable: text(0),
        seed_handle: text(1),
        engine_options: vec![option(2)],
        device_options: vec![option(3)],
        programs_map: vec![ProgramInfo { index: 0, name: text(4) }],
        anchors: vec![anchor(5), anchor(6)],
        ..Metadata::default()
    };
    let mut writer = Writer::create(place.path(name)).unwrap();
    writer.any_names(true);
    writer.write_executable(text(0), &[b"\x7fELF", odd(1).as_bytes()].concat()).unwrap();
    writer.write_metadata(&metadata).unwrap();
    writer.write_tensor_bytes(&TensorDataInfo { name: text(5), tensor_info: tensor() }, b"data").unwrap();
    let feed = FeedDataInfo { name: text(6), tensor_info: tensor(), num_tensors: 1 };
    writer.write_feed_bytes(&feed, b"data").unwrap();
    writer.write_opaque(&OpaqueInfo { name: text(7), executable: text(0) }, odd(1).as_bytes()).unwrap();
    writer.finish().unwrap();
}

/// The same document with all its texts replaced, but not the keys and the words that say what is what.
fn replaced(value: &mut Value, keep: &[&str], number: &mut usize) {
    match value {
        Value::String(text) if !keep.contains(&text.as_str()) => {
            *text = odd(*number);
            *number += 1;
        }
        Value::Array(values) => values.iter_mut().for_each(|value| replaced(value, keep, number)),
        Value::Object(members) => members.values_mut().for_each(|value| replaced(value, keep, number)),
        _ => {}
    }
}

fn document(file: &str, keep: &[&str]) -> String {
    let mut document: Value = serde_json::from_slice(&std::fs::read(testdata().join(file)).unwrap()).unwrap();
    replaced(&mut document, keep, &mut 0);
    document.to_string()
}

/// Fails if a letter has an effect, or a line is a command.
#[track_caller]
fn hold(shown: &str, what: &[&str]) {
    let bad = shown.char_indices().find(|&(_, letter)| is_hidden(letter) && letter != '\n');
    let near =
        bad.map(|(at, _)| shown[..at].chars().rev().take(80).collect::<Vec<_>>().into_iter().rev().collect::<String>());
    assert_eq!(bad, None, "popef {what:?}: behind {near:?}");
    let is_command = |line: &&str| {
        let of_file =
            line.trim_start().starts_with("::error file=x::y") || line.contains("##[") || line.contains("##vso[");
        of_file || ["::warning::y", "::error::y"].iter().any(|command| line.trim_start().starts_with(command))
    };
    assert_eq!(shown.lines().find(is_command), None, "popef {what:?}");
}

#[track_caller]
fn shown(place: &Place, args: &[&str]) -> Run {
    let run = place.run(args);
    hold(&String::from_utf8_lossy(&run.out), args);
    hold(&run.err, args);
    run
}

/// Runs commands in all their formats; the words behind each command are formats.
fn all(place: &Place, commands: &[(&[&str], &[&str])]) {
    for (command, formats) in commands {
        for format in *formats {
            let run = shown(place, &[*command, &["--format", format]].concat());
            assert!(!run.err.contains("[wrong-arguments]"), "{command:?} {format}: {}", run.err);
            assert!(!run.out.is_empty(), "{command:?} {format}: {run:?}");
        }
    }
}

const MODEL: &str = "m\u{1b}[31m\u{202e}.popef";
const DATA: &[&str] = &["text", "json", "ndjson"];

#[test]
fn no_name_in_a_model_has_an_effect() {
    let place = Place::with(&[]);
    model(&place, MODEL);
    model(&place, "b.popef");
    shown(&place, &["set", "b.popef", "--in-place", "--rename", &format!("{}=other\u{202e}", odd(5))]);
    place.write("damaged.popef", &place.read("b.popef")[..900]);
    place.write("policy.toml", "");
    all(
        &place,
        &[
            (&["ls", MODEL], DATA),
            (&["ls", "damaged.popef", MODEL], DATA),
            (
                &["check", "--deep", MODEL, "b.popef", "damaged.popef"],
                &["text", "json", "ndjson", "sarif", "github", "junit"],
            ),
            (&["check", "-v", "no\u{9b}##vso[task.x]y\n::error file=x::y##[command]"], &["sarif", "github", "junit"]),
            (&["diff", MODEL, "b.popef"], DATA),
            (&["hash", MODEL], DATA),
            (&["tiles", "model", MODEL], DATA),
            (&["merge", MODEL, "b.popef", "-o", "new.popef", "--keep", "first", "--force"], DATA),
            (&["set", MODEL, "-o", "new.popef", "--force", "--rename", &format!("{}=\u{202e}new", odd(6))], DATA),
            (&["set", MODEL, "-o", "new.popef", "--force", "--set", "executable=\u{202e}new"], DATA),
            (&["strip", MODEL, "-o", "new.popef", "--force", "--drop", "tensor"], DATA),
            (&["recover", "damaged.popef", "-o", "new.popef", "--force"], DATA),
            (&["compress", MODEL, "-o", "new.popef", "--force"], DATA),
        ],
    );
    place.write("manifest", &place.run(&["hash", "--format", "json", MODEL]).good().out);
    let odd_name = odd(5);
    for args in [
        &["verify", "manifest"][..],
        &["split", MODEL, "-o", "parts"],
        &["extract", MODEL, "-o", "files"],
        &["extract", MODEL, "-o", "array.npz"],
        &["pack", "files"],
        &["dump", "-a", MODEL],
        &["dump", "--format", "json", MODEL],
        &["cat", MODEL, "--type", "metadata", "--blob", "1"],
        &["cat", MODEL, "--hex", &odd_name],
        &["cat", MODEL, "--hex", "nothing\u{202e}"],
        &["cat", MODEL, "--unpacked", &odd_name],
        &["report", MODEL, "-o", "-"],
        &["report", MODEL, "-o", "page.html"],
        &["ls", MODEL, "--filter", "nothing\u{202e}\n::error file=x::y"],
        &["explain", "\u{1b}[31m"],
    ] {
        shown(&place, args);
    }
    let json = place.run(&["cat", MODEL, "--blob", "1"]).good().json();
    assert_eq!(json["seedHandle"], odd(1), "a parser gets the name as it is");
}

#[test]
fn no_name_in_a_profile_has_an_effect() {
    let place = Place::with(&["interop/executable.popef"]);
    for half in ["graph", "execution"] {
        let keep = ["IPU_MODEL", "DoExchange", "StreamCopy", "Sequence"];
        let read = std::fs::read(testdata().join(format!("profile/model.{half}.json"))).unwrap();
        let mut document: Value = serde_json::from_slice(&read).unwrap();
        replaced(&mut document, &keep, &mut 0);
        if half == "graph" {
            document["memory"]["byCategory"][odd(0)] = json!({"total": vec![5; 64]});
        }
        place.write(&format!("{half}.json"), document.to_string());
    }
    let profile = ["profile", "graph.json", "execution.json"];
    for by in ["category", "tile", "vertex", "computeset", "program", "exchange", "step", "layer"] {
        for format in ["text", "json", "ndjson", "csv"] {
            let run = shown(&place, &[&profile[..], &["--by", by, "--format", format]].concat());
            assert!(run.status == 0 && !run.out.is_empty(), "{by} {format} {run:?}");
            if format == "csv" {
                let cell =
                    |line: &str| line.split(',').any(|cell| cell.trim_matches('"').starts_with(['=', '+', '-', '@']));
                assert_eq!(run.text().lines().find(|line| cell(line)), None, "{by}");
            }
        }
    }
    for args in [
        &["--check", "-v"][..],
        &["--check", "--format", "json"],
        &["--check", "--format", "sarif"],
        &["--check", "--format", "github"],
        &["--check", "--format", "junit"],
        &["--format", "text"],
        &["--format", "json"],
        &["--format", "ndjson"],
        &["--format", "html"],
        &["--model", "executable.popef"],
        &["--trace", "trace.json", "--format", "text"],
    ] {
        shown(&place, &[&profile, args].concat());
    }
    for format in ["text", "json", "ndjson", "csv"] {
        shown(&place, &["profile", "diff", "graph.json", "graph.json", "--format", format]);
        let other = testdata().join("profile/model.execution.json").display().to_string();
        let graph = testdata().join("profile/model.graph.json").display().to_string();
        let args =
            ["profile", "diff", "graph.json", &graph, "--executions", "execution.json", &other, "--format", format];
        assert_eq!(shown(&place, &args).status, 1);
    }
}

#[test]
fn no_name_in_a_graph_has_an_effect() {
    let place = Place::with(&[]);
    let dump = std::fs::read_to_string(testdata().join("graph/code-loading.json")).unwrap();
    let (mut named, mut number) = (dump, 0);
    for name in ["expensive_id_subgraph(0)", "expensive"] {
        let odd = json!(odd(number)).to_string();
        named = named.replace(name, &odd[1..odd.len() - 1]);
        number += 1;
    }
    let named: String =
        named.replace("\"name\":\"", &format!("\"name\":\"{}", json!(ODD).to_string().trim_matches('"')));
    place.write("graph.json", &named);
    let other = testdata().join("graph/code-loading.json").display().to_string();
    let formats: &[&str] = &["text", "json", "ndjson", "dot", "mermaid", "html"];
    all(
        &place,
        &[
            (&["graph", "graph.json", "--scheduled"], formats),
            (&["graph", "graph.json"], formats),
            (&["graph", "graph.json", "--scheduled", "--graph", "maingraph"], &["text", "dot", "mermaid"]),
            (&["graph", "graph.json", "--scheduled", "--graph", &odd(0)], &["text", "dot", "mermaid"]),
            (&["graph", "diff", "graph.json", &other], DATA),
        ],
    );
    assert!(shown(&place, &["graph", "graph.json", "--scheduled"]).text().contains("vso"));
    shown(&place, &["graph", "graph.json", "--graph", "nothing\u{202e}"]);
}

#[test]
fn no_name_of_a_tile_file_has_an_effect() {
    let place = Place::with(&[]);
    place.write("vars.json", document("tiles/vars.json", &[]));
    place.write("map.json", document("tiles/model.tensor_map.json", &["half", "float"]));
    for (what, file) in [("vars", "vars.json"), ("map", "map.json")] {
        all(&place, &[(&["tiles", what, file], DATA)]);
    }
}

/// An error of the command line quotes its words.
#[test]
fn no_word_of_the_command_line_has_an_effect() {
    let place = Place::with(&[]);
    for line in [
        &["X"][..],
        &["ls", "--X", "file"],
        &["ls", "--format", "teXxt", "file"],
        &["split", "file", "--max-size", "X", "-o", "new"],
        &["merge", "-o"],
        &["merge", "X", "-o", "new", "--keep", "X"],
        &["set", "file", "--set", "X"],
        &["tiles", "X"],
    ] {
        for odd in ["\u{202e}", "\u{1b}[31m", "\n", "\u{200b}"] {
            let words: Vec<String> = line.iter().map(|word| word.replace('X', odd)).collect();
            let run = place.run(&words.iter().map(String::as_str).collect::<Vec<_>>());
            assert_eq!(run.status, 2, "{words:?}: {run:?}");
            let is_odd = |letter: char| letter != '\n' && is_hidden(letter);
            let is_quoted = words != line && odd == "\n";
            assert!(!run.err.contains(is_odd) && (!is_quoted || run.err.contains("\\n")), "{words:?}: {run:?}");
        }
    }
}
