use std::fmt;
use std::sync::Arc;

use super::problem::ModelProblem;
use crate::error::Error;
use crate::read::{Blob, BlobId, File, Key, Names};

/// Files that are linked together, with an index of their blobs by name.
#[derive(Clone)]
pub struct Links {
    files: Arc<[File]>,
    names: Arc<Names>,
    complete: bool,
}

impl Links {
    /// Links files.
    pub fn of(files: Arc<[File]>) -> Result<Self, Error> {
        let of_file = |file: &File| {
            Key::ALL.map(|key| file.numbers_of(key.blob_type()).len()).into_iter().fold(0, usize::saturating_add)
        };
        let count = files.iter().map(of_file).fold(0, usize::saturating_add);
        let mut names = Names::with_capacity(count)?;
        for (file, opened) in (0..).zip(files.iter()) {
            for key in Key::ALL {
                for &blob in opened.numbers_of(key.blob_type()) {
                    let name = opened.numbered(blob).and_then(|blob| blob.named_by(key));
                    names.push((key, name.unwrap_or_default()), BlobId { file, blob });
                }
            }
        }
        names.sort();
        if u32::try_from(files.len()).is_err() {
            return Err(ModelProblem::TooManyFiles.into());
        }
        let complete = files.iter().all(|file| file.damage().is_none());
        Ok(Links { files, names: Arc::new(names), complete })
    }

    /// Links of no files.
    pub fn none() -> Self {
        Links { files: Arc::new([]), names: Arc::new(Names::default()), complete: true }
    }

    /// The files.
    pub fn files(&self) -> &[File] {
        &self.files
    }

    /// Whether all files were read to their ends.
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// The blob with an id.
    pub fn blob(&self, id: BlobId) -> Option<Blob<'_>> {
        self.files.get(usize::try_from(id.file).ok()?)?.numbered(id.blob)
    }

    /// The blobs with a name, in the order of files and blobs.
    pub fn all(&self, key: Key, name: &[u8]) -> impl Iterator<Item = BlobId> {
        self.names.candidates((key, name)).filter(move |&id| self.is_named(id, key, name))
    }

    /// The first blob with a name.
    pub fn first(&self, key: Key, name: &[u8]) -> Option<BlobId> {
        self.all(key, name).next()
    }

    /// The first blob with a name in one file.
    fn first_in(&self, file: u32, key: Key, name: &[u8]) -> Option<BlobId> {
        let mut candidates = self.names.candidates_from((key, name), BlobId { file, blob: 0 });
        candidates.find(|&id| self.is_named(id, key, name)).filter(|id| id.file == file)
    }

    /// The blob that a name in the file `home` refers to: the first in that file, otherwise the first in all files.
    pub fn nearest(&self, home: u32, key: Key, name: &[u8]) -> Option<BlobId> {
        let first = self.first(key, name)?;
        Some(self.first_in(home, key, name).unwrap_or(first))
    }

    /// The tensor or feed with the data of an anchor of the file `home`. The same file comes before others, then
    /// tensors before feeds, then the first blob.
    pub fn data_of(&self, home: u32, name: &[u8]) -> Option<BlobId> {
        let first = self.first(Key::TENSOR, name).or_else(|| self.first(Key::FEED, name))?;
        let own = self.first_in(home, Key::TENSOR, name).or_else(|| self.first_in(home, Key::FEED, name));
        Some(own.unwrap_or(first))
    }

    fn is_named(&self, id: BlobId, key: Key, name: &[u8]) -> bool {
        self.blob(id).and_then(|blob| blob.named_by(key)) == Some(name)
    }
}

impl fmt::Debug for Links {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.files.iter()).finish()
    }
}
