//! What the table of a crate says of each of its codes.

use super::advice::Advice;
use super::kind::ErrorKind;

/// What is known of a code of errors. Each crate has a table of its codes, and all tables have such rows.
///
/// ```
/// use popef::error::{CodeInfo, ErrorCode};
///
/// let CodeInfo { name, kind, meaning, advice } = ErrorCode::BlobUnwritten.info();
/// println!("{name} ({kind}): {meaning} {advice}");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeInfo {
    /// The name of the code. A name never changes, and is never used again for another error.
    pub name: &'static str,
    /// The kind of all errors with this code.
    pub kind: ErrorKind,
    /// What happened.
    pub meaning: &'static str,
    /// What to do.
    pub advice: Advice,
}

impl CodeInfo {
    /// A row of a table.
    pub const fn new(name: &'static str, kind: ErrorKind, meaning: &'static str, advice: Advice) -> Self {
        CodeInfo { name, kind, meaning, advice }
    }
}

/// Defines an enumeration of codes by its table: name, kind, what happened, and what to do: an [`Advice`], or words that are
/// the same for everybody. `as` gives the code an `io::ErrorKind` that differs from that of its kind.
#[doc(hidden)]
#[macro_export]
macro_rules! codes {
    (
        $(#[$about:meta])*
        pub enum $type:ident $(($what:literal))?;
        $( $code:ident = $name:literal, $kind:ident $(as $io:ident)?, $meaning:literal, $( $same:literal )? $( $advice:path )?; )+
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $type { $( #[doc = $meaning] $code, )+ }

        impl $type {
            /// All codes.
            pub const ALL: &'static [$type] = &[ $( $type::$code, )+ ];

            /// The row of the code in the table.
            pub const fn info(self) -> $crate::error::CodeInfo {
                use $crate::error::{Advice, CodeInfo, ErrorKind};
                match self { $( $type::$code => CodeInfo::new($name, ErrorKind::$kind, $meaning, $( Advice::Say($same) )? $( $advice )?), )+ }
            }

            /// The name of the code, which never changes.
            pub const fn as_str(self) -> &'static str {
                self.info().name
            }

            /// The kind of all errors with this code.
            pub const fn kind(self) -> $crate::error::ErrorKind {
                self.info().kind
            }

            /// The kind of an `io::Error` made from an error with this code. If `None`, the kind of the system's own
            /// error, which is the source.
            #[allow(unreachable_patterns, reason = "all codes of a table may say it")]
            pub fn io_kind(self) -> Option<std::io::ErrorKind> {
                match self {
                    $( $( $type::$code => Some(std::io::ErrorKind::$io), )? )+
                    _ => self.kind().io_kind(),
                }
            }
        }

        impl From<$type> for $crate::error::CodeInfo {
            fn from(code: $type) -> Self {
                code.info()
            }
        }

        $( $crate::seam::by_name!($type, $what); )?
    };
}

pub(crate) use codes;
