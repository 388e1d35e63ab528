//! Profiling reports as users have them.

use std::io::{self, Chain, Cursor, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use popef_cli::end::wrong;
use popef_cli::meant::meant;
use popef_ops::{Code, Error};
use poplar_inspect::profile::{self, ReadOptions, Report};

use crate::common::json_file::open;

/// A report as it was read.
#[derive(Debug)]
pub(in crate::commands) struct Input {
    pub(in crate::commands) report: Report,
    /// The bytes of each file, the one with the graph first.
    pub(super) sizes: Vec<u64>,
    /// The bytes of all files together, unpacked.
    pub(super) unpacked: u64,
    /// Whether the first of two files has the execution.
    pub(super) is_swapped: bool,
}

/// What is kept of lists with a value for each tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::commands) enum Keep {
    /// The sums.
    Sums,
    /// The values that recomputing an execution needs, unless they take much memory.
    Some,
    /// All.
    All,
}

impl Keep {
    /// The maximum number of bytes of each list of lists. There are eleven, so together they take at most 44 MiB.
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
    let (report, size, unpacked) = one(graph, keep)?;
    let Some(path) = execution else { return Ok(Input { report, sizes: vec![size], unpacked, is_swapped: false }) };
    let is_swapped = report.graph.is_none();
    let (execution, second, more) = one(path, keep)?;
    let report = report.join(execution).map_err(|error| unread(&error, path))?;
    let sizes = if is_swapped { vec![second, size] } else { vec![size, second] };
    Ok(Input { report, sizes, unpacked: unpacked.saturating_add(more), is_swapped })
}

/// Reads a file, and counts its bytes, packed and unpacked.
fn one(path: &Path, keep: Keep) -> Result<(Report, u64, u64), Error> {
    let mut file = Counted { reader: open(path)?, size: 0, error: None };
    let mut unpacked = Unpacked::begin(&mut file).map_err(|error| Error::io("read the file", error).in_file(path))?;
    let report = Report::read(&mut unpacked, &keep.options());
    let (len, is_too_much) = (unpacked.len, unpacked.is_too_much);
    match (report, file.error.take()) {
        (_, Some(error)) => Err(Error::io("read the file", error).in_file(path)),
        (Err(_), None) if is_too_much => {
            let message = format!("it unpacks to more than {MOST_TIMES} times its bytes; unpack it with gzip -d if you trust it");
            Err(Error::new(Code::BadProfile, message).in_file(path))
        }
        (report, None) => Ok((report.map_err(|error| unread(&error, path))?, file.size, len)),
    }
}

/// Counts the bytes that are read, and keeps an error of reading.
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

/// How many times its own bytes a file in gzip may unpack to, if that is more than [`MOST_BYTES`].
const MOST_TIMES: u64 = 100;
const MOST_BYTES: u64 = 256 << 20;

/// The content of a file, unpacked if it was compressed with gzip.
struct Unpacked<'f> {
    reader: Packed<'f>,
    len: u64,
    most: u64,
    is_too_much: bool,
}

enum Packed<'f> {
    Gzip(Box<MultiGzDecoder<Whole<'f>>>),
    Not(Whole<'f>),
}

/// A file whose first bytes were already read.
type Whole<'f> = Chain<Cursor<Vec<u8>>, &'f mut Counted>;

impl<'f> Unpacked<'f> {
    fn begin(file: &'f mut Counted) -> io::Result<Self> {
        let mut start = Vec::new();
        file.by_ref().take(2).read_to_end(&mut start)?;
        let is_gzip = start == [0x1F, 0x8B];
        let whole = Cursor::new(start).chain(file);
        let reader = if is_gzip { Packed::Gzip(Box::new(MultiGzDecoder::new(whole))) } else { Packed::Not(whole) };
        Ok(Unpacked { reader, len: 0, most: MOST_BYTES, is_too_much: false })
    }
}

impl Read for Unpacked<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = match &mut self.reader {
            Packed::Gzip(reader) => {
                let packed = reader.get_ref().get_ref().1.size;
                if self.len > self.most.max(packed.saturating_mul(MOST_TIMES)) {
                    self.is_too_much = true;
                    return Err(io::Error::other("too much"));
                }
                reader.read(buffer)?
            }
            Packed::Not(reader) => reader.read(buffer)?,
        };
        self.len = self.len.saturating_add(read as u64);
        Ok(read)
    }
}

/// The error for a file that could be read, but is not a report.
fn unread(error: &profile::Error, path: &Path) -> Error {
    let refused = Error::new(Code::BadProfile, error.to_string()).in_file(path);
    match meant(path).filter(|meant| meant.command != "popef profile") {
        Some(meant) => refused.advising(meant.advice()),
        None => refused,
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Read as _, Write as _};

    use flate2::{Compression, write::GzEncoder};

    use super::{Counted, Unpacked};

    /// Unpacks bytes of which `most` are always allowed. Returns how many were read, and whether there were too many.
    fn read(bytes: &[u8], most: u64) -> (u64, bool) {
        let mut packed = GzEncoder::new(Vec::new(), Compression::best());
        packed.write_all(bytes).unwrap();
        let mut file = Counted { reader: Box::new(Cursor::new(packed.finish().unwrap())), size: 0, error: None };
        let mut unpacked = Unpacked::begin(&mut file).unwrap();
        unpacked.most = most;
        let read = std::io::copy(&mut unpacked.by_ref(), &mut std::io::sink());
        assert_eq!(read.is_err(), unpacked.is_too_much);
        (unpacked.len, unpacked.is_too_much)
    }

    #[test]
    fn a_file_that_unpacks_to_very_much_is_not_read_to_its_end() {
        let zeros = vec![0; 10_000_000];
        assert_eq!(read(&zeros, 10_000_000), (10_000_000, false));
        let (len, is_too_much) = read(&zeros, 1000);
        assert!(is_too_much && len < 3_000_000, "{len}");
        let numbers: Vec<u8> = (0..1_000_000_u32).flat_map(|number| number.wrapping_mul(number).to_le_bytes()).collect();
        assert_eq!(read(&numbers, 1000), (4_000_000, false));
    }
}
