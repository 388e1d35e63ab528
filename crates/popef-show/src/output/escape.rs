//! Escapes text for terminals, made fast for plain text.

use std::borrow::Cow;

/// The text with each letter that could mislead written out: [`popef::types::escape`], made fast for plain texts.
pub fn escape(text: &str) -> Cow<'_, str> {
    if is_plain(text.as_bytes()) { Cow::Borrowed(text) } else { popef::types::escape(text) }
}

/// Escapes a text in which names are already escaped: its backslashes stay as they are.
pub fn escape_rest(text: &str) -> String {
    text.split('\\').map(escape).collect::<Vec<_>>().join("\\")
}

/// Whether all letters stand for themselves, inside quotes too. This holds for most names.
pub(crate) fn is_plain(text: &[u8]) -> bool {
    let odd = |&byte: &u8| !matches!(byte, b' '..=b'~') | (byte == b'\\') | (byte == b'"') | (byte == b'#');
    // Looking at all, many at once, is faster than stopping at the first.
    !text.iter().fold(false, |any, byte| any | odd(byte)) && !text.trim_ascii_start().starts_with(b"::")
}

#[cfg(test)]
mod tests {
    use super::escape_rest;

    #[test]
    fn what_is_escaped_already_is_not_escaped_again() {
        assert_eq!(escape_rest("\"a\\u{1b}\" is \u{ad}odd\n"), "\"a\\u{1b}\" is \\u{ad}odd\\n");
    }
}
