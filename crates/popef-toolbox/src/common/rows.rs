//! Rows of a JSON document. They may be millions, so they are kept outside memory until the document is complete.

use std::io::{self, BufWriter, Read as _, Seek as _, SeekFrom, Write};

use popef_ops::Error;
use popef_show::Out;
use serde::Serialize;
use tempfile::SpooledTempFile;

use super::end::unwritten;

/// More than this is kept in an unnamed temporary file.
const IN_MEMORY: usize = 1 << 20;

/// The rows of one list after the other.
pub(crate) struct Rows {
    spool: BufWriter<SpooledTempFile>,
    /// The number of bytes of each list.
    lists: Vec<u64>,
}

impl Rows {
    pub(crate) fn new() -> Self {
        Rows { spool: BufWriter::new(SpooledTempFile::new(IN_MEMORY)), lists: Vec::new() }
    }

    /// Adds a row to a list, which is the one of the row before, or comes later.
    pub(crate) fn push(&mut self, list: usize, row: &impl Serialize) -> Result<(), Error> {
        self.keep(list, row).map_err(|error| Error::io("write a temporary file", error))
    }

    fn keep(&mut self, list: usize, row: &impl Serialize) -> io::Result<()> {
        let row = json(row)?;
        self.lists.resize(self.lists.len().max(list.saturating_add(1)), 0);
        let Some(len) = self.lists.get_mut(list) else { return Ok(()) };
        let comma: &[u8] = if *len == 0 { b"" } else { b"," };
        *len = len.saturating_add(u64::try_from(row.len().saturating_add(comma.len())).unwrap_or(u64::MAX));
        self.spool.write_all(comma)?;
        self.spool.write_all(&row)
    }

    /// Writes objects, each with the rows of its list as the last member, which has the name `key`. Commas are between them.
    pub(crate) fn write_objects<T: Serialize>(mut self, out: &mut Out, objects: &[T], key: &str) -> Result<(), Error> {
        self.write(out, objects, key).map_err(unwritten)
    }

    fn write<T: Serialize>(&mut self, out: &mut Out, objects: &[T], key: &str) -> io::Result<()> {
        self.spool.seek(SeekFrom::Start(0))?;
        for (nth, object) in objects.iter().enumerate() {
            let object = json(object)?;
            let members = object.strip_suffix(b"}").unwrap_or(&object);
            out.write_all(if nth == 0 { b"" } else { b"," })?;
            out.write_all(members)?;
            out.write_all(if members == b"{" { b"\"" } else { b",\"" })?;
            out.write_all(key.as_bytes())?;
            out.write_all(b"\":[")?;
            let len = self.lists.get(nth).copied().unwrap_or(0);
            io::copy(&mut self.spool.get_mut().take(len), out)?;
            out.write_all(b"]}")?;
        }
        Ok(())
    }
}

/// A value as JSON without a line feed.
fn json(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut out = Out::in_memory(false);
    popef_show::json_line(&mut out, value)?;
    let mut json = out.into_bytes();
    json.pop();
    Ok(json)
}
