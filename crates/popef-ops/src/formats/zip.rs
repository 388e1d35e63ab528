//! Writes zip archives whose entries are stored, as `numpy.savez` does. Entries do not stay in memory.
//!
//! The writer of the crate zip 9.8.2 keeps 210 bytes in memory per entry until the end. The figures of its reader stand
//! in `npz.rs`.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};

use flate2::Crc;

use crate::error::Error;
use crate::progress::Silent;
use crate::work::{copy, len_of, temporary};

/// The signatures of the records.
pub(super) const LOCAL: u32 = 0x0403_4b50;
pub(super) const CENTRAL: u32 = 0x0201_4b50;
pub(super) const END: u32 = 0x0605_4b50;
pub(super) const END_64: u32 = 0x0606_4b50;
pub(super) const LOCATOR_64: u32 = 0x0706_4b50;
/// The tag of the field with the numbers that need 64 bits.
pub(super) const EXTRA_64: u16 = 1;

/// The version of the format that programs need for entries with 64-bit numbers, and without.
const VERSION_64: u16 = 45;
const VERSION: u16 = 20;
/// The flag of entries whose names are UTF-8. Names that are ASCII are that without it.
const UTF_8: u16 = 1 << 11;
/// The first of January 1980, the earliest date of the format.
const DATE: u16 = 0x0021;
/// A regular file that all may read, for programs that unpack the archive on Unix.
const MODE: u32 = 0o100_644 << 16;
/// Entries up to this length are held in memory, so that their checksum is known when they begin.
const SMALL: u64 = 128 << 10;

/// Stands for a number of 64 bits, which is stored elsewhere.
const ELSEWHERE: u32 = u32::MAX;

fn short(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(ELSEWHERE)
}

/// An archive that is being written.
pub(crate) struct ZipWriter<W> {
    out: W,
    /// The length of what was written.
    at: u64,
    entries: u64,
    /// The directory, which comes last.
    directory: BufWriter<File>,
}

impl<W: Write + Seek> ZipWriter<W> {
    /// Writes an archive from the beginning of `out`.
    pub(crate) fn new(out: W) -> Result<Self, Error> {
        Ok(ZipWriter { out, at: 0, entries: 0, directory: BufWriter::new(temporary()?) })
    }

    /// Adds an entry: these bytes, and then `len` bytes of a reader.
    pub(crate) fn entry(&mut self, name: &str, start: &[u8], len: u64, data: &mut dyn io::Read) -> Result<(), Error> {
        let size = len.saturating_add(len_of(start));
        let offset = self.at;
        let mut crc = Crc::new();
        crc.update(start);
        if size <= SMALL {
            let mut bytes = start.to_vec();
            copy(data, &mut bytes, &Silent)?;
            crc.update(bytes.get(start.len()..).unwrap_or_default());
            self.put(&local_header(name, crc.sum(), size))?;
            self.put(&bytes)?;
        } else {
            self.put(&local_header(name, 0, size))?;
            self.put(start)?;
            let mut summed = Summed { out: &mut self.out, crc: &mut crc, len: 0 };
            copy(data, &mut summed, &Silent)?;
            self.at = self.at.saturating_add(summed.len);
            self.out.seek(SeekFrom::Start(offset))?;
            self.out.write_all(&local_header(name, crc.sum(), size))?;
            self.out.seek(SeekFrom::Start(self.at))?;
        }
        self.directory.write_all(&directory_header(name, crc.sum(), size, offset))?;
        self.entries = self.entries.saturating_add(1);
        Ok(())
    }

    /// Writes the directory.
    pub(crate) fn finish(mut self) -> Result<(), Error> {
        let start = self.at;
        self.directory.seek(SeekFrom::Start(0))?;
        let Self { mut out, mut directory, entries, .. } = self;
        let len = io::copy(directory.get_mut(), &mut out)?;
        out.write_all(&end(entries, start, len))?;
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.out.write_all(bytes)?;
        self.at = self.at.saturating_add(len_of(bytes));
        Ok(())
    }
}

