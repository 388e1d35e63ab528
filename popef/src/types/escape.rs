//! Escaping of texts from untrusted files for a terminal. A name must not move the cursor, reverse the line, or look
//! like another name because some of its characters are invisible.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Escapes each character that could mislead a reader, as `\n`, `\u{1b}` or `\u{202e}`. A backslash becomes `\\`, so
/// that the result is unambiguous.
///
/// CI runners treat some text in a log as commands: `::` at the start of a line, and `##[` and `##vso[` anywhere. So
/// the first colon of a leading `::` is escaped too, and so is a `#` that follows another one.
///
/// ```
/// use popef::types::escape;
///
/// assert_eq!(escape("größe\u{1b}[31m"), r"größe\u{1b}[31m");
/// assert_eq!(escape("##[error]no"), r"#\u{23}[error]no");
/// ```
pub fn escape(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|letter| letter == '\\' || is_hidden(letter)) && !has_command(text) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len());
    let (mut before, mut begins) = (' ', begins_with_colons(text));
    for letter in text.chars() {
        let is_command = (letter == '#' && before == '#') || (letter == ':' && begins);
        begins &= !is_command;
        before = letter;
        match letter {
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\t' => escaped.push_str("\\t"),
            '\0' => escaped.push_str("\\0"),
            '\\' => escaped.push_str("\\\\"),
            _ if is_command || is_hidden(letter) => _ = write!(escaped, "\\u{{{:x}}}", u32::from(letter)),
            _ => escaped.push(letter),
        }
    }
    Cow::Owned(escaped)
}

/// Returns whether a runner of CI could take a text in its log for a command.
fn has_command(text: &str) -> bool {
    begins_with_colons(text) || text.contains("##")
}

fn begins_with_colons(text: &str) -> bool {
    text.trim_start_matches(' ').starts_with("::")
}

/// Returns whether a character is invisible, changes how others look, or depends on the font: control and format
/// characters (including direction overrides), fillers, variation selectors, spaces other than U+0020, private use, and
/// noncharacters.
pub fn is_hidden(letter: char) -> bool {
    let code = u32::from(letter);
    let after = HIDDEN.partition_point(|&(first, _)| first <= code);
    let in_range = after.checked_sub(1).and_then(|last| HIDDEN.get(last)).is_some_and(|&(_, last)| code <= last);
    in_range || letter.is_control() || code & 0xfffe == 0xfffe
}

const HIDDEN: &[(u32, u32)] = &[
    (0xa0, 0xa0),
    (0xad, 0xad),
    (0x34f, 0x34f),
    (0x600, 0x605),
    (0x61c, 0x61c),
    (0x6dd, 0x6dd),
    (0x70f, 0x70f),
    (0x890, 0x891),
    (0x8e2, 0x8e2),
    (0x115f, 0x1160),
    (0x1680, 0x1680),
    (0x17b4, 0x17b5),
    (0x180b, 0x180f),
    (0x2000, 0x200f),
    (0x2028, 0x202f),
    (0x205f, 0x206f),
    (0x2800, 0x2800),
    (0x3000, 0x3000),
    (0x3164, 0x3164),
    (0xe000, 0xf8ff),
    (0xfdd0, 0xfdef),
    (0xfe00, 0xfe0f),
    (0xfeff, 0xfeff),
    (0xffa0, 0xffa0),
    (0xfff0, 0xfffb),
    (0x110bd, 0x110bd),
    (0x110cd, 0x110cd),
    (0x13430, 0x1343f),
    (0x16fe4, 0x16fe4),
    (0x1bca0, 0x1bca3),
    (0x1d159, 0x1d159),
    (0x1d173, 0x1d17a),
    (0xe0000, 0xe0fff),
    (0xf0000, 0x10ffff),
];

#[cfg(test)]
mod tests {
    use super::{HIDDEN, escape};

    #[test]
    fn what_can_be_seen_stays() {
        for text in ["", "model.layer/weights:0", "größe/вес", "重み", "हिन्दी", "e\u{301}", "\u{fffd}", "😀"]
        {
            assert_eq!(escape(text), text);
        }
    }

    #[test]
    fn what_misleads_is_written_out() {
        let cases = [
            ("a\nb\tc\r\0", r"a\nb\tc\r\0"),
            ("\u{1b}[31mred", r"\u{1b}[31mred"),
            ("\u{9b}31m", r"\u{9b}31m"),
            ("\u{7f}", r"\u{7f}"),
            ("a\u{202e}gpj.exe", r"a\u{202e}gpj.exe"),
            ("\u{2066}x\u{2069}", r"\u{2066}x\u{2069}"),
            ("a\u{200b}b\u{feff}", r"a\u{200b}b\u{feff}"),
            ("a\u{a0}b\u{3164}", r"a\u{a0}b\u{3164}"),
            ("\u{e0041}\u{10ffff}", r"\u{e0041}\u{10ffff}"),
            (r"a\n", r"a\\n"),
            (" ::error::a::b", r" \u{3a}:error::a::b"),
            ("a::b ###[x", r"a::b #\u{23}\u{23}[x"),
        ];
        for (text, shown) in cases {
            assert_eq!(escape(text), shown);
        }
    }

    #[test]
    fn the_table_is_in_order() {
        assert!(HIDDEN.is_sorted_by(|a, b| a.0 <= a.1 && a.1 < b.0));
    }
}
