//! What can be wrong with a report, and the remarks about one that can be read.

use std::fmt;
use std::io;

/// Why a report cannot be read, or contradicts itself.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Error {
    /// What kind of problem it is.
    pub kind: ErrorKind,
    /// The JSON path of the value, such as `$.memory.byTile.total[3]`. CBOR has the same paths.
    pub path: String,
    /// The byte of the document that was reached, or at which the value or its container begins. The first byte is 0.
    pub byte: Option<u64>,
    /// What is wrong, without the place.
    pub message: String,
}

/// What kind of problem an [`Error`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The document ends too early.
    Cut,
    /// The document is neither JSON nor CBOR.
    Malformed,
    /// A value is not of the type that reports have there, or is missing.
    WrongForm,
    /// Values of the report do not fit each other: a wrong length, an index that is too large, a program that contains itself.
    Contradiction,
    /// The bytes cannot be read.
    Unreadable(io::ErrorKind),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        if let Some(byte) = self.byte {
            write!(f, " (byte {byte})")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for Error {}

/// Something odd in a report that can be read all the same: an unknown key or spelling, a section that is missing, sums that do not
/// agree.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Remark {
    /// The JSON path of the value.
    pub path: String,
    /// The byte of the document that was reached, if it is known.
    pub byte: Option<u64>,
    /// What is odd, without the place.
    pub message: String,
}

/// What is odd in a report, in the order in which it was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Remarks {
    /// The first remarks, at most [`Remarks::MOST`].
    pub list: Vec<Remark>,
    /// The number of remarks that are not in the list.
    pub more: u64,
}

impl Remarks {
    /// The maximum number of remarks that are kept.
    pub const MOST: usize = 100;

    pub(super) fn add(&mut self, path: &str, byte: Option<u64>, message: impl Into<String>) {
        if self.list.len() < Self::MOST {
            self.list.push(Remark { path: short(path), byte, message: message.into() });
        } else {
            self.more = self.more.saturating_add(1);
        }
    }

    pub(super) fn append(&mut self, other: Remarks) {
        self.more = self.more.saturating_add(other.more);
        for remark in other.list {
            self.add(&remark.path, remark.byte, remark.message);
        }
    }
}

/// A text from a report, cut if it is long, for a path or a message.
pub(super) fn short(text: &str) -> String {
    const MOST: usize = 200;
    if text.len() <= MOST {
        return text.to_owned();
    }
    let end = (0..=MOST).rev().find(|&at| text.is_char_boundary(at)).unwrap_or_default();
    format!("{}...", text.get(..end).unwrap_or_default())
}
