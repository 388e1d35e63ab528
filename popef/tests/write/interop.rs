//! The official Cap'n Proto library reads every field that is written.
//!
//! pycapnp runs in the interpreter that `PYTHON` names. A test whose program is missing is skipped, except in CI.

use crate::common::metadata_json::{metadata_json, utf8};
use crate::common::peers::{hex, printed, pycapnp_reads, skip};
use crate::common::{popef_files, testdata, writing};

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use popef::read::*;
use popef::types::*;
use popef::write::*;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::{Value as Json, json};
use writing::models::{self, Planned, Way, What};
use writing::{in_memory, write_anew, write_planned};

/// The official library cuts long messages into segments, so the file with one is left out.
#[test]
fn bytes_are_those_of_the_official_library() {
    for path in popef_files("interop").iter().filter(|path| !path.ends_with("many-anchors.popef")) {
        let file = File::open(path).unwrap();
        let bytes = in_memory(|writer| write_anew(writer, &file).unwrap());
        assert!(bytes == std::fs::read(path).unwrap(), "{} comes out in other bytes", path.display());
    }
}

#[test]
fn long_messages_are_one_segment_with_the_same_values() {
    let file = File::open(testdata("interop/many-anchors.popef")).unwrap();
    let again = File::from_bytes(in_memory(|writer| write_anew(writer, &file).unwrap())).unwrap();
    let values = |file: &File| file.metadata().map(|metadata| metadata.read().unwrap()).collect::<Vec<_>>();
    assert_eq!(values(&again), values(&file));
    assert!(again.metadata().all(|metadata| metadata.blob().info_bytes().read().unwrap().starts_with(&[0; 4])));
}

#[test]
fn pycapnp_reads_every_field() {
    let (folder, models) = written_models();
    let edited: Vec<_> = (0..models.len()).map(|index| copied_and_edited(folder.path(), index)).collect();
    let paths = (0..models.len()).map(|index| model_path(folder.path(), index));
    let Some(read) = pycapnp_reads(paths.chain(edited)) else { return };
    assert_eq!(read.len(), 2 * models.len());
    let expected = models.iter().map(|blobs| blobs.iter().flat_map(parts).collect::<Vec<_>>());
    let expected_edited = expected.clone().map(|parts| parts.into_iter().map(edited_part).collect());
    for (found, expected) in read.iter().zip(expected.chain(expected_edited)) {
        let mut offset = 0;
        assert_eq!(found.as_array().unwrap().len(), expected.len());
        for (found, (blob_type, version, info, data)) in found.as_array().unwrap().iter().zip(expected) {
            assert_eq!(found["offset"], offset);
            assert_eq!(found["header"]["version"], version);
            assert_eq!(found["header"]["type"], blob_type);
            assert_eq!(found["info"], info);
            assert_eq!(found["data"], hex(&data));
            offset += found["header"]["size"].as_u64().unwrap();
        }
    }
}

/// A copy of a file in which each blob has another version and another name.
fn copied_and_edited(folder: &Path, index: usize) -> PathBuf {
    let path = folder.join(format!("{index}-edited.popef"));
    let file = File::open(model_path(folder, index)).unwrap();
    let mut writer = Writer::create(&path).unwrap();
    let copies = file.blobs().map(|blob| {
        let copy = BlobCopy::of(&blob).version("edited");
        match blob.name() {
            Some(name) => copy.name(edited_name(name.to_str().unwrap())),
            None => copy,
        }
    });
    writer.copy_all(copies).unwrap();
    writer.finish().unwrap();
    path
}

fn edited_name(name: &str) -> String {
    format!("edited {name}")
}

fn edited_part((blob_type, _, mut info, data): Part) -> Part {
    if let Some(name) = info.get_mut("name") {
        *name = json!(edited_name(name.as_str().unwrap()));
    }
    (blob_type, "edited".to_owned(), info, data)
}

