//! Walks a file from one blob's header to the next.

use super::fetch::Fetch;
use super::pickle_end::is_pickle;
use super::problem::ReadProblem;
use crate::error::{Error, Problem, with_room_for};
use crate::len::{as_usize, len_of};
use crate::limits::Limits;
use crate::wire::{Head, Stop, WireProblem};

/// The index and the offset of a blob.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    pub(super) index: usize,
    pub(super) offset: u64,
}

impl Place {
    /// The bytes of the blob at this place in a file's bytes.
    pub(super) fn blob_in(self, file: &[u8], head: Head) -> &[u8] {
        let (Ok(start), Ok(size)) = (usize::try_from(self.offset), usize::try_from(head.size)) else {
            return &[];
        };
        file.get(start..).and_then(|rest| rest.get(..size)).unwrap_or_default()
    }
}

/// The number of bytes of a blob that are fetched at first, which is enough for most headers and infos.
const FIRST_LOOK: u64 = 256;

/// Receives each head. If the blob then turns out to be cut, the walk still fails.
pub(super) trait Keep {
    /// Keeps what is needed of a head and its messages. Returns false if the messages are to be [given](Self::own) to it.
    fn keep(&mut self, head: &Head, messages: &[u8]) -> Result<bool, Problem>;

    /// Takes the messages of a head.
    fn own(&mut self, head: &Head, messages: Vec<u8>) -> Result<(), Problem>;
}

/// Keeps nothing.
impl Keep for () {
    fn keep(&mut self, _: &Head, _: &[u8]) -> Result<bool, Problem> {
        Ok(true)
    }

    fn own(&mut self, _: &Head, _: Vec<u8>) -> Result<(), Problem> {
        Ok(())
    }
}

/// A walk from header to header. It keeps no bytes, so it works with all sources.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Walk {
    next: Place,
    ended: bool,
}

/// The result of one step of a walk.
pub(super) enum Step {
    /// The next blob.
    Blob(Place, Head),
    /// The end of the file.
    End,
    /// The bytes have not arrived yet. The walk continues when they have.
    Waiting,
}

impl Walk {
    /// A walk whose first blob is at an offset.
    pub(super) fn from(offset: u64) -> Self {
        Walk { next: Place { index: 0, offset }, ended: false }
    }

    /// Goes to the next blob. After an error, the walk ends.
    pub(super) fn step(&mut self, from: &mut impl Fetch, limits: &Limits, keep: &mut impl Keep) -> Result<Step, Error> {
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

    /// Continues after a blob that cannot be read, at its end.
    pub(super) fn resume(&mut self, end: u64) {
        *self = Walk { next: Place { index: self.next.index.saturating_add(1), offset: end }, ended: false };
    }

    /// Ends the walk, because the bytes that it waits for cannot be read.
    pub(super) fn give_up(&mut self, why: Problem) -> Error {
        self.ended = true;
        why.at(self.next.index, self.next.offset)
    }
}

/// Reads the head of the blob at `place`, or finds the end of the input.
fn read_head(place: Place, from: &mut impl Fetch, limits: &Limits, keep: &mut impl Keep) -> Result<Step, Error> {
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
                let kept = keep
                    .keep(&head, head.of_blob(bytes))
                    .and_then(|is_kept| if is_kept { Ok(()) } else { own(place, &head, from, keep) });
                kept.map_err(|problem| fault(problem, 0))?;
                return reached(place, head, from).map(|head| Step::Blob(place, head));
            }
            // `needed` is never more than `room`, and always more than was given.
            Err(Stop::Need(needed)) => look = needed,
            // A stream must report the same fault as sources that know the file's size: if the input ends before
            // `reach`, that is reported instead. So find out how long the input is, and parse again.
            Err(Stop::Fault { reach, .. }) if room == u64::MAX && reach > len_of(bytes) => {
                room = from.measure(reach).map_err(|problem| fault(problem, 0))?;
            }
            Err(Stop::Fault { .. }) if place.offset == 0 && is_pickle(bytes) => {
                return Err(fault(ReadProblem::PickleFirst { end: None, len: room }.into(), 0));
            }
            Err(Stop::Fault { problem, at, size, .. }) => {
                let range = size.map(|size| place.offset..place.offset.saturating_add(size));
                return Err(fault(problem, at).in_blob_at(range));
            }
        }
    }
}

/// Gives the messages of a head to `keep`.
fn own(place: Place, head: &Head, from: &mut impl Fetch, keep: &mut impl Keep) -> Result<(), Problem> {
    let messages = match from.give_away(place.offset, head.len.into()) {
        Some(messages) => messages,
        None => {
            let fetched = from.fetch(place.offset, head.len.into())?.unwrap_or_default();
            let mut messages = with_room_for(as_usize(head.len.into()))?;
            messages.extend_from_slice(head.of_blob(fetched));
            messages
        }
    };
    keep.own(head, messages)
}

/// Moves to the end of the blob. Fails if the input ends before it.
fn reached(place: Place, head: Head, from: &mut impl Fetch) -> Result<Head, Error> {
    let reach = from.reach(place.offset.saturating_add(head.size));
    let problem = match reach.map(|end| end.saturating_sub(place.offset)) {
        Ok(found) if found >= head.size => return Ok(head),
        Ok(found) => WireProblem::BlobCut { needed: head.size, found }.into(),
        Err(problem) => problem,
    };
    Err(problem.at(place.index, place.offset))
}
