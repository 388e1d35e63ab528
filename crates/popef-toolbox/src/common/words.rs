//! What is said of arguments.

use std::fmt::Display;

use popef_ops::{Code, Error};

/// An error of arguments.
pub(crate) fn wrong(error: impl Display) -> Error {
    Error::new(Code::WrongArguments, error.to_string())
}
