//! Enumerations whose values have names: how they are shown, parsed and serialised.

use std::fmt;

/// The error of parsing a text that is not the name of a known value, for example of a
/// [`DataType`](crate::DataType) or an [`ErrorCode`](crate::error::ErrorCode).
///
/// ```
/// use popef::DataType;
///
/// assert_eq!("F32".parse(), Ok(DataType::F32));
/// let error = "F33".parse::<DataType>().unwrap_err();
/// assert!(error.to_string().starts_with("\"F33\" is not a data type that this version knows; there are BOOL, F8, "));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName {
    name: String,
    /// What was expected, with its article.
    what: &'static str,
    /// The known names; empty if there are too many to list.
    known: Vec<&'static str>,
}

impl UnknownName {
    /// The most names that an error lists.
    const MOST: usize = 16;

    /// `what` was expected, with its article, and is one of the `known` names.
    pub fn new(name: &str, what: &'static str, known: impl Iterator<Item = &'static str>) -> Self {
        let mut known: Vec<_> = known.take(Self::MOST.saturating_add(1)).collect();
        if known.len() > Self::MOST {
            known.clear();
        }
        UnknownName { name: name.to_owned(), what, known }
    }
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is not {} that this version knows", self.name, self.what)?;
        if self.known.is_empty() { Ok(()) } else { write!(f, "; there are {}", self.known.join(", ")) }
    }
}

impl std::error::Error for UnknownName {}

/// Implements display, parsing and serde for a type with `ALL` and `as_str`, by its names.
#[doc(hidden)]
#[macro_export]
macro_rules! by_name {
    ($type:ident, $what:literal) => {
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::seam::UnknownName;

            fn from_str(name: &str) -> Result<Self, Self::Err> {
                let found = Self::ALL.iter().copied().find(|value| value.as_str() == name);
                let names = Self::ALL.iter().map(|value| value.as_str());
                found.ok_or_else(|| $crate::seam::UnknownName::new(name, $what, names))
            }
        }

        $crate::seam::serde_as_text!($type);
    };
}

/// Defines an enumeration with `ALL` and `as_str`, and with everything in `by_name` if it is said what its values are.
#[doc(hidden)]
#[macro_export]
macro_rules! named {
    (
        $(#[$about:meta])*
        $vis:vis enum $type:ident $(($what:literal))? { $( $(#[$meaning:meta])* $variant:ident = $name:literal, )+ }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $vis enum $type { $( $(#[$meaning])* $variant, )+ }

        impl $type {
            /// All values.
            pub const ALL: &'static [$type] = &[ $( $type::$variant, )+ ];

            /// The name by which the value is shown, parsed and serialised.
            pub const fn as_str(self) -> &'static str {
                match self { $( $type::$variant => $name, )+ }
            }
        }

        $( $crate::seam::by_name!($type, $what); )?
    };
}

/// Serialises a type as the text that it displays as, and deserialises it from that.
#[doc(hidden)]
#[macro_export]
macro_rules! serde_as_text {
    ($type:ident) => {
        /// Serialises the value as the text that it displays as.
        #[cfg(feature = "serde")]
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        #[cfg(feature = "serde")]
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <String as serde::Deserialize>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

/// Makes an enumeration of errors, each with a code, which never changes, and its text, which says what the fields are.
#[doc(hidden)]
#[macro_export]
macro_rules! errors {
    (
        $(#[$about:meta])*
        pub enum $error:ident {
            $(
                $variant:ident $({ $($field:ident: $type:ty),+ })? = $code:literal, $words:literal $(, $value:expr)*;
            )+
        }
    ) => {
        $(#[$about])*
        #[non_exhaustive]
        #[allow(missing_docs, reason = "the texts say what the fields are")]
        pub enum $error {
            $( #[doc = concat!("`", $words, "`")] $variant $({ $($field: $type),+ })?, )+
        }

        impl $error {
            /// All codes, each with its text.
            pub const CODES: &'static [(&'static str, &'static str)] = &[ $( ($code, $words), )+ ];

            /// The name of the problem, which never changes.
            #[must_use]
            pub const fn code(&self) -> &'static str {
                match self { $( $error::$variant { .. } => $code, )+ }
            }
        }

        #[allow(unused_variables, reason = "the texts do not name all of the fields")]
        impl std::fmt::Display for $error {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self { $( $error::$variant $({ $($field),+ })? => write!(f, $words $(, $value)*), )+ }
            }
        }

        impl std::error::Error for $error {}
    };
}

pub use {by_name, errors, named, serde_as_text};
