//! Archives with pickles in them, as `torch.save` writes them: zip, and before that tar.
//!
//! Readers of zip archives differ in which bytes they take for the same member. So an archive in which they could is a fault, and
//! each byte belongs to at most one member, which keeps the work in proportion to the data.

mod bytes;
mod inflate;
mod tar;
mod zip;

use std::ops::Range;

use super::ArchiveKind;
use super::halt::Halt;
use super::input::PickleReader;
use super::text::LARGEST_TRIAL;
pub(super) use inflate::{FIRST, Unpacking};
use popef::seam::as_u64;
use zip::{begins_as_zip, is_zip};
pub(super) use zip::{has_directory, holds_end};

/// A member of an archive.
pub(super) struct Member {
    pub(super) name: Vec<u8>,
    pub(super) content: Content,
}

pub(super) enum Content {
    /// Its bytes are in the data.
    Stored(Range<u64>),
    /// Its compressed bytes, and how many they unpack to.
    Deflated(Range<u64>, u64),
    /// Why it cannot be looked at.
    Unseen(&'static str),
}

/// The members that an archive has, as far as it could be followed.
pub(super) struct Members {
    pub(super) list: Vec<Member>,
    /// Why it is not known which members a reader finds.
    pub(super) fault: Option<&'static str>,
}

/// Which archive the data is that comes next.
pub(super) fn kind_of(input: &mut PickleReader<'_, '_>) -> Result<Option<ArchiveKind>, Halt> {
    // The end comes first, so that a file is not read back and forth.
    if is_zip(input)? { Ok(Some(ArchiveKind::Zip)) } else { begins_as(input) }
}

/// Which archive the data is that comes next, by its first bytes alone.
pub(super) fn begins_as(input: &mut PickleReader<'_, '_>) -> Result<Option<ArchiveKind>, Halt> {
    Ok(match () {
        () if begins_as_zip(input)? => Some(ArchiveKind::Zip),
        () if tar::begins_as_tar(input)? => Some(ArchiveKind::Tar),
        () => None,
    })
}

/// Returns the members of the archive that comes next.
pub(super) fn members(kind: ArchiveKind, input: &mut PickleReader<'_, '_>) -> Result<Members, Halt> {
    match kind {
        ArchiveKind::Zip => zip::members(input),
        ArchiveKind::Tar => tar::members(input),
    }
}

impl Member {
    /// Whether the name is one that programs load as a pickle.
    pub(super) fn is_named(&self) -> bool {
        [b".pkl".as_slice(), b".pickle"].iter().any(|end| self.name.to_ascii_lowercase().ends_with(end))
            || self.name.rsplit(|&byte| byte == b'/').next() == Some(b"pickle")
    }

    /// Whether the content may be a pickle, by its first bytes and its length.
    pub(super) fn is_wanted(&self, first: &[u8], len: u64) -> bool {
        len > 0
            && (matches!(first, [0x80, 0..=5, ..] | [b'P', b'K', 3, 4, ..])
                || tar::is_tar(first)
                || self.is_named()
                || len <= LARGEST_TRIAL)
    }
}

/// Returns the place that is `len` bytes after another one. Data is always shorter than the largest number.
fn after(place: u64, len: usize) -> u64 {
    place.saturating_add(as_u64(len))
}