#[test]
fn the_capnp_command_reads_every_field() {
    if Command::new("capnp").arg("--version").output().is_err() {
        return skip("there is no capnp command");
    }
    let (folder, models) = written_models();
    let files = (0..models.len()).map(|index| File::open(model_path(folder.path(), index)).unwrap());
    let (mut headers, mut infos) = (Vec::new(), vec![Vec::new(); BlobType::ALL.len()]);
    for file in files {
        for blob in file.blobs() {
            headers.extend_from_slice(&blob.header_bytes().read().unwrap());
            infos[usize::from(blob.blob_type().number())].extend_from_slice(&blob.info_bytes().read().unwrap());
        }
    }
    let expected: Vec<_> = models.iter().flatten().flat_map(parts).collect();
    let found = converted(folder.path(), "BlobHeader", &headers);
    assert_eq!(found.len(), expected.len());
    for (found, (blob_type, version, _, _)) in found.iter().zip(&expected) {
        assert_eq!((&found["version"], &found["type"]), (&json!(version), &json!(blob_type)));
    }
    let roots = ["PoplarExecutable", "Metadata", "TensorDataInfo", "FeedDataInfo", "Opaque"];
    for (number, (root, infos)) in roots.iter().zip(&infos).enumerate() {
        let expected = expected.iter().filter(|(blob_type, ..)| usize::from(*blob_type) == number);
        let expected: Vec<_> = expected.map(|(_, _, info, _)| info.clone()).collect();
        assert!(converted(folder.path(), root, infos) == expected, "{root} differs");
    }
}

/// The messages as the `capnp` command shows them.
fn converted(folder: &Path, root: &str, messages: &[u8]) -> Vec<Json> {
    let path = folder.join("messages");
    std::fs::write(&path, messages).unwrap();
    let mut command = Command::new("capnp");
    command.args(["convert", "binary:json"]).arg(schema()).arg(root);
    command.stdin(Stdio::from(std::fs::File::open(path).unwrap()));
    let values = printed(command.output().unwrap());
    let values = serde_json::Deserializer::from_str(&values).into_iter::<Json>();
    values.map(|value| with_numbers(value.unwrap())).collect()
}

/// capnp's JSON has texts for 64-bit numbers, and names for enumerants. No text of the schema has such a field name.
fn with_numbers(value: Json) -> Json {
    match value {
        Json::Object(fields) => fields.into_iter().map(|(name, value)| (name.clone(), field(&name, value))).collect(),
        Json::Array(items) => items.into_iter().map(with_numbers).collect(),
        other => other,
    }
}

fn field(name: &str, value: Json) -> Json {
    let enumerants = BlobType::ALL.iter().map(|t| (t.schema_name(), t.number()));
    let enumerants = enumerants.chain(DataType::ALL.iter().map(|t| (t.schema_name(), t.number())));
    let mut enumerants = enumerants.chain(TensorType::ALL.iter().map(|t| (t.schema_name(), t.number())));
    match (name, value) {
        ("type" | "dataType", Json::String(text)) => {
            json!(enumerants.find(|(name, _)| *name == Some(text.as_str())).unwrap().1)
        }
        ("size" | "uncompressedSize", Json::String(text)) => json!(text.parse::<u64>().unwrap()),
        ("shape", Json::Array(extents)) => {
            extents.iter().map(|extent| extent.as_str().unwrap().parse::<i64>().unwrap()).collect()
        }
        (_, value) => with_numbers(value),
    }
}

fn schema() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("schema/popef.capnp")
}

fn model_path(folder: &Path, index: usize) -> PathBuf {
    folder.join(format!("{index}.popef"))
}

fn written_models() -> (tempfile::TempDir, Vec<Vec<Planned>>) {
    let folder = tempfile::tempdir().unwrap();
    let models = models();
    for (index, blobs) in models.iter().enumerate() {
        let mut writer = Writer::create(model_path(folder.path(), index)).unwrap();
        write_planned(&mut writer, blobs);
        writer.finish().unwrap();
    }
    (folder, models)
}

