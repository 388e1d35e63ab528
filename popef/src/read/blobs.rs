use std::iter::FusedIterator;

use super::blob::Blob;
use super::data::Data;
use crate::error::{Error, Problem};
use crate::limits::Limits;
use crate::wire::{Head, Stop, WireProblem};

/// The blobs of a file whose bytes are in memory, one after the other.
///
/// Each step goes from one header to the next by the blob's size; data is not touched. Damage gives one error, with
/// everything before it already given, and then nothing.
///
/// ```
/// let bytes = std::fs::read("../testdata/interop/executable.popef")?;
/// for blob in popef::Blobs::new(&bytes) {
///     let blob = blob?;
///     println!("{} {} {} bytes at {}", blob.index(), blob.blob_type(), blob.size(), blob.offset());
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Blobs<'a> {
    bytes: &'a [u8],
    limits: Limits,
    walk: Walk,
}

impl<'a> Blobs<'a> {
    /// A walk over a whole file, with the usual [`Limits`].
    pub fn new(bytes: &'a [u8]) -> Self {
        Blobs::with_limits(bytes, Limits::default())
    }

    /// A walk over a whole file, with limits of the caller's.
    pub fn with_limits(bytes: &'a [u8], limits: Limits) -> Self {
        Blobs { bytes, limits, walk: Walk::default() }
    }
}

impl<'a> Iterator for Blobs<'a> {
    type Item = Result<Blob<'a>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let step = self.walk.step(&mut { self.bytes }, &self.limits, &mut |_| Ok(()))?;
        Some(step.map(|(place, head)| {
            let data = Data::in_memory(place.data_in(self.bytes, head));
            Blob::new(place, head, place.head_in(self.bytes, head), data, None, self.limits)
        }))
    }
}

impl FusedIterator for Blobs<'_> {}

/// Where a walk gets its bytes from.
pub(super) trait Fetch {
    /// How many bytes there are from `at` to the end; `u64::MAX` where that is not known.
    fn room(&self, at: u64) -> u64;

    /// The bytes from `at`: `len` of them or more, fewer only if the end comes first.
    fn fetch(&mut self, at: u64, len: u64) -> Result<&[u8], Problem>;

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

    fn fetch(&mut self, at: u64, _len: u64) -> Result<&[u8], Problem> {
        Ok(usize::try_from(at).ok().and_then(|at| self.get(at..)).unwrap_or_default())
    }
}

/// A length in memory as one in a file.
pub(super) fn len_of<T>(slice: &[T]) -> u64 {
    u64::try_from(slice.len()).unwrap_or(u64::MAX)
}

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

impl Walk {
    /// The next blob's place and head; one error for damage; nothing at the end and after an error.
    ///
    /// `keep` is given the bytes of each head.
    pub(super) fn step(
        &mut self,
        from: &mut impl Fetch,
        limits: &Limits,
        keep: &mut impl FnMut(&[u8]) -> Result<(), Problem>,
    ) -> Option<Result<(Place, Head), Error>> {
        let place = self.next;
        if self.ended {
            return None;
        }
        let step = read_head(place, from, limits, keep).transpose()?;
        match &step {
            Ok(head) => {
                self.next.index = place.index.saturating_add(1);
                self.next.offset = place.offset.saturating_add(head.size);
            }
            Err(_) => self.ended = true,
        }
        Some(step.map(|head| (place, head)))
    }
}

/// The head of the blob at `place`; none at the end of the input.
fn read_head(
    place: Place,
    from: &mut impl Fetch,
    limits: &Limits,
    keep: &mut impl FnMut(&[u8]) -> Result<(), Problem>,
) -> Result<Option<Head>, Error> {
    let fault = |problem: Problem, at| problem.at(place.index, place.offset.saturating_add(at));
    let mut room = from.room(place.offset);
    let mut look = FIRST_LOOK;
    loop {
        let asked = look.min(room);
        let bytes = from.fetch(place.offset, asked).map_err(|problem| fault(problem, 0))?;
        if len_of(bytes) < asked {
            room = len_of(bytes);
        }
        if room == 0 {
            return Ok(None);
        }
        match Head::parse(bytes, room, limits) {
            Ok(head) => {
                keep(head.of_blob(bytes)).map_err(|problem| fault(problem, 0))?;
                return reached(place, head, from).map(Some);
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
