//! The numbers in PopTorch's options that have names.

/// Defines an enumeration of numbers, with a variant `Other` for unknown numbers.
macro_rules! modes {
    ($( #[$meta:meta] $name:ident { $( #[$variant_meta:meta] $variant:ident = $number:literal, )* } )*) => { $(
        #[$meta]
        ///
        /// It displays and serialises as its name; a number without a name displays and serialises as that number.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $( #[$variant_meta] $variant, )*
            /// A number that no known version of PopTorch names.
            Other(i64),
        }

        impl $name {
            /// Returns the value for a number in the options.
            pub const fn from_number(number: i64) -> Self {
                match number {
                    $( $number => $name::$variant, )*
                    other => $name::Other(other),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self {
                    $( $name::$variant => f.pad(stringify!($variant)), )*
                    $name::Other(number) => write!(f, "{number}"),
                }
            }
        }

        #[cfg(feature = "serde")]
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $name::Other(number) => serializer.serialize_i64(*number),
                    named => serializer.collect_str(named),
                }
            }
        }
    )* };
}

modes! {
    /// Which outputs a model returns: PopTorch's `OutputMode`.
    OutputMode {
        /// Outputs of the last batch only.
        Final = 0,
        /// Outputs of every nth batch.
        EveryN = 1,
        /// Outputs of all batches.
        All = 2,
        /// The sum over all batches.
        Sum = 3,
        /// All for inference, and the last ones for training.
        Default = 4,
    }
    /// When a program connects to the IPUs: PopTorch's `ConnectionType`.
    ConnectionType {
        /// At the start.
        Always = 0,
        /// When they are needed.
        OnDemand = 1,
        /// Never: the model was compiled without IPUs.
        Never = 2,
    }
    /// How the IPUs synchronise: PopTorch's `SyncPattern`.
    SyncPattern {
        /// All IPUs, each time.
        Full = 0,
        /// Only IPUs that communicate.
        SinglePipeline = 1,
        /// Two groups, by turns.
        ReplicaAndLadder = 2,
    }
}
