//! How pickles encode texts, and bytes as texts.

use std::borrow::Cow;

use super::halt::Halt;
use popef::seam::as_usize;

/// How the bytes of a text encode its characters.
#[derive(Clone, Copy, Debug)]
pub(super) enum Spelling {
    Utf8,
    /// A string of Python 2, in an encoding that the program chooses which loads the pickle.
    Chosen,
    /// A `STRING` line: quoted, with the escapes of Python's string literals.
    Quoted,
    /// A `UNICODE` line: only `\u` and `\U` are escapes.
    Raw,
}

/// A text as it is encoded in a pickle.
#[derive(Clone, Copy)]
pub(super) struct Text<'b> {
    pub(super) spelling: Spelling,
    pub(super) bytes: &'b [u8],
}

/// The number of bytes that are tried as a pickle if they do not begin like one.
pub(super) const LARGEST_TRIAL: u64 = 64 << 10;

impl<'b> Text<'b> {
    /// Returns whether it begins with a pickle's first character, U+0080. A few of its first bytes are enough.
    pub(super) fn is_marked(self) -> bool {
        let mut first = None;
        let mut see = |piece: &str| first = first.or(piece.chars().next());
        match self.spelling {
            Spelling::Utf8 | Spelling::Chosen => spell_utf8(self.bytes, see),
            Spelling::Quoted => drop(unescape(self.bytes.get(1..).unwrap_or_default(), escape, &mut see)),
            Spelling::Raw => drop(unescape(self.bytes, raw_escape, &mut see)),
        }
        first == Some('\u{80}')
    }

    /// Calls `each` with the text, piece by piece, with U+FFFD for what is not UTF-8.
    pub(super) fn spell(self, mut each: impl FnMut(&str)) -> Result<(), Halt> {
        let whole = match self.spelling {
            Spelling::Utf8 | Spelling::Chosen => {
                spell_utf8(self.bytes, each);
                Some(())
            }
            Spelling::Quoted => unquote(self.bytes).and_then(|inner| unescape(inner, escape, &mut each)),
            Spelling::Raw => unescape(self.bytes, raw_escape, &mut each),
        };
        whole.ok_or(Halt::Limit("a text is not spelt as Python spells one"))
    }

    /// Returns the bytes of a text that may be a pickle. In protocols 0 to 2, Python 3 writes bytes as texts, each byte as
    /// the character with its number.
    pub(super) fn pickle(self) -> Result<Option<Cow<'b, [u8]>>, Halt> {
        let is_utf8 = matches!(self.spelling, Spelling::Utf8 | Spelling::Chosen);
        if is_utf8 && !may_be_pickle(self.bytes) {
            return Ok(None);
        }
        let mut seen = Seen::default();
        self.spell(|piece| seen.see(piece))?;
        if !seen.may_be_pickle() {
            return Ok(None);
        }
        if is_utf8 && seen.len == self.bytes.len() {
            return Ok(Some(Cow::Borrowed(self.bytes)));
        }
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(seen.len)?;
        self.spell(|piece| bytes.extend(piece.chars().filter_map(|letter| u8::try_from(letter).ok())))?;
        Ok(Some(Cow::Owned(bytes)))
    }
}

/// Returns whether a character can belong to an opcode that imports, or end its line. In a text that does not begin like
/// a pickle, only imports matter, and not whether a stop follows: Python imports before it gets there.
fn may_import(letter: char) -> bool {
    matches!(letter, '\n' | '\u{82}'..='\u{84}' | '\u{93}')
}

/// Returns whether a UTF-8 text begins like a pickle, or may otherwise be one. It only examines bytes, which is fast:
/// it finds every text that can import, and some others.
fn may_be_pickle(bytes: &[u8]) -> bool {
    bytes.starts_with("\u{80}".as_bytes()) || bytes.iter().any(|&byte| may_import(char::from(byte)))
}

/// The facts that decide whether a text may be a pickle.
#[derive(Default)]
struct Seen {
    /// The number of its characters.
    len: usize,
    marked: bool,
    imports: bool,
    /// It has characters that do not encode a byte.
    wide: bool,
}

impl Seen {
    fn see(&mut self, piece: &str) {
        for letter in piece.chars() {
            self.marked |= self.len == 0 && letter == '\u{80}';
            self.imports |= may_import(letter);
            self.wide |= letter > '\u{ff}';
            self.len = self.len.saturating_add(1);
        }
    }

    fn may_be_pickle(&self) -> bool {
        !self.wide && (self.marked || self.imports && self.len <= as_usize(LARGEST_TRIAL))
    }
}

/// Calls `each` with bytes as text, with U+FFFD for what is not UTF-8.
pub(super) fn spell_utf8(bytes: &[u8], mut each: impl FnMut(&str)) {
    for chunk in bytes.utf8_chunks() {
        each(chunk.valid());
        if !chunk.invalid().is_empty() {
            each("\u{fffd}");
        }
    }
}

