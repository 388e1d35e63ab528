//! The ways to open a file, besides mapping.

use std::io::Read;
use std::path::Path;

use super::data::Data;
use super::fetch::Fetch as _;
use super::file::{File, Held};
use super::index::Messages;
use super::indexer::Indexer;
use super::listing::Listing;
use super::options::OpenOptions;
use super::source::{Backing, LocalFile, ReadAt, Stream};
use crate::error::Error;
use crate::len::len_of;

impl OpenOptions {
    /// Opens a file and reads it in parts, as [`File::open`] does.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<File, Error> {
        self.source(LocalFile::open(path)?)
    }

    /// Reads a file in parts from an open handle, for example of a file in memory (`memfd`). The handle's position does
    /// not matter. Use [`LocalFile::of`] to give the file a name.
    pub fn file(&self, file: std::fs::File) -> Result<File, Error> {
        self.source(LocalFile::of(file, None)?)
    }

    /// Opens a file from any source that can be read by position, and reads it in parts.
    pub fn source(&self, source: impl ReadAt + 'static) -> Result<File, Error> {
        let source = Backing::of(source);
        let options = self.started_in(&Data::in_source(&source, 0, 0, source.size()))?;
        let mut indexer = Indexer::new(options, source.size(), self.read_ahead_of(&source), Messages::of(&source));
        while let Some(range) = indexer.wants() {
            let gap = indexer.gap();
            let count = gap.len();
            match source.fill(gap, range.start) {
                Ok(()) => indexer.advance(count),
                Err(problem) => indexer.fail(problem),
            }
        }
        indexer.finish_in(source)
    }

    /// Opens a file whose bytes are in memory, as [`File::from_bytes`] does.
    pub fn bytes(&self, bytes: impl AsRef<[u8]> + Send + Sync + 'static) -> Result<File, Error> {
        let options = self.started_in(&Data::in_memory(bytes.as_ref()))?;
        let listing = options.list_memory(bytes.as_ref());
        options.assemble(listing, Held::Memory { bytes: Box::new(bytes), source: None })
    }

    /// Lists a file that comes from a stream, such as a pipe. Headers and infos are kept, data is skipped, and
    /// requesting data is an error. Memory does not grow with the data. The stream needs no buffer around it.
    ///
    /// Damage gives the same errors as in the other ways to open a file. An error in a blob's info is reported after
    /// the end of the blob has arrived.
    pub fn stream(&self, stream: impl Read) -> Result<File, Error> {
        let mut stream = Stream::new(stream);
        let reached = stream.reach(self.start)?;
        let mut listing = Listing::from(self.start, reached, Messages::Kept);
        listing.walk_on(&mut stream, &self.limits);
        let size = listing.index.end();
        self.assemble(listing, Held::Gone { size })
    }

    pub(super) fn list_memory(&self, mut bytes: &[u8]) -> Listing {
        let mut listing = Listing::from(self.start, len_of(bytes), Messages::InMemory);
        listing.walk_on(&mut bytes, &self.limits);
        listing
    }
}

impl File {
    /// Opens a file and reads it in parts: headers and infos at once, and data on request.
    ///
    /// ```
    /// let file = popef::File::open("examples/data/executable.popef")?;
    /// assert_eq!((file.len(), file.size()), (4, 66858));
    /// # Ok::<(), popef::Error>(())
    /// ```
    pub fn open(path: impl AsRef<Path>) -> Result<File, Error> {
        OpenOptions::new().open(path)
    }

    /// Opens a file whose bytes are in memory: a `Vec<u8>`, a `&'static [u8]`, an `Arc<[u8]>`, ...
    ///
    /// For borrowed bytes, use [`Blobs`](crate::read::Blobs).
    ///
    /// ```
    /// let bytes = std::fs::read("examples/data/executable.popef")?;
    /// let file = popef::File::from_bytes(bytes)?;
    /// assert_eq!(file.len(), 4);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_bytes(bytes: impl AsRef<[u8]> + Send + Sync + 'static) -> Result<File, Error> {
        OpenOptions::new().bytes(bytes)
    }

    /// Lists a file that comes from a stream, as [`OpenOptions::stream`] does.
    ///
    /// ```
    /// let stream = std::fs::File::open("examples/data/executable.popef")?;
    /// let file = popef::File::from_stream(stream)?;
    /// assert_eq!(file.len(), 4);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_stream(stream: impl Read) -> Result<File, Error> {
        OpenOptions::new().stream(stream)
    }
}
