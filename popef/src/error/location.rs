use std::fmt;

/// A place in a file: a blob, a byte, both or neither.
///
/// It displays as the beginning of a message:
///
/// ```
/// use popef::error::Location;
///
/// let at = |blob, offset| format!("{}it is wrong", Location { blob, offset });
/// assert_eq!(at(Some(1), Some(1648)), "blob 1, byte 1648: it is wrong");
/// assert_eq!(at(Some(1), None), "blob 1: it is wrong");
/// assert_eq!(at(None, None), "it is wrong");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Location {
    /// The blob's number in the file, counted from 0.
    pub blob: Option<usize>,
    /// The byte offset in the file.
    pub offset: Option<u64>,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.blob, self.offset) {
            (Some(blob), Some(offset)) => write!(f, "blob {blob}, byte {offset}: "),
            (Some(blob), None) => write!(f, "blob {blob}: "),
            (None, Some(offset)) => write!(f, "byte {offset}: "),
            (None, None) => Ok(()),
        }
    }
}
