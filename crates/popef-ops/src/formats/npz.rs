//! `.npz` files: zip archives of `.npy` files, whose entries are stored or deflated. Only the place of each entry's
//! record in the directory is kept.
//!
//! The crate zip 9.8.2 was measured against this (release build, no LTO). It opens an archive of 100,000 entries in 2 to 3
//! times the time, and in 7 to 15 times with its check for overlaps. It takes 190 bytes per entry, here 37. A directory
//! full of small extra fields makes it take 12 bytes per byte, here 0.01. Large entries are read equally fast; tiny ones it
//! reads about 3 times as fast, though without numpy's header. Its readers borrow the archive mutably, and its errors have
//! no byte. It adds 5 crates and 165 KB of code; this file is 12 KB.

use std::error::Error as StdError;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, BufReader, Read};
use std::path::PathBuf;

use flate2::Crc;
use flate2::read::DeflateDecoder;
use popef::types::Text;

use super::npy::Header;
use super::place::Place;
use super::zip::{CENTRAL, END, END_64, EXTRA_64, LOCAL, LOCATOR_64};
use super::{Array, Stored, bad, unsupported};
use crate::error::Error;
use crate::work::len_of;

/// A zip archive begins with an entry, or is empty.
pub(super) const MAGICS: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];

/// An entry of an archive.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// Its bytes as stored in the archive.
    place: Place,
    /// Its name, for errors.
    name: Text<'static>,
    is_deflated: bool,
    /// The bytes that it unpacks to.
    len: u64,
    checksum: u32,
}

#[derive(Debug)]
pub(super) struct Archive {
    file: Place,
    directory: Place,
    /// Where the record of each entry is in the directory.
    records: Vec<u32>,
}

/// Maximum length of the end of an archive: a record of 22 bytes, and a comment.
const LONGEST_END: u64 = 22 + 0xffff;
/// The bytes of a record of the directory before the name.
const RECORD: usize = 46;
/// The bytes before an entry's name.
const BEFORE: u64 = 30;
/// Stands for a number that is in the extra field.
const ELSEWHERE: u64 = 0xffff_ffff;

fn damaged(what: &str) -> Error {
    bad(format!("the archive is damaged: {what}"))
}

fn in_entry(name: &Text<'_>, error: Error) -> Error {
    Error::of_part(&format!("entry {name:?}"), error)
}

