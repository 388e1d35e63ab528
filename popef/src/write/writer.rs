use std::collections::HashSet;
use std::fmt;
use std::fs;
use std::io::{self, Seek, Take, Write};
use std::mem;
use std::path::Path;

use super::destination::sink::{Failure, Remains, Sink};
use super::destination::{Destination, Seekable, Stream, Truncate};
use super::label::Label;
use super::problem::{WriteProblem, impossible, left_behind};
use crate::error::{Error, ErrorCode, Facts as _, Problem};
use crate::len::len_of;
use crate::read::{Data, File, LocalFile, OpenOptions};
use crate::types::{InfoRef, Text};
use crate::wire::NewHead;

/// Writes blobs, one after the other.
///
/// | made by | writes to | blobs of unknown length | if it is dropped or fails |
/// |---|---|---|---|
/// | [`Writer::create`] | a new file, or in place of an old one | yes | nothing has changed |
/// | [`Writer::append`] | the end of a file | yes | the file has its old length |
/// | [`Writer::seekable`] | an opened file, memory | yes | complete blobs stay |
/// | [`Writer::stream`] | a pipe, a socket | no | everything that was written stays |
///
/// The methods named `write_...` write a blob at once. Others open a [`BlobWriter`](crate::write::BlobWriter), which
/// borrows or owns the writer, so that only one blob can be open at a time. The result counts only after
/// [`finish`](Writer::finish) succeeds.
///
/// A mistake of the caller, such as a blob that readers would call damaged, is refused before any of it is written, and
/// the writer can be used as before. A failure of the system is final: each later call fails.
///
/// ```
/// use popef::types::{OpaqueInfo, TensorDataInfo};
/// use popef::{DataType, File, TensorInfo, Writer};
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
    /// `None` after it was taken out.
    to: Option<D>,
    version: Text<'static>,
    /// The number of threads that compress. 0 means one per processor.
    threads: usize,
    /// The index of the next blob in the file.
    index: usize,
    start: u64,
    end: u64,
    executables: HashSet<Text<'static>>,
    /// Whether executables may have no name, or the name of another.
    any_names: bool,
    fault: Option<Broken>,
    /// The head of the last blob, whose memory is reused.
    head: NewHead,
}

/// Why a writer cannot go on.
#[derive(Debug)]
enum Broken {
    /// A failure that was not reported yet: an unfinished blob was dropped, and could not be undone.
    Unreported(Problem),
    /// A blob was left unfinished in a stream.
    NotUndone,
    /// A failure that was reported.
    Failed,
}

/// The place of a blob, or of all blobs of a writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Written {
    /// The position of the first byte, relative to the start of the PopEF file.
    pub offset: u64,
    /// The size in bytes, including headers and infos.
    pub size: u64,
}

impl Written {
    /// Returns the position after the last byte.
    pub fn end(&self) -> u64 {
        self.offset.saturating_add(self.size)
    }
}

impl<W: Write> Writer<Stream<W>> {
    /// Writes to a pipe, a socket, or another output that cannot go back. To keep the output, pass a `&mut` reference.
    /// Each blob takes at least two `write` calls, so a [`BufWriter`](std::io::BufWriter) helps with many small blobs.
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

    /// Ends the writing, as [`finish`](Self::finish) does, and returns the output, which is flushed.
    ///
    /// ```
    /// use flate2::{Compression, write::GzEncoder};
    ///
    /// let mut writer = popef::Writer::stream(GzEncoder::new(Vec::new(), Compression::fast()));
    /// writer.write_executable("model", b"its bytes")?;
    /// let gzipped = writer.into_inner()?.finish()?;
    /// # let mut bytes = Vec::new();
    /// # std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(&*gzipped), &mut bytes)?;
    /// # assert_eq!(popef::File::from_bytes(bytes)?.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn into_inner(mut self) -> Result<W, Error> {
        self.commit()?;
        self.to.take().map(Stream::into_inner).ok_or_else(|| self.refusal(WriteProblem::WriterFailed))
    }
}

