use super::fetch::Fetch;
use super::index::{Index, KeptHead, Messages};
use super::problem::ReadProblem;
use super::source::Window;
use super::walk::{Keep, Step, Walk};
use crate::error::{Error, ErrorKind, Problem};
use crate::limits::Limits;
use crate::wire::Head;

/// The result of a walk over a file.
#[derive(Default)]
pub(super) struct Listing {
    walk: Walk,
    pub(super) index: Index,
    /// Why the walk did not reach the end of the file.
    pub(super) damage: Option<Error>,
}

impl Listing {
    /// A listing of a file of `size` bytes, whose first blob is at an offset.
    pub(super) fn from(offset: u64, size: u64, messages: Messages) -> Self {
        let index = Index::from(offset, messages);
        let mut listing = Listing { walk: Walk::from(offset), index, damage: None };
        if size < offset {
            listing.damage = Some(ReadProblem::StartPastEnd { start: offset, len: size }.into());
        }
        listing
    }

    /// Walks to the end, to the first error, or as far as there are bytes.
    pub(super) fn walk_on(&mut self, from: &mut impl Fetch, limits: &Limits) {
        while self.damage.is_none() {
            match self.step(from, limits) {
                Ok(true) => {}
                Ok(false) => return,
                Err(damage) => self.damage = Some(damage),
            }
        }
    }

    /// Continues as [`walk_on`](Self::walk_on) does, and leaves out damaged blobs whose ends are known. Calls `skipped`
    /// with the error of each.
    pub(super) fn walk_past(&mut self, from: &mut impl Fetch, limits: &Limits, skipped: &mut dyn FnMut(Error)) {
        loop {
            self.walk_on(from, limits);
            match self.damage.take_if(|damage| is_skipped(damage)) {
                Some(damage) => self.skip(damage, skipped),
                None => return,
            }
        }
    }

    /// Continues after a damaged blob.
    fn skip(&mut self, damage: Error, skipped: &mut dyn FnMut(Error)) {
        match (damage.blob_range(), self.index.leave_gap()) {
            (Some(range), Ok(())) => {
                self.walk.resume(range.end);
                skipped(damage);
            }
            (_, Err(problem)) => self.damage = Some(problem.into()),
            (None, Ok(())) => self.damage = Some(damage),
        }
    }

    /// Adds the next blob. Returns whether there was one.
    fn step(&mut self, from: &mut impl Fetch, limits: &Limits) -> Result<bool, Error> {
        // The bytes of a stream are gone when it is known that the blob is whole.
        let mut keep = KeepIn { index: &mut self.index, kept: None };
        let Step::Blob(place, head) = self.walk.step(from, limits, &mut keep)? else { return Ok(false) };
        keep.kept.map_or(Ok(()), |kept| self.index.push(place.offset, &head, kept))?;
        Ok(true)
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

/// Keeps what an index needs of a head.
struct KeepIn<'i> {
    index: &'i mut Index,
    kept: Option<KeptHead>,
}

impl Keep for KeepIn<'_> {
    fn keep(&mut self, head: &Head, messages: &[u8]) -> Result<bool, Problem> {
        self.kept = self.index.keep(head, messages)?;
        Ok(self.kept.is_some())
    }

    fn own(&mut self, head: &Head, messages: Vec<u8>) -> Result<(), Problem> {
        self.kept = Some(self.index.keep_long(head, messages)?);
        Ok(())
    }
}

/// Whether the blobs after a damaged one can be found. A blob that only exceeds a limit may be whole.
fn is_skipped(damage: &Error) -> bool {
    damage.blob_range().is_some() && damage.kind() == ErrorKind::Damaged
}
