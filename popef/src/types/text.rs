use std::borrow::Cow;
use std::fmt::{self, Write as _};

use crate::error::{Problem, with_room_for};

/// A name or another text of a PopEF file.
///
/// Exporters write UTF-8, but the format does not enforce it, and a name that is not UTF-8 must be neither lost nor
/// altered. So a `Text` holds bytes, which it borrows from the file or owns. [`to_str`](Text::to_str) returns them if
/// they are UTF-8, and [`Display`](fmt::Display) shows them with a replacement character for each faulty part.
///
/// ```
/// use popef::types::Text;
///
/// let name = Text::from("model.layer.weights");
/// assert_eq!(name, "model.layer.weights");
/// assert_eq!(String::from("model.layer.weights"), name);
/// assert_eq!(Text::from(&b"caf\xe9"[..]).to_string(), "caf\u{fffd}");
/// ```
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text<'a>(Cow<'a, [u8]>);

impl<'a> Text<'a> {
    /// The bytes as they are in the file, without the terminating NUL.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the text as a `str`. Fails if it is not UTF-8.
    pub fn to_str(&self) -> Result<&str, std::str::Utf8Error> {
        std::str::from_utf8(&self.0)
    }

    /// Converts the text to a `str` that borrows for as long as the text does. Fails if it is not UTF-8.
    pub fn into_str(self) -> Result<Cow<'a, str>, std::str::Utf8Error> {
        match self.0 {
            Cow::Borrowed(bytes) => std::str::from_utf8(bytes).map(Cow::Borrowed),
            Cow::Owned(bytes) => String::from_utf8(bytes).map(Cow::Owned).map_err(|e| e.utf8_error()),
        }
    }

    /// Returns the text with a replacement character (U+FFFD) for each part that is not UTF-8.
    pub fn to_string_lossy(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.0)
    }

    /// Iterates over the characters, with U+FFFD for each part that is not UTF-8. Allocates nothing.
    pub fn chars(&self) -> impl Iterator<Item = char> {
        self.0.utf8_chunks().flat_map(|chunk| {
            let replacement = (!chunk.invalid().is_empty()).then_some(char::REPLACEMENT_CHARACTER);
            chunk.valid().chars().chain(replacement)
        })
    }

    /// Returns whether the text is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Borrows the text.
    pub fn by_ref(&self) -> Text<'_> {
        Text(Cow::Borrowed(&self.0))
    }

    /// Like [`into_owned`](Text::into_owned), but fails if there is no memory for the copy.
    #[doc(hidden)]
    pub fn try_to_own(self) -> Result<Text<'static>, Problem> {
        match self.0 {
            Cow::Owned(bytes) => Ok(Text(Cow::Owned(bytes))),
            Cow::Borrowed(bytes) => {
                let mut copy = with_room_for(bytes.len())?;
                copy.extend_from_slice(bytes);
                Ok(Text(Cow::Owned(copy)))
            }
        }
    }

    /// Converts the text to one that owns its bytes. Copies them if they are borrowed.
    pub fn into_owned(self) -> Text<'static> {
        Text(Cow::Owned(self.0.into_owned()))
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.width().is_some() || f.precision().is_some() {
            return f.pad(&self.to_string_lossy());
        }
        self.0.utf8_chunks().try_for_each(|chunk| {
            f.write_str(chunk.valid())?;
            if chunk.invalid().is_empty() { Ok(()) } else { f.write_char(char::REPLACEMENT_CHARACTER) }
        })
    }
}

impl fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0.escape_ascii())
    }
}

impl<'a> From<&'a str> for Text<'a> {
    fn from(text: &'a str) -> Self {
        Text(Cow::Borrowed(text.as_bytes()))
    }
}

impl<'a> From<&'a [u8]> for Text<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Text(Cow::Borrowed(bytes))
    }
}

impl<'a> From<Cow<'a, [u8]>> for Text<'a> {
    fn from(text: Cow<'a, [u8]>) -> Self {
        Text(text)
    }
}

impl From<String> for Text<'static> {
    fn from(text: String) -> Self {
        Text(Cow::Owned(text.into_bytes()))
    }
}

impl From<Vec<u8>> for Text<'static> {
    fn from(bytes: Vec<u8>) -> Self {
        Text(Cow::Owned(bytes))
    }
}

/// Lets the name from one blob be used to find another: `file.executable(metadata.executable())`.
impl AsRef<[u8]> for Text<'_> {
    fn as_ref(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl PartialEq<str> for Text<'_> {
    fn eq(&self, other: &str) -> bool {
        *self.0 == *other.as_bytes()
    }
}

impl PartialEq<Text<'_>> for str {
    fn eq(&self, other: &Text<'_>) -> bool {
        *other == *self
    }
}

/// Implements equality with a string type, both ways.
macro_rules! equals {
    ($( $other:ty ),*) => { $(
        impl PartialEq<$other> for Text<'_> {
            fn eq(&self, other: &$other) -> bool {
                *self == **other
            }
        }

        impl PartialEq<Text<'_>> for $other {
            fn eq(&self, other: &Text<'_>) -> bool {
                *other == **self
            }
        }
    )* };
}

equals!(&str, String, Cow<'_, str>);

/// In human-readable formats, UTF-8 serialises as a string and anything else as a sequence of bytes; deserialising
/// accepts both. In binary formats, which cannot tell the two apart, a text is always bytes.
#[cfg(feature = "serde")]
mod serde {
    use super::Text;
    use serde::de::{Error, SeqAccess, Visitor};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    impl Serialize for Text<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            match self.to_str() {
                Ok(text) if serializer.is_human_readable() => serializer.serialize_str(text),
                _ => serializer.serialize_bytes(self.as_bytes()),
            }
        }
    }

    impl<'de> Deserialize<'de> for Text<'static> {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct TextVisitor;

            impl<'de> Visitor<'de> for TextVisitor {
                type Value = Text<'static>;

                fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str("a string, or the bytes of a text that is not UTF-8")
                }

                fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                    Ok(text.to_owned().into())
                }

                fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
                    Ok(bytes.to_owned().into())
                }

                fn visit_byte_buf<E: Error>(self, bytes: Vec<u8>) -> Result<Self::Value, E> {
                    Ok(bytes.into())
                }

                fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                    let mut bytes = Vec::new();
                    while let Some(byte) = seq.next_element::<u8>()? {
                        bytes.push(byte);
                    }
                    Ok(bytes.into())
                }
            }

            if deserializer.is_human_readable() {
                deserializer.deserialize_any(TextVisitor)
            } else {
                deserializer.deserialize_byte_buf(TextVisitor)
            }
        }
    }
}