impl<W: Write + Seek + Truncate> Writer<Seekable<W>> {
    /// Writes to an output that can go back: an opened file, a `Cursor<Vec<u8>>`. To keep the output, pass a `&mut`
    /// reference. What it has from its current position on is replaced: [`finish`](Self::finish) removes the rest of it,
    /// which readers would take for blobs.
    pub fn seekable(to: W) -> Result<Self, Error> {
        let to = Seekable::new(to);
        to.map(Writer::begin).map_err(|e| Error::io(None, "ask for the position to write at", e))
    }

    /// Ends the writing, as [`finish`](Self::finish) does, and returns the output. Its position is after the last blob.
    ///
    /// ```
    /// let mut writer = popef::Writer::seekable(std::io::Cursor::new(Vec::new()))?;
    /// writer.write_executable("model", b"its bytes")?;
    /// let bytes = writer.into_inner()?.into_inner();
    /// assert_eq!(popef::File::from_bytes(bytes)?.len(), 1);
    /// # Ok::<(), popef::Error>(())
    /// ```
    pub fn into_inner(mut self) -> Result<W, Error> {
        self.commit()?;
        self.to.take().map(Seekable::into_inner).ok_or_else(|| self.refusal(WriteProblem::WriterFailed))
    }
}

impl<D: Destination> Writer<D> {
    pub(super) fn begin(to: D) -> Self {
        Writer::to(Some(to))
    }

    fn to(to: Option<D>) -> Self {
        Writer {
            to,
            version: Text::default(),
            threads: 0,
            index: 0,
            start: 0,
            end: 0,
            executables: HashSet::new(),
            any_names: false,
            fault: None,
            head: NewHead::default(),
        }
    }

    /// Continues a file that has `blobs` blobs, which end at `end`, and executables with these names.
    pub(super) fn behind(mut self, blobs: usize, end: u64, executables: HashSet<Text<'static>>) -> Self {
        (self.index, self.start, self.end, self.executables) = (blobs, end, end, executables);
        self
    }

    /// Sets the version of all blobs that are begun from now on. The default is empty, as in the vendor's files.
    pub fn version(&mut self, version: impl Into<Text<'static>>) -> &mut Self {
        self.version = version.into();
        self
    }

    /// Sets whether executables begun from now on may have no name, or the name of another one. The format forbids
    /// both, so the default is false. Use it for exact copies of files that other programs wrote in this way.
    ///
    /// ```
    /// let mut writer = popef::Writer::stream(Vec::new());
    /// writer.write_executable("model", b"its bytes")?;
    /// assert!(writer.write_executable("model", b"others").is_err());
    /// writer.any_names(true).write_executable("model", b"others")?;
    /// # assert_eq!(popef::File::from_bytes(writer.into_inner()?)?.len(), 2);
    /// # Ok::<(), popef::Error>(())
    /// ```
    pub fn any_names(&mut self, allowed: bool) -> &mut Self {
        self.any_names = allowed;
        self
    }

    /// Sets how many threads compress the executables that are begun from now on, at most 8. The default of 0 means one per
    /// processor that does no other work of this project's crates. With 1, the caller's thread compresses. The result is the same
    /// with any number.
    pub fn threads(&mut self, threads: usize) -> &mut Self {
        self.threads = threads;
        self
    }

