//! Small files that claim much: no command writes much more, holds much more, or works much more than their bytes are worth. All
//! is counted, and nothing is timed.

use popef::types::{Anchor, Metadata, OpaqueInfo, TensorDataInfo, TensorType};
use popef::{DataType, TensorInfo, Writer};
use serde_json::{Value, json};

use crate::common::{Place, Run, finish};
use crate::tiles::archive;

/// Runs the tool with so many bytes of address space, which is more than it holds.
fn run_within(place: &Place, bytes: usize, args: &[&str]) -> Run {
    if !cfg!(target_os = "linux") {
        return place.run(args);
    }
    let mut shell = std::process::Command::new("sh");
    let script = format!("ulimit -v {}; exec \"$@\"", bytes / 1024);
    shell.args(["-c", &script, "sh", env!("CARGO_BIN_EXE_popef")]).args(args).current_dir(place.path("."));
    finish(&mut shell)
}

/// Metadata that claims the most IPUs, and tensors of a petabyte each.
fn huge_model(executable: &str, anchors: usize) -> Metadata {
    let anchor = |number: usize| {
        let mut anchor = Anchor::default();
        (anchor.name, anchor.tensor_type) = (format!("t{number}").into(), TensorType::Input);
        anchor.tensor_info = TensorInfo::new(DataType::F32, [1_i64 << 50]);
        anchor
    };
    Metadata {
        executable: executable.to_owned().into(),
        num_ipus: 1024,
        anchors: (0..anchors).map(anchor).collect(),
        ..Metadata::default()
    }
}

/// Of the tensors of a file, only as many are spread over tiles as its bytes are worth; the others are counted.
#[test]
fn few_bytes_of_metadata_are_not_spread_over_all_tiles() {
    let place = Place::with(&[]);
    let mut writer = Writer::create(place.path("huge.popef")).unwrap();
    writer.write_metadata(&huge_model("m", 400)).unwrap();
    writer.write_metadata(&huge_model("n", 40)).unwrap();
    writer.finish().unwrap();
    let allowed = 12_000_000 + 1000 * place.read("huge.popef").len() as u64;
    let json = place.run(&["tiles", "model", "huge.popef", "--format", "json"]).good().json();
    let models = json["models"].as_array().unwrap();
    let tensors = || models.iter().flat_map(|model| model["mappings"].as_array().unwrap());
    let parts: u64 = tensors().map(|tensor| tensor["usedTiles"].as_u64().unwrap()).sum();
    assert!(parts <= allowed && parts > allowed / 2, "{parts} of {allowed}");
    let left_out: u64 = models.iter().map(|model| model["notPlanned"].as_u64().unwrap()).sum();
    assert_eq!(left_out + tensors().count() as u64, 440);
    let text = place.run(&["tiles", "model", "huge.popef"]).good();
    assert!(text.text().contains("of unknown type or shape, or too many"), "{text:?}");
}

/// Models are planned one after the other, however many IPUs each claims.
#[test]
fn many_models_are_not_held_at_once() {
    let place = Place::with(&[]);
    let mut writer = Writer::create(place.path("many.popef")).unwrap();
    for number in 0..20_000 {
        let mut metadata = huge_model(&number.to_string(), 1);
        metadata.anchors[0].tensor_info = TensorInfo::new(DataType::F32, [2]);
        writer.write_metadata(&metadata).unwrap();
    }
    writer.finish().unwrap();
    let size = place.read("many.popef").len();
    for format in ["text", "json", "ndjson"] {
        let run = run_within(&place, 192 << 20, &["tiles", "model", "many.popef", "--format", format]).good();
        assert!(run.out.len() < 1_000_000 + 5 * size, "{format}: {} of {size}", run.out.len());
    }
    let text = place.run(&["tiles", "model", "many.popef"]).good();
    assert!(text.text().ends_with("... and 19900 more\n"), "{}", text.text().len());
}

/// A tree of calls without end, with long names, of few bytes.
#[test]
fn a_small_report_does_not_become_a_large_table() {
    let place = Place::with(&["profile/tiny.graph.json"]);
    let mut report: Value = serde_json::from_slice(&place.read("tiny.graph.json")).unwrap();
    let name = "n".repeat(4000);
    let sequence = |number: usize| json!({"type": "Sequence", "name": name, "children": [number + 1, number + 1]});
    let programs: Vec<_> = (0..40).map(sequence).chain([json!({"type": "Sequence"})]).collect();
    report["programs"] = programs.into();
    report["functionPrograms"] = json!([]);
    place.write("tree.json", report.to_string());
    let size = place.read("tree.json").len();
    assert!((160_000..180_000).contains(&size), "{size}");
    let table = |format: &str, more: &[&str]| {
        let run = place.run(&[&["profile", "tree.json", "--by", "program", "--format", format], more].concat()).good();
        assert!(run.out.len() < (1 << 20) + 105 * size, "{format}: {}", run.out.len());
        run
    };
    let json = table("json", &[]);
    assert_eq!(json.json()["more"], true);
    assert!(table("ndjson", &[]).text().ends_with("\"more\":true}\n"));
    assert!(table("csv", &[]).err.contains("these are only the first rows: --top N shows more"));
    // All that are asked for are there.
    assert_eq!(table("json", &["--top", "3000"]).json()["rows"].as_array().unwrap().len(), 3000);
    // A report that is what it seems has all its rows.
    let whole = place.run(&["profile", "tiny.graph.json", "--by", "program", "--format", "json"]).good();
    assert_eq!(whole.json()["more"], false);
}