/// A little-endian number of at most 8 bytes.
fn number(bytes: &[u8], start: usize, len: usize) -> u64 {
    let bytes = bytes.get(start..start.saturating_add(len)).unwrap_or_default();
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

impl Archive {
    pub(super) fn open(file: &Place) -> Result<Self, Error> {
        let (count, directory) = directory(file)?;
        let (mut records, mut hashes, mut places) = (Vec::new(), Vec::new(), Vec::new());
        let hasher = RandomState::new();
        let mut reader = BufReader::new(directory.reader()?);
        let mut at = 0u64;
        while records.len() < count {
            let record = Record::read(&mut reader)?;
            records.push(u32::try_from(at).map_err(|_| unsupported("the directory of the archive has 4 GiB or more"))?);
            hashes.push(hasher.hash_one(&record.name));
            places.push((record.offset, record.packed.saturating_add(BEFORE).saturating_add(len_of(&record.name))));
            at = at.saturating_add(record.len);
        }
        hashes.sort_unstable();
        if hashes.windows(2).any(|pair| pair.first() == pair.last()) {
            return Err(bad("two entries of the archive have one name"));
        }
        check_apart(places)?;
        Ok(Archive { file: file.clone(), directory, records })
    }

    pub(super) fn len(&self) -> usize {
        self.records.len()
    }

    pub(super) fn array(&self, index: usize) -> Result<Option<Array>, Error> {
        let Some(at) = self.records.get(index) else { return Ok(None) };
        let record = self.directory.from(u64::from(*at)).ok_or_else(|| damaged("its directory is cut off"))?;
        let record = Record::read(&mut BufReader::with_capacity(256, record.reader()?))?;
        let entry = record.entry(&self.file)?;
        let in_entry = |error| in_entry(&entry.name, error);
        let header = Header::read(&mut BufReader::with_capacity(512, entry.bytes()?)).map_err(in_entry)?;
        header.data_of(entry.len).map_err(in_entry)?;
        let key = record.name.strip_suffix(b".npy").unwrap_or(&record.name).to_owned();
        let stored = Stored::Entry { entry, header: header.len, layout: header.layout };
        Ok(Some(Array { name: Text::from(key), info: header.info, said: None, is_keyed: true, stored }))
    }
}

/// The number of entries, and the directory.
fn directory(file: &Place) -> Result<(usize, Place), Error> {
    let tail = file.len().saturating_sub(LONGEST_END);
    let mut last = vec![0; usize::try_from(file.len().saturating_sub(tail)).unwrap_or(usize::MAX)];
    file.read_up_to(tail, &mut last)?;
    let is_end = |at: &usize| {
        let end = last.get(*at..).unwrap_or_default();
        let comment = number(end, 20, 2).saturating_add(22);
        end.starts_with(&END.to_le_bytes()) && comment == len_of(end)
    };
    let at = (0..last.len().saturating_sub(21)).rev().find(is_end).ok_or_else(|| damaged("its end is missing"))?;
    let end = last.get(at..).unwrap_or_default();
    let at = tail.saturating_add(u64::try_from(at).unwrap_or(u64::MAX));
    let [disk, first, here, count] = [4, 6, 8, 10].map(|start| number(end, start, 2));
    let (len, start) = (number(end, 12, 4), number(end, 16, 4));
    let is_large = here == 0xffff || count == 0xffff || len == ELSEWHERE || start == ELSEWHERE;
    let found = if is_large { large_end(file, at)? } else { None };
    let (count, len, start) = match found {
        Some(found) => found,
        None if disk != 0 || first != 0 || here != count => return Err(unsupported("the archive has several parts")),
        None => (count, len, start),
    };
    let directory = file.part(start, len).filter(|_| start.saturating_add(len) <= at);
    let directory = directory.ok_or_else(|| damaged("its directory is not in the file"))?;
    let most = len.checked_div(46).unwrap_or(0);
    let count = usize::try_from(count).ok().filter(|_| count <= most);
    Ok((count.ok_or_else(|| damaged("its directory has fewer entries than it says"))?, directory))
}

/// The number of entries, and the length and start of the directory, from the record for large archives, if there is one.
fn large_end(file: &Place, end: u64) -> Result<Option<(u64, u64, u64)>, Error> {
    let mut locator = [0; 20];
    let Some(at) = end.checked_sub(20) else { return Ok(None) };
    file.read_up_to(at, &mut locator)?;
    if !locator.starts_with(&LOCATOR_64.to_le_bytes()) {
        return Ok(None);
    }
    let mut record = [0; 56];
    let read = file.read_up_to(number(&locator, 8, 8), &mut record)?.len();
    if read < 56 || !record.starts_with(&END_64.to_le_bytes()) {
        return Err(damaged("the record of its end is missing"));
    }
    if number(&record, 24, 8) != number(&record, 32, 8) {
        return Err(unsupported("the archive has several parts"));
    }
    Ok(Some((number(&record, 32, 8), number(&record, 40, 8), number(&record, 48, 8))))
}

/// Fails if two entries share bytes: a small archive could then have any number of large arrays.
fn check_apart(mut places: Vec<(u64, u64)>) -> Result<(), Error> {
    places.sort_unstable();
    let overlap = |pair: &[(u64, u64)]| matches!(pair, [(start, len), (next, _)] if start.saturating_add(*len) > *next);
    if places.windows(2).any(overlap) { Err(bad("two entries of the archive share bytes")) } else { Ok(()) }
}

/// The directory's record of an entry.
struct Record {
    name: Vec<u8>,
    is_encrypted: bool,
    method: u64,
    checksum: u32,
    /// The bytes in the archive.
    packed: u64,
    /// The bytes that it unpacks to.
    unpacked: u64,
    /// Where the header before its data begins.
    offset: u64,
    /// The length of the record.
    len: u64,
}

impl Record {
    fn read(from: &mut impl Read) -> Result<Self, Error> {
        let mut fixed = [0; RECORD];
        fill(from, &mut fixed)?;
        if !fixed.starts_with(&CENTRAL.to_le_bytes()) {
            return Err(damaged("its directory has something that is no entry"));
        }
        let [name_len, extra_len, comment_len] = [28, 30, 32].map(|start| number(&fixed, start, 2));
        let mut rest =
            vec![0; usize::try_from(name_len.saturating_add(extra_len).saturating_add(comment_len)).unwrap_or(0)];
        fill(from, &mut rest)?;
        let (name, rest) = rest.split_at_checked(usize::try_from(name_len).unwrap_or(0)).unwrap_or_default();
        let extra = rest.get(..usize::try_from(extra_len).unwrap_or(0)).unwrap_or_default();
        let mut large = field_64(extra);
        // In this order.
        let [unpacked, packed, offset] = [24, 20, 42].map(|start| match number(&fixed, start, 4) {
            short if short == ELSEWHERE && large.len() >= 8 => {
                let found = number(large, 0, 8);
                large = large.get(8..).unwrap_or_default();
                found
            }
            short => short,
        });
        Ok(Record {
            name: name.to_vec(),
            is_encrypted: number(&fixed, 8, 2) & 1 == 1,
            method: number(&fixed, 10, 2),
            checksum: u32::try_from(number(&fixed, 16, 4)).unwrap_or(0),
            packed,
            unpacked,
            offset,
            len: len_of(&fixed).saturating_add(name_len).saturating_add(extra_len).saturating_add(comment_len),
        })
    }

    fn entry(&self, file: &Place) -> Result<Entry, Error> {
        let name = Text::from(&*self.name);
        if self.is_encrypted {
            return Err(unsupported(format!("entry {name:?} is encrypted")));
        }
        let is_deflated = match self.method {
            0 => false,
            8 => true,
            method => {
                return Err(unsupported(format!(
                    "entry {name:?} is compressed in a way that numpy does not write: method {method}"
                )));
            }
        };
        let missing = || bad(format!("entry {name:?} is not in the file"));
        let mut before = [0; 30];
        file.read_up_to(self.offset, &mut before)?;
        if !before.starts_with(&LOCAL.to_le_bytes()) {
            return Err(missing());
        }
        let start = [BEFORE, number(&before, 26, 2), number(&before, 28, 2)];
        let place = file.part(start.into_iter().fold(self.offset, u64::saturating_add), self.packed);
        let place = place.filter(|place| is_deflated || place.len() == self.unpacked).ok_or_else(missing)?;
        Ok(Entry { place, name: name.into_owned(), is_deflated, len: self.unpacked, checksum: self.checksum })
    }
}

/// The numbers of 64 bits in the extra field of a record.
fn field_64(mut extra: &[u8]) -> &[u8] {
    while let Some((head, rest)) = extra.split_at_checked(4) {
        let len = usize::try_from(number(head, 2, 2)).unwrap_or(0);
        let (field, rest) = rest.split_at_checked(len).unwrap_or_default();
        if head.starts_with(&EXTRA_64.to_le_bytes()) {
            return field;
        }
        extra = rest;
    }
    &[]
}

fn fill(from: &mut impl Read, buf: &mut [u8]) -> Result<(), Error> {
    from.read_exact(buf).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => damaged("its directory is cut off"),
        _ => Error::io("read the archive", error),
    })
}

