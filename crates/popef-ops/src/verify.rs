//! Reads back what was written, before it appears.

use std::io::{self, Read};

use popef::{Blob, File};

use crate::error::{Code, Error};
use crate::listed::label;
use crate::progress::Progress;
use crate::work::{PIECE, fill, len_of};

/// Fails if the new file does not have these blobs, and no others. Their data is not read: it was copied byte for byte.
pub(crate) fn same_blobs<'b>(new: &File, old: impl IntoIterator<Item = Blob<'b>>) -> Result<(), Error> {
    let mut blobs = new.blobs();
    for old in old {
        let new = blobs.next().ok_or_else(|| wrong(&old))?;
        same_head(&old, &new)?;
    }
    match blobs.next() {
        None => Ok(()),
        Some(blob) => Err(wrong(&blob)),
    }
}

/// Fails if a copied blob has another header, info or length.
pub(crate) fn same_head(old: &Blob<'_>, new: &Blob<'_>) -> Result<(), Error> {
    if has_same_head(old, new) { Ok(()) } else { Err(wrong(old)) }
}

/// Whether header and info are equal, byte for byte, and so is the length.
pub(crate) fn has_same_head(one: &Blob<'_>, other: &Blob<'_>) -> bool {
    one.size() == other.size()
        && one.header_bytes() == other.header_bytes()
        && one.info_bytes() == other.info_bytes()
        && one.data().len() == other.data().len()
}

/// The error for a blob that is not what was written.
pub(crate) fn wrong(blob: &Blob<'_>) -> Error {
    let message = format!("{} does not read back as it was written; the new file was discarded", label(blob));
    Error::new(Code::NotVerified, message)
}

/// Whether two readers give the same bytes. They are told to `progress` once.
pub(crate) fn same_bytes(one: &mut dyn Read, other: &mut dyn Read, progress: &dyn Progress) -> Result<bool, Error> {
    let (mut left, mut right) = (vec![0; PIECE], vec![0; PIECE]);
    loop {
        let one = fill(one, &mut left)?;
        let other = fill(other, &mut right)?;
        if one != other {
            return Ok(false);
        }
        if one.is_empty() {
            return Ok(true);
        }
        progress.add(len_of(one))?;
    }
}

/// A reader that tells what it reads, and that can be stopped.
pub(crate) struct Told<'p, R> {
    pub(crate) from: R,
    pub(crate) progress: &'p dyn Progress,
}

impl<R: Read> Read for Told<'_, R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let count = self.from.read(buf)?;
        self.progress.add(u64::try_from(count).unwrap_or(u64::MAX)).map_err(io::Error::other)?;
        Ok(count)
    }
}
