use std::collections::HashSet;
use std::fmt;
use std::io::{Seek, Write};
use std::path::Path;

use super::append::Appended;
use super::blob::{BlobWriter, What};
use super::create::{CreateOptions, NewFile};
use super::destination::sink::{Failure, Remains};
use super::destination::{Destination, Rewind, Seekable, Stream, Truncate, len_of};
use super::feeds::FeedsWriter;
use super::packed::{PackedWriter, Packing};
use crate::error::{Error, Problem};
use crate::read::{Blob, Element};
use crate::types::{BlobType, DataType, FeedDataInfo, Metadata, OpaqueInfo, TensorDataInfo, TensorInfo, Text};
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
/// A blob is written whole by the methods named `write_...`, or through a [`BlobWriter`], which borrows the writer,
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
/// assert_eq!(*file.tensor("weights").expect("it was written").elements()?.to::<f32>()?, [1.5, -2.25]);
/// # Ok::<(), popef::Error>(())
/// ```
pub struct Writer<D: Destination> {
    pub(super) to: D,
    version: Text<'static>,
    /// The index of the next blob in the file.
    index: usize,
    start: u64,
    end: u64,
    executables: HashSet<Vec<u8>>,
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
    /// The permissions of an old file are kept. A symbolic link is followed: the file that it names is replaced. A
    /// program that is killed leaves its temporary file, `.NAME.popef-new`; the next `create` removes it.
    ///
    /// [`CreateOptions`] can refuse to overwrite.
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
    /// incomplete blob. After a failure, or if the writer is dropped, the file has its old length.
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
        Writer { to, version: Text::default(), index: 0, start: 0, end: 0, executables: HashSet::new(), fault: None }
    }

    /// The same, behind so many blobs of a file that end at `end`, among them these executables.
    pub(super) fn behind(mut self, blobs: usize, end: u64, executables: HashSet<Vec<u8>>) -> Self {
        (self.index, self.start, self.end, self.executables) = (blobs, end, end, executables);
        self
    }

    /// The version that the blobs begun from now on state. Empty unless set, as in files of the vendor.
    pub fn version(&mut self, version: impl Into<Text<'static>>) -> &mut Self {
        self.version = version.into();
        self
    }

    /// Writes an executable as it is. Its name must not be empty, nor that of another executable of the file.
    pub fn write_executable<'n>(&mut self, name: impl Into<Text<'n>>, data: &[u8]) -> Result<Written, Error> {
        let what = self.what(What::executable(name.into(), None))?;
        self.whole(what, data)
    }

    /// Compresses an executable and writes it. The compressed bytes are held in memory, as their number comes first.
    pub fn write_packed_executable<'n>(
        &mut self,
        name: impl Into<Text<'n>>,
        data: &[u8],
        packing: Packing,
    ) -> Result<Written, Error> {
        let what = self.what(What::executable(name.into(), Some(len_of(data))))?;
        self.check_new(&what)?;
        let packed = packing.pack(data).map_err(|problem| self.refusal(problem))?;
        self.whole(what, &packed)
    }

    /// Writes a Metadata blob.
    pub fn write_metadata(&mut self, metadata: &Metadata) -> Result<Written, Error> {
        let what = self.what(What::metadata(metadata))?;
        self.whole(what, &[])
    }

    /// Writes a tensor from its elements. Another type than the info's is an error, and so is another number.
    pub fn write_tensor<T: Element>(&mut self, info: &TensorDataInfo, elements: &[T]) -> Result<Written, Error> {
        let what = self.what(What::tensor(info))?;
        self.check_type(&what, &info.tensor_info, T::DATA_TYPE)?;
        self.whole_tensors(what, &info.tensor_info, 1, &T::to_file(elements))
    }

    /// Writes a tensor from the bytes of its elements, little-endian. Another length than the info's is an error.
    pub fn write_tensor_bytes(&mut self, info: &TensorDataInfo, data: &[u8]) -> Result<Written, Error> {
        let what = self.what(What::tensor(info))?;
        self.whole_tensors(what, &info.tensor_info, 1, data)
    }

    /// Writes a feed from the elements of all its tensors.
    pub fn write_feed<T: Element>(&mut self, info: &FeedDataInfo, elements: &[T]) -> Result<Written, Error> {
        let what = self.what(What::feed(info))?;
        self.check_type(&what, &info.tensor_info, T::DATA_TYPE)?;
        self.whole_tensors(what, &info.tensor_info, info.num_tensors, &T::to_file(elements))
    }

    /// Writes a feed from the bytes of all its tensors, little-endian.
    pub fn write_feed_bytes(&mut self, info: &FeedDataInfo, data: &[u8]) -> Result<Written, Error> {
        let what = self.what(What::feed(info))?;
        self.whole_tensors(what, &info.tensor_info, info.num_tensors, data)
    }

    /// Writes an opaque blob.
    pub fn write_opaque(&mut self, info: &OpaqueInfo, data: &[u8]) -> Result<Written, Error> {
        let what = self.what(What::opaque(info))?;
        self.whole(what, data)
    }

    /// Copies a blob of a file that was read, byte for byte, of whatever type. Between files the system does it,
    /// where it can.
    ///
    /// Only an executable's name is looked at, which must not be taken. A blob that is read in parts out of the very
    /// file being appended to is refused.
    pub fn copy(&mut self, blob: &Blob<'_>) -> Result<Written, Error> {
        super::copy::copy(self, blob)
    }

    /// Opens a tensor to be written piece by piece: exactly as many bytes as its info calls for.
    ///
    /// ```
    /// # use popef::{DataType, TensorDataInfo, TensorInfo, Writer};
    /// use std::io::Write;
    ///
    /// let mut out = Vec::new();
    /// let mut writer = Writer::stream(&mut out);
    /// let info = TensorDataInfo { name: "zeros".into(), tensor_info: TensorInfo::new(DataType::U8, [1000]) };
    /// let mut blob = writer.tensor(&info)?;
    /// for _ in 0..10 {
    ///     blob.write_all(&[0; 100])?;
    /// }
    /// blob.finish()?;
    /// writer.finish()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn tensor(&mut self, info: &TensorDataInfo) -> Result<BlobWriter<'_, D>, Error> {
        let len = self.needed(&info.tensor_info, 1)?;
        let what = self.what(What::tensor(info))?;
        Ok(BlobWriter::sized(self, what, len)?.of_elements(info.tensor_info.data_type))
    }

    /// Opens a feed to be written piece by piece, one tensor after the other.
    pub fn feed(&mut self, info: &FeedDataInfo) -> Result<BlobWriter<'_, D>, Error> {
        let len = self.needed(&info.tensor_info, info.num_tensors)?;
        let what = self.what(What::feed(info))?;
        Ok(BlobWriter::sized(self, what, len)?.of_elements(info.tensor_info.data_type))
    }

    /// Opens an executable to be written piece by piece, of exactly so many bytes. It is not compressed.
    pub fn sized_executable<'n>(&mut self, name: impl Into<Text<'n>>, len: u64) -> Result<BlobWriter<'_, D>, Error> {
        let what = self.what(What::executable(name.into(), None))?;
        BlobWriter::sized(self, what, len)
    }

    /// Opens an opaque blob to be written piece by piece, of exactly so many bytes.
    pub fn sized_opaque(&mut self, info: &OpaqueInfo, len: u64) -> Result<BlobWriter<'_, D>, Error> {
        let what = self.what(What::opaque(info))?;
        BlobWriter::sized(self, what, len)
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
            return Err(self.fail(problem));
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
        let left = self.to.abandon();
        left.map_err(|Remains(left, source)| {
            let problem = Box::new(Problem::Discarded);
            Error::from(Problem::LeftBehind { problem, left, source }).in_file(path.as_deref())
        })
    }

    pub(super) fn what(&self, what: Result<What, Problem>) -> Result<What, Error> {
        what.map_err(|problem| self.refusal(problem))
    }

    fn check_type(&self, what: &What, info: &TensorInfo, found: DataType) -> Result<(), Error> {
        if info.data_type == found {
            return Ok(());
        }
        Err(self.refusal(Problem::GivenType { blob: what.to_string(), needed: info.data_type, found }))
    }

    /// How many bytes of data so many tensors have; what cannot be told is the caller's mistake here.
    pub(super) fn needed(&self, info: &TensorInfo, tensors: u32) -> Result<u64, Error> {
        let size = crate::types::tensor_info::size_in_bytes(info.shape.iter().copied(), info.data_type);
        let needed = size.and_then(|size| size.checked_mul(tensors.into()).ok_or(Problem::ShapeTooLarge));
        needed.map_err(|problem| self.refusal(Problem::Given(Box::new(problem))))
    }

    fn whole_tensors(&mut self, what: What, info: &TensorInfo, tensors: u32, data: &[u8]) -> Result<Written, Error> {
        let (needed, found) = (self.needed(info, tensors)?, len_of(data));
        if needed != found {
            let blob = described(&what, info, tensors);
            return Err(self.refusal(Problem::GivenLength { blob, needed, found }));
        }
        self.whole(what, data)
    }

    fn whole(&mut self, what: What, data: &[u8]) -> Result<Written, Error> {
        let mut blob = BlobWriter::sized(self, what, len_of(data))?;
        blob.put(data)?;
        blob.finish()
    }
}

