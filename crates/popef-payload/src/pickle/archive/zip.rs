//! The structure of zip archives.
//!
//! Python's `zipfile` and torch's reader both use the directory at the end, others read from the front. All of them
//! find the same members only if the archive begins with the first one, and each member is followed by the next and has
//! the same header in both places.
//!
//! The crate zip 9.8.2 was measured against this (release build, no LTO). Of nine archives with one of the faults below,
//! its `validate_header_consistency` accepts five: bytes before (though it says how many), between or behind members,
//! another end in the comment, and a zero byte in a name. Its errors have no byte. 60,000 empty members take it 2.5 times
//! the time, and extra fields 12 bytes of memory per byte of the directory. It needs a reader that seeks, and adds 5
//! crates and 165 KB of code; this folder is 16 KB.

use std::ops::Range;

use super::super::halt::Halt;
use super::super::input::PickleReader;
use super::bytes::{u16_at, u32_at, u64_at};
use super::{Content, Member, Members, after};
use popef::seam::as_u64;

const LOCAL: &[u8; 4] = b"PK\x03\x04";
const CENTRAL: &[u8; 4] = b"PK\x01\x02";
const END: &[u8; 4] = b"PK\x05\x06";
const END_64: &[u8; 4] = b"PK\x06\x06";
const LOCATOR_64: &[u8; 4] = b"PK\x06\x07";

const LOCAL_LEN: u64 = 30;
const CENTRAL_LEN: u64 = 46;
const END_LEN: u64 = 22;
const END_64_LEN: u64 = 56;
const LOCATOR_LEN: u64 = 20;
/// Maximum length of the record after a member that states its lengths.
const DESCRIPTOR_LEN: u64 = 24;
/// The kind of extra field that has a name.
const UNICODE_PATH: u16 = 0x7075;
const LONGEST_COMMENT: u64 = 0xffff;

const NO_DIRECTORY: &str = "a zip archive has no directory at its end";
const ODD_END: &str =
    "a zip archive has bytes behind it, or two ends that differ, so readers find different directories";
const SHIFTED: &str = "a zip archive has bytes before it, so readers find different members";
const ODD_DIRECTORY: &str = "the directory of a zip archive is not what its end says";
const OVERLAP: &str = "members of a zip archive overlap";
const GAP: &str = "a zip archive has bytes that belong to no member";
const ODD_NAME: &str = "a member of a zip archive has a name that readers read differently";
const OTHER_HEADER: &str = "a member of a zip archive has another header than the directory says";

pub(in super::super) fn begins_as_zip(input: &mut PickleReader<'_, '_>) -> Result<bool, Halt> {
    Ok(input.peek(4)?.starts_with(LOCAL))
}

/// Whether some reader takes the data for an archive. Python finds the end of an archive in the last bytes, whatever is
/// before and behind it. A pickle may hold a whole archive there, so it must end with one.
pub(in super::super) fn is_zip(input: &mut PickleReader<'_, '_>) -> Result<bool, Halt> {
    Ok(ends_as_zip(input)? || begins_as_zip(input)? || !input.begins_as_pickle()? && holds_end(input)?)
}

/// Whether the last bytes have the end of an archive, and its directory is before it.
pub(in super::super) fn holds_end(input: &mut PickleReader<'_, '_>) -> Result<bool, Halt> {
    let all = input.all();
    let tail = all.end.saturating_sub(END_LEN.saturating_add(LONGEST_COMMENT)).max(all.start);
    let bytes = input.bytes(tail..all.end)?;
    let Some(at) = bytes.windows(END.len()).rposition(|window| window == END) else { return Ok(false) };
    let end = bytes.get(at..).filter(|end| as_u64(end.len()) >= END_LEN).unwrap_or_default();
    let len = u64::from(u32_at(end, 12));
    let Some(start) = after(tail, at).checked_sub(len).filter(|&start| start >= all.start) else { return Ok(false) };
    Ok(len >= CENTRAL_LEN && input.bytes(start..start.saturating_add(4))? == CENTRAL)
}

