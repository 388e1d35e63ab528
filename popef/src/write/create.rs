use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io::{self, Take};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::destination::sink::{Failure, Remains, Sink};
use super::destination::{Destination, Rewind};
use super::output::Output;
use super::problem::{Left, WriteProblem, left_behind};
use super::storage::{Access, Found, Handle, MOST_TRIES, Openness, Storage, System, not_opened, open_locked, resolve};
use super::writer::Writer;
use crate::error::{Error, Problem, SystemProblem};
use crate::read::uninterrupted;

/// How to create a file: whether in place of another one.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("model.popef");
/// std::fs::write(&path, "precious")?;
/// let error = popef::write::CreateOptions::new().overwrite(false).create(&path).unwrap_err();
/// assert!(error.to_string().ends_with("the file exists already, and it was asked not to overwrite one"));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct CreateOptions {
    overwrite: bool,
}

impl Default for CreateOptions {
    fn default() -> Self {
        CreateOptions { overwrite: true }
    }
}

impl CreateOptions {
    /// Overwrites a file that is there.
    pub fn new() -> Self {
        CreateOptions::default()
    }

    /// Whether a file that is there is replaced. If not, one that appears before
    /// [`finish`](Writer::finish) is an error there, and stays as it is; the file system must know hard links.
    pub fn overwrite(&mut self, overwrite: bool) -> &mut Self {
        self.overwrite = overwrite;
        self
    }

    /// Begins a new file; see [`Writer::create`].
    pub fn create(&self, path: impl AsRef<Path>) -> Result<Writer<NewFile>, Error> {
        self.create_in(Arc::new(System), path.as_ref())
    }

    pub(super) fn create_in(&self, storage: Arc<dyn Storage>, path: &Path) -> Result<Writer<NewFile>, Error> {
        let file = NewFile::begin(storage, path, self.overwrite);
        file.map(Writer::begin).map_err(|problem| Error::from(problem).in_file(Some(path)))
    }
}

impl Writer<NewFile> {
    /// Writes a new file, or one in place of an old one: all goes to a temporary file beside it, which
    /// [`finish`](Writer::finish) flushes to disk and renames. Until then, and after any failure, the old file is as
    /// it was, for those who have it open or mapped too.
    ///
    /// A symbolic link is followed: the file that it names is replaced. A program that is killed leaves its temporary
    /// file, `.NAME.popef-new`; the next `create` of the same user removes it.
    ///
    /// [`CreateOptions`] can refuse to overwrite.
    ///
    /// # Who may read and write it
    ///
    /// While a file is replaced, only its writer can open the temporary file. `finish` then gives it the rights of the
    /// old file: owner, group, mode, and on Linux the POSIX access control list and the attributes named `user.*`.
    /// What the system does not allow is left out, and never more than the old file allowed is given:
    ///
    /// - Only the superuser may give files away, so the writer becomes the owner.
    /// - Who is not in the old file's group cannot keep the group. The new group and all others then get what both the
    ///   old group and all others had; with an access control list, nothing.
    ///
    /// Security labels and capabilities are set by the system as for any new file. On other systems than Linux access
    /// control lists are not kept.
    ///
    /// # Windows
    ///
    /// The new file gets the rights that its folder gives to new files, also while it is written. A file that you may
    /// not write to is not replaced. A file that somebody is reading can be replaced on NTFS since Windows 10; on file
    /// systems that cannot do that `finish` fails, and the old file stays.
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

/// A file that comes into its place only when it is finished; see [`Writer::create`].
pub struct NewFile {
    storage: Arc<dyn Storage>,
    out: Output,
    path: PathBuf,
    /// Where the file goes: the path, with links followed.
    target: PathBuf,
    temporary: PathBuf,
    /// The file that is replaced, held for its lock.
    old: Option<Box<dyn Handle>>,
    overwrite: bool,
    /// Whether the temporary file's name is gone.
    done: bool,
}

fn failed(doing: &'static str) -> impl Fn(io::Error) -> Problem {
    move |source| Problem::io(doing, source)
}

impl NewFile {
    fn begin(storage: Arc<dyn Storage>, path: &Path, overwrite: bool) -> Result<Self, Problem> {
        let (target, found) = resolve(&*storage, path).map_err(failed("look at what is there"))?;
        let old = lock_old(&*storage, &target, found, overwrite)?;
        let temporary = beside(&target)?;
        let handle = claim(&*storage, &temporary, old.as_deref())?;
        let out = Output::new(handle, 0);
        Ok(NewFile { storage, out, path: path.to_owned(), target, temporary, old, overwrite, done: false })
    }