/// The header before an entry.
fn local_header(name: &str, crc: u32, size: u64) -> Vec<u8> {
    let is_large = short(size) == ELSEWHERE;
    let mut header = LOCAL.to_le_bytes().to_vec();
    header.extend((if is_large { VERSION_64 } else { VERSION }).to_le_bytes());
    common(&mut header, crc, size, name);
    let extra = if is_large { extra(&[size, size]) } else { Vec::new() };
    header.extend(u16::try_from(extra.len()).unwrap_or(u16::MAX).to_le_bytes());
    header.extend(name.as_bytes());
    header.extend(extra);
    header
}

/// The directory's data about an entry.
fn directory_header(name: &str, crc: u32, size: u64, offset: u64) -> Vec<u8> {
    let large: Vec<u64> = [size, size, offset].into_iter().filter(|number| short(*number) == ELSEWHERE).collect();
    let version = if large.is_empty() { VERSION } else { VERSION_64 };
    let mut header = CENTRAL.to_le_bytes().to_vec();
    // The upper byte says that the mode is that of Unix.
    header.extend((version | 3 << 8).to_le_bytes());
    header.extend(version.to_le_bytes());
    common(&mut header, crc, size, name);
    let extra = if large.is_empty() { Vec::new() } else { extra(&large) };
    header.extend(u16::try_from(extra.len()).unwrap_or(u16::MAX).to_le_bytes());
    // No comment, on the first disk, of no kind.
    header.extend([0; 6]);
    header.extend(MODE.to_le_bytes());
    header.extend(short(offset).to_le_bytes());
    header.extend(name.as_bytes());
    header.extend(extra);
    header
}

/// The fields from the flags to the length of the name, which are in both headers.
fn common(header: &mut Vec<u8>, crc: u32, size: u64, name: &str) {
    header.extend(if name.is_ascii() { 0 } else { UTF_8 }.to_le_bytes());
    // Stored, at midnight.
    header.extend([0; 4]);
    header.extend(DATE.to_le_bytes());
    header.extend(crc.to_le_bytes());
    header.extend(short(size).to_le_bytes());
    header.extend(short(size).to_le_bytes());
    header.extend(u16::try_from(name.len()).unwrap_or(u16::MAX).to_le_bytes());
}

/// The numbers of an entry that need 64 bits.
fn extra(numbers: &[u64]) -> Vec<u8> {
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    let mut extra = EXTRA_64.to_le_bytes().to_vec();
    extra.extend(u16::try_from(bytes.len()).unwrap_or(u16::MAX).to_le_bytes());
    extra.extend(bytes);
    extra
}

/// The end of the archive, whose directory of `len` bytes begins at `start`.
fn end(entries: u64, start: u64, len: u64) -> Vec<u8> {
    let mut end = Vec::new();
    let few = u16::try_from(entries).unwrap_or(u16::MAX);
    if few == u16::MAX || short(start) == ELSEWHERE || short(len) == ELSEWHERE {
        end.extend(END_64.to_le_bytes());
        // The length of the rest of this record.
        end.extend(44u64.to_le_bytes());
        end.extend((VERSION_64 | 3 << 8).to_le_bytes());
        end.extend(VERSION_64.to_le_bytes());
        end.extend([0; 8]);
        [entries, entries, len, start].iter().for_each(|number| end.extend(number.to_le_bytes()));
        end.extend(LOCATOR_64.to_le_bytes());
        end.extend([0; 4]);
        end.extend(start.saturating_add(len).to_le_bytes());
        end.extend(1u32.to_le_bytes());
    }
    end.extend(END.to_le_bytes());
    end.extend([0; 4]);
    end.extend(few.to_le_bytes());
    end.extend(few.to_le_bytes());
    end.extend(short(len).to_le_bytes());
    end.extend(short(start).to_le_bytes());
    end.extend([0; 2]);
    end
}

/// Passes on the written bytes, and computes their checksum.
struct Summed<'s, W> {
    out: &'s mut W,
    crc: &'s mut Crc,
    len: u64,
}

impl<W: Write> Write for Summed<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.write(bytes)?;
        self.crc.update(bytes.get(..count).unwrap_or_default());
        self.len = self.len.saturating_add(u64::try_from(count).unwrap_or(u64::MAX));
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
