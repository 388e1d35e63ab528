//! Files of every kind that the tool reads, in which every text is hostile.

use std::fs;
use std::path::Path;
use std::process::Command;

use popef::types::{Anchor, EngineOption, FeedDataInfo, Metadata, OpaqueInfo, ProgramInfo, TensorDataInfo, Text};
use popef::{DataType, TensorInfo, Writer};
use serde_json::{Value, json};

use crate::common::{Place, testdata};

/// What has an effect in some language: in formulas of spreadsheets, in commands to runners of CI, on terminals, in direction and
/// width, in markup, in CSV and shells, in Markdown, in DOT and Mermaid.
const PIECES: [&str; 16] = [
    "=1+1",
    "::warning::y",
    "##vso[task.y]y",
    "@SUM(1)",
    "##[error]y",
    " ::error::y",
    "+1",
    "-1",
    "\n::error file=x::y\n##[command]y\n##vso[task.x]y",
    "\u{1b}[31m\u{1b}]0;t\u{7}\u{9b}1m",
    "\u{202e}\u{3164}\u{115f}\u{e0041}\u{e000}\u{200b}\r",
    "</script><hostile onhostile='x' b=\"y\">&hostile;-->]]>",
    "\",\"'`hostile`$(hostile)|hostile;",
    "[x](hostile:y)",
    "\"];hostile[label=\"",
    "\\\"",
];

/// All of it, beginning with another piece for each number.
pub(super) fn odd(number: usize) -> String {
    let pieces = PIECES.iter().cycle().skip(number % PIECES.len()).take(PIECES.len());
    format!("{}{number}", pieces.copied().collect::<String>())
}

/// As much of it as fits, in exactly so many bytes.
fn odd_bytes(number: usize, len: usize) -> Vec<u8> {
    let text = odd(number).repeat(len / 100 + 1);
    let end = (0..=len).rev().find(|&end| text.is_char_boundary(end)).unwrap_or_default();
    let mut bytes = text.as_bytes()[..end].to_vec();
    bytes.resize(len, b'x');
    bytes
}

fn text(number: usize) -> Text<'static> {
    odd(number).into()
}

/// The end of the name of a file whose beginning is hostile. A slash would be a folder.
pub(super) fn name(number: usize, end: &str) -> String {
    format!("{:.60}{end}", odd(number).replace(['/', '\\', '@'], ""))
}

/// A document with all its texts replaced, but not the keys and the words that say what is what.
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

fn document(bytes: &[u8], keep: &[&str], mut number: usize) -> Value {
    let mut document = serde_json::from_slice(bytes).unwrap();
    replaced(&mut document, keep, &mut number);
    document
}

/// All texts in what the tool says about a file.
fn texts(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(values) => values.iter().for_each(|value| texts(value, found)),
        Value::Object(members) => members.values().for_each(|value| texts(value, found)),
        _ => {}
    }
}

/// A file of testdata in which each text that a command shows has become a hostile one of the same length, so that all lengths
/// in the file stay true. Texts that `keep` holds for are needed to understand the file.
fn overwritten(file: &str, command: &[&str], keep: fn(&str) -> bool) -> Vec<u8> {
    let place = Place::with(&[file]);
    let name = Path::new(file).file_name().unwrap().to_str().unwrap();
    let shown = place.run(&[command, &["--format", "json", name]].concat()).json();
    let (mut bytes, mut found) = (place.read(name), Vec::new());
    texts(&shown, &mut found);
    found.sort_by_key(|text| std::cmp::Reverse(text.len()));
    found.dedup();
    let mut changed = 0;
    for text in found.iter().filter(|text| text.len() > 2 && !keep(text)) {
        let len = text.len();
        for at in 0..bytes.len().saturating_sub(len) {
            if &bytes[at..at + len] == text.as_bytes() {
                bytes[at..at + len].copy_from_slice(&odd_bytes(changed, len));
                changed += 1;
            }
        }
    }
    assert!(changed > 0, "{file}: {found:?}");
    bytes
}

/// A model of which every name is hostile, and what its opaque blobs hold.
fn model(path: &Path, first: usize) {
    let tensor = || TensorInfo::new(DataType::U8, [4]);
    let text = |number| text(first + number);
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
        anchors: (0..16).map(anchor).collect(),
        ..Metadata::default()
    };
    let mut writer = Writer::create(path).unwrap();
    writer.any_names(true);
    writer.write_metadata(&metadata).unwrap();
    writer.write_executable(text(0), &crate::tiles::archive(2, 64, b"\x1b##[e]\"")[..]).unwrap();
    for number in 0..16 {
        let info = TensorDataInfo { name: text(number), tensor_info: tensor() };
        writer.write_tensor_bytes(&info, b"data").unwrap();
    }
    let feed = FeedDataInfo { name: text(6), tensor_info: tensor(), num_tensors: 1 };
    writer.write_feed_bytes(&feed, b"data").unwrap();
    let mut opaque = |name: Text<'static>, data: &[u8]| {
        writer.write_opaque(&OpaqueInfo { name, executable: text(0) }, data).unwrap();
    };
    opaque(text(7), odd(1).as_bytes());
    for pickle in ["os-system-0", "archive-tar-two-names", "plain-2", "attack-dotted"] {
        opaque(text(8), &fs::read(testdata().join(format!("pickles/{pickle}.pickle"))).unwrap());
    }
    // It imports what is hostile.
    opaque(text(9), format!("c{}\n{}\n.", odd(first).replace('\n', ""), odd(first + 1).replace('\n', "")).as_bytes());
    writer.finish().unwrap();
}