/// Whether the data ends as an archive does that has no comment.
pub(super) fn ends_as_zip(input: &mut PickleReader<'_, '_>) -> Result<bool, Halt> {
    let Some(start) = input.left().checked_sub(END_LEN) else { return Ok(false) };
    let start = input.position().saturating_add(start);
    let end = input.bytes(start..start.saturating_add(END_LEN))?;
    Ok(end.starts_with(END) && end.ends_with(&[0, 0]))
}

/// Whether there is a directory that a reader could find.
pub(in super::super) fn has_directory(input: &mut PickleReader<'_, '_>) -> Result<bool, Halt> {
    let all = input.all();
    Ok(!matches!(Directory::find(input, &all)?, Err(NO_DIRECTORY)))
}

pub(super) fn members(input: &mut PickleReader<'_, '_>) -> Result<Members, Halt> {
    let all = input.all();
    let mut members = Members { list: Vec::new(), fault: None };
    let directory = match Directory::find(input, &all)? {
        Ok(directory) => directory,
        Err(fault) => return Ok(Members { fault: Some(fault), ..members }),
    };
    members.fault = (directory.base != all.start).then_some(SHIFTED);
    let mut entries = directory.entries(input, &mut members.fault)?;
    entries.sort_by_key(|entry| entry.offset);
    let mut end = all.start;
    for entry in entries {
        let content = entry.content(input, &mut end, directory.range.start, &mut members.fault)?;
        members.list.try_reserve(1)?;
        members.list.push(Member { name: entry.name, content });
    }
    if members.fault.is_none() && directory.range.start.saturating_sub(end) > DESCRIPTOR_LEN {
        members.fault = Some(GAP);
    }
    Ok(members)
}

struct Directory {
    range: Range<u64>,
    /// The byte from which the places of members are counted, as Python finds it: by where the directory is. Torch's reader
    /// counts from the first byte.
    base: u64,
    count: u64,
}

impl Directory {
    fn find(input: &mut PickleReader<'_, '_>, all: &Range<u64>) -> Result<Result<Self, &'static str>, Halt> {
        let longest = END_LEN.saturating_add(LONGEST_COMMENT);
        let tail = all.end.saturating_sub(longest).max(all.start);
        let bytes = input.bytes(tail..all.end)?;
        // All readers take the last one. An earlier one may be that of an archive in this one.
        let Some(at) = bytes.windows(END.len()).rposition(|window| window == END) else {
            return Ok(Err(NO_DIRECTORY));
        };
        let end = bytes.get(at..).unwrap_or_default();
        if as_u64(end.len()) != END_LEN.saturating_add(u16_at(end, 20).into()) {
            return Ok(Err(ODD_END));
        }
        let short = End { count: u16_at(end, 10).into(), len: u32_at(end, 12).into(), offset: u32_at(end, 16).into() };
        Directory::of_end(input, all, after(tail, at), short)
    }

    fn of_end(
        input: &mut PickleReader<'_, '_>,
        all: &Range<u64>,
        place: u64,
        short: End,
    ) -> Result<Result<Self, &'static str>, Halt> {
        let (place, end) = match End::long(input, all, place)? {
            Some((_, _, relative)) if all.start.saturating_add(relative) != long_place(place) => {
                return Ok(Err(ODD_END));
            }
            Some((place, long, _)) if short.agrees(&long) => (place, long),
            Some(_) => return Ok(Err(ODD_END)),
            None => (place, short),
        };
        let start = place.checked_sub(end.len).filter(|&start| start >= all.start);
        let base = start.and_then(|start| start.checked_sub(end.offset)).filter(|&base| base >= all.start);
        let (Some(start), Some(base)) = (start, base) else { return Ok(Err(ODD_DIRECTORY)) };
        Ok(Ok(Directory { range: start..place, base, count: end.count }))
    }

    fn entries(&self, input: &mut PickleReader<'_, '_>, fault: &mut Option<&'static str>) -> Result<Vec<Entry>, Halt> {
        let mut entries = Vec::new();
        let mut place = self.range.start;
        while place < self.range.end {
            let Some((entry, end)) = Entry::read(input, place..self.range.end, self.base)? else { break };
            if entry.has_odd_name {
                fault.get_or_insert(ODD_NAME);
            }
            entries.try_reserve(1)?;
            entries.push(entry);
            place = end;
        }
        if place != self.range.end || as_u64(entries.len()) != self.count {
            fault.get_or_insert(ODD_DIRECTORY);
        }
        Ok(entries)
    }
}

