//! Names as a terminal may show them. They come from untrusted files: a name must not move the cursor, turn the
//! line around, or look like another name by letters that cannot be seen.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The text with each letter that could mislead written out: `\n`, `\u{1b}`, `\u{202e}`; and `\\` for a backslash,
/// so that nothing else looks like these.
pub(crate) fn escape(text: &str) -> Cow<'_, str> {
    if is_plain(text.as_bytes()) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        push(&mut escaped, letter);
    }
    Cow::Owned(escaped)
}

/// The same for a text in which names are escaped already: its backslashes stay as they are.
pub(crate) fn escape_rest(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\\' => escaped.push(letter),
            _ => push(&mut escaped, letter),
        }
    }
    escaped
}

/// Whether all letters stand for themselves, inside quotes too, as those of most names do: without a further look.
pub(super) fn is_plain(text: &[u8]) -> bool {
    let odd = |&byte: &u8| !matches!(byte, b' '..=b'~') | (byte == b'\\') | (byte == b'"');
    // All are looked at, many at once, which is sooner done than stopping at the first.
    !text.iter().fold(false, |any, byte| any | odd(byte))
}

fn push(escaped: &mut String, letter: char) {
    match letter {
        '\n' => escaped.push_str("\\n"),
        '\r' => escaped.push_str("\\r"),
        '\t' => escaped.push_str("\\t"),
        '\0' => escaped.push_str("\\0"),
        '\\' => escaped.push_str("\\\\"),
        _ if letter.is_control() || is_unseen(letter) => {
            let _ = write!(escaped, "\\u{{{:x}}}", u32::from(letter));
        }
        _ => escaped.push(letter),
    }
}

/// Whether a letter is not seen, changes others, or means something else in every font: format characters (with the
/// direction overrides), fillers, variation selectors, spaces that are not the space, private use, noncharacters.
pub(super) fn is_unseen(letter: char) -> bool {
    let code = u32::from(letter);
    let after = UNSEEN.partition_point(|&(first, _)| first <= code);
    let in_range = after.checked_sub(1).and_then(|last| UNSEEN.get(last)).is_some_and(|&(_, last)| code <= last);
    in_range || code & 0xfffe == 0xfffe
}

const UNSEEN: &[(u32, u32)] = &[
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
    use super::{UNSEEN, escape, escape_rest};

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
        ];
        for (text, shown) in cases {
            assert_eq!(escape(text), shown);
        }
    }

    #[test]
    fn what_is_escaped_already_is_not_escaped_again() {
        assert_eq!(escape_rest("\"a\\u{1b}\" is \u{ad}odd\n"), "\"a\\u{1b}\" is \\u{ad}odd\\n");
    }

    #[test]
    fn the_table_is_in_order() {
        assert!(UNSEEN.is_sorted_by(|a, b| a.0 <= a.1 && a.1 < b.0));
    }
}
