use std::iter::FusedIterator;

use super::blob::{Blob, Texts};
use super::data::Data;
use super::walk::{Step, Walk};
use crate::error::Error;
use crate::limits::Limits;

/// An iterator over the blobs of a file whose bytes are in memory.
///
/// Each step goes from one header to the next by the blob's size, and does not touch the data. Damage gives one error,
/// after all blobs before it, and then the iterator ends.
///
/// ```
/// let bytes = std::fs::read("examples/data/executable.popef")?;
/// for blob in popef::read::Blobs::new(&bytes) {
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
    /// Iterates over a whole file, with the default [`Limits`].
    pub fn new(bytes: &'a [u8]) -> Self {
        Blobs::with_limits(bytes, Limits::default())
    }

    /// Iterates over a whole file, with the given limits.
    pub fn with_limits(bytes: &'a [u8], limits: Limits) -> Self {
        Blobs { bytes, limits, walk: Walk::default() }
    }
}

impl<'a> Iterator for Blobs<'a> {
    type Item = Result<Blob<'a>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.walk.step(&mut { self.bytes }, &self.limits, &mut ()) {
            Ok(Step::Blob(place, head)) => {
                let whole = place.blob_in(self.bytes, head);
                Some(Ok(Blob::new(
                    place,
                    head,
                    Texts::Messages(head.of_blob(whole)),
                    Data::in_memory(whole),
                    None,
                    self.limits,
                )))
            }
            // Bytes in memory are never waited for.
            Ok(Step::End | Step::Waiting) => None,
            Err(error) => Some(Err(error)),
        }
    }
}

impl FusedIterator for Blobs<'_> {}
