//! What the reports of tiles have in common.

use std::fmt::Display;
use std::io;

use popef_ops::{Code, Error};
use popef_show::{Kind, Out, size};

/// A number of elements and their bytes: `64 elements (128 B)`.
pub(super) fn elements(count: u64, element_size: u64) -> String {
    let what = if count == 1 { "element" } else { "elements" };
    format!("{count} {what} ({})", size(count.saturating_mul(element_size)))
}

/// A shape, as the command line has it: `784x10`.
pub(super) fn shape(shape: &[u64]) -> String {
    if shape.is_empty() {
        return "scalar".to_owned();
    }
    shape.iter().map(ToString::to_string).collect::<Vec<_>>().join("x")
}

/// A line with what it is about and what is known of that.
pub(super) fn fact(out: &mut Out, about: &str, what: &str) -> io::Result<()> {
    out.put(&format!("  {about:<14}")).put_as(Kind::Number, what).end_line()
}

/// An error of arguments.
pub(super) fn wrong(error: impl Display) -> Error {
    Error::new(Code::WrongArguments, error.to_string())
}