fn unquote(line: &[u8]) -> Option<&[u8]> {
    match line {
        [b'\'', inner @ .., b'\''] | [b'"', inner @ .., b'"'] => Some(inner),
        _ => None,
    }
}

/// Decodes bytes as Latin-1, except those after a backslash, which `escape` decodes.
fn unescape(bytes: &[u8], escape: fn(&[u8]) -> Escape<'_>, mut each: impl FnMut(&str)) -> Option<()> {
    let mut give = |letter: char| each(letter.encode_utf8(&mut [0; 4]));
    let mut rest = bytes;
    while let [first, more @ ..] = rest {
        rest = more;
        if *first == b'\\' {
            let (letter, next, after) = escape(more)?;
            give(letter);
            next.into_iter().for_each(&mut give);
            rest = after;
        } else {
            give(char::from(*first));
        }
    }
    Some(())
}

/// One or two characters from an escape, and what follows it.
type Escape<'b> = Option<(char, Option<char>, &'b [u8])>;

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
    Some((letter, None, after))
}

/// A backslash without a valid escape stays as it is, together with the character after it.
fn kept(rest: &[u8]) -> Escape<'_> {
    let after = rest.get(1..).unwrap_or_default();
    Some(('\\', rest.first().map(|&letter| char::from(letter)), after))
}

fn hex(digits: &[u8], count: usize) -> Escape<'_> {
    let (digits, after) = digits.split_at_checked(count)?;
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    let number = digits.iter().try_fold(0u32, |number, byte| Some((number << 4) | digit(byte)?))?;
    // A lone surrogate is not a character. No module has one in its name.
    Some((char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER), None, after))
}

/// One to three digits.
fn octal(rest: &[u8]) -> Escape<'_> {
    let digits = rest.iter().take(3).take_while(|byte| matches!(byte, b'0'..=b'7')).count();
    let (digits, after) = rest.split_at_checked(digits)?;
    let number = digits.iter().fold(0u32, |number, digit| (number << 3) | u32::from(digit & 7));
    Some((char::from(u8::try_from(number & 0xff).ok()?), None, after))
}

#[cfg(test)]
mod tests {
    use super::{Spelling, Text};

    fn spelt(spelling: Spelling, bytes: &[u8]) -> Option<String> {
        let mut text = String::new();
        Text { spelling, bytes }.spell(|piece| text.push_str(piece)).ok().map(|()| text)
    }

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
            (r"'\r\a\b\f\v'", "\r\x07\x08\x0c\x0b"),
        ] {
            assert_eq!(spelt(Spelling::Quoted, line.as_bytes()).as_deref(), Some(text), "{line}");
        }
        assert_eq!(spelt(Spelling::Quoted, b"os"), None);
        assert_eq!(spelt(Spelling::Quoted, b"'os\""), None);
        assert_eq!(spelt(Spelling::Quoted, br"'\x6'"), None);
        assert_eq!(spelt(Spelling::Quoted, br"'\x+6'"), None);
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
            assert_eq!(spelt(Spelling::Raw, line.as_bytes()).as_deref(), Some(text), "{line}");
        }
        assert_eq!(spelt(Spelling::Raw, b"caf\xe9").as_deref(), Some("caf\u{e9}"));
        assert_eq!(spelt(Spelling::Raw, br"\u00"), None);
        assert_eq!(spelt(Spelling::Raw, br"\u+06f"), None);
    }

    #[test]
    fn bytes_that_are_spelt_as_text_come_back() {
        let pickle = |spelling, bytes| Text { spelling, bytes }.pickle().unwrap().map(|bytes| bytes.to_vec());
        for (spelling, text, bytes) in [
            (Spelling::Utf8, "\u{80}\u{2}\u{ff}".as_bytes(), &b"\x80\x02\xff"[..]),
            (Spelling::Utf8, b"cm\nn\n.", b"cm\nn\n."),
            (Spelling::Utf8, b"cm\nn\n", b"cm\nn\n"),
            (Spelling::Utf8, "a\u{93}".as_bytes(), b"a\x93"),
            (Spelling::Quoted, br"'\x80\x02\377'", b"\x80\x02\xff"),
            (Spelling::Raw, br"\u0080\u0002\u00ff", b"\x80\x02\xff"),
        ] {
            assert_eq!(pickle(spelling, text).as_deref(), Some(bytes), "{spelling:?}");
        }
        for text in ["cm n.", "\u{80}\u{2}\u{100}", "no mark", "\u{492}\u{493}\u{d3}", ""] {
            assert_eq!(pickle(Spelling::Utf8, text.as_bytes()), None, "{text:?}");
        }
    }
}
