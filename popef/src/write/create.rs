use std::collections::hash_map::RandomState;
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::hash::{BuildHasher as _, Hasher as _};
use std::io::{self, Take};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::destination::sink::{Failure, Remains, Sink};
use super::destination::{Destination, Rewind};
use super::output::Output;
use super::problem::{Left, WriteProblem, left_behind};
use super::storage::{Access, Found, Handle, MOST_TRIES, OpenTo, Storage, System, not_opened, open_locked, resolve};
use super::writer::Writer;
use crate::error::{Error, Problem, SystemProblem};
use crate::read::{is_not_regular, uninterrupted};

/// Options for creating a file.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("model.popef");
/// std::fs::write(&path, "precious")?;
/// let error = popef::write::CreateOptions::new().overwrite(false).create(&path).unwrap_err();
/// assert!(error.to_string().ends_with("the file exists, and overwriting was not allowed"));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct CreateOptions {
    overwrite: bool,
    follow_links: bool,
    mode: u32,
}

impl Default for CreateOptions {
    fn default() -> Self {
        CreateOptions { overwrite: true, follow_links: true, mode: 0o666 }
    }
}

impl CreateOptions {
    /// Returns the default options: an existing file is replaced.
    pub fn new() -> Self {
        CreateOptions::default()
    }

    /// Sets whether an existing file is replaced. If not, [`finish`](Writer::finish) also fails if a file appears in
    /// the meantime, and leaves that file as it is. This needs a file system with hard links.
    pub fn overwrite(&mut self, overwrite: bool) -> &mut Self {
        self.overwrite = overwrite;
        self
    }

    /// Sets whether a symbolic link at the path is followed, as it is by default. If not, any link is an error,
    /// whatever it points to and whatever may be overwritten. Use this for generated names in a folder that others may
    /// write to.
    ///
    /// ```
    /// # #[cfg(unix)] {
    /// let folder = tempfile::tempdir()?;
    /// let (link, elsewhere) = (folder.path().join("model.popef"), folder.path().join("elsewhere.popef"));
    /// std::os::unix::fs::symlink(&elsewhere, &link)?;
    /// let error = popef::write::CreateOptions::new().follow_links(false).create(&link).unwrap_err();
    /// assert_eq!(error.code(), popef::error::ErrorCode::InTheWay);
    /// # }
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn follow_links(&mut self, follow_links: bool) -> &mut Self {
        self.follow_links = follow_links;
        self
    }

    /// Sets the most permissions that a new file gets, as a Unix mode: `0o600` for its owner alone. The default is
    /// `0o666`. As for any new file, the system removes those that the process's `umask` forbids. A file that is
    /// replaced keeps its own permissions. The file is never executable, and its owner can always read it. Other
    /// systems ignore the mode.
    ///
    /// ```
    /// # #[cfg(unix)] {
    /// use std::os::unix::fs::PermissionsExt as _;
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("model.popef");
    /// popef::write::CreateOptions::new().mode(0o600).create(&path)?.finish()?;
    /// assert_eq!(std::fs::metadata(&path)?.permissions().mode() & 0o777, 0o600);
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn mode(&mut self, mode: u32) -> &mut Self {
        self.mode = mode;
        self
    }

    /// Begins a new file, as [`Writer::create`] does.
    pub fn create(&self, path: impl AsRef<Path>) -> Result<Writer<NewFile>, Error> {
        self.create_in(Arc::new(System), path.as_ref())
    }

