//! Files on disk.

use std::fmt;
use std::fs;
use std::io;
use std::path::Path;
use std::time::SystemTime;

use super::{ReadAt, uninterrupted};
use crate::error::{Error, SystemProblem};
use crate::read::problem::ReadProblem;

/// A file on disk, and what it looked like when it was opened.
///
/// [`OpenOptions::open`](crate::OpenOptions::open) makes one of a path. By hand it is made for what has no path, or
/// where another source passes on what it reads from a file.
///
/// A change of the file is seen by its length, and by the time when it or its attributes were last changed. On Windows
/// only the time when it was last written is known, which the system may set late, while the writer has the file open.
#[derive(Debug)]
pub struct LocalFile {
    file: fs::File,
    path: Option<Box<Path>>,
    identity: Identity,
}

impl LocalFile {
    /// Opens a file.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let file = open_regular(path, fs::OpenOptions::new().read(true)).map_err(|source| match source.kind() {
            io::ErrorKind::WouldBlock => Error::from(SystemProblem::FileBusy).in_file(Some(path)),
            _ if is_not_regular(&source) => unreadable(Some(path), source),
            _ => Error::io(Some(path), "open the file", source),
        })?;
        LocalFile::of(file, Some(path))
    }

    /// A file that is open already, such as one in memory (`memfd`), or one that another program has passed on. The
    /// position in it does not matter, and stays as it is. `name` is what errors call it.
    pub fn of(file: fs::File, name: Option<&Path>) -> Result<Self, Error> {
        let failed = |doing| move |source| Error::io(name, doing, source);
        let metadata = file.metadata().map_err(failed("look at the file"))?;
        if !metadata.is_file() {
            return Err(unreadable(name, not_regular()));
        }
        // Files of /proc have no length and yet bytes: not what may be taken for a file of no blobs.
        if metadata.len() == 0 && read_at(&file, &mut [0], 0).map_err(failed("read the file"))? > 0 {
            let why = "it has bytes, but says that it has none";
            return Err(unreadable(name, io::Error::new(io::ErrorKind::InvalidInput, why)));
        }
        Ok(LocalFile { file, path: name.map(Box::from), identity: Identity::of(&metadata) })
    }

    pub(crate) fn handle(&self) -> &fs::File {
        &self.file
    }

    /// Another handle on it with a position of its own; none if it cannot be had.
    pub(in crate::read) fn open_again(&self) -> Option<fs::File> {
        self.path.as_deref().and_then(|path| self.open_same(path)).or_else(|| self.open_by_number())
    }

    /// Opens a path, if that names this file still.
    fn open_same(&self, path: &Path) -> Option<fs::File> {
        let file = open_regular(path, fs::OpenOptions::new().read(true)).ok()?;
        is_same_file(&file, &self.file).ok()?.then_some(file)
    }

    #[cfg(target_os = "linux")]
    fn open_by_number(&self) -> Option<fs::File> {
        use std::os::fd::AsRawFd as _;
        self.open_same(Path::new(&format!("/proc/self/fd/{}", self.file.as_raw_fd())))
    }

    #[cfg(not(target_os = "linux"))]
    fn open_by_number(&self) -> Option<fs::File> {
        None
    }
}

impl ReadAt for LocalFile {
    fn size(&self) -> u64 {
        self.identity.len
    }

    fn read_exact_at(&self, mut buf: &mut [u8], mut offset: u64) -> io::Result<()> {
        while !buf.is_empty() {
            let count = uninterrupted(|| read_at(&self.file, buf, offset))?;
            if count == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            buf = buf.get_mut(count..).unwrap_or_default();
            offset = offset.saturating_add(u64::try_from(count).unwrap_or(u64::MAX));
        }
        Ok(())
    }

    fn is_unchanged(&self) -> io::Result<bool> {
        Ok(self.identity.is_still(&Identity::of(&self.file.metadata()?)))
    }