    /// Wraps the destination in another type, such as a box, so that writers to different destinations have one type.
    ///
    /// ```
    /// use popef::write::Destination;
    /// use popef::Writer;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("model.popef");
    /// let mut writer: Writer<Box<dyn Destination>> = if path.as_os_str() == "-" {
    ///     Writer::stream(std::io::stdout()).map_destination(|to| Box::new(to) as _)
    /// } else {
    ///     Writer::create(&path)?.map_destination(|to| Box::new(to) as _)
    /// };
    /// writer.write_executable("model", b"its bytes")?;
    /// writer.finish()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn map_destination<E: Destination>(self, map: impl FnOnce(D) -> E) -> Writer<E> {
        let Writer { to, version, threads, index, start, end, executables, any_names, fault, head } = self;
        Writer { to: to.map(map), version, threads, index, start, end, executables, any_names, fault, head }
    }

    /// Returns the place of everything that was written so far. For an appended file, only what was added counts.
    pub fn written(&self) -> Written {
        Written { offset: self.start, size: self.end.saturating_sub(self.start) }
    }

    /// Writes bytes before the first blob. Files of some programs have such bytes: see [`File::prefix`](crate::File::prefix).
    /// Fails if a blob was written already. Positions count from the first of these bytes.
    ///
    /// ```
    /// use popef::{File, OpenOptions, Writer};
    ///
    /// let mut writer = Writer::seekable(std::io::Cursor::new(Vec::new()))?;
    /// writer.write_prefix(&File::from_bytes("")?.prefix())?;
    /// writer.write_executable("model", b"its bytes")?;
    /// # Ok::<(), popef::Error>(())
    /// ```
    pub fn write_prefix(&mut self, prefix: &Data<'_>) -> Result<(), Error> {
        self.check_fault()?;
        if self.end > 0 {
            return Err(self.refusal(WriteProblem::PrefixTooLate));
        }
        prefix.in_pieces(|piece| {
            self.put(self.end, piece)?;
            self.end = self.end.saturating_add(len_of(piece));
            Ok(())
        })
    }

    /// Opens what was written until now, to check it before [`finish`](Self::finish) puts it in place. Returns `None`
    /// if the destination cannot be read: only what [`Writer::create`] makes can be.
    ///
    /// `options` must say where the first blob begins if bytes are before it.
    ///
    /// ```
    /// use popef::{OpenOptions, Writer};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("model.popef");
    /// let mut writer = Writer::create(&path)?;
    /// writer.write_executable("model", b"its bytes")?;
    /// let written = writer.read_back(&OpenOptions::new())?.expect("it is a file");
    /// assert_eq!(*written.executable("model").unwrap().data().read()?, *b"its bytes");
    /// assert!(!path.exists());
    /// writer.finish()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_back(&mut self, options: &OpenOptions) -> Result<Option<File>, Error> {
        let Some(file) = self.read_back_file()? else { return Ok(None) };
        options.source(LocalFile::of(file, self.path())?).map(Some)
    }

    /// Opens what was written until now as a plain file, as [`read_back`](Self::read_back) opens it as PopEF.
    ///
    /// It can be read while more is written after it. [`OpenOptions::visit`] looks at its blobs without an index of
    /// them.
    pub fn read_back_file(&mut self) -> Result<Option<fs::File>, Error> {
        self.check_fault()?;
        let Some(to) = &mut self.to else { return Err(self.refusal(WriteProblem::WriterFailed)) };
        to.read_back().map_err(|Failure(problem)| self.fail(problem))
    }

    /// Hands over to the system what is buffered, so that a file of [`read_back_file`](Self::read_back_file) has it. Returns
    /// the place of everything that was written so far.
    pub fn flush(&mut self) -> Result<Written, Error> {
        self.flush_destination()?;
        Ok(self.written())
    }

    /// Flushes a created file to disk, before [`finish`](Self::finish) puts it in its place. `finish` is then quick, unless
    /// more was written. So several files can appear one right after the other. For other destinations, this does nothing.
    ///
    /// ```
    /// use popef::Writer;
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let mut writers = ["one", "two"].map(|name| Writer::create(folder.path().join(name)).unwrap());
    /// for writer in &mut writers {
    ///     writer.write_executable("model", b"its bytes")?;
    ///     writer.prepare()?;
    /// }
    /// for writer in writers {
    ///     writer.finish()?;
    /// }
    /// # assert_eq!(std::fs::read_dir(folder.path())?.count(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn prepare(&mut self) -> Result<(), Error> {
        self.check_fault()?;
        let Some(to) = &mut self.to else { return Err(self.refusal(WriteProblem::WriterFailed)) };
        to.prepare().map_err(|Failure(problem)| self.fail(problem))
    }

    /// Ends the writing, and returns the place of everything that was written. For an appended file, only what was
    /// added counts.
    ///
    /// A created file now appears at its path, and appended blobs become part of their file. Both are flushed to disk.
    /// If this fails, the old file or the old length is restored. A failed flush is never repeated. Other outputs are
    /// flushed with [`Write::flush`].
    ///
    /// For a [stream](Self::stream) or a [seekable](Self::seekable) writer, `into_inner` also returns the output.
    pub fn finish(mut self) -> Result<Written, Error> {
        self.commit()
    }

    fn commit(&mut self) -> Result<Written, Error> {
        self.check_fault()?;
        match self.to.as_mut().map_or(Ok(()), |to| to.commit(self.end)) {
            Ok(()) => Ok(self.written()),
            Err(Failure(problem)) => {
                self.fault = Some(Broken::Failed);
                Err(Error::from(self.give_up(problem)).in_file(self.path()))
            }
        }
    }

    /// Discards what was written, as dropping the writer does. Fails if something could not be removed.
    pub fn discard(mut self) -> Result<(), Error> {
        if self.fault.is_some() {
            return Ok(());
        }
        let left = self.to.as_mut().map_or(Ok(()), |to| to.abandon(self.end));
        left.map_err(|Remains(left, source)| {
            Error::from(left_behind(WriteProblem::Discarded, left, source)).in_file(self.path())
        })
    }
}

