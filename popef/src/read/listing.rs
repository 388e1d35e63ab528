use super::fetch::Fetch;
use super::index::Index;
use super::problem::ReadProblem;
use super::source::Window;
use super::walk::{Step, Walk};
use crate::error::{Error, Problem};
use crate::limits::Limits;

/// The result of a walk over a file.
#[derive(Default)]
pub(super) struct Listing {
    walk: Walk,
    pub(super) index: Index,
    /// Why the walk did not reach the end of the file.
    pub(super) damage: Option<Error>,
}

impl Listing {
    /// A listing whose first blob is at an offset of a file of `size` bytes, if that is known.
    pub(super) fn from(offset: u64, size: Option<u64>) -> Self {
        let mut listing = Listing { walk: Walk::from(offset), index: Index::from(offset), damage: None };
        if let Some(len) = size.filter(|&size| size < offset) {
            listing.damage = Some(ReadProblem::StartPastEnd { start: offset, len }.into());
        }
        listing
    }

    /// Walks to the end, to the first error, or as far as there are bytes. Calls `keep` with the bytes of each head.
    pub(super) fn walk_on(
        &mut self,
        from: &mut impl Fetch,
        limits: &Limits,
        mut keep: impl FnMut(&[u8]) -> Result<(), Problem>,
    ) {
        while self.damage.is_none() {
            match self.walk.step(from, limits, &mut keep) {
                Ok(Step::Blob(place, head)) => self.damage = self.index.push(place, head).err().map(Error::from),
                Ok(Step::End | Step::Waiting) => return,
                Err(damage) => self.damage = Some(damage),
            }
        }
    }

    pub(super) fn give_up(&mut self, why: Problem) {
        self.damage = Some(self.walk.give_up(why));
    }

    /// Returns the listing, unless the walk still waits for bytes.
    pub(super) fn whole(self, window: &Window) -> Result<Self, Error> {
        let missing = window.missing();
        if missing.is_empty() {
            return Ok(self);
        }
        Err(ReadProblem::IndexUnfinished { start: missing.start, end: missing.end }.into())
    }
}