    fn name(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    fn local_file(&self) -> Option<&LocalFile> {
        Some(self)
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
/// another program holds a lease on the file, or on Windows has opened it and lets nobody else do so.
pub(crate) fn open_regular(path: &Path, options: &mut fs::OpenOptions) -> io::Result<fs::File> {
    // Asked first, because opening a device may move it.
    if !fs::metadata(path)?.is_file() {
        return Err(not_regular());
    }
    open_at_once(path, options)
}

/// Opens a regular file, whatever has its name by now.
fn open_at_once(path: &Path, options: &mut fs::OpenOptions) -> io::Result<fs::File> {
    // Miri knows neither flag.
    #[cfg(all(unix, not(miri)))]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt as _;
        options.custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed());
    }
    let file = uninterrupted(|| options.open(path)).map_err(told_as_on_unix)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(not_regular()) }
}

/// Gives a file that somebody else keeps to themselves the kind `WouldBlock` on Windows too.
fn told_as_on_unix(error: io::Error) -> io::Error {
    const ERROR_SHARING_VIOLATION: i32 = 32;
    match error.raw_os_error() {
        Some(ERROR_SHARING_VIOLATION) if cfg!(windows) => io::Error::new(io::ErrorKind::WouldBlock, error),
        _ => error,
    }
}

fn unreadable(path: Option<&Path>, why: io::Error) -> Error {
    Error::from(ReadProblem::NotRegularFile { source: why }).in_file(path)
}

#[cfg(unix)]
fn read_at(file: &fs::File, buf: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buf, offset)
}

#[cfg(windows)]
fn read_at(file: &fs::File, buf: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buf, offset)
}

/// Elsewhere files cannot be read by position; bytes in memory and streams can.
#[cfg(not(any(unix, windows)))]
fn read_at(_file: &fs::File, _buf: &mut [u8], _offset: u64) -> io::Result<usize> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Whether two handles are of one file.
pub(crate) fn is_same_file(one: &fs::File, other: &fs::File) -> io::Result<bool> {
    Ok(FileId::of(one)? == FileId::of(other)?)
}

/// Whether a path names this very file, and not a link to it.
pub(crate) fn is_name_of(path: &Path, file: &fs::File) -> io::Result<bool> {
    match FileId::at(path) {
        Ok(id) => Ok(id == FileId::of(file)?),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(e) => Err(e),
    }
}

/// What tells an open file from all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileId {
    device: u64,
    number: u64,
}

#[cfg(unix)]
impl FileId {
    fn of(file: &fs::File) -> io::Result<FileId> {
        file.metadata().map(|metadata| FileId::from_metadata(&metadata))
    }

    /// Of what is at a path, itself if it is a symbolic link.
    fn at(path: &Path) -> io::Result<FileId> {
        fs::symlink_metadata(path).map(|metadata| FileId::from_metadata(&metadata))
    }

    fn from_metadata(metadata: &fs::Metadata) -> FileId {
        use std::os::unix::fs::MetadataExt as _;
        FileId { device: metadata.dev(), number: metadata.ino() }
    }
}

#[cfg(windows)]
impl FileId {
    fn of(file: &fs::File) -> io::Result<FileId> {
        let information = winapi_util::file::information(file)?;
        Ok(FileId { device: information.volume_serial_number(), number: information.file_index() })
    }

    /// Of what is at a path, itself if it is a symbolic link.
    fn at(path: &Path) -> io::Result<FileId> {
        use std::os::windows::fs::OpenOptionsExt as _;
        const FILE_FLAG_OPEN_REPARSE_POINT: u32 = 0x0020_0000;
        // A handle that neither reads nor writes can be had however others have opened the file.
        let handle = fs::OpenOptions::new().access_mode(0).custom_flags(FILE_FLAG_OPEN_REPARSE_POINT).open(path)?;
        FileId::of(&handle)
    }
}

#[cfg(not(any(unix, windows)))]
impl FileId {
    fn of(_file: &fs::File) -> io::Result<FileId> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn at(_path: &Path) -> io::Result<FileId> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// By what a change of a file is seen.
#[derive(Clone, Copy, Debug)]
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
    fn of(metadata: &fs::Metadata) -> Self {
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
        for options in [fs::OpenOptions::new().read(true), fs::OpenOptions::new().read(true).write(true)] {
            let error = open_at_once(&pipe, options).unwrap_err();
            assert!(is_not_regular(&error), "{error}");
        }
    }
}
