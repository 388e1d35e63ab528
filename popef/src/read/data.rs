use std::borrow::Cow;
use std::fmt;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;

use super::blobs::len_of;
use super::problem::ReadProblem;
use super::source::DiskFile;
use crate::error::{Error, Problem, SystemProblem};

/// Some of a file's bytes: a blob's data, or a part of it. Nothing is read until it is asked for.
///
/// Of a file in memory or mapped they are there already ([`as_slice`](Data::as_slice)). Of a file that is read in
/// parts, each method that reads reports a file that looks changed since it was opened: by its length, or by the time
/// when it or its attributes were last changed. So renaming it is seen as a change too; putting another file in its
/// place is none. A program that writes through a shared mapping of the file can hide that for a while.
#[derive(Clone, Copy)]
pub struct Data<'a>(Place<'a>);

#[derive(Clone, Copy)]
enum Place<'a> {
    Memory(&'a [u8]),
    Disk {
        disk: &'a DiskFile,
        blob: usize,
        offset: u64,
        len: u64,
    },
    /// Of a stream that was passed over.
    Gone {
        blob: usize,
        offset: u64,
        len: u64,
    },
}

impl<'a> Data<'a> {
    pub(crate) fn in_memory(bytes: &'a [u8]) -> Self {
        Data(Place::Memory(bytes))
    }

    pub(super) fn on_disk(disk: &'a DiskFile, blob: usize, offset: u64, len: u64) -> Self {
        Data(Place::Disk { disk, blob, offset, len })
    }

    pub(super) fn gone(blob: usize, offset: u64, len: u64) -> Self {
        Data(Place::Gone { blob, offset, len })
    }

    /// How many bytes there are.
    pub fn len(&self) -> u64 {
        match self.0 {
            Place::Memory(bytes) => len_of(bytes),
            Place::Disk { len, .. } | Place::Gone { len, .. } => len,
        }
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes where they lie, if they are in memory.
    pub fn as_slice(&self) -> Option<&'a [u8]> {
        match self.0 {
            Place::Memory(bytes) => Some(bytes),
            Place::Disk { .. } | Place::Gone { .. } => None,
        }
    }

    /// All bytes: borrowed if they are in memory, else read into memory.
    pub fn read(&self) -> Result<Cow<'a, [u8]>, Error> {
        if let Some(bytes) = self.as_slice() {
            return Ok(Cow::Borrowed(bytes));
        }
        let mut bytes = zeroed(self.len()).map_err(|problem| self.error(problem))?;
        self.read_at(0, &mut bytes)?;
        Ok(Cow::Owned(bytes))
    }

    /// Fills `buf` with the bytes from `offset`, counted from the first of these bytes.
    pub fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<(), Error> {
        let end = offset.saturating_add(len_of(buf));
        match self.range(offset..end)?.0 {
            Place::Memory(bytes) => buf.copy_from_slice(bytes),
            Place::Disk { disk, blob, offset, .. } => {
                let failed = |problem: Problem| problem.at(blob, offset).in_file(Some(&disk.path));
                disk.read_exact_at(buf, offset).map_err(failed)?;
            }
            Place::Gone { len: 0, .. } => {}
            Place::Gone { blob, offset, .. } => return Err(Problem::from(ReadProblem::DataNotKept).at(blob, offset)),
        }
        Ok(())
    }

    /// A part of the bytes; an error if it does not lie within them.
    pub fn range(&self, range: Range<u64>) -> Result<Data<'a>, Error> {
        let outside = || self.error(ReadProblem::NoSuchBytes { start: range.start, end: range.end, len: self.len() });
        let len = range.end.checked_sub(range.start).filter(|_| range.end <= self.len()).ok_or_else(outside)?;
        Ok(Data(match self.0 {
            Place::Memory(bytes) => {
                let (Ok(start), Ok(end)) = (usize::try_from(range.start), usize::try_from(range.end)) else {
                    return Err(outside());
                };
                Place::Memory(bytes.get(start..end).ok_or_else(outside)?)
            }
            Place::Disk { disk, blob, offset, .. } => {
                Place::Disk { disk, blob, offset: offset.saturating_add(range.start), len }
            }
            Place::Gone { blob, offset, .. } => Place::Gone { blob, offset: offset.saturating_add(range.start), len },
        }))
    }

    fn error(&self, problem: impl Into<Problem>) -> Error {
        let problem = problem.into();
        match self.0 {
            Place::Memory(_) => problem.into(),
            Place::Disk { disk, blob, offset, .. } => problem.at(blob, offset).in_file(Some(&disk.path)),
            Place::Gone { blob, offset, .. } => problem.at(blob, offset),
        }
    }

    /// A reader that starts at the first byte.
    pub fn reader(&self) -> DataReader<'a> {
        DataReader { data: *self, position: 0 }
    }
}

