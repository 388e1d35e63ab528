//! Blobs out of files that were read, byte for byte.

use std::io::Read;

use super::blob::BlobWriter;
use super::destination::Destination;
use super::label::Label;
use super::problem::WriteProblem;
use super::writer::{Writer, Written};
use crate::error::{Error, Problem};
use crate::read::{Blob, Data, InSource};
use crate::types::BlobType;
use crate::wire::NewHead;

/// Less than this goes through memory: opening the file again would take longer.
const BY_THE_SYSTEM: u64 = 128 << 10;

/// How much goes through memory at a time.
const PIECE: u64 = 256 << 10;

pub(super) fn copy<D: Destination>(writer: &mut Writer<D>, blob: &Blob<'_>) -> Result<Written, Error> {
    Run::of(*blob).copy(writer)
}

pub(super) fn copy_all<'b, D: Destination>(
    writer: &mut Writer<D>,
    blobs: impl Iterator<Item = Blob<'b>>,
) -> Result<Vec<Written>, Error> {
    let mut written = Vec::new();
    let mut offset = writer.end();
    let mut run: Option<Run<'b>> = None;
    for blob in blobs {
        if !run.as_mut().is_some_and(|run| run.take(&blob)) {
            run.replace(Run::of(blob)).map(|run| run.copy(writer)).transpose()?;
        }
        Problem::in_memory(size_of::<Written>(), written.try_reserve(1)).map_err(|problem| writer.refusal(problem))?;
        written.push(Written { offset, size: blob.size() });
        offset = offset.saturating_add(blob.size());
    }
    run.map(|run| run.copy(writer)).transpose()?;
    Ok(written)
}

/// A blob, and others that follow it in its file.
struct Run<'b> {
    first: Blob<'b>,
    others: usize,
    /// Where its bytes are taken from, if not from memory.
    place: Option<InSource<'b>>,
    /// How many bytes come behind the first one's header and info.
    len: u64,
}

impl<'b> Run<'b> {
    fn of(first: Blob<'b>) -> Self {
        // That a mapped file does not change was promised. If it did, the mapping is what the caller sees.
        let mapped = first.data().as_slice().is_some();
        let place = first.in_source().filter(|place| !mapped || place.check_unchanged().is_ok());
        Run { first, others: 0, place, len: first.data().len() }
    }

    /// Takes one more, if it can be copied together with those before. Executables begin anew, as their names must
    /// not be taken.
    fn take(&mut self, blob: &Blob<'_>) -> bool {
        let end = self.first.data_offset().saturating_add(self.len);
        let follows = self.place.is_some() && blob.offset() == end && blob.is_in_source_of(&self.first);
        if !follows || blob.blob_type() == BlobType::PoplarExecutable {
            return false;
        }
        self.others = self.others.saturating_add(1);
        self.len = self.len.saturating_add(blob.size());
        true
    }

    /// They all count as written then. Where they are.
    fn copy<D: Destination>(&self, writer: &mut Writer<D>) -> Result<Written, Error> {
        let Run { first, others, place, len } = *self;
        let data = first.data();
        let file = first.in_source().and_then(|place| place.file());
        if file.is_some_and(|file| writer.is_file(file)) {
            return Err(writer.refusal(WriteProblem::CopyFromTarget));
        }
        let head = NewHead::verbatim(first.header_bytes(), first.info_bytes());
        let head = head.map_err(|problem| writer.refusal(problem))?;
        let mut open = BlobWriter::with_head(writer, Label::of_blob(&first), head, Some(len))?;
        match (place, data.as_slice()) {
            (Some(place), _) if len >= BY_THE_SYSTEM => copy_file(&mut open, place, len)?,
            (_, Some(bytes)) if others == 0 => open.put(bytes)?,
            (Some(place), _) => copy_pieces(&mut open, place.data(len))?,
            (None, _) => copy_pieces(&mut open, data)?,
        }
        let written = open.finish()?;
        writer.finished_more(others);
        Ok(written)
    }
}

fn copy_file<D: Destination>(
    open: &mut BlobWriter<&mut Writer<D>>,
    place: InSource<'_>,
    len: u64,
) -> Result<(), Error> {
    let Some(file) = place.open_again() else { return copy_pieces(open, place.data(len)) };
    let copied = open.put_file(&mut file.take(len))?;
    // A file that was changed meanwhile is why, if it was.
    place.check_unchanged()?;
    copied.map_err(|source| open.writer().failed_to_write(source))
}

fn copy_pieces<D: Destination>(open: &mut BlobWriter<&mut Writer<D>>, data: Data<'_>) -> Result<(), Error> {
    let mut at = 0;
    while at < data.len() {
        let end = at.saturating_add(PIECE).min(data.len());
        open.put(&data.range(at..end)?.read()?)?;
        at = end;
    }
    Ok(())
}
