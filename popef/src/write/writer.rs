use std::collections::HashSet;
use std::fmt;
use std::io::{Seek, Write};
use std::path::Path;

use super::append::Appended;
use super::blob::{WRITE, What};
use super::create::{CreateOptions, NewFile};
use super::destination::sink::{Failure, Remains};
use super::destination::{Destination, Seekable, Stream, Truncate, len_of};
use super::problem::{WriteProblem, left_behind};
use crate::error::{Error, Problem};
use crate::types::{BlobType, Text};
use crate::wire::encode;

/// Writes blobs, one after the other.
///
/// | made by | writes to | blobs of unknown length | if it is dropped or fails |
/// |---|---|---|---|
/// | [`Writer::create`] | a new file, or in place of an old one | yes | nothing has changed |
/// | [`Writer::append`] | the end of a file | yes | the file has its old length |
/// | [`Writer::seekable`] | an opened file, memory | yes | whole blobs stay |
/// | [`Writer::stream`] | a pipe, a socket | no | what went out is out |
///
/// A blob is written whole by the methods named `write_...`, or through a [`BlobWriter`](crate::BlobWriter), which borrows the writer,
/// so that only one is open at a time. Nothing is done before [`finish`](Writer::finish) says so.
///
/// What the reader would call damaged is refused before any of it is written, and the writer goes on as before. A
/// failure of the system, on the other hand, is final: every later call says so.
///
/// ```
/// use popef::{DataType, File, OpaqueInfo, TensorDataInfo, TensorInfo, Writer};
///
/// let mut bytes = std::io::Cursor::new(Vec::new());
/// let mut writer = Writer::seekable(&mut bytes)?;
/// let info = TensorDataInfo { name: "weights".into(), tensor_info: TensorInfo::new(DataType::F32, [2]) };
/// writer.write_tensor(&info, &[1.5f32, -2.25])?;
/// let written = writer.write_opaque(&OpaqueInfo { name: "notes".into(), ..Default::default() }, b"mine")?;
/// assert_eq!(written.offset, 120);
/// writer.finish()?;
///
/// let file = File::from_bytes(bytes.into_inner())?;
/// assert_eq!(*file.tensor("weights").expect("it was written").elements()?.to_slice::<f32>()?, [1.5, -2.25]);
/// # Ok::<(), popef::Error>(())
/// ```
pub struct Writer<D: Destination> {
    pub(super) to: D,
    version: Text<'static>,
    /// How many threads compress; 0 are as many as there are processors.
    threads: usize,
    /// The index of the next blob in the file.
    index: usize,
    start: u64,
    end: u64,
    executables: HashSet<Text<'static>>,
    fault: Option<Fault>,
}

/// Why a writer cannot go on.
#[derive(Debug)]
enum Fault {
    /// A failure that nobody was told of: an unfinished blob was dropped, and could not be undone.
    Untold(Problem),
    /// A blob was left unfinished in a stream.
    NotUndone,
    /// A failure that was told.
    Failed,
}

/// Where something was written: a blob, or all blobs of a writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Written {
    /// Its first byte, counted from the file's first byte.
    pub offset: u64,
    /// How many bytes it has, for a blob header and info included.
    pub size: u64,
}

impl<W: Write> Writer<Stream<W>> {
    /// Writes to a pipe, a socket, or whatever else cannot go back. To keep it, pass `&mut` of it. Each blob takes two
    /// calls of it or more, which a [`BufWriter`](std::io::BufWriter) gathers.
    ///
    /// ```
    /// let mut out = Vec::new();
    /// let mut writer = popef::Writer::stream(&mut out);
    /// writer.write_executable("model", b"its bytes")?;
    /// let written = writer.finish()?;
    /// assert_eq!(out.len() as u64, written.size);
    /// # Ok::<(), popef::Error>(())
    /// ```
    pub fn stream(to: W) -> Self {
        Writer::begin(Stream::new(to))
    }
}

