//! Where a file's bytes come from when they are not in memory: a file read in parts, or a stream.

use std::fmt;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;
use std::time::SystemTime;

use super::blobs::{Fetch, len_of};
use super::problem::ReadProblem;
use crate::error::{Error, Problem, SystemProblem};

/// A file on disk and what it looked like when it was opened.
pub(super) struct DiskFile {
    pub(super) file: std::fs::File,
    pub(super) path: Box<Path>,
    identity: Identity,
}

impl DiskFile {
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        let file =
            open_regular(path, std::fs::OpenOptions::new().read(true)).map_err(|source| match source.kind() {
                io::ErrorKind::WouldBlock => Error::from(SystemProblem::FileBusy).in_file(Some(path)),
                _ if is_not_regular(&source) => unreadable(path, source),
                _ => Error::io(Some(path), "open the file", source),
            })?;
        DiskFile::of(file, path)
    }

    /// A file that is open already.
    pub(super) fn of(file: std::fs::File, path: &Path) -> Result<Self, Error> {
        let failed = |doing| move |source| Error::io(Some(path), doing, source);
        let metadata = file.metadata().map_err(failed("look at the file"))?;
        if !metadata.is_file() {
            return Err(unreadable(path, not_regular()));
        }
        // Files of /proc have no length and yet bytes: not what may be taken for a file of no blobs.
        if metadata.len() == 0 && read_at(&file, &mut [0], 0).map_err(failed("read the file"))? > 0 {
            let why = "it has bytes, but says that it has none";
            return Err(unreadable(path, io::Error::new(io::ErrorKind::InvalidInput, why)));
        }
        Ok(DiskFile { file, path: path.into(), identity: Identity::of(&metadata) })
    }

    pub(super) fn len(&self) -> u64 {
        self.identity.len
    }

    /// Another handle on it with a position of its own; none if its path names another file by now.
    pub(super) fn open_again(&self) -> Option<std::fs::File> {
        let file = open_regular(&self.path, std::fs::OpenOptions::new().read(true)).ok()?;
        let same = same_file(&file.metadata().ok()?, &self.file.metadata().ok()?);
        same.then_some(file)
    }

    /// Whether the file still looks as it did when it was opened.
    pub(super) fn check_unchanged(&self) -> Result<(), Problem> {
        let metadata = self.file.metadata().map_err(|source| Problem::io("look at the file", source))?;
        if self.identity.is_still(&Identity::of(&metadata)) { Ok(()) } else { Err(ReadProblem::FileChanged.into()) }
    }

    /// Fills `buf` from a position, and makes sure that the bytes are still those of the file that was opened.
    pub(super) fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> Result<(), Problem> {
        self.fill(buf, offset)?;
        self.check_unchanged()
    }

    fn fill(&self, mut buf: &mut [u8], mut offset: u64) -> Result<(), Problem> {
        while !buf.is_empty() {
            let count = uninterrupted(|| read_at(&self.file, buf, offset))
                .map_err(|source| Problem::io("read the file", source))?;
            // The file had these bytes when it was opened.
            if count == 0 {
                return Err(ReadProblem::FileChanged.into());
            }
            buf = buf.get_mut(count..).unwrap_or_default();
            offset = offset.saturating_add(u64::try_from(count).unwrap_or(u64::MAX));
        }
        Ok(())
    }
}

/// The path or handle is that of a folder, a pipe, a device, or the like.
#[derive(Debug)]
struct NotRegular;

impl fmt::Display for NotRegular {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it is not a regular file")
    }
}

impl std::error::Error for NotRegular {}

fn not_regular() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, NotRegular)
}

/// Whether this is why [`open_regular`] did not open something.
pub(crate) fn is_not_regular(error: &io::Error) -> bool {
    error.get_ref().and_then(|inner| inner.downcast_ref::<NotRegular>()).is_some()
}

/// Opens a regular file, and waits for nobody: a pipe would wait for its other end. `WouldBlock` is the error where
/// another program holds a lease on the file.
pub(crate) fn open_regular(path: &Path, options: &mut std::fs::OpenOptions) -> io::Result<std::fs::File> {
    // Asked first, because opening a device may move it.
    if !std::fs::metadata(path)?.is_file() {
        return Err(not_regular());
    }
    open_at_once(path, options)
}

/// Opens a regular file, whatever has its name by now.
fn open_at_once(path: &Path, options: &mut std::fs::OpenOptions) -> io::Result<std::fs::File> {
    // Miri knows neither flag.
    #[cfg(all(unix, not(miri)))]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt as _;
        options.custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed());
    }
    let file = uninterrupted(|| options.open(path))?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(not_regular()) }
}