    /// Fails as [`create`](Self::create) would because of what is at the path: a file that must not be replaced or that
    /// another program has locked, something other than a regular file, or a missing folder. Writes nothing, so it does
    /// not check whether the folder is writable or has room. Returns the path of the new file, with links resolved.
    ///
    /// ```
    /// let folder = tempfile::tempdir()?;
    /// let options = popef::write::CreateOptions::new();
    /// assert!(options.check(folder.path().join("model.popef")).is_ok());
    /// assert!(options.check(folder.path().join("missing/model.popef")).is_err());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn check(&self, path: impl AsRef<Path>) -> Result<PathBuf, Error> {
        let path = path.as_ref();
        self.check_in(&System, path).map_err(|problem| Error::from(problem).in_file(Some(path)))
    }

    pub(super) fn create_in(&self, storage: Arc<dyn Storage>, path: &Path) -> Result<Writer<NewFile>, Error> {
        let file = NewFile::begin(storage, path, self);
        file.map(Writer::begin).map_err(|problem| Error::from(problem).in_file(Some(path)))
    }

    fn check_in(&self, storage: &dyn Storage, path: &Path) -> Result<PathBuf, Problem> {
        let (target, found) = self.find(storage, path)?;
        lock_old(storage, &target, found, self.overwrite)?;
        let beside = beside(&target, "")?;
        uninterrupted(|| fs::metadata(folder_of(&beside))).map_err(|error| not_claimed(&beside, error))?;
        Ok(target)
    }

    /// The path at which a file is written, and what is there.
    fn find(&self, storage: &dyn Storage, path: &Path) -> Result<(PathBuf, Option<Found>), Problem> {
        let found = if self.follow_links {
            resolve(storage, path)
        } else {
            uninterrupted(|| storage.look(path)).map(|found| (path.to_owned(), found))
        };
        let (target, found) = found.map_err(failed("look at what is there"))?;
        match found {
            Some(Found::Link) => Err(WriteProblem::IsLink.into()),
            // The links of /dev/stdout and /proc/self/fd lead to pipes that have no path.
            None if target != path && fs::metadata(path).is_ok() => Err(WriteProblem::NotReplaceable.into()),
            None if is_of_folder(&target) => {
                Err(WriteProblem::NamesFolder { source: io::ErrorKind::NotFound.into() }.into())
            }
            _ => Ok((target, found)),
        }
    }
}

/// Whether a path can only be a folder's, because of how it ends. [`Path::file_name`] does not include what follows the
/// last name.
fn is_of_folder(path: &Path) -> bool {
    let bytes = path.as_os_str().as_encoded_bytes();
    let bytes = bytes.strip_suffix(b".").unwrap_or(bytes);
    bytes.last().is_some_and(|&last| std::path::is_separator(char::from(last)))
}

impl Writer<NewFile> {
    /// Creates a file, or replaces an existing one. Everything is written to a temporary file in the same folder, which
    /// [`finish`](Writer::finish) flushes to disk and renames. Until then, and after any failure, the old file is
    /// unchanged, also for programs that have it open or mapped.
    ///
    /// A symbolic link is followed: the file that it names is replaced, or made if it is missing. The folder must exist. If the program is
    /// killed, its temporary file `.NAME.popef-new` stays. The next `create` by the same user removes it. If something
    /// else has that name, such as a folder, a link or a file of another user, it stays, and the temporary file is
    /// named `.NAME.RANDOM.popef-new`.
    ///
    /// [`CreateOptions`] can forbid overwriting, and following links, and can make a new file private.
    ///
    /// # Permissions
    ///
    /// While a file is being replaced, only its writer can open the temporary file. `finish` then gives the new file
    /// the permissions of the old one: owner, group, mode, and on Linux the POSIX access control list and the
    /// attributes named `user.*`. What the system does not allow is left out. The new file never allows more than the
    /// old one:
    ///
    /// - Only the superuser can give files away. For other users, the writer becomes the owner.
    /// - A writer outside the old file's group cannot keep the group. The new group and all others then get only what
    ///   both the old group and all others had, or no access if there is an access control list.
    ///
    /// The system sets security labels and capabilities as for any new file. Access control lists are kept only on
    /// Linux.
    ///
    /// # Windows
    ///
    /// The new file gets the permissions that its folder gives to new files, also while it is written. A file that you
    /// may not write to is not replaced. A file that another program is reading can be replaced on NTFS since Windows
    /// 10. On file systems that cannot do that, `finish` fails, and the old file stays.
    ///
    /// ```
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("model.popef");
    /// let mut writer = popef::Writer::create(&path)?;
    /// writer.write_executable("model", b"its bytes")?;
    /// assert!(!path.exists());
    /// writer.finish()?;
    /// assert_eq!(popef::File::open(&path)?.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn create(path: impl AsRef<Path>) -> Result<Self, Error> {
        CreateOptions::new().create(path)
    }
}

/// A new file that appears at its path only when it is finished. [`Writer::create`] makes it.
pub struct NewFile {
    storage: Arc<dyn Storage>,
    out: Output,
    path: PathBuf,
    /// The path, with symbolic links resolved.
    target: PathBuf,
    temporary: PathBuf,
    /// The file that is replaced, kept open to hold its lock.
    old: Option<Box<dyn Handle>>,
    overwrite: bool,
    /// Whether all that was written is on disk, with its permissions.
    prepared: bool,
    /// Whether the temporary file no longer needs to be removed.
    done: bool,
}