/// What says which kind of thing an item of a profile is.
const PROFILE: [&str; 4] = ["IPU_MODEL", "DoExchange", "StreamCopy", "Sequence"];

fn profile(half: &str, first: usize) -> Value {
    let read = fs::read(testdata().join(format!("profile/model.{half}.json"))).unwrap();
    let mut document = document(&read, &PROFILE, first);
    if half == "graph" {
        document["memory"]["byCategory"][odd(first)] = json!({"total": vec![5; 64]});
    }
    document
}

fn graph(file: &str, first: usize) -> String {
    let mut dump = fs::read_to_string(testdata().join(file)).unwrap();
    for (number, name) in ["expensive_id_subgraph(0)", "expensive"].iter().enumerate() {
        dump = dump.replace(name, json!(odd(first + number)).to_string().trim_matches('"'));
    }
    let prefix = json!(odd(first)).to_string();
    dump.replace("\"name\":\"", &format!("\"name\":\"{}", &prefix[1..prefix.len() - 1]))
}

/// A file that the tool itself reads as orders: `--policy`, `--files-from`.
pub(super) const ORDERS: [&str; 2] = ["policy.toml", "list.txt"];

/// Writes all files into a place, and returns their paths. Files that belong together are called the same in two folders.
pub(super) fn corpus(place: &Place) -> Vec<String> {
    let mut paths = Vec::new();
    for (folder, first) in [("a", 0), ("b", 5)] {
        fs::create_dir(place.path(folder)).unwrap();
        let mut add = |number: usize, end: &str, bytes: &[u8]| {
            let path = format!("{folder}/{}", name(number, end));
            place.write(&path, bytes);
            paths.push(path.clone());
            path
        };
        let model_path = add(0, ".popef", b"");
        fs::remove_file(place.path(&model_path)).unwrap();
        model(&place.path(&model_path), first);
        let whole = place.read(&model_path);
        place.write(&format!("{folder}/model.popef"), &whole);
        add(1, "-damaged.popef", &whole[..900]);
        let is_kept = |text: &str| ["popart", "tensorflow", "poptorch", "opaque"].contains(&text);
        add(2, "-opaque.popef", &overwritten("opaque/opaque.popef", &["dump", "-v"], is_kept));
        let is_class = |text: &str| text.contains("poptorch") || text.starts_with("torch") || text == "opaque";
        add(3, ".poptorch", &overwritten("opaque/poptorch/poptorch25.poptorch", &["ls", "-v"], is_class));
        add(
            4,
            ".a",
            &overwritten("executables/tiles.a", &["tiles", "exec", "--top", "99"], |text| text.starts_with('.')),
        );
        add(5, "-graph.json", profile("graph", first).to_string().as_bytes());
        let execution = add(6, "-execution.json", profile("execution", first).to_string().as_bytes());
        place.write(&format!("{folder}/execution.json"), place.read(&execution));
        let is_kind = |text: &str| PROFILE.contains(&text) || text.len() < 7;
        add(7, ".cbor", &overwritten("profile/model.graph.cbor", &["profile"], is_kind));
        add(8, "-ir.json", graph("graph/code-loading.json", first).as_bytes());
        let read = |file: &str| fs::read(testdata().join(file)).unwrap();
        add(9, "-vars.json", document(&read("tiles/vars.json"), &[], first).to_string().as_bytes());
        let map = document(&read("tiles/model.tensor_map.json"), &["half", "float"], first);
        add(10, "-map.json", map.to_string().as_bytes());
        let manifest = place.run(&["hash", "--format", "json", &model_path]).good().out;
        add(11, "-manifest.json", &manifest);
        add(12, "-odd-manifest.json", document(&manifest, &[], first).to_string().as_bytes());
        let digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        add(13, "-SHA256SUMS", format!("{digest}  {}\n", odd(first).replace('\n', "")).as_bytes());
        add(14, ".txt", odd(first).as_bytes());
        let files = format!("{folder}/{}", name(15, "-files"));
        place.run(&["extract", &model_path, "-o", &files]).good();
        let index = document(&place.read(&format!("{files}/index.json")), &["executable", "tensor", "feed"], first);
        let broken = format!("{folder}/{}", name(16, "-broken-files"));
        fs::create_dir(place.path(&broken)).unwrap();
        place.write(&format!("{broken}/index.json"), index.to_string());
        paths.extend([files, broken, format!("{folder}/{}", name(17, "-missing"))]);
    }
    let key = json!(odd(0)).to_string();
    place.write(ORDERS[0], format!("opaques = [{key}]\n[rules]\n{key} = \"off\"\n"));
    place.write(ORDERS[1], odd(0));
    paths
}

/// The same files in another place.
pub(super) fn copy(from: &Place) -> Place {
    let place = Place::with(&[]);
    let copied = Command::new("cp").arg("-r").arg(from.path(".")).arg(place.path(".")).status().unwrap();
    assert!(copied.success());
    place
}
