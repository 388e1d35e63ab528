//! The names of blobs that differ from those of their files.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use popef::types::{FeedDataInfo, TensorDataInfo, Text};

use super::index::{Entry, Form, INDEX, Index, Kind};
use crate::error::Error;

/// The contents of the indexes around files. Each is read once, and only names that differ from those of files are
/// kept.
#[derive(Debug, Default)]
pub(crate) struct ExtractedNames {
    /// Keyed by the folder of an index, and the path of a file in it.
    folders: HashMap<PathBuf, HashMap<String, Text<'static>>>,
}

impl ExtractedNames {
    /// The name of the tensor or feed that was extracted to an `.npy` file. `None` if it is the name of the file, or if
    /// it is unknown.
    pub(crate) fn name_of(&mut self, npy: &Path) -> Result<Option<Text<'static>>, Error> {
        let folder = npy.parent().and_then(|folder| Some((folder.file_name()?.to_str()?, around(folder))));
        let Some(((within, root), file)) = folder.zip(npy.file_name().and_then(|name| name.to_str())) else {
            return Ok(None);
        };
        let file = format!("{within}/{file}");
        if !self.folders.contains_key(&root) {
            self.folders.insert(root.clone(), names_of(&root)?);
        }
        Ok(self.folders.get(&root).and_then(|names| names.get(&file)).cloned())
    }
}

/// The parent of a folder.
fn around(folder: &Path) -> PathBuf {
    folder.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_owned()
}

/// The names that a folder's index has for files with other names. The index may be missing, or be another program's.
fn names_of(folder: &Path) -> Result<HashMap<String, Text<'static>>, Error> {
    let mut names = HashMap::new();
    if !folder.join(INDEX).is_file() {
        return Ok(names);
    }
    let Ok(index) = Index::open(folder) else { return Ok(names) };
    index.entries(&mut |entry| {
        names.extend(renamed(entry));
        Ok(())
    })?;
    Ok(names)
}

/// The file of an entry, and the name of its blob, if that differs from the file's.
fn renamed(entry: Entry) -> Option<(String, Text<'static>)> {
    let (Kind::Tensor(TensorDataInfo { name, .. }) | Kind::Feed(FeedDataInfo { name, .. })) = entry.blob else {
        return None;
    };
    let file = entry.data.filter(|stored| stored.form == Form::Npy)?.file;
    let stem = Path::new(&file).file_stem().unwrap_or_default().as_encoded_bytes();
    (stem != name.as_bytes()).then_some((file, name))
}
