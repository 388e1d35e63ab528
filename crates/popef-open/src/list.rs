use std::io::{self, Read};
use std::path::{Path, PathBuf};

use popef::OpenOptions;
use popef::error::ErrorCode;

use crate::foreign::{self, Mark, by_mark, is_text};
use crate::open::{is_stdin, open_plain};

/// The paths in a list: one per line, or with NUL between them as `find -print0` writes them. `-` reads the list from
/// standard input. A file that is plainly something else, such as a PopEF file, is an error.
pub fn listed(list: &Path) -> io::Result<Vec<PathBuf>> {
    if is_stdin(list) { paths(io::stdin().lock()) } else { paths(open_plain(list)?) }
}

fn paths(mut list: impl Read) -> io::Result<Vec<PathBuf>> {
    let mut bytes = Vec::new();
    // A file that is not a list may have gigabytes.
    list.by_ref().take(foreign::LEN).read_to_end(&mut bytes)?;
    if let Some(mistake) = mistake(&bytes) {
        return Err(io::Error::new(io::ErrorKind::InvalidData, mistake));
    }
    list.read_to_end(&mut bytes)?;
    let bytes = bytes.strip_prefix(UTF8_MARK).unwrap_or(&bytes);
    let end = if bytes.contains(&0) { 0 } else { b'\n' };
    let trimmed = |line| if end == 0 { line } else { <[u8]>::strip_suffix(line, b"\r").unwrap_or(line) };
    let lines = bytes.split(|&byte| byte == end).map(trimmed).filter(|line| !line.is_empty());
    Ok(lines.map(path_of).collect())
}

/// Some programs on Windows write these bytes before the first line.
const UTF8_MARK: &[u8] = b"\xef\xbb\xbf";
const UTF16_MARKS: [&[u8]; 2] = [b"\xff\xfe", b"\xfe\xff"];

/// Why the first bytes of a file are not those of a list.
fn mistake(first: &[u8]) -> Option<String> {
    if UTF16_MARKS.iter().any(|mark| first.starts_with(mark)) {
        return Some("it is text in UTF-16; save it as UTF-8".to_owned());
    }
    if is_popef(first) {
        return Some("it is a PopEF file, not a list of files; give it without --files-from".to_owned());
    }
    if first.split(|&byte| byte == 0).all(|name| name.is_empty() || is_text(name)) && !has_empty_names(first) {
        return None;
    }
    // Names may contain any bytes.
    match by_mark(first) {
        Some(Mark { what, .. }) => Some(format!("it is {what}, not a list of files")),
        None => has_empty_names(first).then(|| "it is not a list of files: it has binary data".to_owned()),
    }
}

/// Whether the header of a blob is at the start.
fn is_popef(first: &[u8]) -> bool {
    let Ok(file) = OpenOptions::new().damaged(true).bytes(first.to_owned()) else { return false };
    !file.is_empty() || file.damage().is_some_and(|damage| damage.code() == ErrorCode::BlobCut)
}

/// No program that lists files writes a NUL at the start, or two together.
fn has_empty_names(first: &[u8]) -> bool {
    first.starts_with(&[0]) || first.windows(2).any(|pair| pair == [0, 0])
}

#[cfg(unix)]
fn path_of(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    crate::path_of(std::ffi::OsStr::from_bytes(bytes).to_owned())
}

#[cfg(not(unix))]
fn path_of(bytes: &[u8]) -> PathBuf {
    crate::path_of(String::from_utf8_lossy(bytes).into_owned().into())
}
