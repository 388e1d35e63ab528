//! Bytes in files, which are opened only while they are read, so that a folder may have more files than can be open.

use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::SystemTime;

use popef::error::ErrorCode;
use popef::read::{LocalFile, ReadAt};

use crate::error::Error;

/// A file in the state in which it was first examined.
#[derive(Clone, Debug)]
pub(crate) struct Source(Arc<Looked>);

#[derive(Debug)]
struct Looked {
    path: PathBuf,
    len: u64,
    modified: Option<SystemTime>,
    /// The file, while it is open anywhere.
    open: Mutex<Weak<LocalFile>>,
}

impl Source {
    /// Looks at a regular file.
    pub(crate) fn of(path: &Path) -> Result<Self, Error> {
        let file = LocalFile::open(path)?;
        let metadata = fs::metadata(path).map_err(|error| Error::io("look at the file", error).in_file(path))?;
        let (len, modified) = (file.size(), metadata.modified().ok());
        Ok(Source(Arc::new(Looked { path: path.to_owned(), len, modified, open: Mutex::default() })))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0.path
    }

    pub(crate) fn len(&self) -> u64 {
        self.0.len
    }

    /// When the file was last changed.
    pub(crate) fn modified(&self) -> Option<SystemTime> {
        self.0.modified
    }

    /// Opens the file, which must be unchanged.
    pub(crate) fn open(&self) -> Result<Arc<LocalFile>, Error> {
        let mut open = self.0.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = open.upgrade() {
            return Ok(file);
        }
        let file = LocalFile::open(&self.0.path)?;
        let metadata = fs::metadata(&self.0.path).map_err(|error| Error::io("look at the file", error))?;
        if file.size() != self.0.len || metadata.modified().ok() != self.0.modified {
            return Err(Error::new(ErrorCode::FileChanged, "the file was changed meanwhile").in_file(&self.0.path));
        }
        let file = Arc::new(file);
        *open = Arc::downgrade(&file);
        Ok(file)
    }
}

/// Some bytes of a file. They are within it.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    source: Source,
    offset: u64,
    len: u64,
}

impl Place {
    /// The whole file.
    pub(crate) fn of(source: Source) -> Self {
        let len = source.len();
        Place { source, offset: 0, len }
    }

    /// A part of these bytes. `None` if it extends past their end.
    pub(crate) fn part(&self, offset: u64, len: u64) -> Option<Place> {
        let end = offset.checked_add(len)?;
        let offset = self.offset.checked_add(offset)?;
        (end <= self.len).then(|| Place { source: self.source.clone(), offset, len })
    }

    /// All but the first bytes. `None` if they are fewer.
    pub(crate) fn from(&self, offset: u64) -> Option<Place> {
        self.part(offset, self.len.checked_sub(offset)?)
    }

    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    pub(crate) fn path(&self) -> &Path {
        self.source.path()
    }

    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Reads from an offset, as far as the place has bytes. Returns the filled part of `buf`.
    pub(crate) fn read_up_to<'b>(&self, offset: u64, buf: &'b mut [u8]) -> Result<&'b mut [u8], Error> {
        let left = usize::try_from(self.len.saturating_sub(offset)).unwrap_or(usize::MAX);
        let buf = buf.get_mut(..left.min(buf.len())).unwrap_or_default();
        self.reader_from(offset)?.read_exact(buf).map_err(|error| Error::io("read the file", error))?;
        Ok(buf)
    }

    pub(crate) fn reader(&self) -> Result<PlaceReader, Error> {
        self.reader_from(0)
    }

    fn reader_from(&self, offset: u64) -> Result<PlaceReader, Error> {
        Ok(PlaceReader { file: self.source.open()?, start: self.offset, len: self.len, position: offset })
    }
}

/// A reader of a place. It has no buffer.
#[derive(Clone, Debug)]
pub(crate) struct PlaceReader {
    file: Arc<LocalFile>,
    start: u64,
    len: u64,
    position: u64,
}

impl Read for PlaceReader {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.len.saturating_sub(self.position)).unwrap_or(usize::MAX);
        let buf = buf.get_mut(..left.min(buf.len())).unwrap_or_default();
        if buf.is_empty() {
            return Ok(0);
        }
        self.file.read_exact_at(buf, self.start.saturating_add(self.position))?;
        if !self.file.is_unchanged()? {
            return Err(io::Error::other("the file was changed while it was read"));
        }
        self.position = self.position.saturating_add(u64::try_from(buf.len()).unwrap_or(u64::MAX));
        Ok(buf.len())
    }
}

impl Seek for PlaceReader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::End(by) => self.len.checked_add_signed(by),
            SeekFrom::Current(by) => self.position.checked_add_signed(by),
        };
        self.position = position.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}