fn failed(doing: &'static str) -> impl Fn(io::Error) -> Problem {
    move |source| Problem::io(doing, source)
}

impl NewFile {
    fn begin(storage: Arc<dyn Storage>, path: &Path, options: &CreateOptions) -> Result<Self, Problem> {
        let (target, found) = options.find(&*storage, path)?;
        let old = lock_old(&*storage, &target, found, options.overwrite)?;
        let (temporary, handle) = claim(&*storage, &target, old.as_deref(), options.mode)?;
        let out = Output::new(handle, 0);
        Ok(NewFile {
            storage,
            out,
            path: path.to_owned(),
            target,
            temporary,
            old,
            overwrite: options.overwrite,
            prepared: false,
            done: false,
        })
    }

    /// Locks the file that is to be replaced, if it is not the one that is locked already: another program may have
    /// made it meanwhile, and may be appending to it. Returns whether it is another file.
    fn lock_newest(&mut self) -> Result<bool, Problem> {
        let NewFile { storage, old, target, .. } = self;
        let same = old.as_deref().map(|old| uninterrupted(|| old.is_at(target)));
        if same.transpose().map_err(failed("look at what is there"))? == Some(true) {
            return Ok(false);
        }
        let found = uninterrupted(|| storage.look(target)).map_err(failed("look at what is there"))?;
        let newest = lock_old(&**storage, target, found, self.overwrite)?;
        let is_other = newest.is_some();
        // If the old file was removed, keep it: the new file gets its permissions.
        *old = newest.or(old.take());
        Ok(is_other)
    }

    /// Gives the new file the permissions of the old one. Until then, only its owner can open it.
    fn keep_rights(&mut self) -> Result<(), Problem> {
        let Some(old) = &self.old else { return Ok(()) };
        let rights =
            uninterrupted(|| old.rights()).map_err(failed("read the permissions of the file that is there"))?;
        uninterrupted(|| self.out.handle_mut().give_rights(&rights)).map_err(failed("keep the permissions"))
    }

    fn sync(&mut self) -> Result<(), Problem> {
        self.out.sync().map_err(|(doing, source)| Problem::io(doing, source))
    }