/// A program with a long name at very many places, of few bytes.
#[test]
fn a_program_at_many_places_is_not_copied_to_each() {
    let place = Place::with(&["profile/tiny.graph.json"]);
    let mut report: Value = serde_json::from_slice(&place.read("tiny.graph.json")).unwrap();
    report["programs"] = json!([{"type": "Sequence", "name": "n".repeat(100_000)}]);
    report["functionPrograms"] = json!([]);
    for (name, count) in [("named.json", 50_000), ("unnamed.json", 1_000_000)] {
        report["controlPrograms"] = vec![0; count].into();
        place.write(name, report.to_string());
        let run = run_within(&place, 192 << 20, &["graph", "--profile", name]);
        assert_eq!(run.status, 2, "{run:?}");
        assert!(run.err.contains("the same programs are at too many places"), "{run:?}");
        report["programs"][0]["name"] = "".into();
    }
}

/// Names that many rows repeat are shown in brief.
#[test]
fn a_long_name_is_not_written_in_every_row() {
    let place = Place::with(&["profile/tiny.graph.json"]);
    let name = "\u{200b}".repeat(50_000);
    // A function that 2,000 loops call.
    let mut report: Value = serde_json::from_slice(&place.read("tiny.graph.json")).unwrap();
    let children: Vec<_> = (2..2002).collect();
    let mut programs =
        vec![json!({"type": "Sequence", "children": children}), json!({"type": "Sequence", "name": name})];
    programs.extend((0..2000).map(|number| json!({"type": "Repeat", "children": [2002 + number]})));
    programs.extend((0..2000).map(|_| json!({"type": "Call", "target": 0})));
    (report["programs"], report["functionPrograms"]) = (programs.into(), json!([1]));
    place.write("calls.json", report.to_string());
    // A computation of 3,000 tensors.
    let tensors = vec![json!(["a", 0, [1], "half", 0, 0, 1, []]); 3000];
    let map = json!({"mappings": {(&name): tensors}});
    place.write("map.json", map.to_string());
    for (file, command) in [("calls.json", &["graph", "--profile"][..]), ("map.json", &["tiles", "map"])] {
        let size = place.read(file).len();
        for format in ["text", "json", "ndjson"] {
            let run = run_within(&place, 192 << 20, &[command, &[file, "--format", format]].concat()).good();
            assert!(run.out.len() < 60 * size, "{command:?} {format}: {} of {size}", run.out.len());
        }
    }
    let page = place.run(&["graph", "--profile", "calls.json", "--format", "html"]).good();
    assert!(page.out.len() < 60 * place.read("calls.json").len(), "{}", page.out.len());
}

/// Whatever a command says of a file with one very long name and very many small things, it says the name only some times.
#[test]
fn no_command_repeats_a_long_name() {
    let place = Place::with(&["interop/executable.popef"]);
    let name = "n".repeat(200_000);
    let mut writer = Writer::create(place.path("long.popef")).unwrap();
    let mut metadata = huge_model(&name, 2000);
    metadata.num_ipus = 1;
    metadata.anchors.iter_mut().for_each(|anchor| anchor.tensor_info = TensorInfo::new(DataType::U8, [4]));
    writer.write_metadata(&metadata).unwrap();
    writer.write_executable(name.as_str(), &archive(200, 9, b".rodata")[..]).unwrap();
    for number in 0..500 {
        let tensor =
            TensorDataInfo { name: format!("t{number}").into(), tensor_info: TensorInfo::new(DataType::U8, [4]) };
        writer.write_tensor_bytes(&tensor, b"data").unwrap();
        let info = OpaqueInfo { name: number.to_string().into(), executable: "n".into() };
        writer.write_opaque(&info, b"\x80\x04cos\nsystem\n.").unwrap();
    }
    writer.finish().unwrap();
    let size = place.read("long.popef").len();
    let with_formats = [
        "ls",
        "dump -u",
        "check",
        "hash",
        "tiles model",
        "tiles exec",
        "extract --dry-run",
        "set --set replicationFactor=2 --dry-run",
        "set --set-version 3 --dry-run",
        "compress --dry-run",
        "decompress --dry-run",
        "split --by model --dry-run",
        "split --max-size 1KiB --dry-run",
        "strip --drop tensor --dry-run",
        "merge --dry-run",
        "recover --dry-run",
        "diff executable.popef",
    ];
    let calls = with_formats
        .iter()
        .flat_map(|call| ["text", "json", "ndjson"].map(|format| format!("{call} --format {format}")));
    let others =
        ["dump", "dump -e -v", "check --format sarif", "check --format junit", "check --format github", "check -v"]
            .into_iter()
            .chain(["report -o -", "report --tiles -o -", "tiles exec --format csv", "tiles exec -o -"]);
    for call in calls.chain(others.map(str::to_owned)) {
        let run = place.run(&call.split(' ').chain(["long.popef"]).collect::<Vec<_>>());
        let written = run.out.len() + run.err.len();
        assert!(
            !run.out.is_empty() && written < 12 * size,
            "{call}: {written} of {size}, {}",
            &run.err[..run.err.len().min(200)]
        );
    }
}

