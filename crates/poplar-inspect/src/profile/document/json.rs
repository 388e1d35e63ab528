//! JSON.
//!
//! The crate struson 0.7.2 also reads from a stream, with paths, bytes of errors and a maximum depth. It was measured
//! against this (release build, no LTO, 44 MB, mostly lists of integers), and takes 5 times the time: 27 and 5 ns per byte,
//! 204 and 58 instructions. It holds keys and numbers of any length, in 2 and 4 bytes of memory per byte, and refuses lone
//! surrogates, text that is not UTF-8, and a byte order mark. It adds 5 crates and 47 KB of code; JSON and CBOR here are
//! 24 KB together.

use std::io;

use super::bytes::Bytes;
use super::{Doc, Frame, Keep, Result, Token};
use crate::profile::problem::ErrorKind;

/// The maximum length of a number, in characters.
const NUMBER: usize = 400;

impl Doc<'_> {
    pub(super) fn space(&mut self) -> Result<()> {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek()? {
            self.bytes.take(1);
        }
        Ok(())
    }

    pub(super) fn json_token(&mut self, keep: Keep) -> Result<Token> {
        self.space()?;
        match self.peek()? {
            None => Err(self.cut()),
            Some(b'{') => self.taken(Token::Object(None)),
            Some(b'[') => self.taken(Token::Array(None)),
            Some(b'"') => {
                self.bytes.take(1);
                self.string(keep)
            }
            Some(b'-' | b'0'..=b'9') => self.json_number(),
            Some(b't') => self.word(b"true", Token::Bool),
            Some(b'f') => self.word(b"false", Token::Bool),
            Some(b'n') => self.word(b"null", Token::Null),
            Some(_) => Err(self.malformed("expected a value")),
        }
    }

    pub(super) fn json_more(&mut self, frame: &mut Frame, close: u8) -> Result<bool> {
        self.space()?;
        match self.peek()? {
            None => Err(self.cut()),
            Some(byte) if byte == close => {
                self.bytes.take(1);
                Ok(false)
            }
            Some(_) if frame.first => Ok(true),
            Some(b',') => {
                self.bytes.take(1);
                Ok(true)
            }
            Some(_) => Err(self.malformed(&format!("expected a comma or {}", char::from(close)))),
        }
    }

    /// Takes the colon between a key and its value.
    pub(super) fn after_key(&mut self) -> Result<()> {
        if self.is_cbor {
            return Ok(());
        }
        self.space()?;
        match self.byte()? {
            b':' => Ok(()),
            _ => Err(self.malformed("expected a colon")),
        }
    }

    pub(super) fn malformed(&self, message: &str) -> Box<crate::profile::Error> {
        self.fail(ErrorKind::Malformed, message)
    }

    fn taken(&mut self, token: Token) -> Result<Token> {
        self.bytes.take(1);
        Ok(token)
    }

    fn word(&mut self, word: &[u8], token: Token) -> Result<Token> {
        for expected in word {
            if self.byte()? != *expected {
                return Err(self.malformed("expected a value"));
            }
        }
        Ok(token)
    }

    fn json_number(&mut self) -> Result<Token> {
        let mut number = [0; NUMBER];
        let mut len = 0;
        while let Some(byte @ (b'+' | b'-' | b'.' | b'e' | b'E' | b'0'..=b'9')) = self.peek()? {
            match number.get_mut(len) {
                Some(place) => *place = byte,
                None => return Err(self.malformed("the number is too long")),
            }
            len += 1;
            self.bytes.take(1);
        }
        let number = number.get(..len).unwrap_or_default();
        match parse_number(number) {
            Some(token) => Ok(token),
            None if self.peek()?.is_none() => Err(self.cut()),
            None => Err(self.malformed("this is no number")),
        }
    }

    /// Reads a text whose first quotation mark was taken.
    fn string(&mut self, keep: Keep) -> Result<Token> {
        self.text.clear();
        self.has_surrogate = false;
        loop {
            let rest = match self.bytes.rest() {
                Ok(rest) => rest,
                Err(error) => return Err(self.unreadable(&error)),
            };
            let plain = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20)).unwrap_or(rest.len());
            if keep == Keep::Yes {
                self.keep(plain)?;
            }
            self.bytes.take(plain);
            match self.peek()? {
                None => return Err(self.cut()),
                Some(b'"') => return self.taken(Token::Text),
                Some(b'\\') => {
                    self.bytes.take(1);
                    self.escape()?;
                }
                Some(0..0x20) => return Err(self.malformed("a control character is in a text")),
                // The buffer ended.
                Some(_) => {}
            }
            if keep == Keep::No {
                self.text.clear();
            }
        }
    }

    fn escape(&mut self) -> Result<()> {
        let char = match self.byte()? {
            byte @ (b'"' | b'\\' | b'/') => char::from(byte),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode(),
            _ => return Err(self.malformed("this is no escape of JSON")),
        };
        self.put(char);
        Ok(())
    }

    /// Reads `XXXX` of `\uXXXX`, and the other half of a pair of surrogates.
    fn unicode(&mut self) -> Result<()> {
        let mut unit = self.unit()?;
        loop {
            let is_first = (0xD800..0xDC00).contains(&unit);
            if !is_first || self.peek()? != Some(b'\\') {
                return self.put_unit(unit);
            }
            self.bytes.take(1);
            if self.peek()? != Some(b'u') {
                self.put_unit(unit)?;
                return self.escape();
            }
            self.bytes.take(1);
            let second = self.unit()?;
            if (0xDC00..0xE000).contains(&second) {
                let pair = 0x10000 + ((unit - 0xD800) << 10) + (second - 0xDC00);
                return self.put_unit(pair);
            }
            self.put_unit(unit)?;
            unit = second;
        }
    }

    fn unit(&mut self) -> Result<u32> {
        let mut unit = 0;
        for _ in 0..4 {
            let byte = self.byte()?;
            let Some(digit) = char::from(byte).to_digit(16) else {
                return Err(self.malformed("expected four hexadecimal digits"));
            };
            unit = unit * 16 + digit;
        }
        Ok(unit)
    }

    /// Adds a code point, or half of a surrogate pair, which alone is not a code point.
    fn put_unit(&mut self, unit: u32) -> Result<()> {
        let char = char::from_u32(unit);
        self.has_surrogate |= char.is_none();
        self.put(char.unwrap_or(char::REPLACEMENT_CHARACTER));
        Ok(())
    }

    fn put(&mut self, char: char) {
        self.text.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
    }
}

