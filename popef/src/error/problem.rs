//! What can be wrong, of any room. The problems themselves stand beside the code that finds them.

use std::collections::TryReserveError;
use std::fmt;
use std::io;

use super::code::ErrorCode;
use super::system::SystemProblem;
use super::{Cause, Error};
use crate::model::ModelProblem;
use crate::read::{ReadProblem, UnpackProblem};
use crate::types::ShapeProblem;
use crate::wire::WireProblem;
use crate::write::WriteProblem;

/// What is wrong, by the room whose fault it is.
#[derive(Debug)]
pub(crate) enum Problem {
    Wire(WireProblem),
    Shape(ShapeProblem),
    Read(ReadProblem),
    Unpack(UnpackProblem),
    Model(ModelProblem),
    Write(WriteProblem),
    System(SystemProblem),
}

/// What there is to know of a problem, besides its words.
pub(crate) trait Facts: fmt::Display {
    fn code(&self) -> ErrorCode;

    /// How much was needed, where that is a number.
    fn needed(&self) -> Option<u64>;

    /// How much was found, where that is a number.
    fn found(&self) -> Option<u64>;

    fn source(&self) -> Option<Cause<'_>>;
}

impl Problem {
    fn facts(&self) -> &dyn Facts {
        match self {
            Problem::Wire(problem) => problem,
            Problem::Shape(problem) => problem,
            Problem::Read(problem) => problem,
            Problem::Unpack(problem) => problem,
            Problem::Model(problem) => problem,
            Problem::Write(problem) => problem,
            Problem::System(problem) => problem,
        }
    }

    /// A reservation of so many bytes.
    pub(crate) fn in_memory(needed: usize, reserved: Result<(), TryReserveError>) -> Result<(), Problem> {
        let needed = u64::try_from(needed).unwrap_or(u64::MAX);
        reserved.map_err(|_| SystemProblem::OutOfMemory { needed }.into())
    }

    /// A failure of the system while doing something; [`WriteProblem::FileResized`] travels in one.
    pub(crate) fn io(doing: &'static str, source: io::Error) -> Problem {
        let inner = source.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
        match inner.map(Error::code) {
            Some(ErrorCode::FileResized) => WriteProblem::FileResized.into(),
            _ => SystemProblem::Io { doing, source }.into(),
        }
    }

    /// The error of this problem at a byte of a blob.
    pub(crate) fn at(self, blob: usize, offset: u64) -> Error {
        Error::at(self, blob, offset)
    }
}

impl Facts for Problem {
    fn code(&self) -> ErrorCode {
        self.facts().code()
    }

    fn needed(&self) -> Option<u64> {
        self.facts().needed()
    }

    fn found(&self) -> Option<u64> {
        self.facts().found()
    }

    fn source(&self) -> Option<Cause<'_>> {
        self.facts().source()
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.facts().fmt(f)
    }
}

/// Defines the problems of a room, which is a variant of [`Problem`]: for each its fields, its code, what was needed and
/// found where that is a number, the error that it comes from where there is one, and its words.
macro_rules! problems {
    (
        $(#[$about_room:meta])*
        $room:ident in $variant:ident {
            $(
                $(#[$about:meta])*
                $problem:ident $({ $($field:ident: $type:ty),+ $(,)? })? => {
                    code: $code:expr,
                    $(needed: $needed:expr,)?
                    $(found: $found:expr,)?
                    $(source: $source:expr,)?
                    words: $words:literal $(, $value:expr)* $(,)?
                }
            )+
        }
    ) => {
        $(#[$about_room])*
        #[derive(Debug)]
        pub(crate) enum $room {
            $( $(#[$about])* $problem $({ $($field: $type),+ })?, )+
        }

        #[allow(unused_variables, reason = "each method needs some of the fields")]
        impl $crate::error::Facts for $room {
            fn code(&self) -> $crate::error::ErrorCode {
                match self { $( $room::$problem $({ $($field),+ })? => $code, )+ }
            }

            fn needed(&self) -> Option<u64> {
                match self { $( $room::$problem $({ $($field),+ })? => None $(.or(Option::from($needed)))?, )+ }
            }

            fn found(&self) -> Option<u64> {
                match self { $( $room::$problem $({ $($field),+ })? => None $(.or(Option::from($found)))?, )+ }
            }

            fn source(&self) -> Option<$crate::error::Cause<'_>> {
                match self { $( $room::$problem $({ $($field),+ })? => None $(.or($source))?, )+ }
            }
        }

        #[allow(unused_variables, reason = "the words do not name all of the fields")]
        impl std::fmt::Display for $room {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self { $( $room::$problem $({ $($field),+ })? => write!(f, $words $(, $value)*), )+ }
            }
        }

        impl From<$room> for $crate::error::Problem {
            fn from(problem: $room) -> Self {
                $crate::error::Problem::$variant(problem)
            }
        }

        impl From<$room> for $crate::error::Error {
            fn from(problem: $room) -> Self {
                $crate::error::Problem::from(problem).into()
            }
        }
    };
}

pub(crate) use problems;