/// Generated models, which are the same in each run, and extreme ones.
fn models() -> Vec<Vec<Planned>> {
    let mut runner = TestRunner::deterministic();
    let blobs = models::blobs(false);
    let mut models: Vec<_> = (0..60).map(|_| blobs.new_tree(&mut runner).unwrap().current()).collect();
    models.push(DataType::ALL.iter().map(|&data_type| tensor_of(data_type)).collect());
    models.push(vec![large_metadata()]);
    models.push(vec![Planned { version: Text::default(), what: What::Metadata(nothing().into()), way: Way::Whole }]);
    let held = |is: fn(&What) -> bool| models.iter().flatten().any(|blob| is(&blob.what));
    assert!(held(|what| matches!(what, What::Executable { packing: Some(Packing::Zlib(_)), .. })));
    assert!(held(|what| matches!(what, What::Executable { packing: Some(Packing::Gzip(_)), .. })));
    assert!(held(|what| matches!(what, What::Feeds(feeds) if feeds.len() > 1)));
    assert!(held(|what| matches!(what, What::Opaque(..))));
    models
}

fn tensor_of(data_type: DataType) -> Planned {
    let info = TensorDataInfo { name: "größe".into(), tensor_info: TensorInfo::new(data_type, [3]) };
    let data = vec![1; usize::try_from(info.tensor_info.size_in_bytes().unwrap()).unwrap()];
    Planned { version: "1.0.0".into(), what: What::Tensor(info, data), way: Way::Whole }
}

fn nothing() -> Metadata {
    Metadata { replication_factor: 0, num_ipus: u32::MAX, ..Metadata::default() }
}

fn large_metadata() -> Planned {
    let options = |count: usize| {
        let option = |index| EngineOption { name: format!("option.{index}").into(), value: format!("{index}").into() };
        (0..count).map(option).collect()
    };
    let anchor = |index: u32| Anchor {
        name: format!("модель/слой{index}").into(),
        handle: format!("h2d_{index}").into(),
        tensor_info: TensorInfo::new(DataType::F16, [i64::from(index), 2]),
        tensor_type: TensorType::Output,
        programs: vec![index; (index % 3) as usize],
        ..Anchor::default()
    };
    let metadata = Metadata {
        engine_options: options(500),
        device_options: options(300),
        anchors: (0..10_000).map(anchor).collect(),
        ..Metadata::default()
    };
    Planned { version: Text::default(), what: What::Metadata(metadata.into()), way: Way::Whole }
}

/// Type, version, info and data of a blob, as the schema names them.
type Part = (u16, String, Json, Vec<u8>);

/// The parts of each blob that a plan writes.
fn parts(blob: &Planned) -> Vec<Part> {
    let of = |blob_type: BlobType, info, data: &[u8]| (blob_type.number(), utf8(&blob.version), info, data.to_vec());
    match &blob.what {
        What::Executable { name, data, packing } => {
            let size = packing.map_or(u64::MAX, |_| u64::try_from(data.len()).unwrap());
            let info = json!({ "name": utf8(name), "uncompressedSize": size });
            vec![of(BlobType::PoplarExecutable, info, data)]
        }
        What::Metadata(metadata) => vec![of(BlobType::Metadata, json_of_metadata(metadata), &[])],
        What::Tensor(info, data) => {
            let json = json!({ "name": utf8(&info.name), "tensorInfo": tensor_info_json(&info.tensor_info) });
            vec![of(BlobType::DataTensor, json, data)]
        }
        What::Feeds(feeds) => feeds.iter().map(|(info, data)| of(BlobType::DataFeed, feed_json(info), data)).collect(),
        What::Opaque(info, data) => {
            let json = json!({ "name": utf8(&info.name), "executable": utf8(&info.executable) });
            vec![of(BlobType::Opaque, json, data)]
        }
    }
}

fn tensor_info_json(info: &TensorInfo) -> Json {
    json!({ "shape": info.shape, "dataType": info.data_type.number() })
}

fn feed_json(info: &FeedDataInfo) -> Json {
    let (name, tensor_info) = (utf8(&info.name), tensor_info_json(&info.tensor_info));
    json!({ "name": name, "tensorInfo": tensor_info, "numTensors": info.num_tensors })
}

fn json_of_metadata(metadata: &Metadata) -> Json {
    metadata_json(metadata, |anchor| [json!(anchor.tensor_type.number()), tensor_info_json(&anchor.tensor_info)])
}