/// A blob by its name and by what its length follows from.
pub(super) fn described(what: &What, info: &TensorInfo, tensors: u32) -> String {
    let times = if what.blob_type == BlobType::DataFeed { format!(", {tensors} times") } else { String::new() };
    format!("{what} ({} {:?}{times})", info.data_type, info.shape)
}

impl<D: Rewind> Writer<D> {
    /// Opens an executable to be written piece by piece until it is finished.
    pub fn executable<'n>(&mut self, name: impl Into<Text<'n>>) -> Result<BlobWriter<'_, D>, Error> {
        let what = self.what(What::executable(name.into(), None))?;
        BlobWriter::open(self, what)
    }

    /// Opens an executable to be compressed while it is written piece by piece.
    ///
    /// ```
    /// use popef::{File, Packing, Writer};
    ///
    /// let mut bytes = std::io::Cursor::new(Vec::new());
    /// let mut writer = Writer::seekable(&mut bytes)?;
    /// let mut blob = writer.packed_executable("model", Packing::Zlib(6))?;
    /// std::io::copy(&mut std::io::repeat(0).take(1 << 20), &mut blob)?;
    /// # use std::io::Read;
    /// assert!(blob.finish()?.size < 2048);
    /// writer.finish()?;
    /// assert_eq!(File::from_bytes(bytes.into_inner())?.executable("model").unwrap().uncompressed_size(), 1 << 20);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn packed_executable<'n>(
        &mut self,
        name: impl Into<Text<'n>>,
        packing: Packing,
    ) -> Result<PackedWriter<'_, D>, Error> {
        packing.check().map_err(|problem| self.refusal(problem))?;
        let what = self.what(What::executable(name.into(), Some(0)))?;
        Ok(PackedWriter::new(BlobWriter::open(self, what)?, packing))
    }

    /// Opens an opaque blob to be written piece by piece until it is finished.
    pub fn opaque(&mut self, info: &OpaqueInfo) -> Result<BlobWriter<'_, D>, Error> {
        let what = self.what(What::opaque(info))?;
        BlobWriter::open(self, what)
    }

    /// Opens several feeds at once, whose tensors come in any order; see [`FeedsWriter`].
    pub fn feeds(&mut self, infos: &[FeedDataInfo]) -> Result<FeedsWriter<'_, D>, Error> {
        FeedsWriter::new(self, infos)
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
            return Err(self.refusal(Problem::NoExecutableName));
        }
        if self.executables.contains(what.name.as_bytes()) {
            return Err(self.refusal(Problem::ExecutableTwice { name: what.shown_name() }));
        }
        Ok(())
    }

    pub(super) fn check_fault(&mut self) -> Result<(), Error> {
        let problem = match &mut self.fault {
            None => return Ok(()),
            Some(Fault::NotUndone) => Problem::NotUndone,
            Some(Fault::Failed) => Problem::Failed,
            Some(untold) => match std::mem::replace(untold, Fault::Failed) {
                Fault::Untold(problem) => problem,
                _ => Problem::Failed,
            },
        };
        Err(self.refusal(problem))
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

    /// Counts a blob that was written whole.
    pub(super) fn finished(&mut self, what: &What, size: u64) -> Written {
        if what.blob_type == BlobType::PoplarExecutable {
            self.executables.insert(what.name.as_bytes().to_owned());
        }
        let written = Written { offset: self.end, size };
        self.end = self.end.saturating_add(size);
        self.index = self.index.saturating_add(1);
        written
    }

    /// Takes back what was written of an unfinished blob.
    pub(super) fn undo(&mut self) {
        if self.fault.is_none()
            && let Err(Failure(problem)) = self.to.cut(self.end)
        {
            self.fault = Some(match problem {
                Problem::NotUndone => Fault::NotUndone,
                problem => Fault::Untold(self.give_up(problem)),
            });
        }
    }

    /// The error of a mistake of the caller, after which the writer goes on.
    pub(super) fn refusal(&self, problem: Problem) -> Error {
        problem.at(self.index, self.end).in_file(self.to.path())
    }

    /// The error of a failure of the system, after which it does not: what was written is removed at once.
    pub(super) fn fail(&mut self, problem: Problem) -> Error {
        self.fault = Some(Fault::Failed);
        let problem = self.give_up(problem);
        self.refusal(problem)
    }

    /// Leaves the place as it was found. The problem, and what could not be removed.
    fn give_up(&mut self, problem: Problem) -> Problem {
        match self.to.abandon() {
            Ok(()) => problem,
            Err(Remains(left, source)) => Problem::LeftBehind { problem: Box::new(problem), left, source },
        }
    }
}

impl<D: Destination> fmt::Debug for Writer<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer")
            .field("path", &self.to.path())
            .field("version", &self.version)
            .field("index", &self.index)
            .field("end", &self.end)
            .field("fault", &self.fault)
            .finish_non_exhaustive()
    }
}
