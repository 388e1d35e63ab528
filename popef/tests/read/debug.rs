//! `{:?}` shows what a file or a writer is, and none of its data.

use std::fmt::Debug;
use std::io::{Cursor, Write as _};
use std::path::Path;

use popef::read::*;
use popef::types::*;
use popef::write::*;

/// Shown without the name of the folder, and with the separator of Unix.
fn without_folder(writer: &impl Debug, folder: &Path) -> String {
    let folder = format!("{folder:?}");
    format!("{writer:?}").replace(folder.trim_matches('"'), "FOLDER").replace(r"\\", "/")
}

fn tensor() -> TensorDataInfo {
    TensorDataInfo { name: "weights".into(), tensor_info: TensorInfo::new(DataType::F16, [2, 3]) }
}

#[test]
fn readers_show_what_they_are_and_no_data() {
    let path = "../testdata/compressed/zlib-6.popef";
    let file = File::open(path).unwrap();
    assert_eq!(
        format!("{file:?}"),
        format!("File {{ path: Some({path:?}), size: {}, blobs: 1, damage: None, .. }}", file.size())
    );
    let executable = file.executables().next().unwrap();
    assert_eq!(
        format!("{:?}", executable.blob()),
        format!(
            "Blob {{ index: 0, offset: 0, size: {}, version: \"\", blob_type: PoplarExecutable, name: Some(\"{}\"), .. }}",
            file.size(),
            executable.name()
        )
    );
    assert_eq!(format!("{:?}", executable.data()), format!("Data({} bytes)", executable.data().len()));
    assert_eq!(format!("{:?}", executable.unpack().unwrap()), "Unpack { .. }");

    let file = File::open("../testdata/interop/executable.popef").unwrap();
    assert_eq!(format!("{:?}", file.tensor("input_parameter").unwrap().shape()), "[2]");
}

#[test]
#[cfg_attr(miri, ignore = "Miri flushes no folders")]
fn writers_show_what_they_are_and_no_data() {
    let mut writer = Writer::stream(Vec::new());
    writer.write_tensor(&tensor(), &[half::f16::ONE; 6]).unwrap();
    assert_eq!(
        format!("{writer:?}"),
        "Writer { to: Stream { at: 132, .. }, version: \"\", index: 1, end: 132, fault: None, .. }"
    );
    let mut blob = writer.tensor(&tensor()).unwrap();
    assert_eq!((blob.len(), blob.is_empty()), (0, true));
    blob.write_all(&[0; 5]).unwrap();
    assert_eq!((blob.len(), blob.is_empty()), (5, false));
    assert_eq!(format!("{blob:?}"), "BlobWriter { blob: \"tensor weights\", needed: Some(12), given: 5, .. }");
    drop(blob);

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.popef");
    let writer = Writer::create(&path).unwrap();
    let shown = without_folder(&writer, folder.path());
    assert_eq!(
        shown,
        "Writer { to: NewFile { path: \"FOLDER/model.popef\", target: \"FOLDER/model.popef\", temporary: \"FOLDER/.model.popef.popef-new\", .. }, version: \"\", index: 0, end: 0, fault: None, .. }"
    );
    writer.finish().unwrap();
    let writer = Writer::append(&path).unwrap();
    let shown = without_folder(&writer, folder.path());
    assert_eq!(
        shown,
        "Writer { to: Appended { path: \"FOLDER/model.popef\", old_len: 0, .. }, version: \"\", index: 0, end: 0, fault: None, .. }"
    );

    let mut writer = Writer::seekable(Cursor::new(Vec::new())).unwrap();
    assert_eq!(
        format!("{writer:?}"),
        "Writer { to: Seekable { base: 0, at: 0, .. }, version: \"\", index: 0, end: 0, fault: None, .. }"
    );
    let packed = writer.packed_executable("model", Packing::Zlib(6)).unwrap();
    assert_eq!(format!("{packed:?}"), "PackedWriter { given: 0, .. }");
    drop(packed);
    let feed = FeedDataInfo { name: "input".into(), tensor_info: tensor().tensor_info, num_tensors: 2 };
    let feeds = writer.feeds(&[feed]).unwrap();
    assert_eq!(format!("{feeds:?}"), "{\"feed input\": 0}");
}
