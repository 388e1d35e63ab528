//! Arrays whose bytes are not in a file as PopEF has them, in a temporary file that has them so.

use std::fs;

use popef::read::LocalFile;

use super::compose::Piece;
use crate::error::Error;
use crate::formats::Array;
use crate::progress::Progress;
use crate::work::{copy, temporary};

/// A temporary file without a name, which is made when the first array needs it. It is gone however the program ends.
#[derive(Debug, Default)]
pub(super) struct Spool {
    file: Option<fs::File>,
    len: u64,
}

impl Spool {
    /// The bytes of an array as PopEF has them. A checksum that comes with them is checked.
    pub(super) fn piece(&mut self, array: &Array, progress: &dyn Progress) -> Result<Piece, Error> {
        if let Some(place) = array.plain(progress)? {
            return Ok(Piece::Place(place));
        }
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(temporary()?),
        };
        let len = array.info.size_in_bytes()?;
        progress.expect(len);
        copy(&mut *array.reader()?, file, progress)?;
        let offset = self.len;
        self.len = self.len.saturating_add(len);
        Ok(Piece::Spooled { offset, len })
    }

    /// The file with all arrays.
    pub(super) fn into_file(self) -> Result<Option<LocalFile>, Error> {
        Ok(self.file.map(|file| LocalFile::of(file, None)).transpose()?)
    }
}