    /// Locks the file that is to be replaced, if it is not the one from the beginning: somebody may have made it
    /// meanwhile, and be appending to it. Whether it is another one.
    fn lock_newest(&mut self) -> Result<bool, Problem> {
        let NewFile { storage, old, target, .. } = self;
        let same = old.as_deref().map(|old| uninterrupted(|| old.is_at(target)));
        if same.transpose().map_err(failed("look at what is there"))? == Some(true) {
            return Ok(false);
        }
        let found = uninterrupted(|| storage.look(target)).map_err(failed("look at what is there"))?;
        let newest = lock_old(&**storage, target, found, self.overwrite)?;
        let is_other = newest.is_some();
        // One that was removed keeps its lock, and its rights are those of the new file.
        *old = newest.or(old.take());
        Ok(is_other)
    }

    /// Gives the new file the rights of the one that it replaces. Until then only its owner can open it.
    fn keep_rights(&mut self) -> Result<(), Problem> {
        let Some(old) = &self.old else { return Ok(()) };
        let rights =
            uninterrupted(|| old.rights()).map_err(failed("read the permissions of the file that is there"))?;
        uninterrupted(|| self.out.handle_mut().give_rights(&rights)).map_err(failed("keep the permissions"))
    }

    fn sync(&mut self) -> Result<(), Problem> {
        self.out.sync().map_err(|(doing, source)| Problem::io(doing, source))
    }

    /// Gives the whole file its name.
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
            // Not every file system of Windows replaces a file that is open, not even one that is open for its lock.
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
        let folder = self.target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        self.storage.sync_folder(folder).map_err(|source| WriteProblem::FolderNotFlushed { source }.into())
    }
}

/// The file that is to be replaced, locked.
fn lock_old(
    storage: &dyn Storage,
    target: &Path,
    found: Option<Found>,
    overwrite: bool,
) -> Result<Option<Box<dyn Handle>>, Problem> {
    match found {
        None => return Ok(None),
        Some(_) if !overwrite => return Err(WriteProblem::FileExists.into()),
        Some(Found::PlainFile) => {}
        Some(_) => return Err(WriteProblem::NotRegularFile.into()),
    }
    match open_locked(storage, target, Access::Read) {
        Ok(Some(old)) => Ok(Some(old)),
        Ok(None) => Err(SystemProblem::FileBusy.into()),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(not_opened("lock the file that is there")(e)),
    }
}

/// The temporary file's name: always the same, so that two who create one file meet at it, and that what a killed
/// program left is found.
fn beside(target: &Path) -> Result<PathBuf, Problem> {
    let no_name = || failed("create a file here")(io::Error::new(io::ErrorKind::NotFound, "the path has no name"));
    let own = target.file_name().ok_or_else(no_name)?;
    let mut name = OsString::from(".");
    match own.len() {
        ..=LONGEST_NAME => name.push(own),
        _ => name.push(format!("{:016x}", hash(own.as_encoded_bytes()))),
    }
    name.push(".popef-new");
    Ok(target.with_file_name(name))
}

/// File systems take names of up to 255 bytes, and some of them less; of a longer name than this its hash is used.
const LONGEST_NAME: usize = 200;

