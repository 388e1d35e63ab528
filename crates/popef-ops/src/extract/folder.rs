//! A folder that appears when it is complete.

use popef::error::ErrorCode;
use std::fs;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::index::{INDEX, Index};
use crate::error::{Code, Error};
use crate::folders::{Made, check_folder, refuse_link};
use crate::output::{Overwrite, TargetFolder};
use crate::rights::Most;

/// A folder that is being made beside its path. Dropping it removes it.
pub(super) struct Folder {
    new: TempDir,
    /// The parent folders that were made. Dropped after the new folder.
    _made: Made,
    path: PathBuf,
    /// Whether a folder that is not empty is at the path.
    replaces: bool,
    /// The permissions of the folder at the path, which the new one gets.
    permissions: Option<fs::Permissions>,
}

impl Folder {
    /// Begins the folder of a target, if anything is written. A new one gets at most the permissions of such files.
    pub(super) fn of(target: TargetFolder<'_>, most: Most) -> Result<Option<Self>, Error> {
        match target {
            TargetFolder::At(path, overwrite) => Folder::begin(path, overwrite, most).map(Some),
            TargetFolder::Trial(path, overwrite) => check(path, overwrite).map(|_| None),
            TargetFolder::Nowhere => Ok(None),
        }
    }

    fn begin(path: &Path, overwrite: Overwrite, most: Most) -> Result<Self, Error> {
        let failed = |error: io::Error| Error::io("make the folder", error).in_file(path);
        let replaces = check(path, overwrite)?;
        let parent = parent_of(path);
        let made = Made::make(parent, most)?;
        let mut builder = tempfile::Builder::new();
        builder.prefix(".popef-extract-");
        let permissions = fs::metadata(path).ok().map(|found| found.permissions()).filter(|_| cfg!(unix));
        // Gives the permissions of an ordinary new folder. Without this, only its owner could read it, also at the end.
        #[cfg(unix)]
        if permissions.is_none() {
            builder.permissions(most.folder_permissions());
        }
        let new = builder.tempdir_in(parent).map_err(failed)?;
        Ok(Folder { new, _made: made, path: path.to_owned(), replaces, permissions })
    }

    /// A folder within it, or itself.
    pub(super) fn within(&self, name: &str, most: Most) -> Result<PathBuf, Error> {
        let path = self.new.path().join(name);
        if !name.is_empty() {
            most.folders()
                .create(&path)
                .map_err(|error| self.named(Error::io("make the folder", error).in_file(&path)))?;
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

    fn place(mut self) -> io::Result<()> {
        if let Some(permissions) = self.permissions.take() {
            fs::set_permissions(self.new.path(), permissions)?;
        }
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

/// The folder that a path is in.
fn parent_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Fails if the folder cannot be put at the path. Returns whether it replaces one that is not empty.
fn check(path: &Path, overwrite: Overwrite) -> Result<bool, Error> {
    let refuse = |code, message: &str| Err(Error::new(code, message).in_file(path));
    let failed = |error| Error::io("look at the folder", error).in_file(path);
    refuse_link(path)?;
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return check_folder(parent_of(path)).map(|()| false),
        Err(error) => return Err(failed(error)),
        Ok(metadata) if !metadata.is_dir() => return refuse(ErrorCode::InTheWay, "it is not a folder"),
        Ok(_) => {}
    }
    let mut entries = fs::read_dir(path).map_err(failed)?;
    if entries.next().is_none() {
        return Ok(false);
    }
    // This comes before `overwrite`, because allowing it would not help.
    check_extracted(path)?;
    match overwrite {
        Overwrite::Never => refuse(ErrorCode::FileExists, "the folder is not empty"),
        Overwrite::Others | Overwrite::Inputs => Ok(true),
    }
}

/// Fails if the folder has anything that extracting a file did not put there, outside folders that extracting several
/// files has made. Replacing the folder would remove it, and it may be an input.
fn check_extracted(path: &Path) -> Result<(), Error> {
    let refuse = |why: &str| {
        let message = format!("the folder is not empty, and only one that was extracted is replaced: {why}");
        Err(Error::new(ErrorCode::InTheWay, message).in_file(path))
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
            return refuse("this one has no index.json");
        }
        let known = match Known::of(&folder) {
            Ok(known) => known,
            Err(error) if error.code() == Code::BadIndex.as_str() => {
                return refuse("this one has an index.json of another kind");
            }
            Err(error) => return Err(error),
        };
        if let Some(other) = known.first_other(&folder).map_err(failed)? {
            return refuse(&format!("{} in this one was not", other.display()));
        }
    }
    Ok(())
}

/// The entries of an index: hashes of its files and of their folders, sorted.
struct Known {
    hashes: Vec<u64>,
    hasher: RandomState,
}

impl Known {
    fn of(folder: &Path) -> Result<Self, Error> {
        let index = Index::open(folder)?;
        let (mut hashes, hasher) = (Vec::new(), RandomState::new());
        let add = |hashes: &mut Vec<u64>, name: &str| {
            for path in Path::new(name).ancestors() {
                let hash = hasher.hash_one(path);
                // Most files are in the same folder as the one before.
                if hashes.iter().rev().take(4).all(|known| *known != hash) {
                    hashes.push(hash);
                }
            }
        };
        add(&mut hashes, INDEX);
        index.prefix.iter().for_each(|name| add(&mut hashes, name));
        index.entries(&mut |entry| {
            entry.files().for_each(|name| add(&mut hashes, name));
            Ok(())
        })?;
        hashes.sort_unstable();
        hashes.dedup();
        Ok(Known { hashes, hasher })
    }

    /// The first unknown entry found in the folder.
    fn first_other(&self, folder: &Path) -> io::Result<Option<PathBuf>> {
        let mut folders = vec![PathBuf::new()];
        while let Some(within) = folders.pop() {
            for entry in fs::read_dir(folder.join(&within))? {
                let entry = entry?;
                let name = within.join(entry.file_name());
                if self.hashes.binary_search(&self.hasher.hash_one(&*name)).is_err() {
                    return Ok(Some(name));
                }
                if entry.file_type()?.is_dir() {
                    folders.push(name);
                }
            }
        }
        Ok(None)
    }
}