impl Entry {
    pub(super) fn place(&self) -> &Place {
        &self.place
    }

    /// The bytes that it unpacks to. Their checksum is not checked.
    fn bytes(&self) -> Result<Box<dyn Read + Send>, Error> {
        let stored = self.place.reader()?;
        Ok(if self.is_deflated { Box::new(DeflateDecoder::new(stored).take(self.len)) } else { Box::new(stored) })
    }

    fn reader(&self) -> Result<Checked, Error> {
        let (name, path) = (self.name.clone(), self.place.path().to_owned());
        Ok(Checked { bytes: self.bytes()?, name, path, left: self.len, checksum: self.checksum, crc: Crc::new() })
    }

    /// A reader of the entry's unpacked bytes without the first ones.
    pub(super) fn reader_from(&self, start: u64) -> Result<impl Read + Send + use<>, Error> {
        let mut reader = self.reader()?;
        io::copy(&mut reader.by_ref().take(start), &mut io::sink())
            .map_err(|error| Error::io("read the entry", error))?;
        Ok(reader)
    }
}

/// Gives the bytes of an entry, and fails before the last ones if their checksum is wrong.
struct Checked {
    bytes: Box<dyn Read + Send>,
    /// The name of the entry, and the path of the archive below, for errors.
    name: Text<'static>,
    path: PathBuf,
    left: u64,
    checksum: u32,
    crc: Crc,
}

impl Checked {
    fn failed(&self, error: Error) -> io::Error {
        super::as_io(in_entry(&self.name, error).in_file(&self.path))
    }
}

impl Read for Checked {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.left).unwrap_or(usize::MAX);
        let buf = buf.get_mut(..left.min(buf.len())).unwrap_or_default();
        if buf.is_empty() {
            return Ok(0);
        }
        let count = self.bytes.read(buf).map_err(|error| {
            let is_ours = error.get_ref().is_some_and(<dyn StdError + Send + Sync>::is::<popef::Error>);
            match error.kind() {
                io::ErrorKind::InvalidInput if !is_ours => self.failed(bad("its compressed bytes are damaged")),
                _ => error,
            }
        })?;
        let read = buf.get(..count).unwrap_or_default();
        if read.is_empty() {
            return Err(self.failed(bad("it is cut off")));
        }
        self.crc.update(read);
        self.left = self.left.saturating_sub(u64::try_from(count).unwrap_or(u64::MAX));
        if self.left == 0 && self.crc.sum() != self.checksum {
            return Err(self.failed(bad("its checksum is wrong")));
        }
        Ok(count)
    }
}
