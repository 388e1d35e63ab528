//! Rows of a JSON document. They may be millions, so they are kept outside memory until the document is complete.

use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};

use serde::Serialize;

use super::stream::in_one_line;
use crate::output::out::Out;

/// The rows of one list after the other, kept where the program says, such as in an unnamed temporary file.
///
/// ```
/// use popef_show::{JsonRows, Out};
///
/// let mut rows = JsonRows::new(std::io::Cursor::new(Vec::new()));
/// rows.push(0, &1)?;
/// rows.push(0, &2)?;
/// let mut out = Out::in_memory(false);
/// rows.write_objects(&mut out, &[serde_json::json!({"path": "a"})], "blobs")?;
/// assert_eq!(out.into_bytes(), b"{\"path\":\"a\",\"blobs\":[1,2]}");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct JsonRows<S: Write> {
    spool: BufWriter<S>,
    /// The number of bytes of each list.
    lists: Vec<u64>,
}

impl<S: Read + Write + Seek> JsonRows<S> {
    /// No rows. They will be kept in `spool`, which is empty.
    pub fn new(spool: S) -> Self {
        JsonRows { spool: BufWriter::new(spool), lists: Vec::new() }
    }

    /// Adds a row to a list, which is the one of the row before, or comes later.
    pub fn push(&mut self, list: usize, row: &impl Serialize) -> io::Result<()> {
        let row = in_one_line(row)?;
        self.lists.resize(self.lists.len().max(list.saturating_add(1)), 0);
        let Some(len) = self.lists.get_mut(list) else { return Ok(()) };
        let comma: &[u8] = if *len == 0 { b"" } else { b"," };
        *len = len.saturating_add(u64::try_from(row.len().saturating_add(comma.len())).unwrap_or(u64::MAX));
        self.spool.write_all(comma)?;
        self.spool.write_all(&row)
    }

    /// Writes objects, each with the rows of its list as the last member, which has the name `key`. Commas are between them.
    pub fn write_objects<T: Serialize>(mut self, out: &mut Out, objects: &[T], key: &str) -> io::Result<()> {
        self.spool.seek(SeekFrom::Start(0))?;
        for (nth, object) in objects.iter().enumerate() {
            let object = in_one_line(object)?;
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
