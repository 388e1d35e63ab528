//! Rows of a JSON document, kept outside memory until the document is complete.

use popef_cli::end::unwritten;
use popef_ops::Error;
use popef_show::{JsonRows, Out};
use serde::Serialize;
use tempfile::SpooledTempFile;

/// The maximum number of bytes in memory. More are kept in an unnamed temporary file.
const IN_MEMORY: usize = 1 << 20;

/// The rows of one list after the other.
pub(crate) struct Rows(JsonRows<SpooledTempFile>);

impl Rows {
    pub(crate) fn new() -> Self {
        Rows(JsonRows::new(SpooledTempFile::new(IN_MEMORY)))
    }

    /// Adds a row to a list: the list of the row before, or a later one.
    pub(crate) fn push(&mut self, list: usize, row: &impl Serialize) -> Result<(), Error> {
        self.0.push(list, row).map_err(|error| Error::io("write a temporary file", error))
    }

    /// Writes objects, each with the rows of its list as the last member, which has the name `key`. Commas are between them.
    pub(crate) fn write_objects<T: Serialize>(
        self,
        out: &mut Out,
        objects: &[T],
        key: &'static str,
    ) -> Result<(), Error> {
        self.0.write_objects(out, objects, key).map_err(unwritten)
    }
}
