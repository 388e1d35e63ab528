//! Texts that look like addresses and are not paths.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::Path;

use popef::types::redact_word;

/// The beginnings of addresses that lost a slash.
const BEGINNINGS: [&str; 6] = ["http:/", "https:/", "s3:/", "gs:/", "az:/", "hf:/"];

/// Returns what a user wrote if it looks like an address and no file has that name.
pub(crate) fn like_address(text: &OsStr) -> Option<Cow<'_, str>> {
    let word = text.to_string_lossy();
    let begins = |known: &str| word.get(..known.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(known));
    let is_like = word.contains("://") || BEGINNINGS.iter().any(|known| begins(known)) || redact_word(&word) != word;
    // In a folder that exists, a new file may have any name.
    let is_in_folder = || Path::new(text).ancestors().skip(1).any(is_there);
    (is_like && Path::new(text).symlink_metadata().is_err() && !is_in_folder()).then_some(word)
}

/// Whether there is a folder whose name could be the beginning of an address.
fn is_there(folder: &Path) -> bool {
    let has_colon = folder.file_name().is_some_and(|name| name.to_string_lossy().contains(':'));
    has_colon && folder.symlink_metadata().is_ok()
}
