//! Enumerations of the frameworks' messages.

/// Defines an enumeration of numbers in a message, with a variant `Other` for unknown numbers.
macro_rules! numbers {
    (
        $(#[$meta:meta])*
        $name:ident($type:ty) { $( $variant:ident = $number:literal, $text:literal, $meaning:literal; )* }
    ) => {
        $(#[$meta])*
        ///
        /// Shown and serialised by its name in the schema. A number without a name is shown as `unknown (7)`, and
        /// serialised as the number.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $( #[doc = $meaning] $variant, )*
            /// A number that the known versions of the schema do not name.
            Other($type),
        }

        impl $name {
            /// All values that have a name, in the order of their numbers.
            pub const ALL: &'static [$name] = &[ $( $name::$variant, )* ];

            /// The number in the message.
            pub const fn number(self) -> $type {
                match self {
                    $( $name::$variant => $number, )*
                    $name::Other(number) => number,
                }
            }

            /// Returns the value for a number in a message. Unknown numbers become [`Other`](Self::Other).
            pub const fn from_number(number: $type) -> Self {
                match number {
                    $( $number => $name::$variant, )*
                    other => $name::Other(other),
                }
            }

            /// The name in the schema, if the number has one.
            pub const fn name(self) -> Option<&'static str> {
                match self {
                    $( $name::$variant => Some($text), )*
                    $name::Other(_) => None,
                }
            }
        }

        /// The value for number 0. A message without the field has this value.
        impl Default for $name {
            fn default() -> Self {
                $name::from_number(0)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self.name() {
                    Some(name) => f.pad(name),
                    None => f.pad(&format!("unknown ({})", self.number())),
                }
            }
        }

        #[cfg(feature = "serde")]
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self.name() {
                    Some(name) => serializer.serialize_str(name),
                    None => serde::Serialize::serialize(&self.number(), serializer),
                }
            }
        }
    };
}

pub(super) use numbers;