impl<W: Write + Seek + Truncate> Writer<Seekable<W>> {
    /// Writes from the current position on to what can go back: an opened file, a `Cursor<Vec<u8>>`. To keep it,
    /// pass `&mut` of it.
    pub fn seekable(to: W) -> Result<Self, Error> {
        let to = Seekable::new(to);
        to.map(Writer::begin).map_err(|e| Error::io(None, "ask for the position to write at", e))
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

impl Writer<Appended> {
    /// Adds blobs to the end of a file, all or none of them: until [`finish`](Writer::finish) they cannot be found.
    ///
    /// The file is walked first; if it is damaged, that is the error, and [`recover`](crate::recover) may help. The
    /// first eight bytes that are added stay zeros until everything else was flushed to disk. So a program that is
    /// killed, or a power cut, leaves the old blobs as they were and behind them what every reader reports as an
    /// incomplete blob. After a failure, or if the writer is dropped, the file has its old length. A file that was
    /// removed, renamed or replaced meanwhile, or made shorter or longer, is a failure.
    ///
    /// # Locks
    ///
    /// Writers of this crate lock the file that they change (`flock` on Unix), and a second writer gets
    /// [`ErrorKind::Busy`](crate::ErrorKind::Busy). Two things follow from how such locks work:
    ///
    /// - They are advice. A program that does not ask for the lock can write to the file all the same. Its change is
    ///   noticed by the file's length, before each write and at the end; a change in place is not noticed.
    /// - Whoever may read the file can hold the lock, for as long as they like: `flock -x FILE sleep 1d` does. If
    ///   that could be a stranger, do not let them read the file, or keep it in a folder that they cannot enter. On
    ///   Linux, `lslocks` and `fuser FILE` show who holds it.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("model.popef");
    /// # std::fs::copy("../testdata/interop/executable.popef", &path)?;
    /// use popef::{File, OpaqueInfo, Writer};
    ///
    /// let mut writer = Writer::append(&path)?;
    /// writer.write_opaque(&OpaqueInfo { name: "notes".into(), executable: "model".into() }, b"mine")?;
    /// writer.finish()?;
    /// assert_eq!(*File::open(&path)?.opaque("notes").expect("it was added").data().read()?, *b"mine");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn append(path: impl AsRef<Path>) -> Result<Self, Error> {
        super::append::append(path.as_ref())
    }
}

impl<D: Destination> Writer<D> {
    pub(super) fn begin(to: D) -> Self {
        let (version, executables) = (Text::default(), HashSet::new());
        Writer { to, version, threads: 0, index: 0, start: 0, end: 0, executables, fault: None }
    }

    /// The same, behind so many blobs of a file that end at `end`, among them these executables.
    pub(super) fn behind(mut self, blobs: usize, end: u64, executables: HashSet<Text<'static>>) -> Self {
        (self.index, self.start, self.end, self.executables) = (blobs, end, end, executables);
        self
    }

    /// The version that the blobs begun from now on state. Empty unless set, as in files of the vendor.
    pub fn version(&mut self, version: impl Into<Text<'static>>) -> &mut Self {
        self.version = version.into();
        self
    }

    /// How many threads compress the executables that are begun from now on: as many as there are processors unless
    /// set, and again with 0. With 1 all is done in the thread that writes. The bytes are the same with any number.
    pub fn threads(&mut self, threads: usize) -> &mut Self {
        self.threads = threads;
        self
    }

    /// Ends the writing, and says where all of it is: of a file that was appended to, what was added.
    ///
    /// A file that is created comes into its place now, and blobs that were appended become part of theirs; both are
    /// flushed to disk. If that fails, the old file, or the old length, is there again, and the error says what
    /// failed: a flush that failed is never tried again. What else can be written to is flushed as by
    /// [`Write::flush`].
    pub fn finish(mut self) -> Result<Written, Error> {
        self.check_fault()?;
        if let Err(Failure(problem)) = self.to.commit(self.end) {
            self.fault = Some(Fault::Failed);
            return Err(Error::from(self.give_up(problem)).in_file(self.to.path()));
        }
        // Nothing is left that dropping it could undo.
        self.fault = Some(Fault::Failed);
        Ok(Written { offset: self.start, size: self.end.saturating_sub(self.start) })
    }

