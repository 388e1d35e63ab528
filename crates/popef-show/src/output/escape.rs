//! Escapes texts for terminals, HTML and XML: one function for each language.

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

/// Escapes a text for a page, so that it has no tag, no entity, and no end of a quoted value. Hidden characters must be escaped already.
///
/// ```
/// assert_eq!(popef_show::markup("<a & 'b'>"), "&lt;a &amp; &#39;b&#39;&gt;");
/// ```
pub fn markup(text: &str) -> String {
    let mut page = String::with_capacity(text.len());
    push(&mut page, text, entity);
    page
}

/// Escapes a text for XML, between tags or in double quotes.
pub(crate) fn xml(text: &str) -> String {
    let mut xml = String::with_capacity(text.len());
    push(&mut xml, text, |letter| entity(letter).filter(|_| letter != '\''));
    xml
}

/// Adds a text to a page.
pub(crate) fn push_markup(page: &mut String, text: &str) {
    push(page, text, entity);
}

fn push(to: &mut String, text: &str, entity: impl Fn(char) -> Option<&'static str>) {
    let mut rest = text;
    while let Some((at, special)) = rest.char_indices().find_map(|(at, letter)| Some((at, entity(letter)?))) {
        let (before, after) = rest.split_at(at);
        to.push_str(before);
        to.push_str(special);
        // All special letters have one byte.
        rest = after.get(1..).unwrap_or_default();
    }
    to.push_str(rest);
}

/// The entity for a letter with a meaning in markup.
fn entity(letter: char) -> Option<&'static str> {
    Some(match letter {
        '&' => "&amp;",
        '<' => "&lt;",
        '>' => "&gt;",
        '"' => "&quot;",
        '\'' => "&#39;",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{escape_rest, xml};

    #[test]
    fn what_is_escaped_already_is_not_escaped_again() {
        assert_eq!(escape_rest("\"a\\u{1b}\" is \u{ad}odd\n"), "\"a\\u{1b}\" is \\u{ad}odd\\n");
    }

    #[test]
    fn xml_has_no_tags_entities_or_ends_of_values() {
        assert_eq!(xml("<a b=\"c & d's\">"), "&lt;a b=&quot;c &amp; d's&quot;&gt;");
    }
}
