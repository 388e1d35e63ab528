//! Blobs out of files that were read, byte for byte.

use std::io::Read;

use super::blob::{BlobWriter, WRITE, What};
use super::destination::Destination;
use super::writer::{Writer, Written};
use crate::error::{Error, Problem};
use crate::read::{Blob, Data, OnDisk};

/// Less than this goes through memory: opening the file again would take longer.
const BY_THE_SYSTEM: u64 = 128 << 10;

/// How much goes through memory at a time.
const PIECE: u64 = 256 << 10;

pub(super) fn copy<D: Destination>(writer: &mut Writer<D>, blob: &Blob<'_>) -> Result<Written, Error> {
    let data = blob.data();
    let place = data.on_disk_at();
    if place.is_some_and(|place| place.metadata().is_ok_and(|metadata| writer.to.is_file(&metadata))) {
        return Err(writer.refusal(Problem::SameFile));
    }
    let head = [blob.header_bytes(), blob.info_bytes()].concat();
    let mut open = BlobWriter::verbatim(writer, What::copied(blob), head, data.len())?;
    match (data.as_slice(), place) {
        (Some(bytes), _) => open.put(bytes)?,
        (None, Some(place)) if data.len() >= BY_THE_SYSTEM => copy_file(&mut open, data, place)?,
        _ => copy_pieces(&mut open, data)?,
    }
    open.finish()
}

fn copy_file<D: Destination>(open: &mut BlobWriter<'_, D>, data: Data<'_>, place: OnDisk<'_>) -> Result<(), Error> {
    let Some(file) = place.open_again() else { return copy_pieces(open, data) };
    let copied = open.put_file(&mut file.take(data.len()))?;
    // A file that was changed meanwhile is why, if it was.
    place.check_unchanged()?;
    copied.map_err(|source| open.writer.fail(Problem::Io { doing: WRITE, source }))
}

fn copy_pieces<D: Destination>(open: &mut BlobWriter<'_, D>, data: Data<'_>) -> Result<(), Error> {
    let mut at = 0;
    while at < data.len() {
        let end = at.saturating_add(PIECE).min(data.len());
        open.put(&data.range(at..end)?.read()?)?;
        at = end;
    }
    Ok(())
}
