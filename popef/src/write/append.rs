use std::collections::HashSet;
use std::fmt;
use std::fs;
use std::io::{self, Take};
use std::path::{Path, PathBuf};

use super::destination::sink::{Failure, Remains, Sink};
use super::destination::{Destination, Rewind};
use super::output::Output;
use super::problem::{Left, WriteProblem};
use super::storage::{Access, Found, Handle, Storage, System, not_opened, open_locked, resolve};
use super::writer::Writer;
use crate::error::{Error, ErrorKind, Problem, SystemProblem};
use crate::len::len_of;
use crate::read::{File, ReadProblem, uninterrupted};
use crate::types::Text;

/// The number of first bytes that are written last. They are the start of a header, with its length: while they are
/// zeros, readers find no blob here.
const FIRST: usize = 8;

/// A file to which blobs are appended. [`Writer::append`] makes it.
pub struct Appended {
    out: Output,
    path: PathBuf,
    /// The path, with symbolic links resolved.
    target: PathBuf,
    old_len: u64,
    /// The first appended bytes. The file has zeros there until everything else is on disk.
    first: [u8; FIRST],
    done: bool,
}

impl Writer<Appended> {
    /// Appends blobs to a file, all or none of them: readers do not find them before [`finish`](Writer::finish). A reader that opens the
    /// file meanwhile finds the old blobs, and behind them damage with the code `blob-unwritten`.
    ///
    /// The file is walked first. If it is damaged, `append` fails, and [`recover`](crate::write::recover) may help. The
    /// first eight appended bytes stay zeros until everything else is flushed to disk. So if the program is killed or
    /// the power fails, the old blobs are unchanged, and every reader reports what follows them as an incomplete blob.
    /// After a failure, or if the writer is dropped, the file has its old length. Writing fails if the file is removed,
    /// renamed, replaced or resized meanwhile.
    ///
    /// # Locks
    ///
    /// Writers of this crate lock the file that they change (`flock` on Unix), and a second writer gets
    /// [`ErrorKind::Busy`](crate::error::ErrorKind::Busy). Readers are not locked out. On Unix, such locks have two
    /// limits:
    ///
    /// - They are advisory. A program that does not take the lock can still write to the file. The writer notices if
    ///   that changes the file's length, before each write and at the end. It does not notice a change in place.
    /// - Everyone who may read the file can hold the lock for any time, for example with `flock -x FILE sleep 1d`. If
    ///   you do not trust all readers, deny them access to the file or its folder. On Linux, `lslocks` and `fuser FILE`
    ///   show which process holds the lock.
    ///
    /// On Windows, no other program can open the file for writing until the writer has ended.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("model.popef");
    /// # std::fs::copy("examples/data/executable.popef", &path)?;
    /// use popef::types::OpaqueInfo;
    /// use popef::{File, Writer};
    ///
    /// let mut writer = Writer::append(&path)?;
    /// writer.write_opaque(&OpaqueInfo { name: "notes".into(), executable: "model".into() }, b"mine")?;
    /// writer.finish()?;
    /// assert_eq!(*File::open(&path)?.opaque("notes").expect("it was added").data().read()?, *b"mine");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn append(path: impl AsRef<Path>) -> Result<Self, Error> {
        append_in(&System, path.as_ref())
    }
}

pub(super) fn append_in(storage: &dyn Storage, path: &Path) -> Result<Writer<Appended>, Error> {
    let (handle, target) = open(storage, path).map_err(|problem| Error::from(problem).in_file(Some(path)))?;
    let file = handle.walk(path)?;
    if let Some(damage) = file.damage().cloned() {
        let refusal = |damage| WriteProblem::BeforeAppend { damage };
        return Err(if damage.kind() == ErrorKind::Damaged { damage.map_problem(refusal) } else { damage });
    }
    let names = names_of_executables(&file).map_err(|problem| Error::from(problem).in_file(Some(path)))?;
    let (blobs, old_len) = (file.len(), file.size());
    drop(file);
    let out = Output::new(handle, old_len);
    let appended = Appended { out, path: path.to_owned(), target, old_len, first: [0; FIRST], done: false };
    Ok(Writer::begin(appended).behind(blobs, old_len, names))
}

/// The names of executables that are taken.
fn names_of_executables(file: &File) -> Result<HashSet<Text<'static>>, Problem> {
    let mut names = HashSet::new();
    let count = file.executables().count();
    Problem::in_memory(count.saturating_mul(size_of::<Text<'static>>()), names.try_reserve(count))?;
    for executable in file.executables() {
        names.insert(executable.name().try_to_own()?);
    }
    Ok(names)
}

/// Opens and locks the file to be changed. Also returns its path with symbolic links resolved.
fn open(storage: &dyn Storage, path: &Path) -> Result<(Box<dyn Handle>, PathBuf), Problem> {
    let failed = not_opened("open the file to write to it");
    let (target, found) = resolve(storage, path).map_err(&failed)?;
    match found {
        Some(Found::Folder) => return Err(WriteProblem::IsFolder.into()),
        Some(Found::Other) => return Err(WriteProblem::NotReplaceable.into()),
        _ => {}
    }
    let handle = open_locked(storage, &target, Access::ReadWrite).map_err(&failed)?.ok_or(SystemProblem::FileBusy)?;
    Ok((handle, target))
}

impl Appended {
    /// Keeps those of the bytes that must be written last. Returns the bytes that were kept, and the rest.
    fn hold_back<'b>(&mut self, at: u64, bytes: &'b [u8]) -> (&'b [u8], &'b [u8]) {
        let skip = at.saturating_sub(self.old_len);
        let Some(hole) = usize::try_from(skip).ok().and_then(|skip| self.first.get_mut(skip..)) else {
            return (&[], bytes);
        };
        let (held, rest) = bytes.split_at_checked(hole.len()).unwrap_or((bytes, &[]));
        hole.iter_mut().zip(held).for_each(|(hole, &byte)| *hole = byte);
        (held, rest)
    }

    /// Fails if a program without the lock removed, replaced or resized the file.
    fn check_undisturbed(&self) -> Result<(), Problem> {
        let failed = |source| Problem::io("look at what is there", source);
        if !uninterrupted(|| self.out.handle().is_at(&self.target)).map_err(failed)? {
            return Err(ReadProblem::FileChanged.into());
        }
        self.out.check_len().map_err(failed)
    }
}

