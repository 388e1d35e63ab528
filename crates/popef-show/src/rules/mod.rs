//! The rules of the library's checks, explained.

pub(crate) mod json;
pub(crate) mod kind;
mod nearest;
mod text;

pub use json::{document, lines};
pub use nearest::did_you_mean;
pub use text::{explain, list};