/// The internal methods that the blob writers use.
impl<D: Destination> Writer<D> {
    /// Fails if a blob cannot be begun: if the writer has failed, or the name is empty or taken and may not be.
    pub(super) fn check_new(&mut self, label: &Label<'_>) -> Result<(), Error> {
        self.check_fault()?;
        let Some(name) = label.executable() else { return Ok(()) };
        if name.is_empty() && !self.any_names {
            return Err(self.refusal(WriteProblem::ExecutableUnnamed));
        }
        if self.executables.contains(name) && !self.any_names {
            return Err(self.refusal(label.duplicate()));
        }
        // Reserve room for the name now, because keeping it after the executable is written must not fail.
        let reserved = self.executables.try_reserve(1);
        Problem::in_memory(size_of::<Text<'static>>(), reserved).map_err(|problem| self.refusal(problem))
    }

    pub(super) fn check_fault(&mut self) -> Result<(), Error> {
        let problem = match &mut self.fault {
            None => return Ok(()),
            Some(Broken::NotUndone) => WriteProblem::NotUndone.into(),
            Some(fault) => match mem::replace(fault, Broken::Failed) {
                Broken::Unreported(problem) => problem,
                _ => WriteProblem::WriterFailed.into(),
            },
        };
        Err(self.refusal(problem))
    }

    pub(super) fn flush_destination(&mut self) -> Result<(), Error> {
        self.check_fault()?;
        let Some(to) = &mut self.to else { return Err(self.refusal(WriteProblem::WriterFailed)) };
        to.flush().map_err(|Failure(problem)| self.fail(problem))
    }

    pub(super) fn thread_count(&self) -> usize {
        self.threads
    }

    /// Makes the header and info of a blob. The size must be set afterwards.
    pub(super) fn head(&self, info: InfoRef<'_>) -> Result<NewHead, Error> {
        let mut head = NewHead::default();
        head.lay_out(&self.version, info).map_err(|problem| self.refusal(problem))?;
        Ok(head)
    }

    /// Sets the size of a blob with `data_len` bytes of data.
    pub(super) fn set_data_len(&self, head: &mut NewHead, data_len: u64) -> Result<(), Error> {
        head.set_data_len(data_len).map_err(|problem| self.refusal(impossible(problem)))
    }

    /// Writes a complete blob.
    pub(super) fn write_whole(&mut self, info: InfoRef<'_>, data: &[u8]) -> Result<Written, Error> {
        let label = Label::of(info);
        self.check_new(&label)?;
        let laid_out = self.head.lay_out(&self.version, info);
        laid_out.map_err(|problem| self.refusal(problem))?;
        let sized = self.head.set_data_len(len_of(data));
        sized.map_err(|problem| self.refusal(impossible(problem)))?;
        let data_at = self.end.saturating_add(self.head.len());
        let Some(to) = &mut self.to else { return Err(self.refusal(WriteProblem::WriterFailed)) };
        let written = to.write_at(self.end, self.head.bytes());
        written.map_err(|source| self.failed_to_write(source))?;
        self.put(data_at, data)?;
        Ok(self.finished(&label, self.head.len().saturating_add(len_of(data))))
    }

    /// The position of the next blob.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Writes bytes at a position. A failure is final.
    pub(super) fn put(&mut self, at: u64, bytes: &[u8]) -> Result<(), Error> {
        if bytes.is_empty() {
            return Ok(());
        }
        let Some(to) = &mut self.to else { return Err(self.refusal(WriteProblem::WriterFailed)) };
        let written = to.write_at(at, bytes);
        written.map_err(|source| self.failed_to_write(source))
    }

    /// Writes the rest of another file. If that fails, the writer is not marked as failed, because it is unknown here
    /// whether the file or the destination failed.
    pub(super) fn copy_at(&mut self, at: u64, from: &mut Take<fs::File>) -> io::Result<()> {
        match &mut self.to {
            Some(to) => to.copy_at(at, from),
            None => Err(self.refusal(WriteProblem::WriterFailed).into()),
        }
    }

    /// Whether this file is the one being written.
    pub(super) fn is_file(&self, file: &fs::File) -> bool {
        self.to.as_ref().is_some_and(|to| to.is_file(file))
    }

    fn path(&self) -> Option<&Path> {
        self.to.as_ref().and_then(|to| to.path())
    }

    /// Takes the writer out. What is left in its place cannot write.
    pub(super) fn take(&mut self) -> Self {
        mem::replace(self, Writer::to(None))
    }

    /// Writes a head in place of zeros, its first word last: while that word is zeros, a reader finds no blob here.
    pub(super) fn put_head(&mut self, at: u64, head: &[u8]) -> Result<(), Error> {
        const WORD: usize = 8;
        let (first, rest) = head.split_at_checked(WORD).unwrap_or((head, &[]));
        self.put(at.saturating_add(len_of(first)), rest)?;
        self.put(at, first)
    }

    /// Counts a complete blob.
    pub(super) fn finished(&mut self, label: &Label<'_>, size: u64) -> Written {
        if let Some(name) = label.executable() {
            self.executables.insert(name.clone().into_owned());
        }
        let written = Written { offset: self.end, size };
        self.end = self.end.saturating_add(size);
        self.index = self.index.saturating_add(1);
        written
    }

    /// Counts blobs that were written as part of the last one's data.
    pub(super) fn finished_more(&mut self, blobs: usize) {
        self.index = self.index.saturating_add(blobs);
    }

    /// Removes what was written of an unfinished blob.
    pub(super) fn undo(&mut self) {
        if self.fault.is_none()
            && let Some(to) = &mut self.to
            && let Err(Failure(problem)) = to.cut(self.end)
        {
            self.fault = Some(match problem {
                problem if problem.code() == ErrorCode::StreamBroken => Broken::NotUndone,
                problem => Broken::Unreported(self.give_up(problem)),
            });
        }
    }

    /// Makes an error for a mistake of the caller, after which the writer can be used as before.
    pub(super) fn refusal(&self, problem: impl Into<Problem>) -> Error {
        problem.into().at(self.index, self.end).in_file(self.path())
    }

    /// Makes an error for a failure of the system. It is final, and what was written is removed at once.
    pub(super) fn fail(&mut self, problem: Problem) -> Error {
        self.fault = Some(Broken::Failed);
        let problem = self.give_up(problem);
        self.refusal(problem)
    }

    pub(super) fn failed_to_write(&mut self, source: io::Error) -> Error {
        self.fail(Problem::io("write", source))
    }

    /// Cleans up after a problem. Returns the problem, with what could not be undone.
    fn give_up(&mut self, problem: Problem) -> Problem {
        match self.to.as_mut().map_or(Ok(()), |to| to.abandon(self.end)) {
            Ok(()) => problem,
            Err(Remains(left, source)) => left_behind(problem, left, source),
        }
    }
}

/// Returns the descriptors by which a writer keeps files locked. A process that was forked must close its own, or the files stay locked
/// until it ends.
pub fn locked<D: Destination>(writer: &Writer<D>) -> Vec<i32> {
    writer.to.as_ref().map(Sink::locked).unwrap_or_default()
}

impl<D: Destination> fmt::Debug for Writer<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Writer");
        if let Some(to) = &self.to {
            debug.field("to", to);
        }
        debug
            .field("version", &self.version)
            .field("index", &self.index)
            .field("end", &self.end)
            .field("fault", &self.fault)
            .finish_non_exhaustive()
    }
}
