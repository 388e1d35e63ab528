//! A PopEF file that is put together of pieces, before it is written anywhere.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use popef::read::{LocalFile, ReadAt};
use popef::{File, OpenOptions};

use crate::error::Error;
use crate::formats::{Place, Source};

/// Some bytes of the file.
#[derive(Clone, Debug)]
pub(super) enum Piece {
    Bytes(Vec<u8>),
    Place(Place),
    /// Bytes of the temporary file.
    Spooled {
        offset: u64,
        len: u64,
    },
    /// Bytes that nobody looks at.
    Zeros(u64),
}

impl Piece {
    pub(super) fn len(&self) -> u64 {
        match self {
            Piece::Bytes(bytes) => u64::try_from(bytes.len()).unwrap_or(u64::MAX),
            Piece::Place(place) => place.len(),
            Piece::Spooled { len, .. } | Piece::Zeros(len) => *len,
        }
    }
}

impl Piece {
    pub(super) fn place(&self) -> Option<&Place> {
        match self {
            Piece::Place(place) => Some(place),
            _ => None,
        }
    }
}

/// The pieces of a file, in order.
#[derive(Debug, Default)]
pub(super) struct Composed {
    /// Each with the position of its first byte.
    pieces: Vec<(u64, Piece)>,
    size: u64,
    /// The file that was read last. Pieces of one file are often read one after the other.
    open: Mutex<Option<(Source, Arc<LocalFile>)>>,
    spooled: Option<LocalFile>,
}

impl Composed {
    /// `spooled` is the temporary file.
    pub(super) fn with(spooled: Option<LocalFile>) -> Self {
        Composed { spooled, ..Composed::default() }
    }

    /// Adds a piece at the end. None if the file would be too long for any system.
    pub(super) fn push(&mut self, piece: Piece) -> Option<()> {
        let start = self.size;
        self.size = start.checked_add(piece.len()).filter(|size| i64::try_from(*size).is_ok())?;
        if piece.len() > 0 {
            self.pieces.push((start, piece));
        }
        Some(())
    }

    /// Opens the file, which checks all headers. The first blob begins at `start`.
    pub(super) fn open(self, start: u64) -> Result<File, Error> {
        // Data lies in files of its own, so little is read beyond the headers.
        Ok(OpenOptions::new().start(start).read_ahead(4 << 10, 32 << 10).source(self)?)
    }

    /// Reads from the piece that has a position, as far as it goes.
    fn read_piece(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let behind = self.pieces.partition_point(|(start, _)| *start <= offset);
        let (start, piece) = self.pieces.get(behind.wrapping_sub(1)).ok_or(io::ErrorKind::UnexpectedEof)?;
        let at = offset.saturating_sub(*start);
        let left = usize::try_from(piece.len().saturating_sub(at)).unwrap_or(usize::MAX);
        let buf = buf.get_mut(..left.min(buf.len())).unwrap_or_default();
        match piece {
            Piece::Bytes(bytes) => {
                let start = usize::try_from(at).unwrap_or(usize::MAX);
                let bytes = bytes.get(start..start.saturating_add(buf.len()));
                buf.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
            }
            Piece::Place(place) => {
                let file = self.opened(place.source())?;
                file.read_exact_at(buf, place.offset().saturating_add(at))?;
                if !file.is_unchanged()? {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
            Piece::Spooled { offset, .. } => {
                let file = self.spooled.as_ref().ok_or(io::ErrorKind::UnexpectedEof)?;
                file.read_exact_at(buf, offset.saturating_add(at))?;
            }
            Piece::Zeros(_) => buf.fill(0),
        }
        Ok(buf.len())
    }

    fn opened(&self, source: &Source) -> io::Result<Arc<LocalFile>> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, file)) = &*open
            && known.is(source)
        {
            return Ok(Arc::clone(file));
        }
        let file = source.open().map_err(io::Error::other)?;
        *open = Some((source.clone(), Arc::clone(&file)));
        Ok(file)
    }
}

impl ReadAt for Composed {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_exact_at(&self, mut buf: &mut [u8], mut offset: u64) -> io::Result<()> {
        while !buf.is_empty() {
            let count = self.read_piece(buf, offset)?;
            if count == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            buf = buf.get_mut(count..).unwrap_or_default();
            offset = offset.saturating_add(u64::try_from(count).unwrap_or(u64::MAX));
        }
        Ok(())
    }
}
