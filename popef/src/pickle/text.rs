//! How Python spells texts in the older protocols.

/// The text of a `STRING` line: quoted, with the escapes of Python's string literals.
pub(super) fn unquote(line: &[u8]) -> Option<String> {
    let inner = match line {
        [b'\'', inner @ .., b'\''] | [b'"', inner @ .., b'"'] => inner,
        _ => return None,
    };
    unescape(inner, false)
}

/// The text of a `UNICODE` line: only `\u` and `\U` are escapes.
pub(super) fn unescape_unicode(line: &[u8]) -> Option<String> {
    unescape(line, true)
}

/// Bytes stand for the characters of their numbers, as in Latin-1.
fn unescape(bytes: &[u8], raw: bool) -> Option<String> {
    let mut text = String::with_capacity(bytes.len());
    let mut rest = bytes;
    while let [first, more @ ..] = rest {
        rest = more;
        if *first == b'\\' {
            let (letter, after) = if raw { raw_escape(more)? } else { escape(more)? };
            text.extend(letter.into_iter().flatten());
            rest = after;
        } else {
            text.push(char::from(*first));
        }
    }
    Some(text)
}

/// A piece of text out of an escape, and what follows it.
type Escape<'b> = Option<([Option<char>; 2], &'b [u8])>;

fn raw_escape(rest: &[u8]) -> Escape<'_> {
    match rest {
        [b'u', after @ ..] => hex(after, 4),
        [b'U', after @ ..] => hex(after, 8),
        _ => kept(rest),
    }
}

fn escape(rest: &[u8]) -> Escape<'_> {
    let (letter, after) = match rest {
        [b'x', after @ ..] => return hex(after, 2),
        [b'0'..=b'7', ..] => return octal(rest),
        [b'\n', after @ ..] => return Some(([None; 2], after)),
        [b'n', after @ ..] => ('\n', after),
        [b't', after @ ..] => ('\t', after),
        [b'r', after @ ..] => ('\r', after),
        [b'a', after @ ..] => ('\x07', after),
        [b'b', after @ ..] => ('\x08', after),
        [b'f', after @ ..] => ('\x0c', after),
        [b'v', after @ ..] => ('\x0b', after),
        [quoted @ (b'\\' | b'\'' | b'"'), after @ ..] => (char::from(*quoted), after),
        _ => return kept(rest),
    };
    Some(([Some(letter), None], after))
}

/// What is no escape stands for itself, backslash and all; the letter behind it begins none either.
fn kept(rest: &[u8]) -> Escape<'_> {
    let after = rest.get(1..).unwrap_or_default();
    Some(([Some('\\'), rest.first().map(|&letter| char::from(letter))], after))
}

fn hex(digits: &[u8], count: usize) -> Escape<'_> {
    let (digits, after) = digits.split_at_checked(count)?;
    let number = u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    // A surrogate alone is no character; no module has one in its name.
    Some(([Some(char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER)), None], after))
}

/// One to three digits.
fn octal(rest: &[u8]) -> Escape<'_> {
    let digits = rest.iter().take(3).take_while(|byte| matches!(byte, b'0'..=b'7')).count();
    let (digits, after) = rest.split_at_checked(digits)?;
    let number = digits.iter().fold(0u32, |number, digit| (number << 3) | u32::from(digit & 7));
    Some(([char::from_u32(number & 0xff), None], after))
}

/// The bytes of a text whose characters are all below U+0100, as Python 3 spells bytes in protocols 0 to 2.
pub(super) fn latin1(text: &str) -> Option<Vec<u8>> {
    text.chars().map(|letter| u8::try_from(u32::from(letter)).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::{latin1, unescape_unicode, unquote};

    /// By Python: `pickle.loads(b"S" + line + b"\n.")`.
    #[test]
    fn strings_are_those_of_python() {
        for (line, text) in [
            (r"'os'", "os"),
            (r#""os""#, "os"),
            (r"'\x6fs'", "os"),
            (r"'\157\163'", "os"),
            (r#"'a\tb\n\'\"\\'"#, "a\tb\n'\"\\"),
            (r"'\q\8'", r"\q\8"),
            (r"'\1234'", "S4"),
        ] {
            assert_eq!(unquote(line.as_bytes()).as_deref(), Some(text), "{line}");
        }
        assert_eq!(unquote(b"os"), None);
        assert_eq!(unquote(b"'os\""), None);
        assert_eq!(unquote(br"'\x6'"), None);
    }

    /// By Python: `pickle.loads(b"V" + line + b"\n.")`.
    #[test]
    fn unicode_strings_are_those_of_python() {
        for (line, text) in [
            (r"\u006fs", "os"),
            (r"\U0000006fs", "os"),
            (r"a\nb", r"a\nb"),
            (r"\\u006f", r"\\u006f"),
            (r"\x6fs", r"\x6fs"),
        ] {
            assert_eq!(unescape_unicode(line.as_bytes()).as_deref(), Some(text), "{line}");
        }
        assert_eq!(unescape_unicode(b"caf\xe9").as_deref(), Some("caf\u{e9}"));
        assert_eq!(unescape_unicode(br"\u00"), None);
    }

    #[test]
    fn latin1_is_of_single_bytes() {
        assert_eq!(latin1("\u{80}\u{4}").as_deref(), Some(&[0x80, 4][..]));
        assert_eq!(latin1("\u{100}"), None);
    }
}
