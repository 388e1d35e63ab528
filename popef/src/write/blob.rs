use std::fmt;
use std::fs;
use std::io::{self, Write};

use super::destination::{Destination, Rewind, len_of};
use super::problem::{WriteProblem, impossible};
use super::writer::{Writer, Written};
use crate::error::{Error, Problem};
use crate::read::{Blob, Element};
use crate::types::{BlobType, DataType, FeedDataInfo, Metadata, OpaqueInfo, ShapeProblem, TensorDataInfo, Text};
use crate::wire::encode;

/// A blob that is being written, by [`Write`] or by elements. It counts only once it is [finished](Self::finish); if it
/// is dropped before, it is undone.
///
/// Where its length was known beforehand, exactly so many bytes must come. An [`Error`] of this library travels in the
/// `io::Error`.
///
/// ```
/// use std::io::Write;
/// use popef::{File, OpaqueInfo, Writer};
///
/// let mut bytes = std::io::Cursor::new(Vec::new());
/// let mut writer = Writer::seekable(&mut bytes)?;
/// let mut blob = writer.opaque(&OpaqueInfo { name: "dropped".into(), ..Default::default() })?;
/// blob.write_all(b"half of i")?;
/// drop(blob);
/// let mut blob = writer.opaque(&OpaqueInfo { name: "kept".into(), ..Default::default() })?;
/// blob.write_all(b"all of it")?;
/// blob.finish()?;
/// writer.finish()?;
/// assert_eq!(File::from_bytes(bytes.into_inner())?.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// While it is open nothing else can be written, which the compiler sees to:
///
/// ```compile_fail,E0499
/// # let mut writer = popef::Writer::stream(Vec::new());
/// let blob = writer.sized_executable("one", 5)?;
/// writer.write_executable("two", b"bytes")?;
/// blob.finish()?;
/// # Ok::<(), popef::Error>(())
/// ```
pub struct BlobWriter<'w, D: Destination> {
    pub(super) writer: &'w mut Writer<D>,
    what: What,
    /// Header and info, until the first byte of data or the end: so that an opened blob can be dropped on a stream.
    head: Option<Vec<u8>>,
    head_len: u64,
    needed: Option<u64>,
    given: u64,
    element_type: Option<DataType>,
    finish: fn(&mut Self) -> Result<(), Error>,
    finished: bool,
}

impl<'w, D: Destination> BlobWriter<'w, D> {
    /// A blob with so many bytes of data.
    pub(super) fn sized(writer: &'w mut Writer<D>, what: What, len: u64) -> Result<Self, Error> {
        writer.check_new(&what)?;
        let head = what.head(writer, len)?;
        Ok(BlobWriter::new(writer, what, head, Some(len), |_| Ok(())))
    }

    fn new(
        writer: &'w mut Writer<D>,
        what: What,
        head: Vec<u8>,
        needed: Option<u64>,
        finish: fn(&mut Self) -> Result<(), Error>,
    ) -> Self {
        let head_len = len_of(&head);
        BlobWriter {
            writer,
            what,
            head: Some(head),
            head_len,
            needed,
            given: 0,
            element_type: None,
            finish,
            finished: false,
        }
    }

    /// A blob whose header and info are given.
    pub(super) fn verbatim(writer: &'w mut Writer<D>, what: What, head: Vec<u8>, len: u64) -> Result<Self, Error> {
        writer.check_new(&what)?;
        Ok(BlobWriter::new(writer, what, head, Some(len), |_| Ok(())))
    }

    pub(super) fn of_elements(mut self, element_type: DataType) -> Self {
        self.element_type = Some(element_type);
        self
    }

    /// Writes the next elements of a tensor or a feed; an error if theirs is another type.
    pub fn write_elements<T: Element>(&mut self, elements: &[T]) -> Result<(), Error> {
        match self.element_type {
            Some(needed) if needed != T::DATA_TYPE => {
                let problem = WriteProblem::WrongType { blob: self.what.to_string(), needed, found: T::DATA_TYPE };
                Err(self.writer.refusal(problem))
            }
            _ => self.put(&T::to_file(elements)),
        }
    }

    /// How many bytes of data were written so far.
    pub fn len(&self) -> u64 {
        self.given
    }

    /// Whether no data was written yet.
    pub fn is_empty(&self) -> bool {
        self.given == 0
    }

    /// Ends the blob, and says where it is. If bytes are missing or were too many it is undone, and that is the error.
    pub fn finish(mut self) -> Result<Written, Error> {
        self.writer.check_fault()?;
        if let Some(needed) = self.needed
            && needed != self.given
        {
            return Err(self.wrong_length(needed));
        }
        self.put(&[])?;
        (self.finish)(&mut self)?;
        self.finished = true;
        Ok(self.writer.finished(&self.what, self.head_len.saturating_add(self.given)))
    }

    fn wrong_length(&self, needed: u64) -> Error {
        let (blob, found) = (self.what.to_string(), self.given);
        let problem = if found < needed {
            WriteProblem::BlobUnfinished { blob, needed, found }
        } else {
            WriteProblem::WrongLength { blob, needed, found }
        };
        self.writer.refusal(problem)
    }

    /// Where the next byte of data goes.
    fn data_end(&self) -> u64 {
        self.writer.end().saturating_add(self.head_len).saturating_add(self.given)
    }

