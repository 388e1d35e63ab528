//! Whether all lists by tile have the same length, which is known only at the end of a document.

use super::problem::{Error, ErrorKind, short};

/// The lengths of lists by tile.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Lengths {
    first: Option<Noted>,
    /// The first list with another length.
    other: Option<Noted>,
}

#[derive(Clone, Debug, PartialEq)]
struct Noted {
    path: String,
    byte: u64,
    len: usize,
}

impl Lengths {
    /// Whether there is a list. If the check was passed, it has one value for each tile, and so the number of tiles is more than a claim.
    pub(super) fn has_lists(&self) -> bool {
        self.first.is_some()
    }

    pub(super) fn note(&mut self, len: usize, path: &str, byte: u64) {
        let slot = match &self.first {
            None => &mut self.first,
            Some(first) if first.len != len && self.other.is_none() => &mut self.other,
            Some(_) => return,
        };
        *slot = Some(Noted { path: short(path), byte, len });
    }

    /// Fails if a list does not have one value for each tile. If no list has, the number of tiles, at `path`, is wrong.
    pub(super) fn check(&self, tiles: u32, path: &str, byte: Option<u64>) -> Result<(), Box<Error>> {
        let fits = |noted: &&Noted| u32::try_from(noted.len) == Ok(tiles);
        let contradiction = |path: &str, byte, message| {
            Err(Box::new(Error { kind: ErrorKind::Contradiction, path: path.to_owned(), byte, message }))
        };
        match (&self.first, &self.other) {
            (Some(first), None) if !fits(&first) => {
                let message = format!("there are {tiles} tiles, and every list by tile has a length of {}", first.len);
                contradiction(path, byte, message)
            }
            (Some(first), Some(other)) => {
                let wrong = if fits(&first) { other } else { first };
                let message = format!("the list has a length of {}, and there are {tiles} tiles", wrong.len);
                contradiction(&wrong.path, Some(wrong.byte), message)
            }
            _ => Ok(()),
        }
    }
}
