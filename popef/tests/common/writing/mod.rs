//! What the tests of writing share.

#![allow(dead_code, unreachable_pub, reason = "each test uses a part of it")]

pub mod models;

use std::fs;
use std::io::Cursor;
use std::path::PathBuf;

use popef::types::{OpaqueInfo, TensorDataInfo};
use popef::write::{Destination, Rewind, Seekable, Written};
use popef::{Content, DataType, Error, File, TensorInfo, Writer};

/// Writes to memory, and gives what was written.
pub fn in_memory<T>(write: impl FnOnce(&mut Writer<Seekable<&mut Cursor<Vec<u8>>>>) -> T) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    let mut writer = Writer::seekable(&mut bytes).unwrap();
    write(&mut writer);
    writer.finish().unwrap();
    bytes.into_inner()
}

/// A file of the test data.
pub fn testdata(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../testdata").join(name)
}

/// The files that the official library wrote.
pub fn interop_files() -> Vec<PathBuf> {
    let folder = fs::read_dir(testdata("interop")).unwrap();
    let mut files: Vec<_> = folder.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "popef"));
    files.sort();
    assert!(!files.is_empty(), "testdata/interop has no .popef file");
    files
}

/// Writes all blobs anew from their values. Compressed executables, and data with a surplus, are copied.
pub fn write_anew<D: Destination>(writer: &mut Writer<D>, file: &File) -> Result<Vec<Written>, Error> {
    let mut written = Vec::new();
    for blob in file.blobs() {
        writer.version(blob.version().into_owned());
        let data = blob.data().read()?;
        written.push(match blob.content() {
            Content::Executable(executable) if !executable.is_compressed() => {
                writer.write_executable(executable.name(), &data)?
            }
            Content::Metadata(metadata) => writer.write_metadata(&metadata.read()?)?,
            Content::Tensor(tensor) if tensor.surplus() == 0 => writer.write_tensor_bytes(&tensor.info(), &data)?,
            Content::Feed(feed) if feed.surplus() == 0 => writer.write_feed_bytes(&feed.info(), &data)?,
            Content::Opaque(opaque) => writer.write_opaque(&opaque.info(), &data)?,
            _ => writer.copy(blob)?,
        });
    }
    Ok(written)
}

/// Copies all blobs as they are, one by one.
pub fn copy_each<D: Destination>(writer: &mut Writer<D>, file: &File) -> Result<Vec<Written>, Error> {
    file.blobs().map(|blob| writer.copy(blob)).collect()
}

/// Writes blobs in the ways that they were planned to be written.
pub fn write_planned<D: Rewind>(writer: &mut Writer<D>, blobs: &[models::Planned]) -> Vec<Written> {
    blobs.iter().flat_map(|blob| blob.write(writer)).collect()
}

/// A folder with the user guide's model in it.
pub struct Place {
    pub folder: tempfile::TempDir,
    pub path: PathBuf,
    pub bytes: Vec<u8>,
}

impl Place {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.popef");
        let bytes = fs::read(testdata("interop/executable.popef")).unwrap();
        fs::write(&path, &bytes).unwrap();
        Place { folder, path, bytes }
    }

    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The old file, and nothing else.
    pub fn is_as_it_was(&self) {
        assert_eq!(self.names(), ["model.popef"]);
        assert!(fs::read(&self.path).unwrap() == self.bytes);
    }
}

pub fn opaque(name: &str) -> OpaqueInfo {
    OpaqueInfo { name: name.to_owned().into(), ..Default::default() }
}

pub fn tensor(data_type: DataType, shape: &[i64]) -> TensorDataInfo {
    TensorDataInfo { name: "weights".into(), tensor_info: TensorInfo::new(data_type, shape) }
}
