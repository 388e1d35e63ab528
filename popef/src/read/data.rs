use std::borrow::Cow;
use std::fmt;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;

use super::problem::ReadProblem;
use super::source::{Backing, LocalFile};
use crate::error::{Error, Problem, SystemProblem, with_room_for};
use crate::len::{as_usize, len_of};

/// A blob's data, or a part of it. Bytes are read only on request.
///
/// If the file is in memory or mapped, the bytes are available at once ([`as_slice`](Data::as_slice)). If the file is
/// read in parts, each method that reads fails if the file looks changed since it was opened. A change is seen by the
/// file's length, and by the time of the last change of the file or its attributes. So renaming the file counts as a
/// change; putting another file in its place does not. A program that writes through a shared mapping of the file can
/// hide its changes for a while. Other sources detect changes in their own way
/// ([`ReadAt::is_unchanged`](crate::read::ReadAt::is_unchanged)).
#[derive(Clone, Copy)]
pub struct Data<'a>(Origin<'a>);

#[derive(Clone, Copy)]
enum Origin<'a> {
    Memory(&'a [u8]),
    Backing {
        source: &'a Backing,
        blob: usize,
        offset: u64,
        len: u64,
    },
    /// Data of a stream that was skipped, or of a file whose headers only were read.
    Gone {
        blob: usize,
        offset: u64,
        len: u64,
    },
}

impl<'a> Data<'a> {
    /// Bytes in memory, as the data of a blob is that is there already.
    pub fn in_memory(bytes: &'a [u8]) -> Self {
        Data(Origin::Memory(bytes))
    }

    pub(super) fn in_source(source: &'a Backing, blob: usize, offset: u64, len: u64) -> Self {
        Data(Origin::Backing { source, blob, offset, len })
    }

    pub(super) fn gone(blob: usize, offset: u64, len: u64) -> Self {
        Data(Origin::Gone { blob, offset, len })
    }

    /// Returns the number of bytes.
    pub fn len(&self) -> u64 {
        match self.0 {
            Origin::Memory(bytes) => len_of(bytes),
            Origin::Backing { len, .. } | Origin::Gone { len, .. } => len,
        }
    }

