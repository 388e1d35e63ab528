//! The output: text in pieces, with colours, escaped and broken into lines.

pub(crate) mod color;
pub mod csv;
pub(crate) mod escape;
#[cfg(feature = "reports")]
pub(crate) mod fields;
pub(crate) mod heading;
pub(crate) mod hex;
pub(crate) mod markup;
pub(crate) mod named;
pub(crate) mod out;
pub(crate) mod paragraph;
pub(crate) mod progress;
pub(crate) mod report;
pub(crate) mod screen;
#[cfg(feature = "reports")]
pub(crate) mod table;
pub(crate) mod units;
pub(crate) mod until_closed;
pub(crate) mod width;
pub mod words;
