//! Arrays whose bytes are not in a file as PopEF has them, as temporary files that have them so.

use std::fs;
use std::io;

use tempfile::TempDir;

use crate::error::Error;
use crate::formats::{Array, Place, Source};

/// A folder of temporary files, which is made when the first is.
#[derive(Debug, Default)]
pub(super) struct Spool {
    folder: Option<TempDir>,
    files: u64,
}

impl Spool {
    /// The bytes of an array as PopEF has them. A checksum that comes with them is checked.
    pub(super) fn plain(&mut self, array: &Array) -> Result<Place, Error> {
        if let Some(place) = array.plain()? {
            return Ok(place);
        }
        let failed = |error| Error::io("write a temporary file", error);
        let folder = match &self.folder {
            Some(folder) => folder,
            None => self.folder.insert(tempfile::tempdir().map_err(failed)?),
        };
        self.files = self.files.saturating_add(1);
        let path = folder.path().join(self.files.to_string());
        let mut file = fs::File::create_new(&path).map_err(failed)?;
        io::copy(&mut array.reader()?, &mut file).map_err(failed)?;
        Ok(Place::of(Source::of(&path)?))
    }
}
