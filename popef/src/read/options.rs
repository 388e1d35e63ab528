use super::file::{File, Held};
use super::listing::Listing;
use super::source::{Backing, ReadAhead};
use crate::error::Error;
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

    /// Sets whether a damaged file opens, with the blobs before the damage. [`File::damage`] then has the error.
    pub fn damaged(&mut self, accept: bool) -> &mut Self {
        self.damaged = accept;
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
    pub(super) fn assemble(&self, Listing { index, damage, .. }: Listing, content: Held) -> Result<File, Error> {
        let damage = damage.map(|damage| damage.in_file(content.source().and_then(Backing::name)));
        match damage {
            Some(damage) if !self.damaged => Err(damage),
            // A failure to read is not damage: the rest of the file may be undamaged.
            Some(failure) if !failure.is_about_the_file() => Err(failure),
            damage => Ok(File::new(content, index, self.limits, damage)),
        }
    }
}
