//! `.npz` files: zip archives of `.npy` files, whose entries are stored or deflated.

use std::io::{self, BufReader, Read};

use flate2::Crc;
use flate2::read::DeflateDecoder;
use popef::types::Text;
use zip::{CompressionMethod, ZipArchive};

use super::npy::Header;
use super::place::{Place, PlaceReader};
use super::{Array, Stored, bad, unsupported};
use crate::error::Error;

/// A zip archive begins with an entry, or is empty.
pub(super) const MAGICS: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];

/// An entry of an archive.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// Its bytes as they are in the archive.
    place: Place,
    is_deflated: bool,
    /// The bytes that it unpacks to.
    len: u64,
    checksum: u32,
}

/// The arrays of an archive, in its order.
pub(super) fn arrays(file: &Place) -> Result<Vec<Array>, Error> {
    let mut archive = ZipArchive::new(BufReader::new(file.reader()?)).map_err(|error| damaged(&error))?;
    if archive.has_duplicate_names() {
        return Err(bad("two entries of the archive have one name"));
    }
    let arrays: Vec<Array> =
        (0..archive.len()).map(|index| array(&mut archive, index, file)).collect::<Result<_, _>>()?;
    check_apart(&arrays)?;
    Ok(arrays)
}

/// Fails if two entries share bytes: a small archive could then have any number of large arrays.
fn check_apart(arrays: &[Array]) -> Result<(), Error> {
    let mut places: Vec<_> = arrays.iter().map(Array::place).map(|place| (place.offset(), place.len())).collect();
    places.sort_unstable();
    let overlap = |pair: &[(u64, u64)]| matches!(pair, [(start, len), (next, _)] if start.saturating_add(*len) > *next);
    match places.windows(2).any(overlap) {
        true => Err(bad("two entries of the archive share bytes")),
        false => Ok(()),
    }
}

fn array(archive: &mut ZipArchive<BufReader<PlaceReader>>, index: usize, file: &Place) -> Result<Array, Error> {
    let (name, entry) = entry(archive, index, file)?;
    let in_entry = |error: Error| Error::of_part(&format!("entry {:?}", Text::from(&*name)), error);
    let header = Header::read(&mut entry.reader()?).map_err(in_entry)?;
    header.data_of(entry.len).map_err(in_entry)?;
    let key = name.strip_suffix(b".npy").unwrap_or(&name).to_owned();
    let stored = Stored::Entry { entry, header: header.len, layout: header.layout };
    Ok(Array { name: Text::from(key), info: header.info, stored })
}

fn entry(
    archive: &mut ZipArchive<BufReader<PlaceReader>>,
    index: usize,
    file: &Place,
) -> Result<(Vec<u8>, Entry), Error> {
    let entry = archive.by_index_raw(index).map_err(|error| damaged(&error))?;
    let raw = entry.name_raw().to_vec();
    let name = Text::from(&*raw);
    if entry.encrypted() {
        return Err(unsupported(format!("entry {name:?} is encrypted")));
    }
    let is_deflated = match entry.compression() {
        CompressionMethod::Stored => false,
        method if method == CompressionMethod::DEFLATE => true,
        method => {
            return Err(unsupported(format!(
                "entry {name:?} is compressed in a way that numpy does not write: {method}"
            )));
        }
    };
    let place = entry.data_start().and_then(|start| file.part(start, entry.compressed_size()));
    let place = place.filter(|place| is_deflated || place.len() == entry.size());
    let place = place.ok_or_else(|| bad(format!("entry {name:?} is not in the file")))?;
    Ok((raw, Entry { place, is_deflated, len: entry.size(), checksum: entry.crc32() }))
}

fn damaged(error: &zip::result::ZipError) -> Error {
    bad(format!("the archive is damaged: {error}"))
}

impl Entry {
    pub(super) fn place(&self) -> &Place {
        &self.place
    }

    /// Where the entry's bytes without the first ones are, if it is not compressed.
    pub(super) fn stored_from(&self, start: u64) -> Option<Place> {
        if self.is_deflated { None } else { self.place.from(start) }
    }

    fn reader(&self) -> Result<Checked, Error> {
        let stored = self.place.reader()?;
        let bytes: Box<dyn Read + Send> = match self.is_deflated {
            true => Box::new(DeflateDecoder::new(stored)),
            false => Box::new(stored),
        };
        Ok(Checked { bytes, left: self.len, checksum: self.checksum, crc: Crc::new() })
    }

    /// A reader of the entry's unpacked bytes without the first ones.
    pub(super) fn reader_from(&self, start: u64) -> Result<impl Read + Send + use<>, Error> {
        let mut reader = self.reader()?;
        io::copy(&mut reader.by_ref().take(start), &mut io::sink())
            .map_err(|error| Error::io("read the entry", error))?;
        Ok(reader)
    }
}

/// Gives the bytes of an entry, and fails instead of giving the last ones if they are not those that were put in.
struct Checked {
    bytes: Box<dyn Read + Send>,
    left: u64,
    checksum: u32,
    crc: Crc,
}

impl Read for Checked {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.left).unwrap_or(usize::MAX);
        let buf = buf.get_mut(..left.min(buf.len())).unwrap_or_default();
        if buf.is_empty() {
            return Ok(0);
        }
        let count = self.bytes.read(buf)?;
        let read = buf.get(..count).unwrap_or_default();
        if read.is_empty() {
            return Err(super::as_io(bad("an entry of the archive is cut off")));
        }
        self.crc.update(read);
        self.left = self.left.saturating_sub(u64::try_from(count).unwrap_or(u64::MAX));
        if self.left == 0 && self.crc.sum() != self.checksum {
            return Err(super::as_io(bad("the checksum of an entry of the archive is wrong")));
        }
        Ok(count)
    }
}
