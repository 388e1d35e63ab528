use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use crate::open::is_stdin;

/// The paths in a list: one per line, or with NUL between them as `find -print0` writes them. `-` reads the list from
/// standard input.
pub fn listed(list: &Path) -> io::Result<Vec<PathBuf>> {
    let mut bytes = Vec::new();
    match is_stdin(list) {
        true => io::stdin().lock().read_to_end(&mut bytes)?,
        false => fs::File::open(list)?.read_to_end(&mut bytes)?,
    };
    let end = if bytes.contains(&0) { 0 } else { b'\n' };
    let trimmed = |line| if end == 0 { line } else { <[u8]>::strip_suffix(line, b"\r").unwrap_or(line) };
    let lines = bytes.split(|&byte| byte == end).map(trimmed).filter(|line| !line.is_empty());
    Ok(lines.map(path_of).collect())
}

#[cfg(unix)]
fn path_of(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    Path::new(std::ffi::OsStr::from_bytes(bytes)).to_owned()
}

#[cfg(not(unix))]
fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}
