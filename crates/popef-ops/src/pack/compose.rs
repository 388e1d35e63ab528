//! A PopEF file composed of pieces, for reading only.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use popef::read::ReadAt;
use popef::{File, OpenOptions};

use crate::error::Error;
use crate::formats::Place;

/// Some bytes of the file.
#[derive(Clone, Debug)]
pub(super) enum Piece {
    /// A part of bytes that other pieces or files share.
    Bytes(Arc<Vec<u8>>, Range<usize>),
    Place(Place),
    /// Bytes that are not read.
    Zeros(u64),
}

impl Piece {
    pub(super) fn bytes(bytes: impl Into<Arc<Vec<u8>>>) -> Self {
        let bytes = bytes.into();
        let all = 0..bytes.len();
        Piece::Bytes(bytes, all)
    }

    fn len(&self) -> u64 {
        match self {
            Piece::Bytes(_, range) => u64::try_from(range.len()).unwrap_or(u64::MAX),
            Piece::Place(place) => place.len(),
            Piece::Zeros(len) => *len,
        }
    }
}

/// The pieces of a file, in order.
#[derive(Debug, Default)]
pub(super) struct Composed {
    /// Each with the position of its first byte.
    pieces: Vec<(u64, Piece)>,
    size: u64,
}

impl Composed {
    /// Adds a piece at the end. `None` if the file would be too long for any system.
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
        self.open_with(OpenOptions::new().start(start))
    }

    pub(super) fn open_with(self, options: &mut OpenOptions) -> Result<File, Error> {
        Ok(options.source(self)?)
    }

    /// Reads from the piece at a position, as far as it reaches.
    fn read_piece(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let behind = self.pieces.partition_point(|(start, _)| *start <= offset);
        let (start, piece) = self.pieces.get(behind.wrapping_sub(1)).ok_or(io::ErrorKind::UnexpectedEof)?;
        let at = offset.saturating_sub(*start);
        let left = usize::try_from(piece.len().saturating_sub(at)).unwrap_or(usize::MAX);
        let buf = buf.get_mut(..left.min(buf.len())).unwrap_or_default();
        match piece {
            Piece::Bytes(bytes, range) => {
                let start = range.start.saturating_add(usize::try_from(at).unwrap_or(usize::MAX));
                let bytes = bytes.get(start..start.saturating_add(buf.len()));
                buf.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
            }
            Piece::Place(place) => {
                place.read_up_to(at, buf).map_err(io::Error::other)?;
            }
            Piece::Zeros(_) => buf.fill(0),
        }
        Ok(buf.len())
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

    fn is_near(&self) -> bool {
        true
    }
}
