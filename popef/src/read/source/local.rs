//! Files on disk.

use std::fmt;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use super::{ReadAt, uninterrupted};
use crate::error::{Error, SystemProblem};
use crate::read::problem::ReadProblem;

/// A file on disk that can detect changes.
///
/// [`OpenOptions::open`](crate::OpenOptions::open) makes one from a path. Make one yourself for a file without a path,
/// or to build another source on it.
///
/// A change is seen by the file's length, and by the time of the last change of the file or its attributes. On Windows,
/// only the time of the last write is known, and the system may update it late, while the writer has the file open.
#[derive(Debug)]
pub struct LocalFile {
    file: fs::File,
    path: Option<Box<Path>>,
    len: u64,
    /// As last seen.
    identity: Mutex<Identity>,
}

impl LocalFile {
    /// Opens a regular file for reading.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let file = open_regular(path, fs::OpenOptions::new().read(true)).map_err(|source| match source.kind() {
            io::ErrorKind::WouldBlock => Error::from(SystemProblem::FileBusy).in_file(Some(path)),
            _ if is_not_regular(&source) => unreadable(Some(path), source),
            _ => Error::io(Some(path), "open the file", source),
        })?;
        LocalFile::of(file, Some(path))
    }

    /// Uses an open handle, for example of a file in memory (`memfd`) or one received from another program. The
    /// handle's position does not matter, and does not change on Unix. `name` is the file's name in errors.
    pub fn of(file: fs::File, name: Option<&Path>) -> Result<Self, Error> {
        let failed = |doing| move |source| Error::io(name, doing, source);
        let metadata = file.metadata().map_err(failed("look at the file"))?;
        if !metadata.is_file() {
            return Err(unreadable(name, not_regular(&metadata)));
        }
        // Files of /proc have bytes but a length of 0. They must not be taken for files without blobs.
        if metadata.len() == 0 && read_at(&file, &mut [0], 0).map_err(failed("read the file"))? > 0 {
            let why = "it has bytes, but says that it has none";
            return Err(unreadable(name, io::Error::new(io::ErrorKind::InvalidInput, why)));
        }
        let identity = Mutex::new(Identity::of(&metadata));
        Ok(LocalFile { file, path: name.map(Box::from), len: metadata.len(), identity })
    }

    pub(crate) fn handle(&self) -> &fs::File {
        &self.file
    }

    /// Returns the identity of the file. `None` if the system cannot tell it.
    pub(in crate::read) fn id(&self) -> Option<FileId> {
        FileId::of(&self.file).ok()
    }

    /// Opens the file again, for a handle with its own position. `None` if that fails.
    pub(in crate::read) fn open_again(&self) -> Option<fs::File> {
        self.path.as_deref().and_then(|path| self.open_same(path)).or_else(|| self.open_by_number())
    }

    /// Opens a path, if it still names this file.
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
        self.len
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
        let now = Identity::of(&self.file.metadata()?);
        let mut seen = self.identity.lock().unwrap_or_else(PoisonError::into_inner);
        let unchanged = seen.is_still(&now);
        if unchanged {
            *seen = now;
        }
        Ok(unchanged)
    }

    fn name(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    fn local_file(&self) -> Option<&LocalFile> {
        Some(self)
    }
}

/// The error for a path or handle of a folder, a pipe, a device, or the like.
#[derive(Debug)]
struct NotRegular;

impl fmt::Display for NotRegular {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it is not a regular file")
    }
}

impl std::error::Error for NotRegular {}

fn not_regular(found: &fs::Metadata) -> io::Error {
    let kind = if found.is_dir() { io::ErrorKind::IsADirectory } else { io::ErrorKind::InvalidInput };
    io::Error::new(kind, NotRegular)
}

/// Whether this is the error of [`open_regular`] for something that is not a regular file.
pub(crate) fn is_not_regular(error: &io::Error) -> bool {
    error.get_ref().and_then(|inner| inner.downcast_ref::<NotRegular>()).is_some()
}

/// Opens a regular file without blocking, while opening a pipe could wait for its other end. Fails with `WouldBlock` if
/// another program holds a lease on the file, or on Windows has opened it without sharing.
pub(crate) fn open_regular(path: &Path, options: &mut fs::OpenOptions) -> io::Result<fs::File> {
    // Checked before opening, because opening a device can have effects.
    let found = fs::metadata(path)?;
    if !found.is_file() {
        return Err(not_regular(&found));
    }
    open_at_once(path, options)
}

