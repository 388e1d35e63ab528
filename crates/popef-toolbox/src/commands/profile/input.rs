//! Profiling reports as users have them.

use std::io::{self, Cursor, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use popef_ops::{Code, Error};
use poplar_inspect::profile::{self, ErrorKind, ReadOptions, Report};

use crate::common::json_file::open;
use crate::common::words::wrong;

/// Reads a report from one file or two. `each_tile` keeps what an execution is recomputed from.
pub(in crate::commands) fn read(graph: &Path, execution: Option<&Path>, each_tile: bool) -> Result<Report, Error> {
    if execution.is_some_and(|execution| execution.as_os_str() == "-") && graph.as_os_str() == "-" {
        return Err(wrong("standard input (-) can be read only once"));
    }
    let report = one(graph, each_tile)?;
    let Some(path) = execution else { return Ok(report) };
    let execution = one(path, each_tile)?;
    report.join(execution).map_err(|error| unread(&error, path))
}

fn one(path: &Path, each_tile: bool) -> Result<Report, Error> {
    let mut options = ReadOptions::default();
    options.each_tile = each_tile;
    let reader = unpacked(open(path)?).map_err(|error| Error::io("read the file", error).in_file(path))?;
    Report::read(reader, &options).map_err(|error| unread(&error, path))
}

/// What is in a file, also if it was compressed with gzip.
fn unpacked(mut reader: Box<dyn Read>) -> io::Result<Box<dyn Read>> {
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
