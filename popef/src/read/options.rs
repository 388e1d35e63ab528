use std::sync::Arc;

use super::data::Data;
use super::file::{File, Held};
use super::listing::Listing;
use super::pickle_end::{end_in, is_pickle};
use super::problem::ReadProblem;
use super::source::{Backing, ReadAhead};
use crate::error::{Error, ErrorCode, Problem};
use crate::limits::Limits;

/// Options for opening a file: the limits, whether to accept a damaged file, and how far to read ahead.
///
/// ```
/// use popef::{File, OpenOptions};
///
/// let bytes = std::fs::read("examples/data/executable.popef")?;
/// let cut = bytes[..bytes.len() - 1].to_vec();
/// assert!(File::from_bytes(cut.clone()).is_err());
///
/// let file = OpenOptions::new().damaged(true).bytes(cut)?;
/// assert_eq!(file.len(), 3);
/// assert_eq!(file.damage().and_then(|damage| damage.blob()), Some(3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenOptions {
    pub(super) limits: Limits,
    damaged: bool,
    pub(super) start: u64,
    after_pickle: bool,
    pub(super) read_ahead: Option<ReadAhead>,
}

impl OpenOptions {
    /// Returns the default options: default limits, and an error for a damaged file.
    pub fn new() -> Self {
        OpenOptions::default()
    }

    /// Sets the limits.
    pub fn limits(&mut self, limits: Limits) -> &mut Self {
        self.limits = limits;
        self
    }

    /// Sets whether a damaged file opens, with the blobs before the damage. [`File::damage`] then has the error, and
    /// [`File::past_damage`] may find whole blobs after it.
    pub fn damaged(&mut self, accept: bool) -> &mut Self {
        self.damaged = accept;
        self
    }

    /// Sets where the first blob begins, if something else comes before PopEF in the file. The default is 0.
    ///
    /// All offsets are still those in the file. [`File::prefix`] has the bytes before the first blob. Fails to open a file that
    /// is shorter.
    ///
    /// ```
    /// let mut bytes = b"something else".to_vec();
    /// bytes.extend(std::fs::read("examples/data/all-types.popef")?);
    ///
    /// let file = popef::OpenOptions::new().start(14).bytes(bytes)?;
    /// assert_eq!(file.blob(0).map(|blob| blob.offset()), Some(14));
    /// assert_eq!(*file.prefix().read()?, *b"something else");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn start(&mut self, offset: u64) -> &mut Self {
        self.start = offset;
        self
    }

    /// Sets whether a file may begin with a Python pickle, as the `.poptorch` files of SDK 2.5 and older do. The first blob then
    /// follows the pickle's end. Files that begin with a blob open as usual.
    ///
    /// Without this, such a file fails to open with the code [`PickleFirst`](crate::error::ErrorCode::PickleFirst). Streams and
    /// an [`Indexer`](crate::read::Indexer) ignore it, because they do not have the pickle: use [`start`](Self::start).
    ///
    /// The pickle's opcodes are read to find its end, and never run. [`File::prefix`] has the pickle.
    ///
    /// ```
    /// use popef::error::ErrorCode;
    /// use popef::{File, OpenOptions};
    ///
    /// let mut bytes = std::fs::read("examples/data/poptorch34-noexport.pickle")?;
    /// bytes.extend(std::fs::read("examples/data/all-types.popef")?);
    /// let error = File::from_bytes(bytes.clone()).unwrap_err();
    /// assert_eq!((error.code(), error.found()), (ErrorCode::PickleFirst, Some(2612)));
    ///
    /// let file = OpenOptions::new().after_pickle(true).bytes(bytes)?;
    /// assert_eq!(file.blob(0).map(|blob| blob.offset()), Some(2612));
    /// assert_eq!(file.prefix().len(), 2612);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn after_pickle(&mut self, accept: bool) -> &mut Self {
        self.after_pickle = accept;
        self
    }

    /// Sets how many bytes are read at a time while the headers are walked: `least` if headers are far apart, and up to
    /// `most` if they are close together. These bytes are held in memory.
    ///
    /// The defaults are 4 and 32 KiB for a file on disk, and 64 and 256 KiB for other sources, where another request
    /// usually takes longer than more bytes. A file of many blobs of about that size is then fetched almost completely:
    /// `read_ahead(4 << 10, 256 << 10)` fetches fewer bytes in more requests.
    ///
    /// ```
    /// # struct Bucket(Vec<u8>, std::sync::atomic::AtomicUsize);
    /// # impl popef::read::ReadAt for &'static Bucket {
    /// #     fn size(&self) -> u64 { self.0.len() as u64 }
    /// #     fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> std::io::Result<()> {
    /// #         self.1.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    /// #         buf.copy_from_slice(&self.0[offset as usize..][..buf.len()]);
    /// #         Ok(())
    /// #     }
    /// # }
    /// # let bytes = std::fs::read("examples/data/executable.popef")?;
    /// # let bucket: &'static Bucket = Box::leak(Box::new(Bucket(bytes, 0.into())));
    /// let file = popef::OpenOptions::new().read_ahead(1 << 20, 1 << 20).source(bucket)?;
    /// # assert_eq!(bucket.1.load(std::sync::atomic::Ordering::Relaxed), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_ahead(&mut self, least: u64, most: u64) -> &mut Self {
        self.read_ahead = Some(ReadAhead { least, most: most.max(least) });
        self
    }

    /// Makes the file of a listing, unless it is damaged and that is not accepted.
    pub(super) fn assemble(&self, listing: Listing, content: impl Into<Arc<Held>>) -> Result<File, Error> {
        let (Listing { index, damage, .. }, content) = (listing, content.into());
        let damage = damage.map(|damage| with_end_of_pickle(damage, &content));
        let damage = damage.map(|damage| damage.in_file(content.source().and_then(Backing::name)));
        match damage {
            Some(damage) if !self.damaged => Err(damage),
            // A failure to read is not damage: the rest of the file may be undamaged.
            Some(failure) if !failure.is_about_the_file() => Err(failure),
            damage => Ok(File::new(content, index, self.start, self.limits, damage)),
        }
    }
}

/// If the error is that the file begins with a pickle, adds where the pickle ends. Only then are its opcodes read.
fn with_end_of_pickle(damage: Error, content: &Held) -> Error {
    let (ErrorCode::PickleFirst, Some(data)) = (damage.code(), content.all()) else { return damage };
    match end_in(&data) {
        Ok(end) => Problem::from(ReadProblem::PickleFirst { end, len: data.len() }).at(0, 0),
        Err(failure) => failure,
    }
}

impl OpenOptions {
    /// Returns the options for a file with this data: with the end of the pickle, if it begins with one.
    pub(super) fn started_in(&self, data: &Data<'_>) -> Result<OpenOptions, Error> {
        let mut first = [0; 2];
        let has_pickle = self.after_pickle && is_pickle(data.read_up_to(0, &mut first)?);
        let end = if has_pickle { end_in(data)? } else { None };
        // A pickle without anything after it is not a PopEF file.
        let end = end.filter(|&end| end < data.len());
        Ok(OpenOptions { start: end.unwrap_or(self.start), ..*self })
    }
}