/// Opens a path without blocking, and checks that it is a regular file, as the path may have changed since it was
/// checked.
fn open_at_once(path: &Path, options: &mut fs::OpenOptions) -> io::Result<fs::File> {
    // Miri knows neither flag.
    #[cfg(all(unix, not(miri)))]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt as _;
        options.custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed());
    }
    let file = uninterrupted(|| options.open(path)).map_err(error_as_on_unix)?;
    let found = file.metadata()?;
    if found.is_file() { Ok(file) } else { Err(not_regular(&found)) }
}

/// Maps a sharing violation on Windows to `WouldBlock`, which is the kind on Unix.
fn error_as_on_unix(error: io::Error) -> io::Error {
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

/// Other platforms cannot read files by position. Bytes in memory and streams still work there.
#[cfg(not(any(unix, windows)))]
fn read_at(_file: &fs::File, _buf: &mut [u8], _offset: u64) -> io::Result<usize> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Whether two handles refer to the same file.
pub(crate) fn is_same_file(one: &fs::File, other: &fs::File) -> io::Result<bool> {
    Ok(FileId::of(one)? == FileId::of(other)?)
}

/// Whether a path names this file itself, and not a symbolic link to it.
pub(crate) fn is_name_of(path: &Path, file: &fs::File) -> io::Result<bool> {
    match FileId::at(path, Link::Itself) {
        Ok(id) => Ok(id == FileId::of(file)?),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(e) => Err(e),
    }
}

/// The identity of a file on this machine, by which it is recognised under other paths, too.
///
/// Two different files never have one identity at the same time. When a file is deleted, another can get its identity.
///
/// ```
/// use popef::read::FileId;
///
/// let id = FileId::of_path("examples/data/executable.popef")?;
/// assert_eq!(id, FileId::of_path("examples/../examples/data/executable.popef")?);
/// assert_ne!(id, FileId::of_path("examples/data/split-feeds.popef")?);
/// assert_eq!(Some(id), popef::File::open("examples/data/executable.popef")?.id());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileId {
    device: u64,
    number: u64,
}

impl FileId {
    /// Returns the identity of the file that a path leads to, also through symbolic links.
    pub fn of_path(path: impl AsRef<Path>) -> io::Result<FileId> {
        FileId::at(path.as_ref(), Link::Followed)
    }
}

/// What is meant by the path of a symbolic link.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Link {
    Followed,
    Itself,
}

#[cfg(unix)]
impl FileId {
    fn of(file: &fs::File) -> io::Result<FileId> {
        file.metadata().map(|metadata| FileId::from_metadata(&metadata))
    }

    fn at(path: &Path, link: Link) -> io::Result<FileId> {
        let metadata = match link {
            Link::Followed => fs::metadata(path),
            Link::Itself => fs::symlink_metadata(path),
        };
        metadata.map(|metadata| FileId::from_metadata(&metadata))
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

    fn at(path: &Path, link: Link) -> io::Result<FileId> {
        use std::os::windows::fs::OpenOptionsExt as _;
        const FILE_FLAG_OPEN_REPARSE_POINT: u32 = 0x0020_0000;
        let flags = if link == Link::Itself { FILE_FLAG_OPEN_REPARSE_POINT } else { 0 };
        // A handle without read or write access can be opened even if other programs do not share the file.
        let handle = fs::OpenOptions::new().access_mode(0).custom_flags(flags).open(path)?;
        FileId::of(&handle)
    }
}

#[cfg(not(any(unix, windows)))]
impl FileId {
    fn of(_file: &fs::File) -> io::Result<FileId> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn at(_path: &Path, _link: Link) -> io::Result<FileId> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// The attributes by which a change of a file is seen.
#[derive(Clone, Copy, Debug)]
struct Identity {
    len: u64,
    modified: Option<SystemTime>,
    /// The time of the last change of the file or its attributes, in seconds and nanoseconds.
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
        // The time of the last change of attributes reveals writers that set the modification time back. A change of
        // the number of names also updates it, and is harmless: for example, a new file was put in this one's place.
        #[cfg(unix)]
        let same_contents = same_contents && (self.changed == now.changed || self.names != now.names);
        same_contents
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// The path was a file when it was checked, and is a pipe when it is opened.
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
