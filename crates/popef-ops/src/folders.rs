//! Folders that new files and folders are put into.

use popef::error::ErrorCode;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::rights::Most;

/// Folders made for new files, the outermost first. Dropping this removes those that are empty: all of them if the work
/// failed.
#[derive(Debug)]
pub(crate) struct Made(Vec<PathBuf>);

impl Made {
    /// Makes a folder, and those that it is in, as far as they are missing. They allow as much as files in them may allow at most.
    pub(crate) fn make(folder: &Path, most: Most) -> Result<Self, Error> {
        let is_missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
        let mut missing: Vec<PathBuf> = folder.ancestors().take_while(is_missing).map(Path::to_owned).collect();
        missing.reverse();
        let mut made = Made(Vec::new());
        for folder in missing {
            match most.folders().create(&folder) {
                Ok(()) => made.0.push(folder),
                // Another program has made it already, or the path goes up again with `..`.
                Err(error) if error.kind() == ErrorKind::AlreadyExists && folder.is_dir() => {}
                Err(error) => return Err(not_made(error, &folder)),
            }
        }
        Ok(made)
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        self.0.iter().rev().for_each(|folder| _ = fs::remove_dir(folder));
    }
}

/// Fails if a folder that a user has named is a link, or is missing and cannot be made.
pub(crate) fn check_target_folder(path: &Path) -> Result<(), Error> {
    refuse_link(path)?;
    check_folder(path)
}

/// Fails if a path is that of a link.
pub(crate) fn refuse_link(path: &Path) -> Result<(), Error> {
    // A path with a slash at its end means the target of a link.
    if path.components().collect::<PathBuf>().is_symlink() {
        Err(Error::new(ErrorCode::InTheWay, "it is a link, and nothing is written through links").in_file(path))
    } else {
        Ok(())
    }
}

/// Fails if a folder is missing and cannot be made, because a file has its name or that of a folder above it.
pub(crate) fn check_folder(path: &Path) -> Result<(), Error> {
    let mut above = path.ancestors().filter(|above| !above.as_os_str().is_empty());
    let wrong = above.find_map(|above| match fs::metadata(above) {
        Ok(found) if found.is_dir() => Some(None),
        Ok(_) => Some(Some((above, ErrorKind::NotADirectory.into()))),
        // A dangling link prevents it too.
        Err(_) if above.is_symlink() => Some(Some((above, ErrorKind::NotADirectory.into()))),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => Some(Some((above, error))),
    });
    match wrong.flatten() {
        None => Ok(()),
        Some((above, error)) => Err(not_made(error, above)),
    }
}

fn not_made(error: io::Error, folder: &Path) -> Error {
    Error::io("make the folder", error).in_file(folder)
}