    /// Gives up, as dropping it does, and says if what was written so far could not be removed.
    pub fn discard(mut self) -> Result<(), Error> {
        if self.fault.is_some() {
            return Ok(());
        }
        let path = self.to.path().map(Path::to_owned);
        let left = self.to.abandon(self.end);
        left.map_err(|Remains(left, source)| {
            Error::from(left_behind(WriteProblem::Discarded, left, source)).in_file(path.as_deref())
        })
    }
}

/// What the blob writers build on.
impl<D: Destination> Writer<D> {
    /// Whether a blob can be begun: nothing failed before, and its name is right.
    pub(super) fn check_new(&mut self, what: &What) -> Result<(), Error> {
        self.check_fault()?;
        if what.blob_type != BlobType::PoplarExecutable {
            return Ok(());
        }
        if what.name.is_empty() {
            return Err(self.refusal(WriteProblem::ExecutableUnnamed));
        }
        if self.executables.contains(&what.name) {
            return Err(self.refusal(WriteProblem::DuplicateExecutable { name: what.shown_name() }));
        }
        // So that the name can be kept once the executable is written.
        let reserved = self.executables.try_reserve(1);
        Problem::in_memory(size_of::<Text<'static>>(), reserved).map_err(|problem| self.refusal(problem))
    }

    pub(super) fn check_fault(&mut self) -> Result<(), Error> {
        let problem = match &mut self.fault {
            None => return Ok(()),
            Some(Fault::NotUndone) => WriteProblem::NotUndone.into(),
            Some(fault) => match std::mem::replace(fault, Fault::Failed) {
                Fault::Untold(problem) => problem,
                _ => WriteProblem::WriterFailed.into(),
            },
        };
        Err(self.refusal(problem))
    }

    pub(super) fn thread_count(&self) -> usize {
        self.threads
    }

    pub(super) fn header_len(&self) -> u64 {
        encode::header_len(&self.version)
    }

    pub(super) fn header(&self, blob_type: BlobType, size: u64) -> Result<Vec<u8>, Error> {
        encode::header(&self.version, blob_type, size).map_err(|problem| self.refusal(problem))
    }

    /// Where the next blob begins.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Writes bytes at a place of the file; a failure is final.
    pub(super) fn put(&mut self, at: u64, bytes: &[u8]) -> Result<(), Error> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.to.write_at(at, bytes).map_err(|source| self.fail(Problem::io(WRITE, source)))
    }

    /// Writes a head in place of the zeros that stood for it, its first word last: as long as that is zeros a walk
    /// ends there, however much of the rest was written.
    pub(super) fn put_head(&mut self, at: u64, head: &[u8]) -> Result<(), Error> {
        const WORD: usize = 8;
        let (first, rest) = head.split_at_checked(WORD).unwrap_or((head, &[]));
        self.put(at.saturating_add(len_of(first)), rest)?;
        self.put(at, first)
    }

    /// Counts a blob that was written whole.
    pub(super) fn finished(&mut self, what: &What, size: u64) -> Written {
        if what.blob_type == BlobType::PoplarExecutable {
            self.executables.insert(what.name.clone());
        }
        let written = Written { offset: self.end, size };
        self.end = self.end.saturating_add(size);
        self.index = self.index.saturating_add(1);
        written
    }

    /// Counts blobs that were written as if they were the end of the last one.
    pub(super) fn finished_more(&mut self, blobs: usize) {
        self.index = self.index.saturating_add(blobs);
    }

    /// Takes back what was written of an unfinished blob.
    pub(super) fn undo(&mut self) {
        if self.fault.is_none()
            && let Err(Failure(problem)) = self.to.cut(self.end)
        {
            self.fault = Some(match problem {
                Problem::Write(WriteProblem::NotUndone) => Fault::NotUndone,
                problem => Fault::Untold(self.give_up(problem)),
            });
        }
    }

    /// The error of a mistake of the caller, after which the writer goes on.
    pub(super) fn refusal(&self, problem: impl Into<Problem>) -> Error {
        problem.into().at(self.index, self.end).in_file(self.to.path())
    }

    /// The error of a failure of the system, after which it does not: what was written is removed at once.
    pub(super) fn fail(&mut self, problem: Problem) -> Error {
        self.fault = Some(Fault::Failed);
        let problem = self.give_up(problem);
        self.refusal(problem)
    }

    /// Leaves the place as it was found. The problem, and what could not be removed.
    fn give_up(&mut self, problem: Problem) -> Problem {
        match self.to.abandon(self.end) {
            Ok(()) => problem,
            Err(Remains(left, source)) => left_behind(problem, left, source),
        }
    }
}

impl<D: Destination> fmt::Debug for Writer<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer")
            .field("to", &self.to)
            .field("version", &self.version)
            .field("index", &self.index)
            .field("end", &self.end)
            .field("fault", &self.fault)
            .finish_non_exhaustive()
    }
}
