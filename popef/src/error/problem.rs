//! The type of all problems. The problems themselves are defined beside the code that finds them.

use std::fmt;
use std::sync::Arc;

use super::code::ErrorCode;
use super::{Cause, Error};

/// What is wrong: a problem of any module.
#[derive(Clone)]
pub struct Problem(Arc<dyn Facts>);

/// What is known about a problem besides its text. `C` is the table that has its code.
pub trait Facts<C = ErrorCode>: fmt::Display + fmt::Debug + Send + Sync {
    /// The code, which follows from the problem.
    fn code(&self) -> C;

    /// How much was needed, if that is a number.
    fn needed(&self) -> Option<u64>;

    /// How much was found, if that is a number.
    fn found(&self) -> Option<u64>;

    /// The underlying error.
    fn source(&self) -> Option<Cause<'_>>;
}

/// A number and what it counts: `1 byte`, `2 bytes`.
pub fn counted(number: u64, one: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {one}{plural}")
}

impl Problem {
    /// Makes a problem of what one module knows.
    pub fn new(facts: impl Facts + 'static) -> Self {
        Problem(Arc::new(facts))
    }

    /// Makes an error of this problem at a byte of a blob.
    pub fn at(self, blob: usize, offset: u64) -> Error {
        Error::at(self, blob, offset)
    }
}

impl Facts for Problem {
    fn code(&self) -> ErrorCode {
        self.0.code()
    }

    fn needed(&self) -> Option<u64> {
        self.0.needed()
    }

    fn found(&self) -> Option<u64> {
        self.0.found()
    }

    fn source(&self) -> Option<Cause<'_>> {
        self.0.source()
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// Defines the problems of a module. Each has fields, a code, its text, and optionally what was needed, what was found
/// and its source. `of` names the table of another crate, whose problems are no [`Problem`]s.
#[doc(hidden)]
#[macro_export]
macro_rules! problems {
    (
        $(#[$about_room:meta])*
        $room:ident $(of $codes:ty)? {
            $(
                $(#[$about:meta])*
                $problem:ident $({ $($field:ident: $type:ty),+ $(,)? })? => $code:expr,
                    $(needed: $needed:expr,)? $(found: $found:expr,)? $(source: $source:expr,)?
                    $words:literal $(, $value:expr)*;
            )+
        }
    ) => {
        $(#[$about_room])*
        #[derive(Debug)]
        pub(crate) enum $room {
            $( $(#[$about])* $problem $({ $($field: $type),+ })?, )+
        }

        #[allow(unused_variables, reason = "each method needs some of the fields")]
        impl $crate::seam::Facts $(<$codes>)? for $room {
            fn code(&self) -> $crate::problems!(@code $($codes)?) {
                match self { $( $room::$problem $({ $($field),+ })? => $code, )+ }
            }

            fn needed(&self) -> Option<u64> {
                match self { $( $room::$problem $({ $($field),+ })? => None $(.or(Option::from($needed)))?, )+ }
            }

            fn found(&self) -> Option<u64> {
                match self { $( $room::$problem $({ $($field),+ })? => None $(.or(Option::from($found)))?, )+ }
            }

            fn source(&self) -> Option<$crate::seam::Cause<'_>> {
                match self { $( $room::$problem $({ $($field),+ })? => None $(.or($source))?, )+ }
            }
        }

        #[allow(unused_variables, reason = "the words do not name all of the fields")]
        impl std::fmt::Display for $room {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self { $( $room::$problem $({ $($field),+ })? => write!(f, $words $(, $value)*), )+ }
            }
        }

        $crate::problems!(@from $room $($codes)?);
    };
    (@code) => { $crate::error::ErrorCode };
    (@code $codes:ty) => { $codes };
    (@from $room:ident $codes:ty) => {};
    (@from $room:ident) => {
        impl From<$room> for $crate::seam::Problem {
            fn from(problem: $room) -> Self {
                $crate::seam::Problem::new(problem)
            }
        }

        impl From<$room> for $crate::error::Error {
            fn from(problem: $room) -> Self {
                $crate::seam::Problem::from(problem).into()
            }
        }
    };
}

pub(crate) use problems;
