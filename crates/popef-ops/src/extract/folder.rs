//! A folder that appears when it is complete.

use std::collections::HashSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::index::{INDEX, Index};
use crate::error::{Code, Error};

/// Which folder may be replaced by a new one. An empty one always is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replace {
    /// None.
    Never,
    /// One that was extracted, if nothing else is in it.
    Extracted,
}

/// A folder that is being made beside its path. Dropping it removes it.
pub(super) struct Folder {
    new: TempDir,
    path: PathBuf,
    /// Whether a folder that is not empty is at the path.
    replaces: bool,
}

impl Folder {
    pub(super) fn begin(path: &Path, replace: Replace) -> Result<Self, Error> {
        let failed = |error: io::Error| Error::io("make the folder", error).in_file(path);
        let replaces = check(path, replace)?;
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut builder = tempfile::Builder::new();
        builder.prefix(".popef-extract-");
        // As a folder that is made in the usual way. Without this, only its owner could read it, also at the end.
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            builder.permissions(fs::Permissions::from_mode(0o777));
        }
        let new = builder.tempdir_in(parent).map_err(failed)?;
        Ok(Folder { new, path: path.to_owned(), replaces })
    }

    /// A folder within it, or itself.
    pub(super) fn of(&self, name: &str) -> Result<PathBuf, Error> {
        let path = self.new.path().join(name);
        if !name.is_empty() {
            fs::create_dir(&path).map_err(|error| self.named(Error::io("make the folder", error).in_file(&path)))?;
        }
        Ok(path)
    }

    /// An error that names the folder as the user knows it.
    pub(super) fn named(&self, error: Error) -> Error {
        error.moved(self.new.path(), &self.path)
    }

    /// Puts the folder in its place.
    pub(super) fn finish(self) -> Result<(), Error> {
        let path = self.path.clone();
        self.place().map_err(|error| Error::io("put the folder in its place", error).in_file(path))
    }

    fn place(self) -> io::Result<()> {
        if !self.replaces {
            // A folder can be put in the place of an empty one, except on Windows.
            if cfg!(windows) && self.path.is_dir() {
                fs::remove_dir(&self.path)?;
            }
            fs::rename(self.new.path(), &self.path)?;
            drop(self.new.keep());
            return Ok(());
        }
        let parent = self.new.path().parent().unwrap_or(Path::new("."));
        let old = tempfile::Builder::new().prefix(".popef-replaced-").tempdir_in(parent)?;
        let aside = old.path().join("old");
        fs::rename(&self.path, &aside)?;
        if let Err(error) = fs::rename(self.new.path(), &self.path) {
            // If this fails too, the old folder must not be removed.
            if fs::rename(&aside, &self.path).is_err() {
                let _ = old.keep();
            }
            return Err(error);
        }
        drop(self.new.keep());
        old.close()
    }
}

/// Fails if the folder cannot be put at the path. Returns whether it replaces one that is not empty.
fn check(path: &Path, replace: Replace) -> Result<bool, Error> {
    let refuse = |code, message: &str| Err(Error::new(code, message).in_file(path));
    let failed = |error| Error::io("look at the folder", error).in_file(path);
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(failed(error)),
        Ok(metadata) if metadata.is_symlink() => {
            return refuse(Code::FileExists, "it is a link, and nothing is written through links");
        }
        Ok(metadata) if !metadata.is_dir() => return refuse(Code::FileExists, "it is not a folder"),
        Ok(_) => {}
    }
    let mut entries = fs::read_dir(path).map_err(failed)?;
    if entries.next().is_none() {
        return Ok(false);
    }
    match replace {
        Replace::Never => refuse(Code::FileExists, "the folder is not empty"),
        Replace::Extracted => check_extracted(path).map(|()| true),
    }
}

/// Fails if there is anything in the folder that extracting a file did not put there, or that is not in folders that
/// extracting several files has made. Replacing the folder would remove it, and it may be an input.
fn check_extracted(path: &Path) -> Result<(), Error> {
    let refuse = |what: &str| {
        let message = format!("only what was extracted is replaced, and this folder has {what}");
        Err(Error::new(Code::FileExists, message).in_file(path))
    };
    let failed = |error| Error::io("look at the folder", error).in_file(path);
    let has_index = |path: &Path| fs::symlink_metadata(path.join(INDEX)).is_ok();
    let mut folders = vec![path.to_owned()];
    if !has_index(path) {
        let entries: io::Result<Vec<_>> = fs::read_dir(path).map_err(failed)?.collect();
        folders = entries.map_err(failed)?.iter().map(fs::DirEntry::path).collect();
    }
    for folder in folders {
        let is_folder = fs::symlink_metadata(&folder).map_err(failed)?.is_dir();
        if !is_folder || !has_index(&folder) {
            return refuse("no index.json");
        }
        let index = match Index::read(&folder) {
            Ok(index) => index,
            Err(error) if error.code() == Code::BadIndex.as_str() => return refuse("an index.json of another kind"),
            Err(error) => return Err(error),
        };
        if let Some(other) = other_entry(&folder, &index).map_err(failed)? {
            return refuse(&format!("{}, which was not", other.display()));
        }
    }
    Ok(())
}

/// The first entry found in an extracted folder that its index does not name.
fn other_entry(folder: &Path, index: &Index) -> io::Result<Option<PathBuf>> {
    let known: HashSet<&Path> = index.files().flat_map(|name| Path::new(name).ancestors()).collect();
    let mut folders = vec![PathBuf::new()];
    while let Some(within) = folders.pop() {
        for entry in fs::read_dir(folder.join(&within))? {
            let entry = entry?;
            let name = within.join(entry.file_name());
            if name != Path::new(INDEX) && !known.contains(&*name) {
                return Ok(Some(name));
            }
            if entry.file_type()?.is_dir() {
                folders.push(name);
            }
        }
    }
    Ok(None)
}