/// FNV-1a: the same in every build, unlike that of the standard library.
fn hash(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

/// Makes the temporary file and locks it. What is there already is removed if nobody has it locked, and never
/// written to: it may be a name of something else.
fn claim(storage: &dyn Storage, temporary: &Path, old: Option<&dyn Handle>) -> Result<Box<dyn Handle>, Problem> {
    let failed = failed("make a temporary file beside it");
    // Who may not read the old file must not read the new one while it is written either.
    let openness = if old.is_some() { Openness::Private } else { Openness::Usual };
    for _ in 0..MOST_TRIES {
        match uninterrupted(|| storage.create_new(temporary, openness)) {
            Ok(handle) => match hold(&*handle, temporary) {
                Ok(true) => return Ok(handle),
                Ok(false) => {}
                Err(e) => return Err(or_left(storage, temporary, failed(e))),
            },
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => remove_leftover(storage, temporary, old)?,
            Err(e) => return Err(failed(e)),
        }
    }
    Err(SystemProblem::FileBusy.into())
}

/// The problem, with the temporary file removed or named.
fn or_left(storage: &dyn Storage, temporary: &Path, problem: Problem) -> Problem {
    match remove(storage, temporary) {
        Ok(()) => problem,
        Err(source) => left_behind(problem, Left::Temporary(temporary.to_owned()), source),
    }
}

/// Removes a name, unless it is gone already.
fn remove(storage: &dyn Storage, path: &Path) -> io::Result<()> {
    match uninterrupted(|| storage.remove(path)) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

/// Locks the temporary file that was just made; false if another one came between.
fn hold(handle: &dyn Handle, temporary: &Path) -> io::Result<bool> {
    Ok(uninterrupted(|| handle.lock())? && uninterrupted(|| handle.is_at(temporary))?)
}

fn remove_leftover(storage: &dyn Storage, temporary: &Path, old: Option<&dyn Handle>) -> Result<(), Problem> {
    let failed = |source| left_behind(WriteProblem::TemporaryInTheWay, Left::Temporary(temporary.to_owned()), source);
    match uninterrupted(|| storage.look(temporary)).map_err(failed)? {
        None => return Ok(()),
        Some(Found::PlainFile) => {}
        Some(_) => return Err(failed(io::Error::other("it is not a regular file"))),
    }
    // Another name of the old file, which is locked already: left where overwriting was refused, between the two.
    if let Some(old) = old
        && uninterrupted(|| old.is_at(temporary)).map_err(failed)?
    {
        return remove(storage, temporary).map_err(failed);
    }
    let locked = match open_locked(storage, temporary, Access::Read) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        locked => locked.map_err(failed)?.ok_or(SystemProblem::FileBusy)?,
    };
    remove(storage, temporary).map_err(failed)?;
    drop(locked);
    Ok(())
}

impl Destination for NewFile {}
impl Rewind for NewFile {}

impl Sink for NewFile {
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.out.write_at(at, bytes)
    }

    fn copy_at(&mut self, at: u64, from: &mut Take<fs::File>) -> io::Result<()> {
        self.out.copy_at(at, from)
    }

    fn cut(&mut self, len: u64) -> Result<(), Failure> {
        Ok(self.out.cut(len).map_err(failed("undo an unfinished blob"))?)
    }

    fn commit(&mut self, end: u64) -> Result<(), Failure> {
        self.lock_newest()?;
        self.keep_rights()?;
        self.sync()?;
        // Flushing takes a while: another file may have come into the place.
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

    fn abandon(&mut self, _end: u64) -> Result<(), Remains> {
        if self.done {
            return Ok(());
        }
        self.done = true;
        remove(&*self.storage, &self.temporary).map_err(|e| Remains(Left::Temporary(self.temporary.clone()), e))
    }

    fn path(&self) -> Option<&Path> {
        Some(&self.path)
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        // Nobody is left to be told; `Writer::discard` tells.
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