/// The formats of a command that says what is in a file.
const SAYS: [&str; 3] = ["text", "json", "ndjson"];

/// Files of very many small things, each of which takes some bytes of what is written of it, and of memory.
#[test]
fn many_small_things_cost_in_proportion() {
    let place = Place::with(&["profile/tiny.report.json"]);
    let report: Value = serde_json::from_slice(&place.read("tiny.report.json")).unwrap();
    let with = |part: &str, key: &str, value: Value| {
        let mut report = report.clone();
        report[part][key] = value;
        report.to_string()
    };
    let many = |value: Value, count: usize| vec![value; count];
    let steps = |steps: Vec<Value>| json!({"cycles": 258, "steps": steps});
    let of_types = (0..8000).map(|number| json!({"type": format!("s{number}")})).collect();
    let profiles = [
        ("steps.json", with("executionProfile", "simulation", steps(many(json!({"type": "s"}), 15_000)))),
        ("types.json", with("executionProfile", "simulation", steps(of_types))),
        ("trace.json", with("executionProfile", "programTrace", many(json!(0), 80_000).into())),
        (
            "vertices.json",
            with(
                "graphProfile",
                "vertexTypes",
                json!({"names": many(json!("v"), 30_000), "sizes": many(json!(1), 30_000)}),
            ),
        ),
    ];
    let of_profiles = [
        "profile",
        "profile --check",
        "profile --by step",
        "profile --by vertex",
        "profile --by layer",
        "graph --profile",
    ];
    let graphs: serde_json::Map<_, _> = (0..10_000).map(|number| (number.to_string(), json!([]))).collect();
    let call = |number: usize| json!({"type": "Call", "name": "", "inputs": [], "outputs": [], "attributes": {"callee": format!("g{number}")}});
    let chain = (0..400).map(|number| (format!("g{number}"), json!([call(number + 1), call(number + 1)])));
    let chain: serde_json::Map<_, _> =
        chain.chain([("maingraph".to_owned(), json!([call(0), call(0)])), ("g400".to_owned(), json!([]))]).collect();
    let tensor = json!(["a", 0, [1], "half", 0, 0, 1, [[0, 1]]]);
    let map: serde_json::Map<_, _> = (0..5000).map(|number| (number.to_string(), json!([tensor]))).collect();
    let variable = |number: usize| json!({"var": number, "info": {"tile": number, "sizeBytes": 8, "offset": 0}});
    let vars = json!({"numTiles": 9000, "targetMemoryInfo": {"tileMemory": 262144}, "vars": (0..4000).map(variable).collect::<Vec<_>>()});
    let mut files: Vec<(&str, Vec<u8>, &[&str])> = vec![
        (
            "names.json",
            Value::Object(graphs.into_iter().chain([("maingraph".to_owned(), json!([]))]).collect()).to_string().into(),
            &["graph"],
        ),
        ("chain.json", Value::Object(chain).to_string().into(), &["graph", "graph --scheduled"]),
        ("map.json", json!({"mappings": map}).to_string().into(), &["tiles map"]),
        ("vars.json", vars.to_string().into(), &["tiles vars"]),
        ("tiles.a", archive(300, 9, b".rodata"), &["tiles exec", "tiles exec --top 1000000"]),
    ];
    files.extend(profiles.map(|(name, text)| (name, text.into_bytes(), &of_profiles[..])));
    for (file, bytes, commands) in files {
        place.write(file, &bytes);
        for (command, format) in commands.iter().flat_map(|command| SAYS.map(|format| (command, format))) {
            let words: Vec<_> = command.split(' ').chain([file, "--format", format]).collect();
            let run = run_within(&place, 192 << 20, &words);
            assert!(run.status < 2, "{words:?}: {}", run.err);
            let written = run.out.len() + run.err.len();
            assert!(written < (64 << 10) + 50 * bytes.len(), "{words:?}: {written} of {}", bytes.len());
        }
    }
}