/// A place in a file on disk, which is read in parts or mapped.
#[derive(Clone, Copy)]
pub(crate) struct OnDisk<'a> {
    disk: &'a DiskFile,
    blob: usize,
    offset: u64,
}

impl<'a> OnDisk<'a> {
    pub(super) fn new(disk: &'a DiskFile, blob: usize, offset: u64) -> Self {
        OnDisk { disk, blob, offset }
    }

    /// So many bytes from here on.
    pub(crate) fn data(&self, len: u64) -> Data<'a> {
        Data::on_disk(self.disk, self.blob, self.offset, len)
    }

    /// The file with a position of its own, at this place; none if it cannot be opened again.
    pub(crate) fn open_again(&self) -> Option<std::fs::File> {
        let mut file = self.disk.open_again()?;
        file.seek(SeekFrom::Start(self.offset)).ok()?;
        Some(file)
    }

    pub(crate) fn metadata(&self) -> io::Result<std::fs::Metadata> {
        self.disk.file.metadata()
    }

    /// Whether what was read since it was opened is still what is there.
    pub(crate) fn check_unchanged(&self) -> Result<(), Error> {
        self.disk.check_unchanged().map_err(|problem| problem.at(self.blob, self.offset).in_file(Some(&self.disk.path)))
    }
}

impl fmt::Debug for Data<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Data({} bytes)", self.len())
    }
}

/// Reads [`Data`] from its first byte to its last. An [`Error`] of this library travels in the `io::Error`.
#[derive(Clone, Debug)]
pub struct DataReader<'a> {
    data: Data<'a>,
    position: u64,
}

impl DataReader<'_> {
    /// How many bytes are still to come.
    pub(super) fn left(&self) -> u64 {
        self.data.len().saturating_sub(self.position)
    }

    /// Passes over so many bytes.
    pub(super) fn skip(&mut self, len: u64) {
        self.position = self.position.saturating_add(len);
    }

    /// What [`Read::read`] does, with an error of this library.
    pub(super) fn read_data(&mut self, buf: &mut [u8]) -> Result<usize, Error> {
        let count = usize::try_from(self.left()).unwrap_or(usize::MAX).min(buf.len());
        if count == 0 {
            return Ok(0);
        }
        let buf = buf.get_mut(..count).unwrap_or_default();
        self.data.read_at(self.position, buf)?;
        self.position = self.position.saturating_add(len_of(buf));
        Ok(count)
    }
}

impl Read for DataReader<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        Ok(self.read_data(buf)?)
    }
}

impl Seek for DataReader<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::End(by) => self.data.len().checked_add_signed(by),
            SeekFrom::Current(by) => self.position.checked_add_signed(by),
        };
        self.position = position.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}

/// So many elements of zero; an error, and no abort, if there is no memory for them.
pub(super) fn zeroed<T: Clone + Default>(len: u64) -> Result<Vec<T>, Problem> {
    let len = usize::try_from(len).map_err(|_| SystemProblem::AddressSpace { needed: len })?;
    let mut elements = Vec::new();
    let needed = u64::try_from(len.saturating_mul(size_of::<T>())).unwrap_or(u64::MAX);
    elements.try_reserve_exact(len).map_err(|_| SystemProblem::OutOfMemory { needed })?;
    elements.resize(len, T::default());
    Ok(elements)
}
