//! Archives with pickles in them, as `torch.save` writes them: zip, and before that tar.
//!
//! Readers of zip archives differ in which bytes they take for the same member. So an archive in which they could is a fault, and
//! each byte belongs to at most one member, which keeps the work in proportion to the data.

mod bytes;
mod inflate;
mod tar;
mod zip;

use std::ops::Range;
use std::sync::Arc;

use super::halt::Halt;
use super::input::{PickleBytes, PickleReader};
use super::keep::Keep;
use super::nested::{Attempt, DEEPEST, begins_as_pickle, try_pickles};
use super::scan::{Found, Machine, Scan};
use super::text::LARGEST_TRIAL;
use super::{ArchiveKind, UnseenMember};
pub(super) use inflate::Unpacking;
use popef::read::Data;
use popef::seam::as_u64;
pub(super) use zip::{begins_as_zip, has_directory, holds_end};

/// The most members that could not be looked at which are kept.
pub(super) const MOST_UNSEEN: usize = 100;
/// The longest part of a member's name that is kept.
const LONGEST_NAME: usize = 256;

/// A member of an archive.
struct Member {
    name: Vec<u8>,
    content: Content,
}

enum Content {
    /// Its bytes are in the data.
    Stored(Range<u64>),
    /// Its compressed bytes, and how many they unpack to.
    Deflated(Range<u64>, u64),
    /// Why it cannot be looked at.
    Unseen(&'static str),
}

/// The members that an archive has, as far as it could be followed.
struct Members {
    list: Vec<Member>,
    /// Why it is not known which members a reader finds.
    fault: Option<&'static str>,
}

/// Which archive the data is that comes next.
pub(super) fn kind_of(input: &mut PickleReader<'_, '_>) -> Result<Option<ArchiveKind>, Halt> {
    Ok(match () {
        // The end comes first, so that a file is not read back and forth.
        () if zip::is_zip(input)? => Some(ArchiveKind::Zip),
        () if tar::begins_as_tar(input)? => Some(ArchiveKind::Tar),
        () => None,
    })
}

/// Looks at the pickles in the archive that comes next. Returns whether everything that loading them would do is known.
pub(super) fn walk<K: Keep>(
    kind: ArchiveKind,
    input: &mut PickleReader<'_, '_>,
    level: &mut Machine<K::Node>,
    scan: &mut Scan<'_, K>,
    found: &mut Found,
    results: K::Node,
) -> Result<bool, Halt> {
    let start = input.position();
    let members = match kind {
        ArchiveKind::Zip => zip::members(input)?,
        ArchiveKind::Tar => tar::members(input)?,
    };
    let mut inner = Found::default();
    if let Some(reason) = members.fault {
        inner.halt(&Halt::Limit(reason), if level.depth == 0 { start } else { scan.place });
    }
    let outer = scan.member.clone();
    let walked = members.list.iter().try_for_each(|member| {
        scan.member = Some(path(outer.as_deref(), &member.name));
        member.walk(input, level, scan, &mut inner, results)
    });
    scan.member = outer;
    let is_known = inner.fault.is_none() && inner.unseen.is_empty();
    found.absorb(inner);
    walked.map(|()| is_known)
}

fn path(outer: Option<&str>, name: &[u8]) -> Arc<str> {
    let name = String::from_utf8_lossy(name.get(..LONGEST_NAME).unwrap_or(name));
    match outer {
        Some(outer) => format!("{outer} > {name}").into(),
        None => name.into(),
    }
}

impl Member {
    fn walk<K: Keep>(
        &self,
        input: &mut PickleReader<'_, '_>,
        level: &mut Machine<K::Node>,
        scan: &mut Scan<'_, K>,
        found: &mut Found,
        results: K::Node,
    ) -> Result<(), Halt> {
        match &self.content {
            Content::Stored(range) => {
                self.mark_place(range, level, scan);
                self.look_into(&mut input.part(range.clone()), level, scan, found, results)
            }
            Content::Deflated(range, len) => {
                self.mark_place(range, level, scan);
                match scan.unpacking.unpack(input, range.clone(), *len, |first| self.is_wanted(first, *len))? {
                    Ok(None) => {
                        self.pass_over(*len, found);
                        Ok(())
                    }
                    Ok(Some(bytes)) => {
                        let mut source = PickleBytes::copy(Data::in_memory(&bytes));
                        self.look_into(&mut source.input(), level.inner(), scan, found, results)
                    }
                    Err(why) => {
                        unseen(scan, found, why);
                        Ok(())
                    }
                }
            }
            Content::Unseen(why) => {
                unseen(scan, found, why);
                Ok(())
            }
        }
    }

    /// Bytes in a copy have no place of their own.
    fn mark_place<K: Keep>(&self, range: &Range<u64>, level: &Machine<K::Node>, scan: &mut Scan<'_, K>) {
        if level.depth == 0 {
            scan.place = range.start;
        }
    }

    fn look_into<K: Keep>(
        &self,
        input: &mut PickleReader<'_, '_>,
        level: &mut Machine<K::Node>,
        scan: &mut Scan<'_, K>,
        found: &mut Found,
        results: K::Node,
    ) -> Result<(), Halt> {
        let is_zip = zip::is_zip(input)?;
        if !is_zip && !self.is_wanted(&input.array_ahead()?, input.left()) {
            self.pass_over(input.left(), found);
            return Ok(());
        }
        if level.depth > DEEPEST {
            unseen(scan, found, "it lies too deep in archives and pickles");
            return Ok(());
        }
        let mut inner = Found::default();
        if is_zip {
            walk(ArchiveKind::Zip, input, level.inner(), scan, &mut inner, results)?;
        } else {
            let attempt = Attempt { is_named: self.is_named(), is_marked: begins_as_pickle(input)? };
            try_pickles(attempt, input, level, scan, &mut inner, Some(results))?;
        }
        if let Some(fault) = &mut inner.fault {
            fault.member = fault.member.take().or_else(|| scan.member.clone());
        }
        inner.version = None;
        found.absorb(inner);
        Ok(())
    }

    /// Counts a member that is not tried. Others may still load it as a pickle.
    fn pass_over(&self, len: u64, found: &mut Found) {
        found.passed_over = found.passed_over.saturating_add(u64::from(len > 0));
    }

    /// Whether the name is one that programs load as a pickle.
    fn is_named(&self) -> bool {
        [b".pkl".as_slice(), b".pickle"].iter().any(|end| self.name.to_ascii_lowercase().ends_with(end))
            || self.name.rsplit(|&byte| byte == b'/').next() == Some(b"pickle")
    }

    /// Whether the content may be a pickle, by its first bytes and its length.
    fn is_wanted(&self, first: &[u8], len: u64) -> bool {
        len > 0
            && (matches!(first, [0x80, 0..=5, ..] | [b'P', b'K', 3, 4, ..]) || self.is_named() || len <= LARGEST_TRIAL)
    }
}

fn unseen<K: Keep>(scan: &Scan<'_, K>, found: &mut Found, why: &'static str) {
    if found.unseen.len() < MOST_UNSEEN {
        let member = scan.member.clone().unwrap_or_else(|| "".into());
        found.unseen.push(UnseenMember { member, offset: scan.place, why });
    }
}

/// Returns the place that is `len` bytes after another one. Data is always shorter than the largest number.
fn after(place: u64, len: usize) -> u64 {
    place.saturating_add(as_u64(len))
}
