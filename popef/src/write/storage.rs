//! The interface between writing and the file system. All operations on files and folders go through it, so that a test
//! can make each of them fail, write too little, or be the last one.

#[cfg(not(windows))]
use std::fs::TryLockError;
use std::fs::{self, OpenOptions};
use std::io::{self, Seek, SeekFrom, Take};
use std::path::{Path, PathBuf};

use super::destination::copy_all;
use super::problem::WriteProblem;
use super::rights::Rights;
use crate::error::{Error, Problem};
use crate::read::{self, is_name_of, is_not_regular, is_same_file, open_regular, uninterrupted};

/// Operations on paths.
pub(super) trait Storage: Send + Sync {
    /// Finds what is at a path. Does not follow a symbolic link. `None` if there is nothing.
    fn look(&self, path: &Path) -> io::Result<Option<Found>>;
    /// Returns the target of a symbolic link.
    fn read_link(&self, path: &Path) -> io::Result<PathBuf>;
    /// Creates a file. Fails if the path exists.
    fn create_new(&self, path: &Path, open_to: OpenTo) -> io::Result<Box<dyn Handle>>;
    /// Opens an existing regular file, without blocking.
    fn open(&self, path: &Path, access: Access) -> io::Result<Box<dyn Handle>>;
    /// Renames a file, and replaces the file at the new path.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Makes a hard link. Fails if the new path exists.
    fn link(&self, from: &Path, to: &Path) -> io::Result<()>;
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Flushes the names in a folder to disk.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;
}

/// Operations on an open file. A lock is held until the handle is dropped.
pub(super) trait Handle: Send + Sync {
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<usize>;
    /// Writes the rest of another file.
    fn copy_at(&mut self, at: u64, from: &mut Take<fs::File>) -> io::Result<()>;
    fn len(&self) -> io::Result<u64>;
    fn set_len(&mut self, len: u64) -> io::Result<()>;
    /// Flushes the contents to disk. Never repeated, because a second flush does not report the data that a failed one
    /// lost.
    fn sync(&mut self) -> io::Result<()>;
    /// Locks the file without waiting. Returns `false` if it is locked already.
    fn lock(&self) -> io::Result<bool>;
    /// Whether a path names this file.
    fn is_at(&self, path: &Path) -> io::Result<bool>;
    /// Whether another handle refers to this file.
    fn is_file(&self, file: &fs::File) -> bool;
    /// The number that the system has for the open file. `None` if it has none.
    fn descriptor(&self) -> Option<i32> {
        None
    }
    /// The permissions of the file.
    fn rights(&self) -> io::Result<Rights>;
    /// Gives the file the permissions of another one, as far as that is allowed.
    fn give_rights(&mut self, rights: &Rights) -> io::Result<()>;
    /// Opens the file as a PopEF file, even if it is damaged.
    fn walk(&self, path: &Path) -> Result<read::File, Error>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    PlainFile,
    Link,
    Folder,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    ReadWrite,
}

/// Who can open a new file when it is created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OpenTo {
    /// Its owner alone.
    Owner,
    /// Whom the system lets open new files in the folder, as far as this mode does.
    AtMost(u32),
}

/// The real file system.
pub(super) struct System;

