//! Files and arrays in a folder that are not in its index.

use std::collections::BTreeSet;
use std::fs;
use std::hash::{BuildHasher as _, RandomState};
use std::path::{Path, PathBuf};

use popef::read::FileId;

use super::report::LeftBehind;
use crate::error::Error;
use crate::extract::{Form, INDEX, Index};
use crate::formats::ArrayFile;

/// The files and arrays that are left out: the first ones, and their number.
#[derive(Debug, Default)]
pub(super) struct LeftOut {
    pub(super) first: Vec<LeftBehind>,
    pub(super) count: u64,
}

/// Maximum number of files that are listed.
const MOST: usize = 1000;

/// The names in an index. Only a hash of each name is kept.
struct Named {
    hasher: RandomState,
    hashes: Vec<u64>,
    archives: BTreeSet<String>,
}

impl LeftOut {
    /// Adds the unused files of a folder. `others` are known files: other inputs, and the output.
    pub(super) fn add(&mut self, folder: &Path, index: &Index, others: &[FileId]) -> Result<(), Error> {
        let named = Named::of(index)?;
        self.add_files(folder, folder, &named, others)?;
        named.archives.iter().try_for_each(|file| self.add_arrays(folder, file, &named))
    }

    fn add_files(&mut self, root: &Path, folder: &Path, named: &Named, others: &[FileId]) -> Result<(), Error> {
        let failed = |error| Error::io("read the folder", error).in_file(folder);
        let mut folders = Vec::new();
        for entry in fs::read_dir(folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let kind = entry.file_type().map_err(failed)?;
            // Hidden files belong to editors and systems.
            if entry.file_name().as_encoded_bytes().starts_with(b".") {
                continue;
            }
            let path = entry.path();
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file()
                && !named.has_file(path.strip_prefix(root).unwrap_or(&path))
                && FileId::of_path(&path).is_ok_and(|id| !others.contains(&id))
            {
                self.push(LeftBehind { file: path.to_string_lossy().into_owned(), array: None });
            }
        }
        folders.sort();
        folders.iter().try_for_each(|inner| self.add_files(root, inner, named, others))
    }

    fn add_arrays(&mut self, folder: &Path, file: &str, named: &Named) -> Result<(), Error> {
        let path = folder.join(file);
        let mut arrays = ArrayFile::open(&path)?;
        for number in 0..arrays.len() {
            let Some(array) = arrays.get(number)? else { continue };
            if !named.has_array(file, array.name.as_bytes()) {
                let array = Some(array.name.to_string());
                self.push(LeftBehind { file: path.to_string_lossy().into_owned(), array });
            }
        }
        Ok(())
    }

    fn push(&mut self, left: LeftBehind) {
        self.count = self.count.saturating_add(1);
        if self.first.len() < MOST {
            self.first.push(left);
        }
    }
}

impl Named {
    fn of(index: &Index) -> Result<Self, Error> {
        let mut named = Named { hasher: RandomState::new(), hashes: Vec::new(), archives: BTreeSet::new() };
        named.add_file(INDEX);
        index.prefix.iter().for_each(|prefix| named.add_file(prefix));
        index.entries(&mut |entry| {
            entry.surplus.iter().for_each(|surplus| named.add_file(surplus));
            let Some(data) = entry.data else { return Ok(()) };
            if matches!(data.form, Form::Npz | Form::Safetensors) {
                named.hashes.push(named.hash_array(&data.file, data.key.unwrap_or_default().as_bytes()));
                if !named.archives.contains(&data.file) {
                    named.add_file(&data.file);
                    named.archives.insert(data.file);
                }
            } else {
                named.add_file(&data.file);
            }
            Ok(())
        })?;
        named.hashes.sort_unstable();
        Ok(named)
    }

    fn add_file(&mut self, file: &str) {
        self.hashes.push(self.hash_file(Path::new(file)));
    }

    fn has_file(&self, file: &Path) -> bool {
        self.hashes.binary_search(&self.hash_file(file)).is_ok()
    }

    fn has_array(&self, file: &str, name: &[u8]) -> bool {
        self.hashes.binary_search(&self.hash_array(file, name)).is_ok()
    }

    fn hash_file(&self, file: &Path) -> u64 {
        // The components, so that `a//b` is `a/b`.
        self.hasher.hash_one(file.components().collect::<PathBuf>())
    }

    fn hash_array(&self, file: &str, name: &[u8]) -> u64 {
        self.hasher.hash_one((file, name))
    }
}
