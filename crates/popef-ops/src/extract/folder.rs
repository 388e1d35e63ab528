//! A folder that appears when it is complete.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::index::INDEX;
use crate::error::{Code, Error};

/// Which folder may be replaced by a new one. An empty one always is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replace {
    /// None.
    Never,
    /// One that was extracted, with all that is in it.
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
        Replace::Extracted if is_extracted(path).map_err(failed)? => Ok(true),
        Replace::Extracted => {
            refuse(Code::FileExists, "only a folder that was extracted is replaced, and this one has no index.json")
        }
    }
}

/// Whether the folder was made by extracting a file, or has nothing but such folders.
fn is_extracted(path: &Path) -> io::Result<bool> {
    let has_index = |path: &Path| fs::symlink_metadata(path.join(INDEX)).is_ok_and(|index| index.is_file());
    if has_index(path) {
        return Ok(true);
    }
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if !entry.file_type()?.is_dir() || !has_index(&entry.path()) {
            return Ok(false);
        }
    }
    Ok(true)
}
