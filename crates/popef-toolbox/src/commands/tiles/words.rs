//! What the reports of tiles have in common.

use std::cmp::Reverse;
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

/// An empty line and a heading.
pub(super) fn heading(out: &mut Out, text: &str) -> io::Result<()> {
    out.end_line()?;
    out.put_as(Kind::Group, text).end_line()
}

/// Says how many are not shown.
pub(super) fn more(out: &mut Out, count: usize, shown: usize) -> io::Result<()> {
    match count.saturating_sub(shown) {
        0 => Ok(()),
        more => out.put(&format!("... and {more} more")).end_line(),
    }
}

/// The fullest tiles, the fullest one first.
pub(super) fn fullest_tiles(mut amounts: Vec<(u32, u64)>, most: usize) -> Vec<(u32, u64)> {
    amounts.sort_by_key(|&(tile, amount)| (Reverse(amount), tile));
    amounts.truncate(most);
    amounts
}

/// An error of arguments.
pub(super) fn wrong(error: impl Display) -> Error {
    Error::new(Code::WrongArguments, error.to_string())
}
