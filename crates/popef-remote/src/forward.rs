//! An object, which need not be PopEF, read from front to back.

use std::io::{self, Read};

use popef::read::ReadAt;

use crate::source::Source;

/// The bytes of an object from a place on.
pub(crate) struct Forward {
    source: Source,
    at: u64,
}

impl Forward {
    pub(crate) fn new(source: Source, at: u64) -> Self {
        Forward { source, at }
    }
}

impl Read for Forward {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.source.size().saturating_sub(self.at)).unwrap_or(usize::MAX);
        let count = buf.len().min(left);
        let wanted = buf.get_mut(..count).unwrap_or_default();
        // No range is empty.
        if count > 0 {
            self.source.read_exact_at(wanted, self.at)?;
            self.at = self.at.saturating_add(u64::try_from(count).unwrap_or(u64::MAX));
        }
        Ok(count)
    }
}
