//! Reads the output back, before it appears.

use std::io::{self, Read};

use popef::Blob;

use crate::error::{Code, Error};
use crate::listed::label;
use crate::progress::Progress;
use crate::work::{PIECE, fill, len_of};

/// Whether header, info and length are equal, byte for byte.
pub(crate) fn has_same_head(one: &Blob<'_>, other: &Blob<'_>) -> Result<bool, Error> {
    let [of_one, of_other] = [one, other].map(Blob::head_bytes);
    Ok(one.size() == other.size() && of_one.len() == of_other.len() && of_one.read()? == of_other.read()?)
}

/// The error for a blob that differs from what was written.
pub(crate) fn wrong(blob: &Blob<'_>) -> Error {
    let message = format!("{} does not read back as it was written; the new file was discarded", label(blob));
    Error::new(Code::NotVerified, message)
}

/// Whether two readers give the same bytes. `progress` counts them once.
pub(crate) fn same_bytes(one: &mut dyn Read, other: &mut dyn Read, progress: &dyn Progress) -> Result<bool, Error> {
    // Most blobs are small, and memory for whole pieces would take ten times as long as comparing them.
    let (mut left, mut right) = (vec![0; SMALL], vec![0; SMALL]);
    loop {
        let room = left.len();
        let one = fill(one, &mut left)?;
        let other = fill(other, &mut right)?;
        if one != other {
            return Ok(false);
        }
        progress.add(len_of(one))?;
        if one.len() < room {
            return Ok(true);
        }
        left.resize(PIECE, 0);
        right.resize(PIECE, 0);
    }
}

/// The length of the first pieces that are compared.
const SMALL: usize = 4 << 10;

/// A reader that reports what it reads, and that can be stopped.
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