    /// Returns whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the bytes without a copy, if they are in memory.
    pub fn as_slice(&self) -> Option<&'a [u8]> {
        match self.0 {
            Origin::Memory(bytes) => Some(bytes),
            Origin::Backing { .. } | Origin::Gone { .. } => None,
        }
    }

    /// Returns all bytes: borrowed if they are in memory, otherwise read into memory.
    ///
    /// ```
    /// # let file = popef::File::open("examples/data/split-tensors.popef")?;
    /// let data = file.blob(0).expect("the file has one").data();
    /// assert_eq!(*data.read()?, [0, 0, 192, 63, 0, 0, 16, 192]);
    /// # Ok::<(), popef::Error>(())
    /// ```
    pub fn read(&self) -> Result<Cow<'a, [u8]>, Error> {
        if let Some(bytes) = self.as_slice() {
            return Ok(Cow::Borrowed(bytes));
        }
        Ok(Cow::Owned(self.read_as(self.len(), |bytes: &mut [u8]| bytes)?))
    }

    /// Reads all bytes as `count` elements of a type. The elements must have the same total size.
    pub(super) fn read_as<T: Clone + Default>(
        &self,
        count: u64,
        as_bytes: impl FnOnce(&mut [T]) -> &mut [u8],
    ) -> Result<Vec<T>, Error> {
        // Fail before any memory is taken for the elements.
        if let Origin::Gone { len: 1.., .. } = self.0 {
            return Err(self.error(ReadProblem::DataNotKept));
        }
        let mut elements = zeroed(count).map_err(|problem| self.error(problem))?;
        self.read_at(0, as_bytes(&mut elements))?;
        Ok(elements)
    }

    /// Fills `buf` with the bytes from `offset`, which is relative to the start of this data.
    pub fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<(), Error> {
        let end = offset.saturating_add(len_of(buf));
        match self.range(offset..end)?.0 {
            Origin::Memory(bytes) => buf.copy_from_slice(bytes),
            Origin::Backing { source, blob, offset, .. } => {
                let failed = |problem: Problem| problem.at(blob, offset).in_file(source.name());
                source.read(buf, offset).map_err(failed)?;
            }
            Origin::Gone { len: 0, .. } => {}
            Origin::Gone { .. } => return Err(self.error(ReadProblem::DataNotKept)),
        }
        Ok(())
    }

    /// Reads the bytes from `start` into `buf`, as far as there are any. Returns the part of `buf` that was filled.
    pub fn read_up_to<'b>(&self, start: u64, buf: &'b mut [u8]) -> Result<&'b [u8], Error> {
        let left = as_usize(self.len().saturating_sub(start));
        let bytes = buf.get_mut(..left.min(buf.len())).unwrap_or_default();
        if !bytes.is_empty() {
            self.read_at(start, bytes)?;
        }
        Ok(bytes)
    }

    /// Returns a part of the data. Fails if the range is not within the data.
    ///
    /// ```
    /// # let file = popef::File::open("examples/data/split-tensors.popef")?;
    /// let data = file.blob(0).expect("the file has one").data();
    /// assert_eq!(*data.range(2..4)?.read()?, [192, 63]);
    /// assert!(data.range(2..9).is_err());
    /// # Ok::<(), popef::Error>(())
    /// ```
    pub fn range(&self, range: Range<u64>) -> Result<Data<'a>, Error> {
        let outside = || self.error(ReadProblem::NoSuchBytes { start: range.start, end: range.end, len: self.len() });
        let len = range.end.checked_sub(range.start).filter(|_| range.end <= self.len()).ok_or_else(outside)?;
        Ok(Data(match self.0 {
            Origin::Memory(bytes) => {
                let (Ok(start), Ok(end)) = (usize::try_from(range.start), usize::try_from(range.end)) else {
                    return Err(outside());
                };
                Origin::Memory(bytes.get(start..end).ok_or_else(outside)?)
            }
            Origin::Backing { source, blob, offset, .. } => {
                Origin::Backing { source, blob, offset: offset.saturating_add(range.start), len }
            }
            Origin::Gone { blob, offset, .. } => Origin::Gone { blob, offset: offset.saturating_add(range.start), len },
        }))
    }

    /// The part from `start` to `end`, as far as there is one.
    pub(super) fn part(self, start: u32, end: u64) -> Data<'a> {
        let start = u64::from(start);
        let cut = |len: u64| end.min(len).saturating_sub(start);
        Data(match self.0 {
            Origin::Memory(bytes) => {
                let bytes = bytes.get(as_usize(start)..).unwrap_or_default();
                Origin::Memory(bytes.get(..as_usize(end.saturating_sub(start))).unwrap_or(bytes))
            }
            Origin::Backing { source, blob, offset, len } => {
                Origin::Backing { source, blob, offset: offset.saturating_add(start), len: cut(len) }
            }
            Origin::Gone { blob, offset, len } => {
                Origin::Gone { blob, offset: offset.saturating_add(start), len: cut(len) }
            }
        })
    }

    /// Sets the file that the error is about.
    pub(super) fn error_in_file(&self, error: Error) -> Error {
        match self.0 {
            Origin::Backing { source, .. } => error.in_file(source.name()),
            Origin::Memory(_) | Origin::Gone { .. } => error,
        }
    }

    #[doc(hidden)]
    pub fn error(&self, problem: impl Into<Problem>) -> Error {
        let problem = problem.into();
        match self.0 {
            Origin::Memory(_) => problem.into(),
            Origin::Backing { source, blob, offset, .. } => problem.at(blob, offset).in_file(source.name()),
            Origin::Gone { blob, offset, .. } => problem.at(blob, offset),
        }
    }

    /// Writes all bytes to `out`, and returns their number. The system does the copying, if it can, from a file on disk
    /// to a file, a pipe or a socket.
    ///
    /// A change of the file may be seen only at the end. So do not use what was written if this fails.
    ///
    /// ```no_run
    /// let file = popef::File::open("model.popef")?;
    /// let weights = file.tensor("weights").expect("the model has this tensor");
    /// weights.data().copy_to(&mut std::fs::File::create("weights.bin")?)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn copy_to(&self, out: &mut (impl Write + ?Sized)) -> Result<u64, Error> {
        let failed = |source| self.error(Problem::io("copy the data", source));
        let Some((source, file)) = self.opened_again() else {
            self.in_pieces(|piece| out.write_all(piece).map_err(failed))?;
            return Ok(self.len());
        };
        let copied = io::copy(&mut file.take(self.len()), out).map_err(failed);
        // A change of the file is the cause of a failed or short copy, so it is reported first.
        source.check_unchanged().map_err(|problem| self.error(problem))?;
        if copied? == self.len() { Ok(self.len()) } else { Err(self.error(ReadProblem::FileChanged)) }
    }

    /// Calls `put` with all bytes, in pieces if they are not in memory. Before each call, the file is checked for
    /// changes.
    pub(crate) fn in_pieces(&self, mut put: impl FnMut(&[u8]) -> Result<(), Error>) -> Result<(), Error> {
        const PIECE: u64 = 256 << 10;
        if let Some(bytes) = self.as_slice() {
            return put(bytes);
        }
        let mut piece = zeroed(PIECE.min(self.len())).map_err(|problem| self.error(problem))?;
        let mut at = 0;
        while let left @ 1.. = self.len().saturating_sub(at) {
            let len = usize::try_from(left).unwrap_or(usize::MAX).min(piece.len());
            let part = piece.get_mut(..len).unwrap_or_default();
            self.read_at(at, part)?;
            put(part)?;
            at = at.saturating_add(len_of(part));
        }
        Ok(())
    }

    /// Opens the source's file on disk again, positioned at the first byte. `None` if that is not possible.
    fn opened_again(&self) -> Option<(&'a Backing, std::fs::File)> {
        let Origin::Backing { source, offset, .. } = self.0 else { return None };
        Some((source, opened_again(source, offset)?))
    }
}

