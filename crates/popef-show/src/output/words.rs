//! Lines and words that many reports have.

use std::borrow::Cow;
use std::io;
use std::ops::Range;

use super::color::Kind;
use super::out::Out;

/// A shape, as the command line has it: `784x10`.
pub(crate) fn shape(shape: &[u64]) -> String {
    if shape.is_empty() {
        return "scalar".to_owned();
    }
    shape.iter().map(ToString::to_string).collect::<Vec<_>>().join("x")
}

/// A name of at most so many bytes, with its middle left out if it is longer. A short file can have one name in very many rows.
pub(crate) fn brief(name: &str, most: usize) -> Cow<'_, str> {
    if name.len() <= most {
        return Cow::Borrowed(name);
    }
    // Letters have several bytes.
    let boundary = |mut places: Range<usize>| places.find(|at| name.is_char_boundary(*at)).unwrap_or(name.len());
    let front = name.get(..boundary(most / 2..name.len())).unwrap_or_default();
    let back = name.get(boundary(name.len().saturating_sub(most / 2)..name.len())..).unwrap_or_default();
    Cow::Owned(format!("{front}…{back}"))
}

/// A line with what it is about and what is known of that.
pub(crate) fn fact(out: &mut Out, about: &str, what: &str) -> io::Result<()> {
    out.put(&format!("  {about:<14}")).put_as(Kind::Number, what).end_line()
}

/// An empty line and a heading.
pub(crate) fn heading(out: &mut Out, text: &str) -> io::Result<()> {
    out.end_line()?;
    out.put_as(Kind::Group, text).end_line()
}

/// Says how many are not shown.
pub(crate) fn more(out: &mut Out, count: usize, shown: usize) -> io::Result<()> {
    match count.saturating_sub(shown) {
        0 => Ok(()),
        more => out.put(&format!("... and {more} more")).end_line(),
    }
}