/// The directory's place and size, as the end of an archive states them.
struct End {
    count: u64,
    len: u64,
    offset: u64,
}

/// The place of the record for large archives, if it directly precedes its locator.
fn long_place(end: u64) -> u64 {
    end.saturating_sub(LOCATOR_LEN.saturating_add(END_64_LEN))
}

impl End {
    /// Returns the record for large archives: its place, what it says, and where it is expected.
    fn long(input: &mut PickleReader<'_, '_>, all: &Range<u64>, end: u64) -> Result<Option<(u64, End, u64)>, Halt> {
        let place = long_place(end);
        if place < all.start || end.saturating_sub(all.start) < LOCATOR_LEN.saturating_add(END_64_LEN) {
            return Ok(None);
        }
        let records = input.bytes(place..end)?;
        let (record, locator) = records.split_at_checked(56).unwrap_or_default();
        if !locator.starts_with(LOCATOR_64) {
            return Ok(None);
        }
        // Readers that follow the locator find another record than those that expect it here.
        let relative = if record.starts_with(END_64) { u64_at(locator, 8) } else { u64::MAX };
        let end = End { count: u64_at(record, 32), len: u64_at(record, 40), offset: u64_at(record, 48) };
        Ok(Some((place, end, relative)))
    }

    fn agrees(&self, long: &End) -> bool {
        let same = |short: u64, long: u64, most: u32| short == long || short == u64::from(most);
        same(self.count, long.count, 0xffff)
            && same(self.len, long.len, u32::MAX)
            && same(self.offset, long.offset, u32::MAX)
    }
}

/// Whether an extra field gives another name: a version, a checksum, and the name.
fn has_other_name(mut extra: &[u8], name: &[u8]) -> bool {
    while let Some((head, rest)) = extra.split_at_checked(4) {
        let Some((field, rest)) = rest.split_at_checked(u16_at(head, 2).into()) else { return false };
        if u16_at(head, 0) == UNICODE_PATH && field.get(5..) != Some(name) {
            return true;
        }
        extra = rest;
    }
    false
}

/// A member as the directory describes it.
struct Entry {
    name: Vec<u8>,
    /// Python ends a name at a zero byte, and newer versions take another name from an extra field.
    has_odd_name: bool,
    flags: u16,
    method: u16,
    crc: u32,
    packed: u64,
    len: u64,
    /// The place of its own header.
    offset: u64,
}

impl Entry {
    /// Reads the entry at the start of a range. Returns it and where the next one begins.
    fn read(input: &mut PickleReader<'_, '_>, at: Range<u64>, base: u64) -> Result<Option<(Entry, u64)>, Halt> {
        let fixed = at.start..at.start.saturating_add(CENTRAL_LEN).min(at.end);
        let header = input.bytes(fixed)?;
        if as_u64(header.len()) < CENTRAL_LEN || !header.starts_with(CENTRAL) {
            return Ok(None);
        }
        let (name, extra, comment) = (u16_at(header, 28), u16_at(header, 30), u16_at(header, 32));
        let mut entry = Entry {
            name: Vec::new(),
            has_odd_name: false,
            flags: u16_at(header, 8),
            method: u16_at(header, 10),
            crc: u32_at(header, 16),
            packed: u32_at(header, 20).into(),
            len: u32_at(header, 24).into(),
            offset: u32_at(header, 42).into(),
        };
        let name_at = at.start.saturating_add(CENTRAL_LEN);
        let extra_at = name_at.saturating_add(name.into());
        let comment_at = extra_at.saturating_add(extra.into());
        let end = comment_at.saturating_add(comment.into());
        if end > at.end {
            return Ok(None);
        }
        let bytes = input.bytes(name_at..comment_at)?;
        let (name, extra) = bytes.split_at_checked(name.into()).unwrap_or_default();
        entry.name.try_reserve_exact(name.len())?;
        entry.name.extend_from_slice(name);
        entry.has_odd_name = name.contains(&0) || has_other_name(extra, name);
        let is_known = entry.add_long(extra);
        entry.offset = base.saturating_add(entry.offset);
        Ok(is_known.then_some((entry, end)))
    }

