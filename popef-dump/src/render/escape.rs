//! Texts as a terminal may show them, quickly: most need no escaping.

use std::borrow::Cow;

/// The text with each letter that could mislead written out; see [`popef::types::escape`].
pub(crate) fn escape(text: &str) -> Cow<'_, str> {
    if is_plain(text.as_bytes()) { Cow::Borrowed(text) } else { popef::types::escape(text) }
}

/// Escapes a text in which names are escaped already: its backslashes stay as they are.
pub(crate) fn escape_rest(text: &str) -> String {
    text.split('\\').map(escape).collect::<Vec<_>>().join("\\")
}

/// Whether all letters stand for themselves, inside quotes too, as those of most names do: without a further look.
pub(super) fn is_plain(text: &[u8]) -> bool {
    let odd = |&byte: &u8| !matches!(byte, b' '..=b'~') | (byte == b'\\') | (byte == b'"');
    // All are looked at, many at once, which is sooner done than stopping at the first.
    !text.iter().fold(false, |any, byte| any | odd(byte))
}

#[cfg(test)]
mod tests {
    use super::escape_rest;

    #[test]
    fn what_is_escaped_already_is_not_escaped_again() {
        assert_eq!(escape_rest("\"a\\u{1b}\" is \u{ad}odd\n"), "\"a\\u{1b}\" is \\u{ad}odd\\n");
    }
}
