//! Without the feature `remote`, all files are on this machine.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use popef::types::redact_word;

use crate::like_address::like_address;
use crate::network::Cost;

/// The path for what a user wrote. A text that looks like an address and is not a file loses its secrets: that path is only for errors.
pub fn path_of(text: OsString) -> PathBuf {
    let shown = like_address(&text).map(|address| redact_word(&address).into_owned());
    shown.map_or_else(|| text.into(), PathBuf::from)
}

/// Whether a path is the name of a file on another machine.
pub fn is_elsewhere(_path: &Path) -> bool {
    false
}

/// Begins to open those of the files that are on other machines.
pub fn begin(_paths: &[PathBuf]) {}

/// What all files on other machines have cost so far, if there were any.
pub fn network_cost() -> Option<Cost> {
    None
}

/// The paths with the objects in place of the prefixes and patterns that mean them.
pub fn expanded(paths: Vec<PathBuf>) -> Result<Vec<PathBuf>, (PathBuf, io::Error)> {
    Ok(paths)
}

/// The name for a new file that is made of a file, without its folders.
pub fn file_name(path: &Path) -> Option<OsString> {
    path.file_name().map(OsString::from)
}