    /// Writes the next bytes out of a file, as many as it is limited to. The writer is left as it is if that fails:
    /// whether it is the file that failed or the destination is not known here.
    pub(super) fn put_file(&mut self, from: &mut io::Take<fs::File>) -> Result<io::Result<()>, Error> {
        self.put(&[])?;
        let at = self.data_end();
        self.given = self.given.saturating_add(from.limit());
        Ok(self.writer.to.copy_at(at, from))
    }

    /// Writes the next bytes, and before them, if they are the first, the head.
    pub(super) fn put(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.writer.check_fault()?;
        let at = self.data_end();
        self.given = self.given.saturating_add(len_of(bytes));
        if let Some(needed) = self.needed
            && self.given > needed
        {
            return Err(self.wrong_length(needed));
        }
        if let Some(head) = self.head.take() {
            self.writer.put(self.writer.end(), &head)?;
        }
        self.writer.put(at, bytes)
    }
}

pub(super) const WRITE: &str = "write";

impl<'w, D: Rewind> BlobWriter<'w, D> {
    /// A blob whose length is not known: zeros stand for its head until it is finished.
    pub(super) fn open(writer: &'w mut Writer<D>, what: What) -> Result<Self, Error> {
        writer.check_new(&what)?;
        let len = what.head(writer, 0)?.len();
        Ok(BlobWriter::new(writer, what, vec![0; len], None, Self::fill_in))
    }

    /// Puts the head in the place of the zeros.
    fn fill_in(&mut self) -> Result<(), Error> {
        let head = self.what.head(self.writer, self.given)?;
        self.writer.put_head(self.writer.end(), &head)
    }

    /// Tells how many bytes its data has once unpacked.
    pub(super) fn unpacked(&mut self, uncompressed_size: u64) -> Result<(), Error> {
        let what = What::executable(self.what.name.clone(), Some(uncompressed_size));
        self.what = what.map_err(|problem| self.writer.refusal(problem))?;
        Ok(())
    }
}

impl<D: Destination> Write for BlobWriter<'_, D> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.put(bytes)?;
        Ok(bytes.len())
    }

    /// Nothing: what is written counts only once all of it is finished.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<D: Destination> Drop for BlobWriter<'_, D> {
    fn drop(&mut self) {
        if !self.finished {
            self.writer.undo();
        }
    }
}

impl<D: Destination> fmt::Debug for BlobWriter<'_, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlobWriter")
            .field("blob", &self.what.to_string())
            .field("needed", &self.needed)
            .field("given", &self.given)
            .finish_non_exhaustive()
    }
}

/// What a blob is to be: its type, its name, and its info message.
pub(super) struct What {
    pub(super) blob_type: BlobType,
    pub(super) name: Text<'static>,
    info: Vec<u8>,
}

impl What {
    pub(super) fn executable(name: Text<'_>, uncompressed_size: Option<u64>) -> Result<Self, Problem> {
        let info = encode::executable(&name, uncompressed_size)?;
        Ok(What { blob_type: BlobType::PoplarExecutable, name: name.into_owned(), info })
    }

    pub(super) fn metadata(metadata: &Metadata) -> Result<Self, Problem> {
        let info = encode::metadata(metadata)?;
        Ok(What { blob_type: BlobType::Metadata, name: metadata.executable.clone(), info })
    }

    pub(super) fn tensor(info: &TensorDataInfo) -> Result<Self, Problem> {
        Ok(What { blob_type: BlobType::DataTensor, name: info.name.clone(), info: encode::tensor(info)? })
    }

    pub(super) fn feed(info: &FeedDataInfo) -> Result<Self, Problem> {
        Ok(What { blob_type: BlobType::DataFeed, name: info.name.clone(), info: encode::feed(info)? })
    }

    pub(super) fn opaque(info: &OpaqueInfo) -> Result<Self, Problem> {
        Ok(What { blob_type: BlobType::Opaque, name: info.name.clone(), info: encode::opaque(info)? })
    }

    /// A blob whose head is there already.
    pub(super) fn copied(blob: &Blob<'_>) -> Result<Self, Problem> {
        let name = blob.name().unwrap_or_default().try_to_own()?;
        Ok(What { blob_type: blob.blob_type(), name, info: Vec::new() })
    }

    /// Header and info message of a blob with so many bytes of data.
    pub(super) fn head<D: Destination>(&self, writer: &Writer<D>, data_len: u64) -> Result<Vec<u8>, Error> {
        let size = writer.header_len().checked_add(len_of(&self.info)).and_then(|len| len.checked_add(data_len));
        let size = size.ok_or_else(|| writer.refusal(impossible(ShapeProblem::TooLarge)))?;
        let mut head = writer.header(self.blob_type, size)?;
        head.extend_from_slice(&self.info);
        Ok(head)
    }

    /// The name, safe to show: it may come from a file of somebody else.
    pub(super) fn shown_name(&self) -> String {
        let escaped = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
        self.name.to_string_lossy().chars().map(escaped).collect()
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.blob_type {
            BlobType::PoplarExecutable => "executable",
            BlobType::Metadata => "the metadata of executable",
            BlobType::DataTensor => "tensor",
            BlobType::DataFeed => "feed",
            BlobType::Opaque => "opaque blob",
            BlobType::Other(_) => "the blob",
        };
        write!(f, "{kind} {}", self.shown_name())
    }
}
