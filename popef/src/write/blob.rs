use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::mem;

use super::destination::{Destination, Rewind};
use super::held::{HeldWriter, Refused};
use super::label::Label;
use super::problem::WriteProblem;
use super::writer::{Writer, Written};
use crate::error::Error;
use crate::len::len_of;
use crate::read::{Compression, Element};
use crate::types::{DataType, InfoRef};
use crate::wire::NewHead;

/// A blob that is being written, by [`Write`] or by elements. It counts only once it is [finished](Self::finish); if it
/// is dropped before, it is undone.
///
/// Where its length was known beforehand, exactly so many bytes must come. An [`Error`] of this library travels in the
/// `io::Error`.
///
/// ```
/// use std::io::Write;
/// use popef::types::OpaqueInfo;
/// use popef::{File, Writer};
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
pub struct BlobWriter<W: HeldWriter> {
    held: W,
    open: Open,
    /// Whether it was finished, or taken apart: nothing is to be undone then.
    finished: bool,
}

/// What is known of a blob while it is written.
#[derive(Default)]
pub(super) struct Open {
    label: Label<'static>,
    head: NewHead,
    /// Whether the head, or zeros in its place, was written. Not before the first byte of data or the end: so that an
    /// opened blob can be dropped on a stream.
    begun: bool,
    /// How many bytes of data it has, if that was known beforehand.
    needed: Option<u64>,
    given: u64,
    element_type: Option<DataType>,
    /// Of data that is compressed already, the first bytes, up to as many as tell so.
    mark: Option<Vec<u8>>,
}

impl<'w, D: Destination> BlobWriter<&'w mut Writer<D>> {
    /// A blob with so many bytes of data.
    pub(super) fn sized(writer: &'w mut Writer<D>, info: InfoRef<'_>, len: u64) -> Result<Self, Error> {
        let mut head = writer.head(info)?;
        writer.set_data_len(&mut head, len)?;
        let mut blob = BlobWriter::with_head(writer, Label::of(info), head, Some(len))?;
        blob.open.element_type = info.tensors().map(|(info, _)| info.data_type);
        blob.open.mark = matches!(info, InfoRef::Executable(info) if info.uncompressed_size.is_some()).then(Vec::new);
        Ok(blob)
    }

    /// A blob whose head is given, with so many bytes of data if that is known.
    pub(super) fn with_head(
        writer: &'w mut Writer<D>,
        label: Label<'_>,
        head: NewHead,
        needed: Option<u64>,
    ) -> Result<Self, Error> {
        writer.check_new(&label)?;
        let label = label.try_to_own().map_err(|problem| writer.refusal(problem))?;
        let open = Open { label, head, begun: false, needed, given: 0, element_type: None, mark: None };
        Ok(BlobWriter::resumed(writer, open))
    }

    /// The blob without its writer.
    pub(super) fn into_open(mut self) -> Open {
        self.finished = true;
        mem::take(&mut self.open)
    }

    /// Ends the blob, and says where it is. If bytes are missing or were too many it is undone, and that is the error.
    pub fn finish(mut self) -> Result<Written, Error> {
        self.end()
    }
}

impl<'w, D: Rewind> BlobWriter<&'w mut Writer<D>> {
    /// A blob whose length is not known: zeros stand for its head until it is finished.
    pub(super) fn open(writer: &'w mut Writer<D>, info: InfoRef<'_>) -> Result<Self, Error> {
        let head = writer.head(info)?;
        BlobWriter::with_head(writer, Label::of(info), head, None)
    }
}

/// A blob that owns its writer: it is opened by [`owning`](Self::owning).
#[allow(clippy::result_large_err, reason = "the writer comes back by value; how large it is differs by system")]
impl<D: Destination> BlobWriter<Writer<D>> {
    /// Opens a blob as `open` does, which calls one of the writer's methods, and gives the writer to the blob: for a
    /// `struct`, another thread, or another language, where it cannot be borrowed.
    ///
    /// ```
    /// use std::io::Write;
    /// use popef::types::OpaqueInfo;
    /// use popef::write::{BlobWriter, NewFile};
    /// use popef::Writer;
    ///
    /// struct Export {
    ///     blob: BlobWriter<Writer<NewFile>>,
    /// }
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("model.popef");
    /// let info = OpaqueInfo { name: "notes".into(), ..Default::default() };
    /// let mut export = Export { blob: BlobWriter::owning(Writer::create(&path)?, |writer| writer.opaque(&info))? };
    /// export.blob.write_all(b"mine")?;
    /// let (writer, written) = export.blob.finish()?;
    /// assert_eq!(writer.finish()?.size, written.size);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn owning(
        mut writer: Writer<D>,
        open: impl FnOnce(&mut Writer<D>) -> Result<BlobWriter<&mut Writer<D>>, Error>,
    ) -> Result<Self, Refused<D>> {
        let opened = open(&mut writer).map(BlobWriter::into_open);
        let (writer, open) = Refused::unless(opened, writer)?;
        Ok(BlobWriter::resumed(writer, open))
    }

    /// Ends the blob, gives the writer back, and says where the blob is. If bytes are missing or were too many it is
    /// undone, and that is the error.
    pub fn finish(mut self) -> Result<(Writer<D>, Written), Refused<D>> {
        let ended = self.end();
        Refused::unless(ended, self.discard())
    }

    /// Undoes the blob, and gives the writer back. If it could not be undone, the writer's next call says so.
    pub fn discard(mut self) -> Writer<D> {
        self.undo();
        self.held.take()
    }
}

