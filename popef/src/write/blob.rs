use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::mem;

use super::destination::{Destination, Rewind, len_of};
use super::label::Label;
use super::problem::WriteProblem;
use super::writer::{Writer, Written};
use crate::error::Error;
use crate::read::Element;
use crate::types::{BlobInfo, DataType};
use crate::wire::NewHead;

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
    open: Open,
    finished: bool,
}

/// What is known of a blob while it is written.
struct Open {
    label: Label<'static>,
    head: NewHead,
    /// Whether the head, or zeros in its place, was written. Not before the first byte of data or the end: so that an
    /// opened blob can be dropped on a stream.
    begun: bool,
    /// How many bytes of data it has, if that was known beforehand.
    needed: Option<u64>,
    given: u64,
    element_type: Option<DataType>,
}

impl<'w, D: Destination> BlobWriter<'w, D> {
    /// A blob with so many bytes of data.
    pub(super) fn sized(writer: &'w mut Writer<D>, info: BlobInfo<'_>, len: u64) -> Result<Self, Error> {
        let mut head = writer.head(info)?;
        writer.set_data_len(&mut head, len)?;
        BlobWriter::with_head(writer, Label::of(info), head, Some(len))
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
        let open = Open { label, head, begun: false, needed, given: 0, element_type: None };
        Ok(BlobWriter { writer, open, finished: false })
    }

    pub(super) fn of_elements(mut self, element_type: DataType) -> Self {
        self.open.element_type = Some(element_type);
        self
    }

    /// Writes the next elements of a tensor or a feed; an error if theirs is another type.
    pub fn write_elements<T: Element>(&mut self, elements: &[T]) -> Result<(), Error> {
        match self.open.element_type {
            Some(needed) if needed != T::DATA_TYPE => {
                let problem =
                    WriteProblem::WrongType { blob: self.open.label.to_string(), needed, found: T::DATA_TYPE };
                Err(self.writer.refusal(problem))
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

    /// Ends the blob, and says where it is. If bytes are missing or were too many it is undone, and that is the error.
    pub fn finish(mut self) -> Result<Written, Error> {
        self.writer.check_fault()?;
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
        Ok(self.writer.finished(&self.open.label, size))
    }

    /// Puts the head in the place of the zeros.
    fn fill_in(&mut self) -> Result<(), Error> {
        let Open { head, given, .. } = &mut self.open;
        self.writer.set_data_len(head, *given)?;
        self.writer.put_head(self.writer.end(), head.bytes())
    }

    fn wrong_length(&self, needed: u64) -> Error {
        let (blob, found) = (self.open.label.to_string(), self.open.given);
        self.writer.refusal(if found < needed {
            WriteProblem::BlobUnfinished { blob, needed, found }
        } else {
            WriteProblem::WrongLength { blob, needed, found }
        })
    }

    /// Where the next byte of data goes.
    fn data_end(&self) -> u64 {
        self.writer.end().saturating_add(self.open.head.len()).saturating_add(self.open.given)
    }

    /// Writes the next bytes out of a file, as many as it is limited to. The writer is left as it is if that fails:
    /// whether it is the file that failed or the destination is not known here.
    pub(super) fn put_file(&mut self, from: &mut io::Take<fs::File>) -> Result<io::Result<()>, Error> {
        self.put(&[])?;
        let at = self.data_end();
        self.open.given = self.open.given.saturating_add(from.limit());
        Ok(self.writer.to.copy_at(at, from))
    }

    /// Writes the next bytes, and before them, if they are the first, the head, or zeros until it is known.
    pub(super) fn put(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.writer.check_fault()?;
        let at = self.data_end();
        self.open.given = self.open.given.saturating_add(len_of(bytes));
        if let Some(needed) = self.open.needed
            && self.open.given > needed
        {
            return Err(self.wrong_length(needed));
        }
        self.begin()?;
        self.writer.put(at, bytes)
    }

    fn begin(&mut self) -> Result<(), Error> {
        let Open { head, begun, needed, .. } = &mut self.open;
        if mem::replace(begun, true) {
            return Ok(());
        }
        let at = self.writer.end();
        match needed {
            Some(_) => self.writer.put(at, head.bytes()),
            None => self.writer.put(at, &vec![0; head.bytes().len()]),
        }
    }
}

impl<'w, D: Rewind> BlobWriter<'w, D> {
    /// A blob whose length is not known: zeros stand for its head until it is finished.
    pub(super) fn open(writer: &'w mut Writer<D>, info: BlobInfo<'_>) -> Result<Self, Error> {
        let head = writer.head(info)?;
        BlobWriter::with_head(writer, Label::of(info), head, None)
    }

    /// Tells how many bytes its data has once unpacked.
    pub(super) fn unpacked(&mut self, uncompressed_size: u64) {
        self.open.head.set_uncompressed_size(uncompressed_size);
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
            .field("blob", &self.open.label.to_string())
            .field("needed", &self.open.needed)
            .field("given", &self.open.given)
            .finish_non_exhaustive()
    }
}
