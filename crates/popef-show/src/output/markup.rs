//! Texts as they stand in HTML and XML. Hidden characters are escaped before, so that all characters are allowed in both.

/// A text as it stands in a page: nothing in it is a tag, an entity, or the end of a quoted value.
///
/// ```
/// assert_eq!(popef_show::markup("<a & 'b'>"), "&lt;a &amp; &#39;b&#39;&gt;");
/// ```
pub fn markup(text: &str) -> String {
    let mut page = String::with_capacity(text.len());
    push(&mut page, text, entity);
    page
}

/// A text as it stands in XML, between tags or in double quotes.
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

/// How a letter with a meaning in markup is written.
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
    use super::xml;

    #[test]
    fn xml_has_no_tags_entities_or_ends_of_values() {
        assert_eq!(xml("<a b=\"c & d's\">"), "&lt;a b=&quot;c &amp; d's&quot;&gt;");
    }
}