fn unreadable(path: &Path, why: io::Error) -> Error {
    Error::from(ReadProblem::NotRegularFile { source: why }).in_file(Some(path))
}

#[cfg(unix)]
fn read_at(file: &std::fs::File, buf: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buf, offset)
}

#[cfg(windows)]
fn read_at(file: &std::fs::File, buf: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buf, offset)
}

/// Does something that a signal can interrupt until none does.
pub(crate) fn uninterrupted<T>(mut operation: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match operation() {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// Whether two names or handles are of one file. Where the system does not tell, they are not.
pub(crate) fn same_file(one: &std::fs::Metadata, other: &std::fs::Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        (one.dev(), one.ino()) == (other.dev(), other.ino())
    }
    #[cfg(not(unix))]
    {
        let _ = (one, other);
        false
    }
}

/// Elsewhere files cannot be read by position; bytes in memory and streams can.
#[cfg(not(any(unix, windows)))]
fn read_at(_file: &std::fs::File, _buf: &mut [u8], _offset: u64) -> io::Result<usize> {
    Err(io::ErrorKind::Unsupported.into())
}

/// By what a change of a file is seen.
#[derive(Clone, Copy)]
struct Identity {
    len: u64,
    modified: Option<SystemTime>,
    /// Seconds and nanoseconds of the last change of the file or its attributes.
    #[cfg(unix)]
    changed: (i64, i64),
    #[cfg(unix)]
    names: u64,
}

impl Identity {
    fn of(metadata: &std::fs::Metadata) -> Self {
        #[cfg(unix)]
        use std::os::unix::fs::MetadataExt as _;
        Identity {
            len: metadata.len(),
            modified: metadata.modified().ok(),
            #[cfg(unix)]
            changed: (metadata.ctime(), metadata.ctime_nsec()),
            #[cfg(unix)]
            names: metadata.nlink(),
        }
    }

    fn is_still(&self, now: &Identity) -> bool {
        let same_contents = self.len == now.len && self.modified == now.modified;
        // The last change of attributes tells of writers that set the time of modification back. Losing or getting a
        // name is such a change too, and harmless: a new file was put in this one's place, and this one stays.
        #[cfg(unix)]
        let same_contents = same_contents && (self.changed == now.changed || self.names != now.names);
        same_contents
    }
}

/// Reads a file's headers in windows: small where blobs lie far apart, larger where they lie dense.
pub(super) struct Window<'f> {
    disk: &'f DiskFile,
    start: u64,
    bytes: Vec<u8>,
    size: u64,
}

impl<'f> Window<'f> {
    /// A page: what the system reads anyway.
    const SMALLEST: u64 = 4 << 10;
    /// Beyond this, larger reads are hardly faster, and this much is held whatever the file holds.
    const LARGEST: u64 = 32 << 10;

    pub(super) fn new(disk: &'f DiskFile) -> Self {
        Window { disk, start: 0, bytes: Vec::new(), size: Self::SMALLEST }
    }

    fn end(&self) -> u64 {
        self.start.saturating_add(len_of(&self.bytes))
    }

    /// The window's bytes from `at`, if it holds `len` of them.
    fn held(&self, at: u64, len: u64) -> Option<usize> {
        let from = at.checked_sub(self.start)?;
        (at.saturating_add(len) <= self.end()).then_some(usize::try_from(from).ok()?)
    }

    fn move_to(&mut self, at: u64, len: u64) -> Result<(), Problem> {
        let dense = at >= self.start && at <= self.end().saturating_add(self.size);
        self.size = if dense { self.size.saturating_mul(2).min(Self::LARGEST) } else { Self::SMALLEST };
        // To the end of a page, if that is enough: of the next one the system would read all.
        let end = at.saturating_add(len.max(self.size));
        let end = Some(end & !(Self::SMALLEST - 1)).filter(|&page| page >= at.saturating_add(len)).unwrap_or(end);
        let len = end.saturating_sub(at).min(self.disk.len().saturating_sub(at));
        let len = usize::try_from(len).map_err(|_| SystemProblem::AddressSpace { needed: len })?;
        // Not emptied and grown: both windows would be held for a moment.
        if self.bytes.capacity() < len || self.bytes.capacity() / 2 > len {
            self.bytes = Vec::new();
        }
        let more = len.saturating_sub(self.bytes.len());
        let needed = u64::try_from(len).unwrap_or(u64::MAX);
        self.bytes.try_reserve_exact(more).map_err(|_| SystemProblem::OutOfMemory { needed })?;
        self.bytes.resize(len, 0);
        self.start = at;
        self.disk.fill(&mut self.bytes, at)
    }
}

