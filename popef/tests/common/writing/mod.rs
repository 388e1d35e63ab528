//! What the tests of writing share.

#![allow(dead_code, unreachable_pub, reason = "each test uses a part of it")]

pub mod models;

use std::fs;
use std::io::{self, Cursor, Write};
use std::path::PathBuf;

use popef::types::{OpaqueInfo, TensorDataInfo};
use popef::write::{Destination, Rewind, Seekable, Written};
use popef::{Content, DataType, Error, File, TensorInfo, Writer};

use super::testdata;

/// Writes to memory and returns the bytes.
pub fn in_memory<T>(write: impl FnOnce(&mut Writer<Seekable<&mut Cursor<Vec<u8>>>>) -> T) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    let mut writer = Writer::seekable(&mut bytes).unwrap();
    write(&mut writer);
    writer.finish().unwrap();
    bytes.into_inner()
}

/// Writes all blobs anew from their values. Compressed executables and data with a surplus are copied.
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

/// Copies all blobs one by one.
pub fn copy_each<D: Destination>(writer: &mut Writer<D>, file: &File) -> Result<Vec<Written>, Error> {
    file.blobs().map(|blob| writer.copy(blob)).collect()
}

/// Writes each blob in the way that its plan says.
pub fn write_planned<D: Rewind>(writer: &mut Writer<D>, blobs: &[models::Planned]) -> Vec<Written> {
    blobs.iter().flat_map(|blob| blob.write(writer)).collect()
}

/// A folder with the model of the user guide.
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

    /// The folder has the old file and nothing else.
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

/// A disk with room for this many bytes. Flushing fails when no room is left.
#[derive(Debug)]
pub struct Full(pub usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.0 == 0 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }
}
