//! Without the feature `remote`, all files are on this machine.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use popef::types::redact_word;

use crate::like_address::like_address;
use crate::network::Cost;

/// The path for what a user wrote. If it looks like an address and is not a file, it loses its secrets: the path is then only for errors.
pub fn path_of(text: OsString) -> PathBuf {
    let shown = like_address(&text).map(|address| redact_word(&address).into_owned());
    shown.map_or_else(|| text.into(), PathBuf::from)
}

/// Whether a path is the name of a file on another machine.
pub fn is_elsewhere(_path: &Path) -> bool {
    false
}

/// Begins to open the files that are on other machines.
pub fn begin(_paths: &[PathBuf]) {}

/// The cost of all files on other machines so far, if there were any.
pub fn network_cost() -> Option<Cost> {
    None
}

/// The paths, with the objects in place of prefixes and patterns.
pub fn expanded(paths: Vec<PathBuf>) -> Result<Vec<PathBuf>, (PathBuf, io::Error)> {
    Ok(paths)
}

/// The name, without folders, of a new file that is made from a file.
pub fn file_name(path: &Path) -> Option<OsString> {
    path.file_name().map(OsString::from)
}
