//! Profiling reports as users have them.

use std::io::{self, Cursor, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use popef_ops::{Code, Error};
use poplar_inspect::profile::{self, ReadOptions, Report};

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
    let mut file = Counted { reader: open(path)?, size: 0, error: None };
    let report = unpacked(&mut file).map(|reader| Report::read(reader, &keep.options()));
    match (report, file.error) {
        (Err(error), None) | (_, Some(error)) => Err(Error::io("read the file", error).in_file(path)),
        (Ok(report), None) => Ok((report.map_err(|error| unread(&error, path))?, file.size)),
    }
}

/// Counts what is read, and keeps why it cannot be read.
struct Counted {
    reader: Box<dyn Read>,
    size: u64,
    error: Option<io::Error>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.reader.read(buffer) {
            Ok(read) => {
                self.size = self.size.saturating_add(read as u64);
                Ok(read)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            Err(error) => {
                let kind = error.kind();
                self.error = Some(error);
                Err(kind.into())
            }
        }
    }
}

/// What is in a file, also if it was compressed with gzip.
fn unpacked<'r>(mut reader: impl Read + 'r) -> io::Result<Box<dyn Read + 'r>> {
    let mut start = Vec::new();
    reader.by_ref().take(2).read_to_end(&mut start)?;
    let is_gzip = start == [0x1F, 0x8B];
    let whole = Cursor::new(start).chain(reader);
    Ok(if is_gzip { Box::new(MultiGzDecoder::new(whole)) } else { Box::new(whole) })
}

/// Why a report could be read, but is none.
fn unread(error: &profile::Error, path: &Path) -> Error {
    Error::new(Code::BadProfile, error.to_string()).in_file(path)
}
