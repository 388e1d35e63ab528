use std::iter::FusedIterator;

use super::blob::Blob;
use super::data::Data;
use super::walk::{Step, Walk};
use crate::error::Error;
use crate::limits::Limits;

/// The blobs of a file whose bytes are in memory, one after the other.
///
/// Each step goes from one header to the next by the blob's size; data is not touched. Damage gives one error, with
/// everything before it already given, and then nothing.
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
        match self.walk.step(&mut { self.bytes }, &self.limits, &mut |_| Ok(())) {
            Ok(Step::Blob(place, head)) => {
                let data = Data::in_memory(place.data_in(self.bytes, head));
                Some(Ok(Blob::new(place, head, place.head_in(self.bytes, head), data, None, self.limits)))
            }
            // Bytes in memory are never waited for.
            Ok(Step::End | Step::Waiting) => None,
            Err(error) => Some(Err(error)),
        }
    }
}

impl FusedIterator for Blobs<'_> {}
