//! Bytes as hexadecimal digits, two for each.

use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Bytes that are shown, and serialise, as hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hex<B>(pub(crate) B);

impl<B: AsRef<[u8]>> fmt::Display for Hex<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_ref().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl<B: AsRef<[u8]>> Serialize for Hex<B> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hex<Vec<u8>> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        unhex(&text).map(Hex).ok_or_else(|| D::Error::custom("bytes are two hexadecimal digits each"))
    }
}

/// Parses hexadecimal digits of either case. `None` if the text is not hexadecimal.
pub(crate) fn unhex(text: &str) -> Option<Vec<u8>> {
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return None };
    let digit = |digit: u8| char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    pairs.iter().map(|&[high, low]| Some((digit(high)? << 4) | digit(low)?)).collect()
}
