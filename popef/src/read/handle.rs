use std::fmt;
use std::sync::Arc;

use super::blob::Blob;
use super::data::Data;
use super::file::File;
use super::index::Indexed;
use super::reader::{DataReader, KeepsData, Of};
use super::unpack::Unpack;
use crate::error::Error;

/// A blob that keeps its file open, so it can be stored or sent to another thread. Cheap to clone.
///
/// ```
/// use popef::read::BlobHandle;
/// use popef::File;
///
/// fn weights(path: &str) -> Result<Option<BlobHandle>, popef::Error> {
///     let file = File::open(path)?;
///     Ok(file.tensor("input_parameter").and_then(|tensor| file.handle(tensor.blob().index())))
/// }
///
/// let handle = weights("examples/data/executable.popef")?.expect("the model has this weight");
/// let size = std::thread::spawn(move || handle.blob().size()).join().unwrap();
/// assert_eq!(size, 136);
/// # Ok::<(), popef::Error>(())
/// ```
#[derive(Clone)]
pub struct BlobHandle {
    file: File,
    indexed: Indexed,
}

impl File {
    /// Returns a handle of the blob at an index.
    pub fn handle(&self, index: usize) -> Option<BlobHandle> {
        Some(BlobHandle { file: self.clone(), indexed: self.indexed(index)? })
    }
}

impl BlobHandle {
    /// Returns the blob's file.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Returns the blob.
    pub fn blob(&self) -> Blob<'_> {
        self.file.blob_at(self.indexed)
    }

    /// Returns a reader of the blob's data that keeps the file open.
    pub fn reader(&self) -> DataReader<'static> {
        DataReader::of(self.kept())
    }

    /// Returns a reader like [`ExecutableBlob::unpack`](crate::read::ExecutableBlob::unpack) that keeps the file open. `None` if the blob is not an
    /// executable.
    pub fn unpack(&self) -> Option<Result<Unpack<'static>, Error>> {
        let executable = self.blob().content().into_executable()?;
        Some(executable.unpack_of(self.kept(), u64::MAX))
    }

    fn kept(&self) -> Of<'static> {
        Of::Kept(Arc::new(self.clone()))
    }
}

impl KeepsData for BlobHandle {
    fn data(&self) -> Data<'_> {
        self.blob().data()
    }
}

impl fmt::Debug for BlobHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BlobHandle").field(&self.blob()).finish()
    }
}
