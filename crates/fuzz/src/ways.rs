//! Opens a file in every way and compares the results.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use popef::error::ErrorCode;
use popef::read::ReadAt;
use popef::{Blob, Content, Error, File, OpenOptions};

/// The file that a target writes, one for each process. It is in memory if the system has a folder there.
pub fn scratch_file() -> PathBuf {
    let shared_memory = Path::new("/dev/shm");
    let folder = if shared_memory.is_dir() { shared_memory.to_owned() } else { std::env::temp_dir() };
    folder.join(format!("popef-fuzz-{}.popef", std::process::id()))
}

/// Opens a file in every way, and panics if the ways disagree.
pub fn all_agree(path: &Path, bytes: &[u8]) -> [File; 5] {
    let mut options = OpenOptions::new();
    options.damaged(true);
    // SAFETY: the file is this process's own, and is not written while it is mapped.
    let mapped = unsafe { options.map(path) }.unwrap();
    let in_parts = options.open(path).unwrap();
    let in_memory = options.bytes(Arc::<[u8]>::from(bytes)).unwrap();
    let streamed = options.stream(bytes).unwrap();
    let indexed = indexed(options, bytes);
    let told = told(&in_memory, true);
    assert_eq!(told, self::told(&mapped, true), "mapped");
    assert_eq!(told, self::told(&in_parts, true), "in parts");
    assert_eq!(told, self::told(&indexed, true), "indexed");
    // A stream keeps no data, and no messages.
    assert_eq!(self::told(&in_memory, false), self::told(&streamed, false), "streamed");
    [in_memory, mapped, in_parts, streamed, indexed]
}

/// A source of bytes.
struct Object(Arc<[u8]>);

impl ReadAt for Object {
    fn size(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        buf.copy_from_slice(&self.0[usize::try_from(offset).unwrap()..][..buf.len()]);
        Ok(())
    }
}

/// Opens a file by giving an indexer its bytes, in pieces whose length follows from the bytes.
fn indexed(mut options: OpenOptions, bytes: &[u8]) -> File {
    let seed = bytes.last().copied().map_or(1, u64::from);
    options.read_ahead(seed * 16, seed * 64);
    let mut indexer = options.indexer(bytes.len() as u64);
    while let Some(wanted) = indexer.wants() {
        let start = usize::try_from(wanted.start).unwrap();
        let end = bytes.len().min(start + 1 + usize::try_from(seed).unwrap() * 8);
        assert!(indexer.give(&bytes[start..end]) > 0);
    }
    indexer.finish_on(Object(bytes.into())).unwrap()
}

/// Everything that a file says, as texts and bytes to compare.
fn told(file: &File, data: bool) -> Vec<(String, Vec<u8>)> {
    let mut told: Vec<_> = file.blobs().map(|blob| of_blob(&blob, data)).collect();
    told.extend(file.damage().map(|error| (of_error(error), Vec::new())));
    told
}

fn of_blob(blob: &Blob<'_>, data: bool) -> (String, Vec<u8>) {
    let content = match blob.content() {
        Content::Executable(executable) if data => {
            format!("{:?}", executable.compression().map_err(|error| of_error(&error)))
        }
        Content::Metadata(metadata) => format!("{:?}", metadata.read().map_err(|error| of_error(&error))),
        Content::Tensor(tensor) => {
            format!("{:?} {:?}", tensor.info(), tensor.elements().map(|e| e.len()).map_err(|error| of_error(&error)))
        }
        Content::Feed(feed) => {
            format!("{:?} {:?}", feed.info(), feed.item(0).map(|e| e.len()).map_err(|error| of_error(&error)))
        }
        Content::Opaque(opaque) => format!("{:?}", opaque.info()),
        _ => String::new(),
    };
    let bytes = [blob.head_bytes(), blob.data()].map(|bytes| if data { bytes.read().unwrap() } else { Cow::default() });
    let place = (blob.index(), blob.offset(), blob.size(), blob.data_offset());
    (format!("{place:?} {:?} {:?} {content}", blob.version(), blob.blob_type()), bytes.concat())
}

fn of_error(error: &Error) -> String {
    // Only ways that have the bytes know where the pickle ends.
    if error.code() == ErrorCode::PickleFirst {
        return error.code().to_string();
    }
    format!("{:?} {:?} {:?} {}", error.kind(), error.blob(), error.offset(), error.reason())
}