    /// Puts the complete file at its path.
    fn place(&mut self) -> Result<(), Problem> {
        let NewFile { storage, temporary, target, out, old, .. } = self;
        let look = failed("look at its temporary file");
        if !uninterrupted(|| out.handle().is_at(temporary)).map_err(&look)? {
            self.done = true;
            return Err(WriteProblem::TemporaryGone.into());
        }
        out.check_len().map_err(&look)?;
        if self.overwrite {
            let mut renamed = uninterrupted(|| storage.rename(temporary, target));
            // Some file systems on Windows cannot replace an open file, and our lock keeps it open.
            if cfg!(windows) && renamed.is_err() && old.take().is_some() {
                renamed = uninterrupted(|| storage.rename(temporary, target));
            }
            renamed.map_err(failed("put the new file in its place"))?;
            self.done = true;
            return Ok(());
        }
        uninterrupted(|| storage.link(temporary, target)).map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => WriteProblem::FileExists.into(),
            _ => Problem::io("put the new file in its place without overwriting", source),
        })
    }

    fn sync_folder(&self) -> Result<(), Problem> {
        self.storage
            .sync_folder(folder_of(&self.target))
            .map_err(|source| WriteProblem::FolderNotFlushed { source }.into())
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Opens and locks the file that is to be replaced, if there is one.
fn lock_old(
    storage: &dyn Storage,
    target: &Path,
    found: Option<Found>,
    overwrite: bool,
) -> Result<Option<Box<dyn Handle>>, Problem> {
    match found {
        None => return Ok(None),
        Some(Found::Folder) => return Err(WriteProblem::IsFolder.into()),
        Some(Found::PlainFile) if !overwrite => return Err(WriteProblem::FileExists.into()),
        Some(Found::PlainFile) => {}
        // Overwriting it would not help.
        Some(_) => return Err(WriteProblem::NotReplaceable.into()),
    }
    match open_locked(storage, target, Access::Read) {
        Ok(Some(old)) => Ok(Some(old)),
        Ok(None) => Err(SystemProblem::FileBusy.into()),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(not_opened("lock the file that is there")(e)),
    }
}

/// The path of the temporary file. Without an extra part in its name, it is always the same, so that two writers of one
/// file notice each other, and that the leftover of a killed program is found.
fn beside(target: &Path, more: &str) -> Result<PathBuf, Problem> {
    let no_name = || failed("create a file here")(io::Error::new(io::ErrorKind::NotFound, "the path has no name"));
    let own = target.file_name().ok_or_else(no_name)?;
    let mut name = OsString::from(".");
    match own.len() {
        ..=LONGEST_NAME => name.push(own),
        _ => name.push(format!("{:016x}", hash(own.as_encoded_bytes()))),
    }
    name.push(more);
    name.push(".popef-new");
    Ok(target.with_file_name(name))
}

/// For a longer name than this, its hash is used. File systems take names of up to 255 bytes, and some take less.
const LONGEST_NAME: usize = 200;

/// FNV-1a, which gives the same value in every build, unlike the hash of the standard library.
fn hash(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

/// The writer reads back what it wrote, and opens a leftover temporary file to lock it.
const OWNER_READS: u32 = 0o400;

/// The problem of a temporary file that cannot be created.
fn not_claimed(temporary: &Path, source: io::Error) -> Problem {
    match source.kind() {
        io::ErrorKind::NotFound => WriteProblem::NoFolder { folder: folder_of(temporary).to_owned(), source }.into(),
        _ => Problem::io("make a temporary file beside it", source),
    }
}

/// Creates the temporary file and locks it. If something other than a writer's leftover has that name, takes an
/// unpredictable name instead: otherwise anyone who may write to the folder could stop all others from replacing a
/// file. Writers of an existing file then notice each other by the lock on that file.
fn claim(
    storage: &dyn Storage,
    target: &Path,
    old: Option<&dyn Handle>,
    mode: u32,
) -> Result<(PathBuf, Box<dyn Handle>), Problem> {
    let mut temporary = beside(target, "")?;
    for _ in 0..MOST_TRIES {
        if let Some(handle) = claim_at(storage, &temporary, old, mode)? {
            return Ok((temporary, handle));
        }
        let random = RandomState::new().build_hasher().finish();
        temporary = beside(target, &format!(".{random:016x}"))?;
    }
    Err(SystemProblem::FileBusy.into())
}

/// Creates the temporary file at a path and locks it. Removes an existing file unless it is locked. Never writes to an
/// existing file, because it may be a hard link to another one. `None` if the path holds something that no writer left,
/// or that only another user may remove.
fn claim_at(
    storage: &dyn Storage,
    temporary: &Path,
    old: Option<&dyn Handle>,
    mode: u32,
) -> Result<Option<Box<dyn Handle>>, Problem> {
    let failed = |source| not_claimed(temporary, source);
    // A user who may not read the old file must not be able to read the new one, even while it is written.
    let open_to = if old.is_some() { OpenTo::Owner } else { OpenTo::AtMost(mode & 0o666 | OWNER_READS) };
    for _ in 0..MOST_TRIES {
        match uninterrupted(|| storage.create_new(temporary, open_to)) {
            Ok(handle) => match hold(&*handle, temporary) {
                Ok(true) => return Ok(Some(handle)),
                Ok(false) => {}
                Err(e) => return Err(or_left(storage, temporary, failed(e))),
            },
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                if !remove_leftover(storage, temporary, old)? {
                    return Ok(None);
                }
            }
            Err(e) => return Err(failed(e)),
        }
    }
    Err(SystemProblem::FileBusy.into())
}

/// Removes the temporary file after a problem. If that fails, the returned problem names the file.
fn or_left(storage: &dyn Storage, temporary: &Path, problem: Problem) -> Problem {
    match remove(storage, temporary) {
        Ok(()) => problem,
        Err(source) => left_behind(problem, Left::Temporary(temporary.to_owned()), source),
    }
}

/// Removes a file. A missing file is not an error.
fn remove(storage: &dyn Storage, path: &Path) -> io::Result<()> {
    match uninterrupted(|| storage.remove(path)) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

/// Locks the temporary file that was just created. Returns `false` if another writer was faster.
fn hold(handle: &dyn Handle, temporary: &Path) -> io::Result<bool> {
    Ok(uninterrupted(|| handle.lock())? && uninterrupted(|| handle.is_at(temporary))?)
}

/// Removes what a killed writer has left. Returns `false` if it is nothing of that kind, or of another user.
fn remove_leftover(storage: &dyn Storage, temporary: &Path, old: Option<&dyn Handle>) -> Result<bool, Problem> {
    let failed = |source| left_behind(WriteProblem::TemporaryExists, Left::Temporary(temporary.to_owned()), source);
    match uninterrupted(|| storage.look(temporary)).map_err(failed)? {
        None => return Ok(true),
        Some(Found::PlainFile) => {}
        Some(_) => return Ok(false),
    }
    let removed = || match remove(storage, temporary) {
        Err(e) if e.kind() == io::ErrorKind::PermissionDenied => Ok(false),
        removed => removed.map(|()| true).map_err(failed),
    };
    // It may be a hard link to the old file, which is locked already. A program leaves such a link if it was killed
    // between `link` and `remove` while overwriting was not allowed.
    if let Some(old) = old
        && uninterrupted(|| old.is_at(temporary)).map_err(failed)?
    {
        return removed();
    }
    let locked = match open_locked(storage, temporary, Access::Read) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(true),
        Err(e) if e.kind() == io::ErrorKind::PermissionDenied || is_not_regular(&e) => return Ok(false),
        locked => locked.map_err(failed)?.ok_or(SystemProblem::FileBusy)?,
    };
    let removed = removed();
    drop(locked);
    removed
}

impl Destination for NewFile {}
impl Rewind for NewFile {}

impl Sink for NewFile {
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.prepared = false;
        self.out.write_at(at, bytes)
    }

    fn copy_at(&mut self, at: u64, from: &mut Take<fs::File>) -> io::Result<()> {
        self.prepared = false;
        self.out.copy_at(at, from)
    }

    fn cut(&mut self, len: u64) -> Result<(), Failure> {
        self.prepared = false;
        Ok(self.out.cut(len).map_err(failed("undo an unfinished blob"))?)
    }

    fn commit(&mut self, end: u64) -> Result<(), Failure> {
        if !self.prepared {
            self.prepare()?;
        }
        // Flushing takes a while, and another file may have appeared at the path.
        if self.lock_newest()? {
            self.keep_rights()?;
            self.sync()?;
        }
        self.place()?;
        let removed = self.abandon(end);
        let flushed = self.sync_folder();
        match removed {
            Ok(()) => Ok(flushed?),
            Err(Remains(left, source)) => {
                let problem = flushed.err().unwrap_or(WriteProblem::InPlace.into());
                Err(left_behind(problem, left, source).into())
            }
        }
    }

    fn flush(&mut self) -> Result<(), Failure> {
        Ok(self.out.release().map_err(failed("write"))?)
    }

    fn prepare(&mut self) -> Result<(), Failure> {
        self.lock_newest()?;
        self.keep_rights()?;
        self.sync()?;
        self.prepared = true;
        Ok(())
    }

    fn abandon(&mut self, _end: u64) -> Result<(), Remains> {
        if self.done {
            return Ok(());
        }
        self.done = true;
        remove(&*self.storage, &self.temporary).map_err(|e| Remains(Left::Temporary(self.temporary.clone()), e))
    }

    fn read_back(&mut self) -> Result<Option<fs::File>, Failure> {
        self.out.flush().map_err(failed("write"))?;
        let look = failed("open its temporary file");
        let file = uninterrupted(|| fs::File::open(&self.temporary)).map_err(&look)?;
        if self.out.handle().is_file(&file) { Ok(Some(file)) } else { Err(WriteProblem::TemporaryGone.into()) }
    }

    fn path(&self) -> Option<&Path> {
        Some(&self.path)
    }

    fn locked(&self) -> Vec<i32> {
        let old = self.old.iter().filter_map(|old| old.descriptor());
        self.out.handle().descriptor().into_iter().chain(old).collect()
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        // A drop cannot report an error. `Writer::discard` does.
        let _ = self.abandon(0);
    }
}

impl fmt::Debug for NewFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NewFile { path, target, temporary, .. } = self;
        f.debug_struct("NewFile")
            .field("path", path)
            .field("target", target)
            .field("temporary", temporary)
            .finish_non_exhaustive()
    }
}
