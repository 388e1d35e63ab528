//! The enumerations of the schema. Each keeps unknown numbers, so that a file of a later version can be read, shown and
//! copied.

/// Defines an enumeration of numbers in a file, in order, with a variant `Other` for unknown numbers. `or` is a function that
/// turns what else a value may be called into its shown name.
macro_rules! numbered {
    (
        $(#[$meta:meta])*
        $name:ident, $what:literal $(or $other_names:path)? {
            $( $(#[$variant_meta:meta])* $variant:ident = $number:literal, $schema_name:literal, $shown:literal; )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $( $(#[$variant_meta])* $variant, )*
            /// A number that this version of the format does not name.
            Other(u16),
        }

        impl $name {
            /// All values that have a name, in the order of their numbers.
            pub const ALL: &'static [$name] = &[ $( $name::$variant, )* ];

            /// The number that is stored in the file.
            pub const fn number(self) -> u16 {
                match self {
                    $( $name::$variant => $number, )*
                    $name::Other(number) => number,
                }
            }

            /// Returns the value for a number from a file. Unknown numbers become [`Other`](Self::Other).
            pub const fn from_number(number: u16) -> Self {
                match number {
                    $( $number => $name::$variant, )*
                    other => $name::Other(other),
                }
            }

            /// The name in the schema, if the number has one.
            pub const fn schema_name(self) -> Option<&'static str> {
                match self {
                    $( $name::$variant => Some($schema_name), )*
                    $name::Other(_) => None,
                }
            }
        }

        /// Shows the value as the vendor's tools do, and a number without a name like `DataType(99)`.
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self {
                    $( $name::$variant => f.pad($shown), )*
                    $name::Other(number) => f.pad(&format!(concat!(stringify!($name), "({})"), number)),
                }
            }
        }

        /// Parses the displayed text or the name in the schema.
        impl std::str::FromStr for $name {
            type Err = crate::names::UnknownName;

            fn from_str(name: &str) -> Result<Self, Self::Err> {
                let named = [ $( ($name::$variant, $shown, $schema_name), )* ];
                $( let name = $other_names(name).unwrap_or(name); )?
                if let Some((value, ..)) = named.iter().find(|(_, shown, schema)| [*shown, *schema].contains(&name)) {
                    return Ok(*value);
                }
                let number = name.strip_prefix(concat!(stringify!($name), "(")).and_then(|rest| rest.strip_suffix(')'));
                let unknown = |_| crate::names::UnknownName::new(name, $what, named.iter().map(|(_, shown, _)| *shown));
                number.unwrap_or_default().parse().map(Self::from_number).map_err(unknown)
            }
        }

        /// Serialises in human-readable formats as the displayed name, or as the number if that has no name, and in
        /// binary formats as the number. Deserialising accepts names and numbers, and also the names in the schema.
        #[cfg(feature = "serde")]
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $( $name::$variant if serializer.is_human_readable() => serializer.serialize_str($shown), )*
                    _ => serializer.serialize_u16(self.number()),
                }
            }
        }

        #[cfg(feature = "serde")]
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                crate::types::numbered::named_or_numbered(deserializer, $what, Self::from_number)
            }
        }
    };
}

pub(super) use numbered;

/// Reads a name or a number in human-readable formats, and a number in binary ones.
#[cfg(feature = "serde")]
pub(super) fn named_or_numbered<'de, T, D>(
    deserializer: D,
    what: &'static str,
    from_number: fn(u16) -> T,
) -> Result<T, D::Error>
where
    T: std::str::FromStr<Err = crate::names::UnknownName>,
    D: serde::Deserializer<'de>,
{
    if deserializer.is_human_readable() {
        deserializer.deserialize_any(NameOrNumber { what, from_number })
    } else {
        serde::Deserialize::deserialize(deserializer).map(from_number)
    }
}

#[cfg(feature = "serde")]
struct NameOrNumber<T> {
    what: &'static str,
    from_number: fn(u16) -> T,
}

#[cfg(feature = "serde")]
impl<T: std::str::FromStr<Err = crate::names::UnknownName>> serde::de::Visitor<'_> for NameOrNumber<T> {
    type Value = T;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the name or the number of {}", self.what)
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<T, E> {
        name.parse().map_err(E::custom)
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<T, E> {
        let out_of_range = |_| E::invalid_value(serde::de::Unexpected::Unsigned(number), &self);
        number.try_into().map(self.from_number).map_err(out_of_range)
    }

    // TOML's integers are signed.
    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<T, E> {
        let out_of_range = |_| E::invalid_value(serde::de::Unexpected::Signed(number), &self);
        number.try_into().map(self.from_number).map_err(out_of_range)
    }
}

numbered! {
    /// What a blob holds.
    BlobType, "a type of blob" {
        /// A serialised Poplar executable, compressed or not.
        PoplarExecutable = 0, "poplarExecutable", "poplarExecutable";
        /// Everything that is needed to load and run an executable.
        Metadata = 1, "metadata", "metadata";
        /// The data of one tensor.
        DataTensor = 2, "dataTensor", "dataTensor";
        /// The data of several tensors of one shape: inputs or outputs for several runs.
        DataFeed = 3, "dataFeed", "dataFeed";
        /// Bytes that only the framework that wrote them can read.
        Opaque = 4, "opaque", "opaque";
    }
}

numbered! {
    /// The direction of an anchor, seen from the model.
    TensorType, "a direction of an anchor" {
        /// Neither: the anchor is kept only so that a framework can restore its state. It has no handle and no
        /// programs.
        Unknown = 0, "unknown", "UNKNOWN";
        /// The host sends it to the device.
        Input = 1, "input", "INPUT";
        /// The device sends it to the host.
        Output = 2, "output", "OUTPUT";
    }
}