    /// Takes numbers of 64 bits from the extra fields. Returns whether all that are needed are there.
    fn add_long(&mut self, mut extra: &[u8]) -> bool {
        const LONG: u64 = 0xffff_ffff;
        while let Some((head, rest)) = extra.split_at_checked(4) {
            let Some((field, rest)) = rest.split_at_checked(u16_at(head, 2).into()) else { return false };
            if u16_at(head, 0) == 1 {
                let mut numbers = field.chunks_exact(8).map(|number| u64_at(number, 0));
                let fields = [&mut self.len, &mut self.packed, &mut self.offset];
                fields.into_iter().filter(|field| **field == LONG).for_each(|field| {
                    *field = numbers.next().unwrap_or(u64::MAX);
                });
                return [self.len, self.packed, self.offset].iter().all(|&number| number != u64::MAX);
            }
            extra = rest;
        }
        true
    }

    /// Finds the content of the member, which must begin where the last one ended, and moves that place.
    fn content(
        &self,
        input: &mut PickleReader<'_, '_>,
        end: &mut u64,
        limit: u64,
        fault: &mut Option<&'static str>,
    ) -> Result<Content, Halt> {
        let mut blame = |reason: &'static str| {
            fault.get_or_insert(reason);
            Ok(Content::Unseen(reason))
        };
        let header_end = self.offset.saturating_add(LOCAL_LEN);
        if self.offset < *end {
            return blame(OVERLAP);
        }
        if header_end > limit {
            return blame(ODD_DIRECTORY);
        }
        let gap = self.offset.saturating_sub(*end);
        let header = input.bytes(self.offset..header_end)?;
        let is_same = header.starts_with(LOCAL) && self.agrees(header);
        let (name, extra) = (u16_at(header, 26), u16_at(header, 28));
        let name_end = header_end.saturating_add(name.into());
        let start = name_end.saturating_add(extra.into());
        let data = start..start.saturating_add(self.packed);
        if !is_same || data.end > limit || input.bytes(header_end..name_end)? != self.name {
            return blame(OTHER_HEADER);
        }
        let is_first = *end == input.position() && gap > 0;
        *end = data.end;
        if gap > DESCRIPTOR_LEN || is_first {
            fault.get_or_insert(GAP);
        }
        Ok(self.of_data(data))
    }

    fn of_data(&self, data: Range<u64>) -> Content {
        match self.method {
            _ if self.flags & 0x2041 != 0 => Content::Unseen("it is encrypted"),
            0 if self.len == self.packed => Content::Stored(data),
            0 => Content::Unseen("it is stored, and its two lengths differ"),
            8 => Content::Deflated(data, self.len),
            _ => Content::Unseen("it is compressed by a method that these checks do not know"),
        }
    }

    /// Whether the header before the data agrees. With a flag, lengths and checksum follow the data, and lengths of 64
    /// bits are in an extra field.
    fn agrees(&self, header: &[u8]) -> bool {
        let is_behind = self.flags & 8 != 0;
        let same = |here: u32, in_directory: u64| {
            u64::from(here) == in_directory || here == u32::MAX || is_behind && here == 0
        };
        (u16_at(header, 6) ^ self.flags) & 1 == 0
            && u16_at(header, 8) == self.method
            && same(u32_at(header, 14), self.crc.into())
            && same(u32_at(header, 18), self.packed)
            && same(u32_at(header, 22), self.len)
    }
}