impl<W: HeldWriter> BlobWriter<W> {
    pub(super) fn resumed(held: W, open: Open) -> Self {
        BlobWriter { held, open, finished: false }
    }

    pub(super) fn writer(&mut self) -> &mut Writer<W::To> {
        self.held.get_mut()
    }

    fn undo(&mut self) {
        if !mem::replace(&mut self.finished, true) {
            self.held.get_mut().undo();
        }
    }

    /// Writes the next elements of a tensor or a feed; an error if theirs is another type.
    pub fn write_elements<T: Element>(&mut self, elements: &[T]) -> Result<(), Error> {
        match self.open.element_type {
            Some(needed) if needed != T::DATA_TYPE => {
                let problem =
                    WriteProblem::WrongType { blob: self.open.label.to_string(), needed, found: T::DATA_TYPE };
                Err(self.held.get().refusal(problem))
            }
            _ => self.put(&T::to_file(elements)),
        }
    }

    /// How many bytes of data were written so far.
    pub fn len(&self) -> u64 {
        self.open.given
    }

    /// Whether no data was written yet.
    pub fn is_empty(&self) -> bool {
        self.open.given == 0
    }

    fn end(&mut self) -> Result<Written, Error> {
        self.writer().check_fault()?;
        match self.open.needed {
            Some(needed) if needed != self.open.given => return Err(self.wrong_length(needed)),
            Some(_) => self.put(&[])?,
            None => {
                self.put(&[])?;
                self.fill_in()?;
            }
        }
        self.finished = true;
        let size = self.open.head.len().saturating_add(self.open.given);
        Ok(self.held.get_mut().finished(&self.open.label, size))
    }

    /// Puts the head in the place of the zeros.
    fn fill_in(&mut self) -> Result<(), Error> {
        let Open { head, given, .. } = &mut self.open;
        let writer = self.held.get_mut();
        writer.set_data_len(head, *given)?;
        writer.put_head(writer.end(), head.bytes())
    }

    fn wrong_length(&self, needed: u64) -> Error {
        let (blob, found) = (self.open.label.to_string(), self.open.given);
        self.held.get().refusal(if found < needed {
            WriteProblem::BlobUnfinished { blob, needed, found }
        } else {
            WriteProblem::WrongLength { blob, needed, found }
        })
    }

    /// Where the next byte of data goes.
    fn data_end(&self) -> u64 {
        self.held.get().end().saturating_add(self.open.head.len()).saturating_add(self.open.given)
    }

    /// Writes the next bytes out of a file, as many as it is limited to. The writer is left as it is if that fails:
    /// whether it is the file that failed or the destination is not known here.
    pub(super) fn put_file(&mut self, from: &mut io::Take<fs::File>) -> Result<io::Result<()>, Error> {
        self.put(&[])?;
        let at = self.data_end();
        self.open.given = self.open.given.saturating_add(from.limit());
        Ok(self.writer().copy_at(at, from))
    }

    /// Writes the next bytes, and before them, if they are the first, the head, or zeros until it is known.
    pub(super) fn put(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.writer().check_fault()?;
        self.check_mark(bytes)?;
        let at = self.data_end();
        self.open.given = self.open.given.saturating_add(len_of(bytes));
        if let Some(needed) = self.open.needed
            && self.open.given > needed
        {
            return Err(self.wrong_length(needed));
        }
        self.begin()?;
        self.writer().put(at, bytes)
    }

    /// Whether the data begins as compressed data does, if it has to.
    fn check_mark(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let Open { mark: Some(mark), needed, label, .. } = &mut self.open else { return Ok(()) };
        mark.extend(bytes.iter().take(Compression::MARK.saturating_sub(mark.len())));
        let is_whole = mark.len() == Compression::MARK || *needed == Some(len_of(mark));
        if !is_whole || Compression::may_begin(mark) {
            return Ok(());
        }
        let problem = WriteProblem::NotCompressed { blob: label.to_string() };
        Err(self.held.get().refusal(problem))
    }

    fn begin(&mut self) -> Result<(), Error> {
        let Open { head, begun, needed, .. } = &mut self.open;
        if mem::replace(begun, true) {
            return Ok(());
        }
        let writer = self.held.get_mut();
        match needed {
            Some(_) => writer.put(writer.end(), head.bytes()),
            None => writer.put(writer.end(), &vec![0; head.bytes().len()]),
        }
    }

    /// Tells how many bytes its data has once unpacked.
    pub(super) fn unpacked(&mut self, uncompressed_size: u64) {
        self.open.head.set_uncompressed_size(uncompressed_size);
    }
}

impl<W: HeldWriter> Write for BlobWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.put(bytes)?;
        Ok(bytes.len())
    }

    /// Nothing: what is written counts only once all of it is finished.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<W: HeldWriter> Drop for BlobWriter<W> {
    fn drop(&mut self) {
        self.undo();
    }
}

impl<W: HeldWriter> fmt::Debug for BlobWriter<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlobWriter")
            .field("blob", &self.open.label.to_string())
            .field("needed", &self.open.needed)
            .field("given", &self.open.given)
            .finish_non_exhaustive()
    }
}
