//! Serialisation of structures that contain texts.
//!
//! In human-readable formats a text is a string. If it is not UTF-8, the string has replacement characters, and a
//! second key has the bytes in hex: `"name": "caf\u{fffd}", "nameBytes": "636166e9"`. So a reader always gets a string,
//! and nothing is lost. In binary formats a text is its bytes.

use std::fmt;

use serde::de::Error as _;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Text;

/// Implements serde for a structure, and `Serialize` for other structures with the same fields.
///
/// An entry is a field, its type and its key. A text has two fields and two keys, the second for its bytes. The
/// attributes apply to the structure that is deserialised.
#[doc(hidden)]
#[macro_export]
macro_rules! object {
    ($(#[$meta:meta])* $type:ident, [$( $same:ty ),*] $fields:tt) => {
        $crate::seam::object!(@serialize stringify!($type), $type, $fields);
        $( $crate::seam::object!(@serialize stringify!($type), $same, $fields); )*
        $crate::seam::object!(@deserialize $(#[$meta])* $type, $fields);
    };
    (@serialize $name:expr, $type:ty, {
        $( $field:ident $(/ $bytes:ident)?: $value:ty = $key:literal $(/ $bytes_key:literal)?; )+
    }) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeStruct as _;

                let human_readable = serializer.is_human_readable();
                let len = [$( $crate::seam::object!(@len human_readable, self.$field $(, $bytes)?) ),+];
                let mut object = serializer.serialize_struct($name, len.iter().sum())?;
                $( $crate::seam::object!(@put object, human_readable, self.$field, $key $(, $bytes_key)?); )+
                object.end()
            }
        }
    };
    (@deserialize $(#[$meta:meta])* $type:ident, {
        $( $field:ident $(/ $bytes:ident)?: $value:ty = $key:literal $(/ $bytes_key:literal)?; )+
    }) => {
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                #[derive(serde::Deserialize)]
                $(#[$meta])*
                struct HumanReadable {
                    $(
                        #[serde(rename = $key)]
                        $field: $value,
                        $(
                            #[serde(rename = $bytes_key, default)]
                            $bytes: Option<$crate::seam::Hex>,
                        )?
                    )+
                }

                impl Default for HumanReadable {
                    fn default() -> Self {
                        let $type { $( $field ),+ } = $type::default();
                        HumanReadable { $( $field, $( $bytes: None, )? )+ }
                    }
                }

                #[derive(serde::Deserialize)]
                struct Binary {
                    $( #[serde(rename = $key)] $field: $value, )+
                }

                if deserializer.is_human_readable() {
                    let read = HumanReadable::deserialize(deserializer)?;
                    return Ok($type {
                        $( $field: $crate::seam::object!(@take read, $field, $key $(, $bytes)?), )+
                    });
                }
                let Binary { $( $field ),+ } = Binary::deserialize(deserializer)?;
                Ok($type { $( $field ),+ })
            }
        }
    };
    (@len $human_readable:ident, $value:expr) => { 1 };
    (@len $human_readable:ident, $value:expr, $bytes:ident) => {
        1 + usize::from($human_readable && $value.to_str().is_err())
    };
    (@put $object:ident, $human_readable:ident, $value:expr, $key:literal) => {
        $object.serialize_field($key, &$value)?
    };
    (@put $object:ident, $human_readable:ident, $value:expr, $key:literal, $bytes_key:literal) => {
        $crate::seam::put_text(&mut $object, $human_readable, &$value, [$key, $bytes_key])?
    };
    (@take $read:ident, $field:ident, $key:literal) => { $read.$field };
    (@take $read:ident, $field:ident, $key:literal, $bytes:ident) => {
        $crate::seam::take_text($read.$field, $read.$bytes, $key)?
    };
}

pub use object;

/// Serialises a text under its one or two keys.
pub fn put_text<O: SerializeStruct>(
    object: &mut O,
    human_readable: bool,
    text: &Text<'_>,
    [key, bytes_key]: [&'static str; 2],
) -> Result<(), O::Error> {
    match text.to_str() {
        Err(_) if human_readable => {
            object.serialize_field(key, &Shown(text))?;
            object.serialize_field(bytes_key, &Hex::of(text.as_bytes()))
        }
        _ => object.serialize_field(key, text),
    }
}

/// Combines a text and its bytes, which come from two keys. Fails if they differ.
pub fn take_text<E: serde::de::Error>(text: Text<'static>, bytes: Option<Hex>, key: &str) -> Result<Text<'static>, E> {
    let Some(Hex(bytes)) = bytes else { return Ok(text) };
    let whole = Text::from(bytes);
    if text == *whole.to_string_lossy() {
        Ok(whole)
    } else {
        Err(E::custom(format_args!("{key} is another text than {key}Bytes")))
    }
}

/// Serialises a text as a string, with replacement characters for parts that are not UTF-8.
struct Shown<'a>(&'a Text<'a>);

impl Serialize for Shown<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self.0)
    }
}

/// Bytes, serialised as hex digits.
#[allow(missing_debug_implementations, reason = "for serialising only")]
pub struct Hex<B = Vec<u8>>(B);

impl<'a> Hex<&'a [u8]> {
    fn of(bytes: &'a [u8]) -> Self {
        Hex(bytes)
    }
}

impl fmt::Display for Hex<&[u8]> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl Serialize for Hex<&[u8]> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hex {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        let bytes: Option<Vec<u8>> = text.as_bytes().chunks(2).map(byte).collect();
        let is_hex = text.len().is_multiple_of(2) && text.bytes().all(|digit| digit.is_ascii_hexdigit());
        bytes.filter(|_| is_hex).map(Hex).ok_or_else(|| D::Error::custom("bytes are written as two hex digits each"))
    }
}

/// A list whose elements are made while it is serialised.
#[allow(missing_debug_implementations, reason = "for serialising only")]
pub struct List<F>(pub F);

impl<F: Fn() -> I, I: Iterator<Item: Serialize>> Serialize for List<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((self.0)())
    }
}
