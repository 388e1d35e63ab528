//! The sources of a walk's bytes.

use crate::error::Problem;
use crate::len::len_of;

/// Gives a walk the bytes of headers and infos.
pub(super) trait Fetch {
    /// The number of bytes from `at` to the end. `u64::MAX` if that is unknown.
    fn room(&self, at: u64) -> u64;

    /// Returns the bytes from `at`: at least `len`, fewer only if the end comes first. `None` if they have not arrived
    /// yet; the caller will ask again.
    fn fetch(&mut self, at: u64, len: u64) -> Result<Option<&[u8]>, Problem>;

    /// Gives away the bytes of a long head that was fetched, if they are in memory of their own. Then they are not copied.
    fn give_away(&mut self, _at: u64, _len: u64) -> Option<Vec<u8>> {
        None
    }

    /// Moves to `end`, or to the end of the input if that comes first, and returns the position reached. Needed only
    /// where `room` is unknown.
    fn reach(&mut self, end: u64) -> Result<u64, Problem> {
        Ok(end)
    }

    /// Counts the bytes from the position that was fetched last, up to `len`. Needed only where `room` is unknown.
    /// After this, only the bytes that were already fetched can be fetched again.
    fn measure(&mut self, len: u64) -> Result<u64, Problem> {
        Ok(len)
    }
}

impl Fetch for &[u8] {
    fn room(&self, at: u64) -> u64 {
        len_of(self).saturating_sub(at)
    }

    fn fetch(&mut self, at: u64, _len: u64) -> Result<Option<&[u8]>, Problem> {
        Ok(Some(usize::try_from(at).ok().and_then(|at| self.get(at..)).unwrap_or_default()))
    }
}
