use std::fmt;
use std::ops::Range;

use super::fetch::Fetch;
use super::file::{File, OpenOptions};
use super::heads::Heads;
use super::index::Index;
use super::problem::ReadProblem;
use super::source::{Backing, ReadAhead, ReadAt, Window};
use super::walk::{Step, Walk};
use crate::error::{Error, Problem};
use crate::limits::Limits;

/// Opens a file whose bytes come from elsewhere, without reading anything itself: it says which range of the file it
/// needs, and is given the bytes. So that programs which wait for their bytes in their own way, such as asynchronous
/// ones, can list a file of which they fetch the headers only.
///
/// It is what [`File::open`] uses, and comes to the same.
///
/// ```
/// use popef::OpenOptions;
///
/// # let object = std::fs::read("examples/data/executable.popef")?;
/// # let fetch = |range: std::ops::Range<u64>| &object[range.start as usize..range.end as usize];
/// let mut indexer = OpenOptions::new().indexer(object.len() as u64);
/// while let Some(range) = indexer.wants() {
///     let bytes = fetch(range); // or `.await` it
///     indexer.give(bytes);
/// }
/// let file = indexer.finish()?;
/// assert_eq!(file.len(), 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Indexer {
    options: OpenOptions,
    size: u64,
    window: Window,
    heads: Heads,
    listing: Listing,
}

impl OpenOptions {
    /// An [`Indexer`] of a file of so many bytes.
    ///
    /// Unless it is told [how far to read ahead](Self::read_ahead), it asks for 64 to 256 KiB at a time.
    pub fn indexer(&self, size: u64) -> Indexer {
        Indexer::new(*self, size, self.read_ahead.unwrap_or(ReadAhead::REMOTE))
    }
}

impl Indexer {
    pub(super) fn new(options: OpenOptions, size: u64, ahead: ReadAhead) -> Self {
        let window = Window::new(size, ahead);
        let mut indexer = Indexer { options, size, window, heads: Heads::default(), listing: Listing::default() };
        indexer.go_on();
        indexer
    }

    /// The bytes of the file that it needs to go on. None when it has all that it needs.
    pub fn wants(&self) -> Option<Range<u64>> {
        Some(self.window.missing()).filter(|range| !range.is_empty())
    }

    /// Takes bytes of the file from the start of what it [wants](Self::wants), and says how many it took: no more than
    /// it wants. They may come in pieces.
    pub fn give(&mut self, bytes: &[u8]) -> usize {
        let gap = self.window.gap();
        let count = gap.len().min(bytes.len());
        gap.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        self.came(count);
        count
    }

    /// Where the bytes that it wants belong.
    pub(super) fn gap(&mut self) -> &mut [u8] {
        self.window.gap()
    }

    /// Tells that `count` of the bytes that it wants have come into the gap.
    pub(super) fn came(&mut self, count: usize) {
        self.window.came(count);
        if self.wants().is_none() {
            self.go_on();
        }
    }

    /// The bytes that it wants cannot be read.
    pub(super) fn fail(&mut self, why: Problem) {
        self.listing.give_up(why);
        self.window = Window::new(0, ReadAhead::LOCAL);
    }

    fn go_on(&mut self) {
        let heads = &mut self.heads;
        self.listing.walk_on(&mut self.window, &self.options.limits, |head| heads.push(head));
    }

    /// The file, to list. Its data is not there: asking for it is an error.
    ///
    /// An error if the file is damaged and [damaged ones](OpenOptions::damaged) were not asked for, or if there are
    /// bytes that it still [wants](Self::wants).
    pub fn finish(self) -> Result<File, Error> {
        let listing = self.listing.whole(&self.window)?;
        self.options.listed(listing, self.heads, self.size)
    }

    /// The file, with its data from a source of the same bytes.
    pub fn finish_on(self, source: impl ReadAt + 'static) -> Result<File, Error> {
        self.finish_in(Backing::of(source))
    }

    pub(super) fn finish_in(self, source: Backing) -> Result<File, Error> {
        let found = self.listing.whole(&self.window).and_then(|listing| {
            let same_size = source.size() == self.size;
            let same = if same_size { source.check_unchanged() } else { Err(ReadProblem::FileChanged.into()) };
            Ok((listing, same?))
        });
        // Damage that is seen in a file which changes meanwhile is no damage.
        let (listing, ()) = found.map_err(|error| error.in_file(source.name()))?;
        self.options.in_parts(listing, self.heads, source)
    }
}

impl fmt::Debug for Indexer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Indexer").field("size", &self.size).field("wants", &self.wants()).finish_non_exhaustive()
    }
}

/// What a walk over a file has found.
#[derive(Default)]
pub(super) struct Listing {
    walk: Walk,
    pub(super) index: Index,
    /// Why it is not all of the file.
    pub(super) damage: Option<Error>,
}

impl Listing {
    /// Walks to the end, to the first error, or as far as there are bytes. `keep` is given the bytes of each head.
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

    fn give_up(&mut self, why: Problem) {
        self.damage = Some(self.walk.give_up(why));
    }

    /// The listing, if the walk waits for nothing.
    fn whole(self, window: &Window) -> Result<Self, Error> {
        let missing = window.missing();
        if missing.is_empty() {
            return Ok(self);
        }
        Err(ReadProblem::IndexUnfinished { start: missing.start, end: missing.end }.into())
    }
}