/// Opens the source's file on disk again, with its own position. `None` if that is not possible.
fn opened_again(source: &Backing, offset: u64) -> Option<std::fs::File> {
    let mut file = source.local_file()?.open_again()?;
    file.seek(SeekFrom::Start(offset)).ok()?;
    Some(file)
}

/// A place in the source of a file that is read in parts or mapped.
#[derive(Clone, Copy)]
pub(crate) struct InSource<'a> {
    source: &'a Backing,
    blob: usize,
    offset: u64,
}

impl<'a> InSource<'a> {
    pub(super) fn new(source: &'a Backing, blob: usize, offset: u64) -> Self {
        InSource { source, blob, offset }
    }

    /// The `len` bytes from this place.
    pub(crate) fn data(&self, len: u64) -> Data<'a> {
        Data::in_source(self.source, self.blob, self.offset, len)
    }

    /// Opens the file on disk again, positioned at this place. `None` if that is not possible.
    pub(crate) fn open_again(&self) -> Option<std::fs::File> {
        opened_again(self.source, self.offset)
    }

    /// The file on disk, if the source is one.
    pub(crate) fn file(&self) -> Option<&'a std::fs::File> {
        self.source.local_file().map(LocalFile::handle)
    }

    /// Fails if the source was changed since it was opened.
    pub(crate) fn check_unchanged(&self) -> Result<(), Error> {
        self.source.check_unchanged().map_err(|problem| problem.at(self.blob, self.offset).in_file(self.source.name()))
    }
}

impl fmt::Debug for Data<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Data({} bytes)", self.len())
    }
}

/// Returns `len` zeros. Fails, and does not abort, if there is no memory for them.
fn zeroed<T: Clone + Default>(len: u64) -> Result<Vec<T>, Problem> {
    let len = usize::try_from(len).map_err(|_| SystemProblem::AddressSpace { needed: len })?;
    let mut elements = with_room_for(len)?;
    elements.resize(len, T::default());
    Ok(elements)
}
