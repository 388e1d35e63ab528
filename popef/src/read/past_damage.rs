//! Listing a damaged file again, with the whole blobs after damaged ones.

use std::sync::Arc;

use super::file::{File, Held};
use super::index::Messages;
use super::listing::Listing;
use super::options::OpenOptions;
use super::problem::ReadProblem;
use super::source::{Backing, Window};
use crate::error::Error;
use crate::limits::Limits;

impl File {
    /// Returns the same file with the whole blobs after damaged ones too.
    ///
    /// If a blob's info is damaged but its header is not, the header says where the next blob begins. The blob is left
    /// out, and `skipped` is called with its error, whose [`blob_range`](Error::blob_range) has the bytes that were
    /// left out. Blobs are not searched for anywhere else, because data can look like them: where no blob begins, the
    /// list ends, and [`damage`](Self::damage) says why.
    ///
    /// Blobs that are left out have no number in the new file, and count in the numbers that errors have. Headers and infos are read
    /// again. Fails if they cannot be, as those of a [stream](Self::from_stream).
    ///
    /// ```
    /// use popef::OpenOptions;
    ///
    /// let mut bytes = std::fs::read("examples/data/executable.popef")?;
    /// bytes[56..64].fill(0xff); // in the info of the first blob
    /// let file = OpenOptions::new().damaged(true).bytes(bytes)?;
    /// assert_eq!(file.len(), 0);
    ///
    /// let mut lost = Vec::new();
    /// let file = file.past_damage(&mut |error| lost.extend(error.blob()))?;
    /// assert_eq!((file.len(), lost), (3, vec![0]));
    /// assert!(file.damage().is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn past_damage(&self, skipped: &mut dyn FnMut(Error)) -> Result<File, Error> {
        let content = self.content();
        let (name, limits) = (self.path(), self.limits());
        let skipped = &mut |error: Error| skipped(error.in_file(name));
        let listing = match &**content {
            Held::Memory { bytes, .. } => {
                let mut bytes: &[u8] = (**bytes).as_ref();
                let mut listing = Listing::from(self.start(), self.size(), Messages::InMemory);
                listing.walk_past(&mut bytes, &limits, skipped);
                listing
            }
            Held::InParts { source } => past_damage_in(source, self.start(), &limits, skipped)?,
            Held::Gone { .. } => return Err(ReadProblem::DataNotKept.into()),
        };
        let mut options = OpenOptions::new();
        options.limits(limits).start(self.start()).damaged(true);
        options.assemble(listing, Arc::clone(content))
    }
}

fn past_damage_in(
    source: &Backing,
    start: u64,
    limits: &Limits,
    skipped: &mut dyn FnMut(Error),
) -> Result<Listing, Error> {
    let mut window = Window::new(source.size(), OpenOptions::new().read_ahead_of(source));
    let mut listing = Listing::from(start, source.size(), Messages::of(source));
    loop {
        listing.walk_past(&mut window, limits, skipped);
        let missing = window.missing();
        if missing.is_empty() {
            break;
        }
        let gap = window.gap();
        let count = gap.len();
        match source.fill(gap, missing.start) {
            Ok(()) => window.advance(count),
            Err(problem) => {
                listing.give_up(problem);
                break;
            }
        }
    }
    // Report a change of the file first: it can look like damage.
    source.check_unchanged().map_err(|problem| Error::from(problem).in_file(source.name()))?;
    Ok(listing)
}
