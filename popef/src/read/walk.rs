//! From the header of one blob to that of the next.

use super::fetch::Fetch;
use crate::error::{Error, Problem};
use crate::len::len_of;
use crate::limits::Limits;
use crate::wire::{Head, Stop, WireProblem};

/// Which blob, and where it begins.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    pub(super) index: usize,
    pub(super) offset: u64,
}

impl Place {
    /// Header and info of the blob that begins here in a file's bytes.
    pub(super) fn head_in(self, file: &[u8], head: Head) -> &[u8] {
        head.of_blob(self.blob_in(file, head))
    }

    /// The data of the blob that begins here in a file's bytes.
    pub(super) fn data_in(self, file: &[u8], head: Head) -> &[u8] {
        let blob = self.blob_in(file, head);
        usize::try_from(head.len).ok().and_then(|len| blob.get(len..)).unwrap_or_default()
    }

    fn blob_in(self, file: &[u8], head: Head) -> &[u8] {
        let (Ok(start), Ok(size)) = (usize::try_from(self.offset), usize::try_from(head.size)) else {
            return &[];
        };
        file.get(start..).and_then(|rest| rest.get(..size)).unwrap_or_default()
    }
}

/// How much of a blob is asked for at first: enough for most headers and infos.
const FIRST_LOOK: u64 = 256;

/// A walk from header to header. It keeps no bytes, so it serves all sources of them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Walk {
    next: Place,
    ended: bool,
}

/// How far a walk came.
pub(super) enum Step {
    /// To one more blob.
    Blob(Place, Head),
    /// To the end of the file.
    End,
    /// To where the bytes are not there yet. The walk goes on when they are.
    Waiting,
}

impl Walk {
    /// Goes to the next blob. Damage is one error, and the end after that.
    ///
    /// `keep` is given the bytes of each head.
    pub(super) fn step(
        &mut self,
        from: &mut impl Fetch,
        limits: &Limits,
        keep: &mut impl FnMut(&[u8]) -> Result<(), Problem>,
    ) -> Result<Step, Error> {
        if self.ended {
            return Ok(Step::End);
        }
        let step = read_head(self.next, from, limits, keep);
        match &step {
            Ok(Step::Blob(place, head)) => {
                self.next.index = place.index.saturating_add(1);
                self.next.offset = place.offset.saturating_add(head.size);
            }
            Ok(Step::Waiting) => {}
            Ok(Step::End) | Err(_) => self.ended = true,
        }
        step
    }

    /// Ends the walk where it is: the bytes that it waits for cannot be had.
    pub(super) fn give_up(&mut self, why: Problem) -> Error {
        self.ended = true;
        why.at(self.next.index, self.next.offset)
    }
}

/// The step to the blob at `place`, or to the end of the input.
fn read_head(
    place: Place,
    from: &mut impl Fetch,
    limits: &Limits,
    keep: &mut impl FnMut(&[u8]) -> Result<(), Problem>,
) -> Result<Step, Error> {
    let fault = |problem: Problem, at| problem.at(place.index, place.offset.saturating_add(at));
    let mut room = from.room(place.offset);
    let mut look = FIRST_LOOK;
    loop {
        if room == 0 {
            return Ok(Step::End);
        }
        let asked = look.min(room);
        let Some(bytes) = from.fetch(place.offset, asked).map_err(|problem| fault(problem, 0))? else {
            return Ok(Step::Waiting);
        };
        if len_of(bytes) < asked {
            room = len_of(bytes);
            continue;
        }
        match Head::parse(bytes, room, limits) {
            Ok(head) => {
                keep(head.of_blob(bytes)).map_err(|problem| fault(problem, 0))?;
                return reached(place, head, from).map(|head| Step::Blob(place, head));
            }
            // Never more than there is room for, and always more than was given.
            Err(Stop::Need(needed)) => look = needed,
            // A stream tells the same fault as those who know where the file ends: that it does so too early comes first.
            Err(Stop::Fault { reach, .. }) if room == u64::MAX && reach > len_of(bytes) => {
                room = from.measure(reach).map_err(|problem| fault(problem, 0))?;
            }
            Err(Stop::Fault { problem, at, .. }) => return Err(fault(problem, at)),
        }
    }
}

/// The head again, if all of the blob is there.
fn reached(place: Place, head: Head, from: &mut impl Fetch) -> Result<Head, Error> {
    let reach = from.reach(place.offset.saturating_add(head.size));
    let problem = match reach.map(|end| end.saturating_sub(place.offset)) {
        Ok(found) if found >= head.size => return Ok(head),
        Ok(found) => WireProblem::BlobCut { needed: head.size, found }.into(),
        Err(problem) => problem,
    };
    Err(problem.at(place.index, place.offset))
}