impl Storage for System {
    fn look(&self, path: &Path) -> io::Result<Option<Found>> {
        match fs::symlink_metadata(path) {
            Ok(metadata) if metadata.is_file() => Ok(Some(Found::PlainFile)),
            Ok(metadata) if metadata.is_symlink() => Ok(Some(Found::Link)),
            Ok(metadata) if metadata.is_dir() => Ok(Some(Found::Folder)),
            Ok(_) => Ok(Some(Found::Other)),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e),
        }
    }

    fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        fs::read_link(path)
    }

    fn create_new(&self, path: &Path, open_to: OpenTo) -> io::Result<Box<dyn Handle>> {
        let mut options = to_lock(Access::ReadWrite);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt as _;
            options.mode(match open_to {
                OpenTo::Owner => 0o600,
                OpenTo::AtMost(mode) => mode,
            });
        }
        #[cfg(not(unix))]
        let _ = open_to;
        Ok(Box::new(OpenFile(options.create_new(true).open(path)?)))
    }

    fn open(&self, path: &Path, access: Access) -> io::Result<Box<dyn Handle>> {
        Ok(Box::new(OpenFile(open_regular(path, &mut to_lock(access))?)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::hard_link(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    #[cfg(unix)]
    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        fs::File::open(folder)?.sync_all()
    }

    /// Does nothing, because only Unix can flush a folder.
    #[cfg(not(unix))]
    fn sync_folder(&self, _folder: &Path) -> io::Result<()> {
        Ok(())
    }
}

/// The options for opening a file that will be locked.
#[cfg(not(windows))]
fn to_lock(access: Access) -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(access == Access::ReadWrite);
    options
}

/// The options for opening a file, which also lock it. The file locks of Windows would lock out readers too. With this
/// share mode, others can read, rename, replace and remove the file, but cannot open it for writing, nor with this
/// mode.
#[cfg(windows)]
fn to_lock(_access: Access) -> OpenOptions {
    use std::os::windows::fs::OpenOptionsExt as _;
    const FILE_SHARE_READ: u32 = 1;
    const FILE_SHARE_DELETE: u32 = 4;
    let mut options = OpenOptions::new();
    options.read(true).write(true).share_mode(FILE_SHARE_READ | FILE_SHARE_DELETE);
    options
}

/// An open file of the system.
struct OpenFile(fs::File);

/// Unlocks the file. Closing it would not be enough: the lock stays while any process has the file open, and a process
/// that another thread is just starting has all files open for a moment.
#[cfg(not(windows))]
impl Drop for OpenFile {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

impl Handle for OpenFile {
    #[cfg(unix)]
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<usize> {
        std::os::unix::fs::FileExt::write_at(&self.0, bytes, at)
    }

    #[cfg(windows)]
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_write(&self.0, bytes, at)
    }

    /// Other platforms cannot write files by position. Streams still work there.
    #[cfg(not(any(unix, windows)))]
    fn write_at(&mut self, _at: u64, _bytes: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn copy_at(&mut self, at: u64, from: &mut Take<fs::File>) -> io::Result<()> {
        self.0.seek(SeekFrom::Start(at))?;
        copy_all(from, at, &mut self.0)
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn set_len(&mut self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync_all()
    }

    /// Does nothing, because opening the file has locked it.
    #[cfg(windows)]
    fn lock(&self) -> io::Result<bool> {
        Ok(true)
    }

    #[cfg(not(windows))]
    fn lock(&self) -> io::Result<bool> {
        match self.0.try_lock() {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            // On file systems without locks, files can be written without one.
            Err(TryLockError::Error(e)) if e.kind() == io::ErrorKind::Unsupported => Ok(true),
            Err(TryLockError::Error(e)) => Err(e),
        }
    }

    fn is_at(&self, path: &Path) -> io::Result<bool> {
        is_name_of(path, &self.0)
    }

    #[cfg(unix)]
    fn descriptor(&self) -> Option<i32> {
        Some(std::os::fd::AsRawFd::as_raw_fd(&self.0))
    }

    fn is_file(&self, file: &fs::File) -> bool {
        is_same_file(&self.0, file).unwrap_or(false)
    }

    fn rights(&self) -> io::Result<Rights> {
        Rights::of(&self.0)
    }

    fn give_rights(&mut self, rights: &Rights) -> io::Result<()> {
        rights.give(&self.0)
    }

    fn walk(&self, path: &Path) -> Result<read::File, Error> {
        let again = self.0.try_clone().map_err(|source| Error::io(Some(path), "open the file again", source))?;
        read::OpenOptions::new().damaged(true).source(read::LocalFile::of(again, Some(path))?)
    }
}

/// Maximum number of symbolic links that are followed. Longer chains are treated as a cycle.
const MOST_LINKS: usize = 40;

/// Follows symbolic links. Returns the path at which a file is written, and what is there.
pub(super) fn resolve(storage: &dyn Storage, path: &Path) -> io::Result<(PathBuf, Option<Found>)> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        match uninterrupted(|| storage.look(&path))? {
            Some(Found::Link) => {
                let target = uninterrupted(|| storage.read_link(&path))?;
                path = path.parent().unwrap_or(Path::new("")).join(target);
            }
            found => return Ok((path, found)),
        }
    }
    Err(io::Error::other("too many symbolic links point to each other"))
}

/// Opens and locks a file that others may be replacing. `None` if it is locked already.
pub(super) fn open_locked(storage: &dyn Storage, path: &Path, access: Access) -> io::Result<Option<Box<dyn Handle>>> {
    for _ in 0..MOST_TRIES {
        let handle = match uninterrupted(|| storage.open(path, access)) {
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(None),
            handle => handle?,
        };
        if !uninterrupted(|| handle.lock())? {
            return Ok(None);
        }
        // The file may have been replaced between opening and locking.
        if uninterrupted(|| handle.is_at(path))? {
            return Ok(Some(handle));
        }
    }
    Ok(None)
}

/// Makes a problem from the error of [`Storage::open`].
pub(super) fn not_opened(doing: &'static str) -> impl Fn(io::Error) -> Problem {
    move |source| if is_not_regular(&source) { WriteProblem::NotReplaceable.into() } else { Problem::io(doing, source) }
}

/// How often to try again if other programs keep replacing a file.
pub(super) const MOST_TRIES: usize = 16;
