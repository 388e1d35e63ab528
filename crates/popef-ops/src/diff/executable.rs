//! Executables, compared by their own bytes, whatever their compression.

use std::io::Read;

use popef::read::ExecutableBlob;

use super::data::Lot;
use super::report::BytesDiff;
use crate::error::Error;
use crate::progress::Progress;
use crate::work::{PIECE, Scratch, fill, len_of};

/// The first difference of two executables after unpacking. `None` if they are the same.
pub(super) fn unpacked(
    a: ExecutableBlob<'_>,
    b: ExecutableBlob<'_>,
    scratch: &mut Scratch,
    progress: &dyn Progress,
) -> Result<Option<BytesDiff>, Error> {
    let (of_a, of_b) = (a.uncompressed_size(), b.uncompressed_size());
    let differ = |first| BytesDiff { a: of_a, b: of_b, first, different: None, behind_tensors: false };
    if of_a != of_b {
        return Ok(Some(differ(None)));
    }
    // If the compressed bytes are the same, so are the unpacked ones.
    if a.is_compressed() == b.is_compressed() && Lot::bytes(a.data(), b.data()).is_same(scratch)? {
        progress.add(of_a.saturating_add(of_b))?;
        return Ok(None);
    }
    let first = first_difference(&mut a.unpack()?, &mut b.unpack()?, scratch, progress)?;
    Ok(first.map(|first| differ(Some(first))))
}

/// Where two readers begin to differ.
fn first_difference(
    a: &mut dyn Read,
    b: &mut dyn Read,
    Scratch([of_a, of_b]): &mut Scratch,
    progress: &dyn Progress,
) -> Result<Option<u64>, Error> {
    of_a.resize(PIECE, 0);
    of_b.resize(PIECE, 0);
    let mut start = 0u64;
    loop {
        let (a, b) = (fill(a, of_a)?, fill(b, of_b)?);
        progress.add(len_of(a).saturating_add(len_of(b)))?;
        if a != b {
            let same = a.iter().zip(b).take_while(|(a, b)| a == b).count();
            return Ok(Some(start.saturating_add(u64::try_from(same).unwrap_or(u64::MAX))));
        }
        if a.is_empty() {
            return Ok(None);
        }
        start = start.saturating_add(len_of(a));
    }
}
