//! What arrays in files were before they were extracted: their names, if these are not those of the files, and whether they were feeds.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use popef::types::{FeedDataInfo, TensorDataInfo};

use super::index::{Entry, Form, INDEX, Index, Kind};
use crate::error::Error;
use crate::formats::{Array, Said};

/// What the indices around files say. Each is read once for a folder, and only feeds and names that differ from those of files are kept.
#[derive(Debug, Default)]
pub(crate) struct ExtractedNames {
    /// By folders as they were given.
    folders: HashMap<PathBuf, Known>,
}

/// By the name of a file in a folder, and the key of the array if the file can have several.
type Known = HashMap<(String, Option<String>), Said>;

impl ExtractedNames {
    /// Gives the array of a file its true name, and says whether it was a feed. The index in the folder, or in the one around, knows
    /// it, or else the file does. Otherwise the array stays as it is.
    pub(crate) fn restore(&mut self, array: &mut Array, path: &Path) -> Result<bool, Error> {
        let said = self.said_by_index(array, path)?.or_else(|| array.said.take());
        let Some(Said { name, is_feed }) = said else { return Ok(false) };
        array.name = name.unwrap_or_else(|| std::mem::take(&mut array.name));
        Ok(is_feed)
    }

    fn said_by_index(&mut self, array: &Array, path: &Path) -> Result<Option<Said>, Error> {
        let known = self.known_in(folder_of(path))?;
        let Some(file) = path.file_name().and_then(|name| name.to_str()).filter(|_| !known.is_empty()) else {
            return Ok(None);
        };
        let key = array.is_keyed.then(|| array.name.to_string_lossy().into_owned());
        Ok(known.get(&(file.to_owned(), key)).cloned())
    }

    fn known_in(&mut self, folder: &Path) -> Result<&Known, Error> {
        if !self.folders.contains_key(folder) {
            self.folders.insert(folder.to_owned(), known_in(folder)?);
        }
        Ok(self.folders.entry(folder.to_owned()).or_default())
    }
}

/// The folder that a file is in.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// What the indices in a folder and around it say of the files in it. The folder may be given as `.`, which names no folder around.
fn known_in(folder: &Path) -> Result<Known, Error> {
    let mut known = Known::new();
    let Ok(folder) = fs::canonicalize(folder) else { return Ok(known) };
    if let Some((within, around)) = folder.file_name().and_then(|name| name.to_str()).zip(folder.parent()) {
        add(&mut known, around, &format!("{within}/"))?;
    }
    add(&mut known, &folder, "")?;
    Ok(known)
}

/// Adds what a folder's index has, if there is one, for files whose paths begin so. It may be another program's.
fn add(known: &mut Known, folder: &Path, start: &str) -> Result<(), Error> {
    if !folder.join(INDEX).is_file() {
        return Ok(());
    }
    let Ok(index) = Index::open(folder) else { return Ok(()) };
    index.entries(&mut |entry| {
        known.extend(odd(entry, start));
        Ok(())
    })
}

/// The file and key of an entry, and what its blob was, if nobody would think so.
fn odd(entry: Entry, start: &str) -> Option<((String, Option<String>), Said)> {
    let is_feed = matches!(entry.blob, Kind::Feed(_));
    let (Kind::Tensor(TensorDataInfo { name, .. }) | Kind::Feed(FeedDataInfo { name, .. })) = entry.blob else {
        return None;
    };
    let stored = entry.data.filter(|stored| !matches!(stored.form, Form::Raw | Form::Json))?;
    let file = stored.file.strip_prefix(start).filter(|file| !file.contains('/'))?.to_owned();
    let is_usual = {
        let stem = Path::new(&file).file_stem().unwrap_or_default().as_encoded_bytes();
        stored.key.as_ref().map_or(stem, |key| key.as_bytes()) == name.as_bytes()
    };
    (is_feed || !is_usual).then_some(((file, stored.key), Said { name: Some(name), is_feed }))
}
