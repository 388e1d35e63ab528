use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::mem;
use std::ops::Range;

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

/// A blob that is being written, through [`Write`] or by elements. If it is dropped before it is
/// [finished](Self::finish), it is undone.
///
/// If its length was announced, exactly that many bytes must be written. An [`Error`] of this library is wrapped in the
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
/// While a blob is open, nothing else can be written. The compiler ensures this:
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
    /// Whether the blob was finished or moved elsewhere, so that a drop must not undo it.
    finished: bool,
}

/// The state of an open blob.
#[derive(Default)]
pub(super) struct Open {
    label: Label<'static>,
    head: NewHead,
    /// Whether the head, or zeros in its place, was written. This happens with the first byte of data or at the end, so
    /// that a blob without data can be dropped on a stream.
    begun: bool,
    /// The length of the data, if it was announced.
    needed: Option<u64>,
    given: u64,
    element_type: Option<DataType>,
    /// For data that must be compressed already: its first bytes, as many as identify the format.
    mark: Option<Vec<u8>>,
}

impl<'w, D: Destination> BlobWriter<&'w mut Writer<D>> {
    /// Opens a blob with `len` bytes of data.
    pub(super) fn sized(writer: &'w mut Writer<D>, info: InfoRef<'_>, len: u64) -> Result<Self, Error> {
        let mut head = writer.head(info)?;
        writer.set_data_len(&mut head, len)?;
        let mut blob = BlobWriter::with_head(writer, Label::of(info), head, Some(len))?;
        blob.open.element_type = info.tensors().map(|(info, _)| info.data_type);
        blob.open.mark = matches!(info, InfoRef::Executable(info) if info.uncompressed_size.is_some()).then(Vec::new);
        Ok(blob)
    }

    /// Opens a blob with a given head, and with `needed` bytes of data if that is known.
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

    /// Takes the state of the blob out, without its writer.
    pub(super) fn into_open(mut self) -> Open {
        self.finished = true;
        mem::take(&mut self.open)
    }

    /// Ends the blob, and returns its place. Fails if there are too few or too many bytes, and then undoes the blob.
    pub fn finish(mut self) -> Result<Written, Error> {
        self.end()
    }
}

impl<'w, D: Rewind> BlobWriter<&'w mut Writer<D>> {
    /// Opens a blob of unknown length. The file has zeros in place of the head until the blob is finished.
    pub(super) fn open(writer: &'w mut Writer<D>, info: InfoRef<'_>) -> Result<Self, Error> {
        let head = writer.head(info)?;
        BlobWriter::with_head(writer, Label::of(info), head, None)
    }
}

/// A blob that owns its writer. [`owning`](Self::owning) opens it.
#[allow(clippy::result_large_err, reason = "the writer comes back by value; how large it is differs by system")]
impl<D: Destination> BlobWriter<Writer<D>> {
    /// Opens a blob that owns its writer. `open` calls the writer's method that opens the blob. This is for a `struct`,
    /// another thread or another language, where the blob cannot borrow the writer.
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

    /// Ends the blob, and returns the writer and the blob's place. Fails if there are too few or too many bytes, and
    /// then undoes the blob.
    pub fn finish(mut self) -> Result<(Writer<D>, Written), Refused<D>> {
        let ended = self.end();
        Refused::unless(ended, self.discard())
    }

    /// Undoes the blob, and returns the writer. If that fails, the writer's next call returns the error.
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

    /// Writes the next elements of a tensor or a feed. Fails if `T` is not the type of the elements.
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

    /// Returns the number of bytes of data that were written so far.
    pub fn len(&self) -> u64 {
        self.open.given
    }

    /// Returns whether no data was written yet.
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

    /// Writes the head in place of the zeros.
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

    /// The position of the next byte of data.
    fn data_end(&self) -> u64 {
        self.held.get().end().saturating_add(self.open.head.len()).saturating_add(self.open.given)
    }

    /// Hands over to the system what is buffered, and returns the place of the data that was written so far. Another thread can
    /// then read it back, from the file that [`Writer::read_back_file`] gives.
    pub fn flushed(&mut self) -> Result<Range<u64>, Error> {
        self.writer().flush_destination()?;
        let end = self.data_end();
        Ok(end.saturating_sub(self.open.given)..end)
    }

    /// Writes the next bytes from a file, up to its limit. If the copying fails, the writer is not marked as failed,
    /// because it is unknown here whether the file or the destination failed.
    pub(super) fn put_file(&mut self, from: &mut io::Take<fs::File>) -> Result<io::Result<()>, Error> {
        self.put(&[])?;
        let at = self.data_end();
        self.open.given = self.open.given.saturating_add(from.limit());
        Ok(self.writer().copy_at(at, from))
    }

    /// Writes the next bytes. Before the first ones, writes the head, or zeros if it is not known yet.
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

    /// Fails if the data must be compressed but does not begin like a known format.
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

    /// Sets the size of the unpacked data.
    pub(super) fn unpacked(&mut self, uncompressed_size: u64) {
        self.open.head.set_uncompressed_size(Some(uncompressed_size));
    }
}

impl<W: HeldWriter> Write for BlobWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.put(bytes)?;
        Ok(bytes.len())
    }

    /// Does nothing, because a blob counts only when it is finished.
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
