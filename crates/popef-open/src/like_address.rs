//! What looks like an address, and is no path.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::Path;

use popef::types::redact_word;

/// What a user wrote, if it looks like an address and there is no such file.
pub(crate) fn like_address(text: &OsStr) -> Option<Cow<'_, str>> {
    let word = text.to_string_lossy();
    let is_like = word.contains("://") || redact_word(&word) != word;
    (is_like && Path::new(text).symlink_metadata().is_err()).then_some(word)
}