impl Destination for Appended {}
impl Rewind for Appended {}

impl Sink for Appended {
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let (held, rest) = self.hold_back(at, bytes);
        let zeros = [0; FIRST];
        self.out.write_at(at, zeros.get(..held.len()).unwrap_or_default())?;
        if rest.is_empty() { Ok(()) } else { self.out.write_at(at.saturating_add(len_of(held)), rest) }
    }

    fn copy_at(&mut self, at: u64, from: &mut Take<fs::File>) -> io::Result<()> {
        // Only data is copied in this way. It follows a header, so it never includes the first bytes.
        self.out.copy_at(at, from)
    }

    fn cut(&mut self, len: u64) -> Result<(), Failure> {
        self.out.cut(len).map_err(|source| Problem::io("undo an unfinished blob", source).into())
    }

    fn commit(&mut self, end: u64) -> Result<(), Failure> {
        let failed = |(doing, source)| Failure(Problem::io(doing, source));
        if end > self.old_len {
            self.out.sync().map_err(failed)?;
            self.check_undisturbed()?;
            self.out.write_at(self.old_len, &self.first).map_err(|e| failed(("write", e)))?;
            self.out.sync().map_err(failed)?;
            self.check_undisturbed()?;
        }
        self.done = true;
        Ok(())
    }

    fn abandon(&mut self, _end: u64) -> Result<(), Remains> {
        if self.done {
            return Ok(());
        }
        self.done = true;
        self.out.cut(self.old_len).map_err(|e| Remains(Left::Tail { old_len: self.old_len }, e))
    }

    fn path(&self) -> Option<&Path> {
        Some(&self.path)
    }

    fn is_file(&self, file: &fs::File) -> bool {
        self.out.handle().is_file(file)
    }

    fn locked(&self) -> Vec<i32> {
        self.out.handle().descriptor().into_iter().collect()
    }
}

impl Drop for Appended {
    fn drop(&mut self) {
        // A drop cannot report an error. `Writer::discard` does.
        let _ = self.abandon(0);
    }
}

impl fmt::Debug for Appended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Appended").field("path", &self.path).field("old_len", &self.old_len).finish_non_exhaustive()
    }
}

/// The result of [`recover`].
#[derive(Debug)]
#[non_exhaustive]
pub struct Recovered {
    /// The number of complete blobs, which were kept.
    pub blobs: usize,
    /// The length of the file now, which is the end of the last complete blob.
    pub len: u64,
    /// The number of bytes that were cut off. 0 if the file was not damaged.
    pub cut: u64,
    /// The damage. `None` if the file was not damaged.
    pub damage: Option<Error>,
}

/// Cuts a damaged file back to the end of the last complete blob before the damage.
///
/// Everything from the damage on is lost, including complete blobs after it, because nothing says where they begin.
/// Open the file with [`OpenOptions::damaged`](crate::OpenOptions::damaged) to see beforehand which blobs would be
/// kept. An undamaged file is not changed, nor is one that only exceeds a limit.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("model.popef");
/// let bytes = std::fs::read("examples/data/executable.popef")?;
/// std::fs::write(&path, &bytes[..bytes.len() - 1])?;
/// let recovered = popef::write::recover(&path)?;
/// println!("{} bytes were cut off: {}", recovered.cut, recovered.damage.expect("a byte is missing"));
/// assert_eq!(popef::File::open(&path)?.len(), recovered.blobs);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn recover(path: impl AsRef<Path>) -> Result<Recovered, Error> {
    recover_in(&System, path.as_ref())
}

pub(super) fn recover_in(storage: &dyn Storage, path: &Path) -> Result<Recovered, Error> {
    let failed = |problem: Problem| Error::from(problem).in_file(Some(path));
    let (mut handle, _) = open(storage, path).map_err(failed)?;
    let file = handle.walk(path)?;
    let (blobs, len, size) = (file.len(), file.end(), file.size());
    match file.damage().cloned() {
        None => Ok(Recovered { blobs, len, cut: 0, damage: None }),
        Some(damage) if damage.kind() != ErrorKind::Damaged => Err(damage),
        damage => {
            let now = uninterrupted(|| handle.len()).map_err(|source| failed(Problem::io("look at it", source)))?;
            if now != size {
                return Err(failed(WriteProblem::FileResized.into()));
            }
            uninterrupted(|| handle.set_len(len)).map_err(|source| failed(Problem::io("cut it", source)))?;
            handle.sync().map_err(|source| failed(Problem::io("flush the cut to disk", source)))?;
            Ok(Recovered { blobs, len, cut: size.saturating_sub(len), damage })
        }
    }
}
