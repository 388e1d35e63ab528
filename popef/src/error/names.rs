//! Values of which each has one name: how they are shown, read back, and serialised.

use std::fmt;

/// The error of reading an [`ErrorCode`](crate::ErrorCode) or an [`ErrorKind`](crate::ErrorKind) from a text that is
/// not the name of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName {
    pub(super) name: String,
    pub(super) what: &'static str,
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is not an {} that this version knows", self.name, self.what)
    }
}

impl std::error::Error for UnknownName {}

/// Shows a type with `ALL` and `as_str` by its names, and reads it back from them.
macro_rules! by_name {
    ($type:ident, $what:literal) => {
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl FromStr for $type {
            type Err = UnknownName;

            fn from_str(name: &str) -> Result<Self, UnknownName> {
                let found = Self::ALL.iter().copied().find(|value| value.as_str() == name);
                found.ok_or_else(|| UnknownName { name: name.to_owned(), what: $what })
            }
        }

        /// By its name.
        #[cfg(feature = "serde")]
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        #[cfg(feature = "serde")]
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let name = String::deserialize(deserializer)?;
                name.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

pub(super) use by_name;
