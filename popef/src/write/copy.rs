//! Copies blobs from files that were read. The data is copied byte for byte.

use std::fs;
use std::io::{self, Read};

use super::blob::BlobWriter;
use super::blob_copy::BlobCopy;
use super::destination::Destination;
use super::problem::WriteProblem;
use super::writer::{Writer, Written};
use crate::error::{Error, Problem};
use crate::read::{Data, InSource};
use crate::types::BlobType;
use crate::wire::NewHead;

/// Shorter data is copied through memory, because opening the file again would take longer.
const BY_THE_SYSTEM: u64 = 128 << 10;

pub(super) fn copy<D: Destination>(writer: &mut Writer<D>, copy: BlobCopy<'_>) -> Result<Written, Error> {
    Run::of(writer, copy)?.copy(writer)
}

pub(super) fn copy_all<'b, D: Destination>(
    writer: &mut Writer<D>,
    copies: impl Iterator<Item = BlobCopy<'b>>,
    mut tell: impl FnMut(Written) -> Result<(), Problem>,
) -> Result<(), Error> {
    let mut offset = writer.end();
    let mut run: Option<Run<'b>> = None;
    for copy in copies {
        let size = if run.as_mut().is_some_and(|run| run.take(&copy)) {
            copy.blob.size()
        } else {
            run.take().map(|run| run.copy(writer)).transpose()?;
            run.insert(Run::of(writer, copy)?).len_of_first()
        };
        tell(Written { offset, size }).map_err(|problem| writer.refusal(problem))?;
        offset = offset.saturating_add(size);
    }
    run.map(|run| run.copy(writer)).transpose()?;
    Ok(())
}

/// A blob, and the unchanged blobs that follow it in its file, which are copied together.
struct Run<'b> {
    first: BlobCopy<'b>,
    head: NewHead,
    /// Where the others begin in the file.
    others: Vec<u64>,
    /// The place in the source from which the bytes are copied. `None` if they are copied from memory.
    place: Option<InSource<'b>>,
    /// The number of bytes after the header and info of the first blob.
    len: u64,
}

impl<'b> Run<'b> {
    fn of<D: Destination>(writer: &Writer<D>, first: BlobCopy<'b>) -> Result<Self, Error> {
        // What is wrong with the old blob is about its own file.
        let head = first.head(|problem| {
            let error = first.blob.error(problem.clone(), first.blob.offset());
            if error.is_about_the_file() { error } else { writer.refusal(problem) }
        })?;
        let data = first.blob.data();
        // The caller of `File::map` promised that the file does not change. If it changed all the same, copy from the
        // mapping, which is what the caller sees.
        let mapped = data.as_slice().is_some();
        let place = first.blob.in_source().filter(|place| !mapped || place.check_unchanged().is_ok());
        Ok(Run { first, head, others: Vec::new(), place, len: data.len() })
    }

    /// The size of the first blob's copy.
    fn len_of_first(&self) -> u64 {
        self.head.len().saturating_add(self.first.blob.data().len())
    }

    /// Adds a blob to the run, if it can be copied together with the others. Executables begin a new run, because their
    /// names must be checked.
    fn take(&mut self, copy: &BlobCopy<'_>) -> bool {
        let (first, blob) = (&self.first.blob, &copy.blob);
        let end = first.data_offset().saturating_add(self.len);
        let follows = self.place.is_some() && blob.offset() == end && blob.is_in_source_of(first);
        if !follows || !copy.is_verbatim() || blob.blob_type() == BlobType::PoplarExecutable {
            return false;
        }
        self.others.push(blob.offset());
        self.len = self.len.saturating_add(blob.size());
        true
    }

    /// Copies all blobs of the run. Returns their place.
    fn copy<D: Destination>(self, writer: &mut Writer<D>) -> Result<Written, Error> {
        let Run { first, head, others, place, len } = self;
        let (data, index) = (first.blob.data(), first.blob.index());
        let file = first.blob.in_source().and_then(|place| place.file());
        if file.is_some_and(|file| writer.is_file(file)) {
            return Err(writer.refusal(WriteProblem::CopyFromTarget));
        }
        let mut open = BlobWriter::with_head(writer, first.label(), head, Some(len))?;
        match place {
            Some(place) if len >= BY_THE_SYSTEM => match place.open_again() {
                Some(file) => copy_file(&mut open, place, file.take(len))?,
                None => copy_pieces(&mut open, place.data(len), index, &others)?,
            },
            Some(place) if !others.is_empty() => copy_pieces(&mut open, place.data(len), index, &others)?,
            _ => data.in_pieces(|piece| open.put(piece))?,
        }
        let written = open.finish()?;
        writer.finished_more(others.len());
        Ok(written)
    }
}

fn copy_file<D: Destination>(
    open: &mut BlobWriter<&mut Writer<D>>,
    place: InSource<'_>,
    mut from: io::Take<fs::File>,
) -> Result<(), Error> {
    let copied = open.put_file(&mut from)?;
    // A change of the file is the cause of a failed copy, so it is reported first.
    place.check_unchanged()?;
    copied.map_err(|source| open.writer().failed_to_write(source))
}

/// Copies the data of a blob and all of the others behind it. An error of reading is about the one that was read.
fn copy_pieces<D: Destination>(
    open: &mut BlobWriter<&mut Writer<D>>,
    data: Data<'_>,
    index: usize,
    others: &[u64],
) -> Result<(), Error> {
    let mut is_read = true;
    let copied = data.in_pieces(|piece| open.put(piece).inspect_err(|_| is_read = false));
    copied.map_err(|error| match error.offset() {
        Some(offset) if is_read => {
            error.in_blob(index.saturating_add(others.partition_point(|start| *start <= offset)))
        }
        _ => error,
    })
}
