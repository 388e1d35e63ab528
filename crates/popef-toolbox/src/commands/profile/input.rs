//! Profiling reports as users have them.

use std::cell::Cell;
use std::io::{self, Cursor, Read};
use std::path::Path;
use std::rc::Rc;

use flate2::read::MultiGzDecoder;
use popef_ops::{Code, Error};
use poplar_inspect::profile::{self, ErrorKind, ReadOptions, Report};

use crate::common::json_file::open;
use crate::common::words::wrong;

/// A report as it was read.
#[derive(Debug)]
pub(in crate::commands) struct Input {
    pub(in crate::commands) report: Report,
    /// The bytes of each file, the one with the graph first.
    pub(super) sizes: Vec<u64>,
    /// Whether the first of two files has the execution.
    pub(super) is_swapped: bool,
}

/// What is kept of lists with a value for each tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::commands) enum Keep {
    /// What they come to.
    Sums,
    /// What an execution is recomputed from, unless it takes much memory.
    Some,
    /// All.
    All,
}

impl Keep {
    /// There are eleven such lists of lists, which so take at most 44 MiB.
    const MOST: u64 = 4 << 20;

    fn options(self) -> ReadOptions {
        let mut options = ReadOptions::default();
        options.each_tile = self != Keep::Sums;
        options.most_bytes = (self == Keep::Some).then_some(Keep::MOST);
        options
    }
}

/// Reads a report from one file or two.
pub(in crate::commands) fn read(graph: &Path, execution: Option<&Path>, keep: Keep) -> Result<Input, Error> {
    if execution.is_some_and(|execution| execution.as_os_str() == "-") && graph.as_os_str() == "-" {
        return Err(wrong("standard input (-) can be read only once"));
    }
    let (report, size) = one(graph, keep)?;
    let Some(path) = execution else { return Ok(Input { report, sizes: vec![size], is_swapped: false }) };
    let is_swapped = report.graph.is_none();
    let (execution, second) = one(path, keep)?;
    let report = report.join(execution).map_err(|error| unread(&error, path))?;
    let sizes = if is_swapped { vec![second, size] } else { vec![size, second] };
    Ok(Input { report, sizes, is_swapped })
}

/// Reads a file, and counts its bytes.
fn one(path: &Path, keep: Keep) -> Result<(Report, u64), Error> {
    let size = Rc::new(Cell::new(0));
    let counted = Counted { reader: open(path)?, size: Rc::clone(&size) };
    let reader = unpacked(counted).map_err(|error| Error::io("read the file", error).in_file(path))?;
    let report = Report::read(reader, &keep.options()).map_err(|error| unread(&error, path))?;
    Ok((report, size.get()))
}

/// Counts what is read.
struct Counted {
    reader: Box<dyn Read>,
    size: Rc<Cell<u64>>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.size.set(self.size.get().saturating_add(read as u64));
        Ok(read)
    }
}

/// What is in a file, also if it was compressed with gzip.
fn unpacked(mut reader: impl Read + 'static) -> io::Result<Box<dyn Read>> {
    let mut start = Vec::new();
    reader.by_ref().take(2).read_to_end(&mut start)?;
    let is_gzip = start == [0x1F, 0x8B];
    let whole = Cursor::new(start).chain(reader);
    Ok(if is_gzip { Box::new(MultiGzDecoder::new(whole)) } else { Box::new(whole) })
}

/// Why a report could not be read.
fn unread(error: &profile::Error, path: &Path) -> Error {
    match error.kind {
        // What decompresses says so of damage.
        ErrorKind::Unreadable(kind) if !matches!(kind, io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData) => {
            Error::io("read the file", kind.into())
        }
        _ => Error::new(Code::BadProfile, error.to_string()),
    }
    .in_file(path)
}
