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
    (is_like && Path::new(text).symlink_metadata().is_err()).then_some(word)
}
