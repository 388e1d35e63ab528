//! Where a walk gets its bytes from.

use crate::error::Problem;
use crate::len::len_of;

/// Gives a walk the bytes of heads.
pub(super) trait Fetch {
    /// How many bytes there are from `at` to the end; `u64::MAX` where that is not known.
    fn room(&self, at: u64) -> u64;

    /// The bytes from `at`: `len` of them or more, fewer only if the end comes first. None while they are not there
    /// yet; they will be asked for again.
    fn fetch(&mut self, at: u64, len: u64) -> Result<Option<&[u8]>, Problem>;

    /// How far the input reaches towards `end`, where `room` could not tell.
    fn reach(&mut self, end: u64) -> Result<u64, Problem> {
        Ok(end)
    }

    /// How many bytes there are from where the last ones were fetched, `len` of them or fewer, where `room` could not
    /// tell. Those that were fetched can be fetched again, and nothing else after this.
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
