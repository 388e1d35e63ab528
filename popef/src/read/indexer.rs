use std::fmt;
use std::ops::Range;

use super::file::{File, Held};
use super::index::Messages;
use super::listing::Listing;
use super::options::OpenOptions;
use super::problem::ReadProblem;
use super::source::{Backing, ReadAhead, ReadAt, Window};
use crate::error::{Error, Problem};

/// Opens a file without doing any I/O: it says which range of the file it needs, and the caller gives it the bytes. So
/// programs with their own I/O, such as asynchronous ones, can list a file. It asks for headers and the bytes around
/// them, as [`OpenOptions::read_ahead`] says.
///
/// [`File::open`] uses it too, so the results are the same.
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
    listing: Listing,
}

impl OpenOptions {
    /// Returns an [`Indexer`] of a file of `size` bytes.
    ///
    /// It asks for 64 to 256 KiB at a time, unless [`read_ahead`](Self::read_ahead) is set.
    pub fn indexer(&self, size: u64) -> Indexer {
        Indexer::new(*self, size, self.read_ahead.unwrap_or(ReadAhead::REMOTE), Messages::Kept)
    }
}

impl Indexer {
    pub(super) fn new(options: OpenOptions, size: u64, ahead: ReadAhead, messages: Messages) -> Self {
        let window = Window::new(size, ahead);
        let listing = Listing::from(options.start, size, messages);
        let mut indexer = Indexer { options, size, window, listing };
        indexer.go_on();
        indexer
    }

    /// Returns the range of the file that is needed next. `None` if nothing more is needed.
    pub fn wants(&self) -> Option<Range<u64>> {
        Some(self.window.missing()).filter(|range| !range.is_empty())
    }

    /// Takes bytes from the start of the range that it [wants](Self::wants), which may come in pieces. Returns how many
    /// it took, which is never more than it wants.
    pub fn give(&mut self, bytes: &[u8]) -> usize {
        let gap = self.window.gap();
        let count = gap.len().min(bytes.len());
        gap.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        self.advance(count);
        count
    }

    /// The buffer for the wanted bytes.
    pub(super) fn gap(&mut self) -> &mut [u8] {
        self.window.gap()
    }

    /// Records that the first `count` bytes of the gap were filled.
    pub(super) fn advance(&mut self, count: usize) {
        self.window.advance(count);
        if self.wants().is_none() {
            self.go_on();
        }
    }

    /// Ends the walk because the wanted bytes cannot be read.
    pub(super) fn fail(&mut self, why: Problem) {
        self.listing.give_up(why);
        self.window = Window::new(0, ReadAhead::LOCAL);
    }

    fn go_on(&mut self) {
        self.listing.walk_on(&mut self.window, &self.options.limits);
    }

    /// Returns the file, without its data: requesting data is an error.
    ///
    /// Fails if the file is damaged and [`OpenOptions::damaged`] is not set, or if the indexer still
    /// [wants](Self::wants) bytes.
    pub fn finish(self) -> Result<File, Error> {
        let listing = self.listing.whole(&self.window)?;
        self.options.assemble(listing, Held::Gone { size: self.size })
    }

    /// Returns the file, with its data from a source of the same bytes.
    ///
    /// Fails as [`finish`](Self::finish) does, or if the source has another size or was changed.
    pub fn finish_on(self, source: impl ReadAt + 'static) -> Result<File, Error> {
        self.finish_in(Backing::of(source))
    }

    pub(super) fn finish_in(self, source: Backing) -> Result<File, Error> {
        let found = self.listing.whole(&self.window).and_then(|listing| {
            let same_size = source.size() == self.size;
            let same = if same_size { source.check_unchanged() } else { Err(ReadProblem::FileChanged.into()) };
            Ok((listing, same?))
        });
        // Report a change of the file first: it can look like damage.
        let (listing, ()) = found.map_err(|error| error.in_file(source.name()))?;
        self.options.assemble(listing, Held::InParts { source })
    }
}

impl fmt::Debug for Indexer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Indexer").field("size", &self.size).field("wants", &self.wants()).finish_non_exhaustive()
    }
}