/// Parses a JSON number.
fn parse_number(text: &[u8]) -> Option<Token> {
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let unsigned = text.strip_prefix(b"-").unwrap_or(text);
    let whole = digits(unsigned);
    if whole == 0 || (whole > 1 && unsigned.first() == Some(&b'0')) {
        return None;
    }
    let (whole, mut rest) = unsigned.split_at_checked(whole)?;
    let is_plain = rest.is_empty() && unsigned.len() == text.len();
    let mut fraction: &[u8] = &[];
    if let Some(after) = rest.strip_prefix(b".") {
        (fraction, rest) = after.split_at_checked(digits(after)).filter(|(fraction, _)| !fraction.is_empty())?;
    }
    let mut shift = 0_i64;
    if let [b'e' | b'E', exponent @ ..] = rest {
        let sign = if exponent.starts_with(b"-") { -1 } else { 1 };
        let exponent = exponent.strip_prefix(b"+").or_else(|| exponent.strip_prefix(b"-")).unwrap_or(exponent);
        let len = digits(exponent);
        rest = exponent.get(len..).filter(|_| len > 0)?;
        shift = str::from_utf8(exponent).ok()?.parse().unwrap_or(i64::MAX).saturating_mul(sign);
    }
    let text = str::from_utf8(text).ok().filter(|_| rest.is_empty())?;
    match text.parse() {
        Ok(value) if is_plain => Some(Token::Uint(value)),
        _ => {
            let value = text.parse().ok().filter(|value: &f64| value.is_finite())?;
            let is_integer = is_integer(whole, fraction, shift);
            Some(if is_integer { Token::Other(value) } else { Token::Fraction(value) })
        }
    }
}

/// Whether these digits, with the point moved to the right by `shift`, have no fraction. A floating-point number may leave it out.
fn is_integer(whole: &[u8], fraction: &[u8], shift: i64) -> bool {
    let zeros = fraction.iter().rev().chain(whole.iter().rev()).take_while(|digit| **digit == b'0').count();
    let digits = whole.len().saturating_add(fraction.len());
    let needed = i64::try_from(fraction.len().saturating_sub(zeros)).unwrap_or(i64::MAX);
    // Zeros before the point can move after it.
    let spare = i64::try_from(zeros.saturating_sub(fraction.len())).unwrap_or(i64::MAX);
    zeros == digits || needed <= shift.saturating_add(spare)
}

/// Reads `,1,22,333` as far as it is in the buffer, has nothing else in it, and something follows. Returns the next index.
pub(super) fn plain_uints(
    bytes: &mut Bytes<'_>,
    mut index: usize,
    each: &mut impl FnMut(usize, u64),
) -> io::Result<usize> {
    let rest = bytes.rest()?;
    let mut taken = 0;
    // A part of the list: a comma and digits.
    while let Some((b',', number)) = rest.get(taken..).and_then(<[u8]>::split_first) {
        let mut value = 0_u64;
        let mut len = 0;
        // Up to 19 digits fit.
        for byte in number.iter().take(19) {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            value = value * 10 + u64::from(digit);
            len += 1;
        }
        let follows = number.get(len);
        let has_zero_before = len > 1 && number.first() == Some(&b'0');
        if len == 0 || has_zero_before || !matches!(follows, Some(b',' | b']')) {
            break;
        }
        each(index, value);
        index = index.saturating_add(1);
        taken += 1 + len;
    }
    bytes.take(taken);
    Ok(index)
}

#[cfg(test)]
mod tests {
    use super::{Token, parse_number};

    #[test]
    fn numbers_are_those_of_json() {
        for (text, value) in [("0", 0), ("18446744073709551615", u64::MAX), ("7", 7)] {
            assert_eq!(parse_number(text.as_bytes()), Some(Token::Uint(value)), "{text}");
        }
        let fractions = [
            ("1e-400", 0.0),
            ("60.0000000000000000001", 60.0),
            ("-0.5", -0.5),
            ("120e-2", 1.2),
            ("1e-99999999999999999999", 0.0),
        ];
        for (text, value) in fractions {
            assert_eq!(parse_number(text.as_bytes()), Some(Token::Fraction(value)), "{text}");
        }
        for (text, value) in [("0e-400", 0.0), ("0.00e-1", 0.0), ("1200e-2", 12.0), ("1.2300e2", 123.0)] {
            assert_eq!(parse_number(text.as_bytes()), Some(Token::Other(value)), "{text}");
        }
        for (text, value) in [("-0", -0.0), ("1E+2", 100.0), ("18446744073709551616", 2_f64.powi(64))] {
            assert_eq!(parse_number(text.as_bytes()), Some(Token::Other(value)), "{text}");
        }
        for text in ["", "-", "1e999", "-1e999", "01", "1.", ".5", "1e", "1e+", "--1", "1.5.5", "+1", "1e5e5", "1-"] {
            assert_eq!(parse_number(text.as_bytes()), None, "{text}");
        }
    }
}