impl Fetch for Window<'_> {
    fn room(&self, at: u64) -> u64 {
        self.disk.len().saturating_sub(at)
    }

    fn fetch(&mut self, at: u64, len: u64) -> Result<&[u8], Problem> {
        if self.held(at, len).is_none() {
            self.move_to(at, len)?;
        }
        Ok(self.held(at, 0).and_then(|from| self.bytes.get(from..)).unwrap_or_default())
    }
}

/// Reads headers from a stream, ahead of what is asked for, and passes over the data.
pub(super) struct Stream<R> {
    reader: R,
    /// Where the first byte that is held lies in the stream.
    start: u64,
    bytes: Vec<u8>,
    /// Which of `bytes` were read and not passed over yet.
    held: Range<usize>,
    ended: bool,
}

impl<R: Read> Stream<R> {
    /// What is read at a time; this much is held whatever the stream holds.
    const PIECE: usize = 32 << 10;

    pub(super) fn new(reader: R) -> Self {
        Stream { reader, start: 0, bytes: Vec::new(), held: 0..0, ended: false }
    }

    fn held(&self) -> &[u8] {
        self.bytes.get(self.held.clone()).unwrap_or_default()
    }

    /// Makes room for some of the next `missing` bytes behind those that are held.
    fn make_room(&mut self, missing: u64) -> Result<(), Problem> {
        // Once for each head: a long one that comes in small pieces must not be moved for each of them.
        if self.held.start > 0 {
            self.bytes.copy_within(self.held.clone(), 0);
            self.held = 0..self.held.len();
        }
        if self.held.end < self.bytes.len() {
            return Ok(());
        }
        // How much is missing is a claim. And a buffer that doubles would hold up to three times what came.
        let most = Self::PIECE.max(self.bytes.len() / 2);
        let more = usize::try_from(missing).unwrap_or(usize::MAX).clamp(Self::PIECE, most);
        let len = self.bytes.len().saturating_add(more);
        let needed = u64::try_from(len).unwrap_or(u64::MAX);
        self.bytes.try_reserve_exact(more).map_err(|_| SystemProblem::OutOfMemory { needed })?;
        self.bytes.resize(len, 0);
        Ok(())
    }

    /// Reads once; `missing` bytes are wanted beyond those that are held.
    fn read_on(&mut self, missing: u64) -> Result<(), Problem> {
        self.make_room(missing)?;
        let room = self.bytes.get_mut(self.held.end..).unwrap_or_default();
        let count = uninterrupted(|| self.reader.read(room)).map_err(stream_error)?;
        self.held.end = self.held.end.saturating_add(count.min(room.len()));
        self.ended = count == 0;
        Ok(())
    }
}

fn stream_error(source: io::Error) -> Problem {
    Problem::io("read the stream", source)
}

impl<R: Read> Fetch for Stream<R> {
    fn room(&self, _at: u64) -> u64 {
        if self.ended { len_of(self.held()) } else { u64::MAX }
    }

    fn fetch(&mut self, at: u64, len: u64) -> Result<&[u8], Problem> {
        debug_assert_eq!(at, self.start, "a stream is walked from blob to blob");
        while let missing @ 1.. = len.saturating_sub(len_of(self.held()))
            && !self.ended
        {
            self.read_on(missing)?;
        }
        Ok(self.held())
    }

    fn reach(&mut self, end: u64) -> Result<u64, Problem> {
        loop {
            let left = end.saturating_sub(self.start);
            let passed = usize::try_from(left).unwrap_or(usize::MAX).min(self.held.len());
            self.held.start = self.held.start.saturating_add(passed);
            self.start = self.start.saturating_add(u64::try_from(passed).unwrap_or(u64::MAX));
            if self.start >= end || self.ended {
                return Ok(self.start);
            }
            self.read_on(0)?;
        }
    }

    fn measure(&mut self, len: u64) -> Result<u64, Problem> {
        let held = len_of(self.held());
        let rest = len.saturating_sub(held);
        let passed = io::copy(&mut self.reader.by_ref().take(rest), &mut io::sink()).map_err(stream_error)?;
        Ok(held.saturating_add(passed))
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// A name that was a file's when it was looked at, and is a pipe's when it is opened.
    #[test]
    #[cfg_attr(miri, ignore = "Miri makes no pipes")]
    fn a_pipe_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe.popef");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        for options in [std::fs::OpenOptions::new().read(true), std::fs::OpenOptions::new().read(true).write(true)] {
            let error = open_at_once(&pipe, options).unwrap_err();
            assert!(is_not_regular(&error), "{error}");
        }
    }
}
