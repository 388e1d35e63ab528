//! Files that the official Cap'n Proto library wrote read to exactly what is known of them, in every way in.

use crate::common;

use common::metadata_json::metadata_json;
use common::{popef_files, testdata, ways};
use popef::{Blob, Content, File, Metadata, TensorInfo};
use serde_json::{Value, json};

/// What the documents of testdata/interop say of each file. The field `providedBy` is left out, because it depends on
/// other files.
fn expected() -> Vec<(String, Value)> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(testdata("interop")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let mut document: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        for file in document["files"].as_array_mut().unwrap() {
            without_provider(file);
            files.push((file["path"].as_str().unwrap().to_owned(), file.take()));
        }
    }
    files
}

fn without_provider(file: &mut Value) {
    for blob in file["blobs"].as_array_mut().unwrap() {
        for anchor in blob["info"].get_mut("anchors").and_then(Value::as_array_mut).into_iter().flatten() {
            anchor.as_object_mut().unwrap().remove("providedBy");
        }
    }
}

#[test]
fn every_file_reads_as_its_document_says() {
    let expected = expected();
    let named: Vec<&str> = expected.iter().map(|(name, _)| name.as_str()).collect();
    for path in popef_files("interop") {
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(named.contains(&name), "no document describes {name}");
    }
    for (name, document) in expected {
        let path = testdata("interop").join(&name);
        for (way, file) in ways(&path) {
            assert_eq!(json_of_file(&name, &file.unwrap()), document, "{name} {way}");
        }
    }
}

fn json_of_file(name: &str, file: &File) -> Value {
    json!({
        "path": name,
        "size": file.size(),
        "blobs": file.blobs().map(|blob| json_of_blob(&blob)).collect::<Vec<_>>(),
    })
}

fn json_of_blob(blob: &Blob<'_>) -> Value {
    json!({
        "index": blob.index(),
        "offset": blob.offset(),
        "size": blob.size(),
        "version": blob.version().to_str().unwrap(),
        "type": blob.blob_type().to_string(),
        "dataOffset": blob.data_offset(),
        "dataSize": blob.data().len(),
        "info": json_of_content(&blob.content()),
    })
}

fn json_of_content(content: &Content<'_>) -> Value {
    match content {
        Content::Executable(executable) => json!({
            "name": executable.name().to_string(),
            "isCompressed": executable.is_compressed(),
            "uncompressedSize": executable.uncompressed_size(),
        }),
        Content::Metadata(metadata) => json_of_metadata(&metadata.read().unwrap()),
        Content::Tensor(tensor) => json!({
            "name": tensor.name().to_string(),
            "tensorInfo": json_of_tensor(&tensor.info().tensor_info),
        }),
        Content::Feed(feed) => json!({
            "name": feed.name().to_string(),
            "tensorInfo": json_of_tensor(&feed.info().tensor_info),
            "numTensors": feed.num_tensors(),
        }),
        Content::Opaque(opaque) => json!({
            "name": opaque.name().to_string(),
            "executable": opaque.executable().to_string(),
        }),
        _ => Value::Null,
    }
}

fn json_of_metadata(metadata: &Metadata) -> Value {
    metadata_json(metadata, |anchor| [json!(anchor.tensor_type.to_string()), json_of_tensor(&anchor.tensor_info)])
}

fn json_of_tensor(info: &TensorInfo) -> Value {
    json!({
        "dataType": info.data_type.to_string(),
        "shape": info.shape,
        "sizeInBytes": info.size_in_bytes().unwrap(),
    })
}

#[cfg(feature = "serde")]
#[test]
fn metadata_serialises_under_the_names_of_the_schema_and_comes_back() {
    for name in ["replicated", "many-anchors"] {
        let path = testdata("interop").join(format!("{name}.popef"));
        let file = File::open(path).unwrap();
        let metadata = file.metadata().next().unwrap().read().unwrap();

        let serialised = serde_json::to_value(&metadata).unwrap();
        assert_eq!(serde_json::from_value::<Metadata>(serialised.clone()).unwrap(), metadata);

        // Fields have the names of the schema, enumerants the names that the vendor's tool shows.
        assert_eq!(serialised, json_of_metadata(&metadata));
    }
}
