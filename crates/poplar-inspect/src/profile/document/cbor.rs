//! CBOR (RFC 8949).
//!
//! Two crates were measured against this (release build, no LTO, 30 MB, mostly lists of integers). ciborium-ll 0.2.2 reads
//! from a stream too, and takes 1.6 times the time: 16 and 10 ns per byte, 246 and 111 instructions. minicbor 2.3.1 takes a
//! quarter of the time (2.5 ns, 22 instructions), but needs the whole document in memory. With both, the maximum depth,
//! the limit of texts, tags and big numbers would still be ours.

use super::{Doc, Frame, Keep, Result, Token};
use crate::profile::problem::ErrorKind;

/// The head of an item: its type and argument.
struct Head {
    major: u8,
    /// `None` if the length is indefinite, or for a break.
    argument: Option<u64>,
    /// The low five bits.
    low: u8,
}

impl Doc<'_> {
    pub(super) fn cbor_token(&mut self, keep: Keep) -> Result<Token> {
        let mut head = self.head()?;
        let mut is_bignum = false;
        while head.major == 6 {
            match head.argument {
                // CBOR itself, which may be before the document.
                Some(55_799) => {}
                Some(2 | 3) => is_bignum = true,
                Some(tag) if keep == Keep::Yes => self.remark_once(&format!("tag {tag} of CBOR is not looked at")),
                _ => {}
            }
            head = self.head()?;
        }
        match (head.major, head.argument) {
            (0, Some(value)) => Ok(Token::Uint(value)),
            #[expect(clippy::cast_precision_loss, reason = "no negative number is wanted")]
            (1, Some(value)) => Ok(Token::Other(-1.0 - value as f64)),
            (2, length) => {
                self.chunks(2, length, Keep::No).map(|()| if is_bignum { Token::Bignum } else { Token::Blob })
            }
            (3, length) => self.chunks(3, length, keep).map(|()| Token::Text),
            (4, length) => Ok(Token::Array(length)),
            (5, length) => Ok(Token::Object(length)),
            (7, argument) => self.simple(head.low, argument),
            _ => Err(self.fail(ErrorKind::Malformed, "this is no item of CBOR")),
        }
    }

    pub(super) fn cbor_more(&mut self, frame: &mut Frame) -> Result<bool> {
        match &mut frame.left {
            Some(0) => Ok(false),
            Some(left) => {
                *left -= 1;
                Ok(true)
            }
            None => {
                let is_break = self.peek()? == Some(0xFF);
                if is_break {
                    self.bytes.take(1);
                }
                Ok(!is_break)
            }
        }
    }

    fn head(&mut self) -> Result<Head> {
        let first = self.byte()?;
        let (major, low) = (first >> 5, first & 31);
        let argument = match low {
            0..24 => Some(u64::from(low)),
            24 => Some(self.big_endian(1)?),
            25 => Some(self.big_endian(2)?),
            26 => Some(self.big_endian(4)?),
            27 => Some(self.big_endian(8)?),
            31 if matches!(major, 2..=5) => None,
            _ => return Err(self.fail(ErrorKind::Malformed, "this is no item of CBOR")),
        };
        Ok(Head { major, argument, low })
    }

    fn big_endian(&mut self, bytes: u32) -> Result<u64> {
        let mut value = 0;
        for _ in 0..bytes {
            value = (value << 8) | u64::from(self.byte()?);
        }
        Ok(value)
    }

    /// Reads a text or bytes, which may be in several pieces.
    fn chunks(&mut self, major: u8, length: Option<u64>, keep: Keep) -> Result<()> {
        self.text.clear();
        self.has_surrogate = false;
        if let Some(length) = length {
            return self.chunk(length, keep);
        }
        while self.peek()? != Some(0xFF) {
            match self.head()? {
                Head { major: same, argument: Some(length), .. } if same == major => self.chunk(length, keep)?,
                _ => return Err(self.fail(ErrorKind::Malformed, "a piece of a text is no text")),
            }
        }
        self.bytes.take(1);
        Ok(())
    }

    fn chunk(&mut self, length: u64, keep: Keep) -> Result<()> {
        let mut left = length;
        while left > 0 {
            let rest = match self.bytes.rest() {
                Ok(rest) => rest,
                Err(error) => return Err(self.unreadable(&error)),
            };
            let len = usize::try_from(left).unwrap_or(usize::MAX).min(rest.len());
            if len == 0 {
                return Err(self.cut());
            }
            if keep == Keep::Yes {
                self.keep(len)?;
            }
            self.bytes.take(len);
            left = left.saturating_sub(len as u64);
        }
        Ok(())
    }

    fn simple(&mut self, low: u8, argument: Option<u64>) -> Result<Token> {
        let bits = argument.unwrap_or_default();
        match low {
            20 | 21 => Ok(Token::Bool),
            22 | 23 => Ok(Token::Null),
            #[expect(clippy::cast_possible_truncation, reason = "it was read from so many bits")]
            25 => self.float(half(bits as u16)),
            #[expect(clippy::cast_possible_truncation, reason = "it was read from so many bits")]
            26 => self.float(f64::from(f32::from_bits(bits as u32))),
            27 => self.float(f64::from_bits(bits)),
            _ => Err(self.fail(ErrorKind::Malformed, "this is no item of CBOR")),
        }
    }

    fn float(&self, value: f64) -> Result<Token> {
        // JSON has no such numbers, and the trees are the same.
        if value.is_finite() {
            return Ok(Token::Other(value));
        }
        Err(self.fail(ErrorKind::WrongForm, "the number is not finite"))
    }
}

/// A number of half precision.
fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    let value = match exponent {
        0 => fraction * 2_f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2_f64.powi(exponent - 25),
    };
    if bits >> 15 == 1 { -value } else { value }
}

#[cfg(test)]
mod tests {
    use super::half;

    #[test]
    fn half_precision_is_read() {
        let halves = [0x0000, 0x3C00, 0xC000, 0x3555, 0x7BFF, 0x0001, 0x8400];
        let values = [0.0, 1.0, -2.0, 0.333_251_953_125, 65504.0, 5.960_464_477_539_063e-8, -0.000_061_035_156_25];
        assert_eq!(halves.map(half), values);
        assert!(half(0x7C00).is_infinite() && half(0x7E00).is_nan());
    }
}
