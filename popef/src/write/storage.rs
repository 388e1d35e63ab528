//! The one seam between writing and the file system: everything that is done to files and folders, so that a test can
//! make any of it fail, fall short, or be the last thing that happens.

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

/// What is done by path.
pub(super) trait Storage: Send + Sync {
    /// What is at a path, itself if it is a symbolic link; none if nothing is.
    fn look(&self, path: &Path) -> io::Result<Option<Found>>;
    /// Where a symbolic link points.
    fn read_link(&self, path: &Path) -> io::Result<PathBuf>;
    /// Makes a file that was not there.
    fn create_new(&self, path: &Path, openness: Openness) -> io::Result<Box<dyn Handle>>;
    /// Opens a regular file that is there, without waiting.
    fn open(&self, path: &Path, access: Access) -> io::Result<Box<dyn Handle>>;
    /// Gives a file another name, in place of what has it.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Gives a file one more name, which nothing has.
    fn link(&self, from: &Path, to: &Path) -> io::Result<()>;
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Flushes the names in a folder to disk.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;
}

/// What is done to an open file. It is locked until it is dropped, once it is.
pub(super) trait Handle: Send + Sync {
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<usize>;
    /// Writes the rest of another file.
    fn copy_at(&mut self, at: u64, from: &mut Take<fs::File>) -> io::Result<()>;
    fn len(&self) -> io::Result<u64>;
    fn set_len(&mut self, len: u64) -> io::Result<()>;
    /// Flushes the contents to disk. Never tried twice: what a failed flush lost, a second one does not tell of.
    fn sync(&mut self) -> io::Result<()>;
    /// Whether nobody else has it locked; from then on it is.
    fn lock(&self) -> io::Result<bool>;
    /// Whether a path names this very file.
    fn is_at(&self, path: &Path) -> io::Result<bool>;
    /// Whether another handle is of this very file.
    fn is_file(&self, file: &fs::File) -> bool;
    /// Who may do what with it.
    fn rights(&self) -> io::Result<Rights>;
    /// Gives it the rights of another file, as far as that is allowed.
    fn give_rights(&mut self, rights: &Rights) -> io::Result<()>;
    /// Opens it as a PopEF file, a damaged one too.
    fn walk(&self, path: &Path) -> Result<read::File, Error>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    PlainFile,
    Link,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    ReadWrite,
}

/// Who may open a new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Openness {
    /// Its owner alone.
    Private,
    /// Whom the system lets open any new file here.
    Usual,
}

/// The real file system.
pub(super) struct System;

impl Storage for System {
    fn look(&self, path: &Path) -> io::Result<Option<Found>> {
        match fs::symlink_metadata(path) {
            Ok(metadata) if metadata.is_file() => Ok(Some(Found::PlainFile)),
            Ok(metadata) if metadata.is_symlink() => Ok(Some(Found::Link)),
            Ok(_) => Ok(Some(Found::Other)),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e),
        }
    }

    fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        fs::read_link(path)
    }

    fn create_new(&self, path: &Path, openness: Openness) -> io::Result<Box<dyn Handle>> {
        let mut options = to_lock(Access::ReadWrite);
        #[cfg(unix)]
        if openness == Openness::Private {
            use std::os::unix::fs::OpenOptionsExt as _;
            options.mode(0o600);
        }
        #[cfg(not(unix))]
        let _ = openness;
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

    /// Only Unix lets a folder be opened and flushed.
    #[cfg(not(unix))]
    fn sync_folder(&self, _folder: &Path) -> io::Result<()> {
        Ok(())
    }
}

/// How a file is opened that is to be locked.
#[cfg(not(windows))]
fn to_lock(access: Access) -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(access == Access::ReadWrite);
    options
}

/// How a file is opened, which locks it. The locks of Windows would keep readers out too. Here others can read, rename,
/// replace and remove the file, and whoever wants to write, which includes whoever wants this lock, is refused.
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

/// Closing would release the lock only once no process has the file open, and one that another thread is just starting
/// has everything open for a moment.
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

    /// Elsewhere files cannot be written by position; streams can be written.
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

    /// Opening it has locked it.
    #[cfg(windows)]
    fn lock(&self) -> io::Result<bool> {
        Ok(true)
    }

    #[cfg(not(windows))]
    fn lock(&self) -> io::Result<bool> {
        match self.0.try_lock() {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            // Where there are no locks, files can be written all the same.
            Err(TryLockError::Error(e)) if e.kind() == io::ErrorKind::Unsupported => Ok(true),
            Err(TryLockError::Error(e)) => Err(e),
        }
    }

    fn is_at(&self, path: &Path) -> io::Result<bool> {
        is_name_of(path, &self.0)
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

/// The most links that are followed one after the other; more are a circle.
const MOST_LINKS: usize = 40;

/// The path that a file is written at: where it points, if it is a symbolic link.
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

/// Opens a file that others may be replacing, and locks it; none if somebody else has it locked.
pub(super) fn open_locked(storage: &dyn Storage, path: &Path, access: Access) -> io::Result<Option<Box<dyn Handle>>> {
    for _ in 0..MOST_TRIES {
        let handle = match uninterrupted(|| storage.open(path, access)) {
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(None),
            handle => handle?,
        };
        if !uninterrupted(|| handle.lock())? {
            return Ok(None);
        }
        // It may have been replaced between being opened and locked.
        if uninterrupted(|| handle.is_at(path))? {
            return Ok(Some(handle));
        }
    }
    Ok(None)
}

/// Why [`Storage::open`] failed.
pub(super) fn not_opened(doing: &'static str) -> impl Fn(io::Error) -> Problem {
    move |source| match is_not_regular(&source) {
        true => WriteProblem::NotRegularFile.into(),
        false => Problem::io(doing, source),
    }
}

/// How often a file is looked for again that others replace all the time.
pub(super) const MOST_TRIES: usize = 16;
