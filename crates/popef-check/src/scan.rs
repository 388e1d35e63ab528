//! Reads the data of blobs for deep checks.

use std::io::{self, Read};
use std::ops::ControlFlow;

use super::oddness::{Plausible, Sameness};
use super::options::Progress;
use super::start::{ARCHIVE, FIRST, Start, needed_by, parts};
use popef::error::{Error, ErrorKind};
use popef::read::{
    Blob, Content, Data, DataBlob, Element, ElementVisitor, ExecutableBlob, Limits, PoplarHeader, Unpack,
};
use popef::seam::{as_u64, as_usize};
use popef::types::{DataType, NumberKind};
use popef_findings::{InspectArchive, Inspection};

/// What reading the data of a blob found.
pub(super) enum Scanned {
    /// An executable, or why it cannot be unpacked.
    Executable(Result<Executable, Error>),
    /// The elements of a tensor or feed.
    Elements(Counts),
    /// Elements whose encoding is not known.
    Meaningless,
}

/// What reading all of an executable found.
pub(super) struct Executable {
    /// What its first bytes are, unpacked if it is compressed.
    pub(super) start: Start,
    /// What unpacking the parts after Poplar's header found.
    pub(super) parts: Parts,
}

/// What unpacking the parts of an executable found.
pub(super) enum Parts {
    /// All parts unpack, or the executable has no parts. Has what is in the archive, if that is inspected.
    Right(Option<Inspection>),
    /// The first damaged part, and the reason.
    Damaged(&'static str, Error),
    /// They were not unpacked, because the whole executable is compressed.
    Packed,
}

/// The number of elements, and what is unusual about them.
#[derive(Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) elements: u64,
    pub(super) nan: u64,
    pub(super) infinite: u64,
    pub(super) not_bool: u64,
    /// If all elements are equal and there is at least one: whether they are 0.
    pub(super) all_zero_or_same: Option<bool>,
    /// Whether the first numbers only make sense with their bytes reversed.
    pub(super) swapped: bool,
}

/// Reads the data of a blob in pieces. Returns `None` if there is nothing to check in it. Fails if it cannot be read. If the
/// reading was stopped, the result means nothing.
pub(super) fn scan(
    blob: &Blob<'_>,
    inspect: Option<InspectArchive>,
    reading: &mut Reading<'_>,
) -> Result<Option<Scanned>, Error> {
    if let Content::Executable(executable) = blob.content() {
        return Ok(Some(Scanned::Executable(unpack(&executable, inspect, reading))));
    }
    let Some(data) = blob.as_data() else { return Ok(None) };
    // Other rules report that the data is too short or has no known type.
    if data.check_size().is_err() {
        return Ok(None);
    }
    let Some(count) = counter(data.data_type()) else {
        let is_float = data.data_type().kind() == Some(NumberKind::Float);
        return Ok(is_float.then_some(Scanned::Meaningless));
    };
    let elements = elements_of(&data)?;
    let size = data.data_type().size().unwrap_or(1);
    let mut counts = Counts { elements: elements.len().checked_div(size).unwrap_or_default(), ..Counts::default() };
    let (mut sameness, mut plausible) = (Sameness::new(), None);
    for_each_piece(&elements, reading, |piece| {
        count(piece, &mut counts);
        sameness.see(piece, as_usize(size));
        plausible = plausible.or_else(|| Plausible::of(data.data_type(), piece));
    })?;
    counts.swapped = plausible.is_some_and(|plausible| plausible.are_swapped());
    counts.all_zero_or_same = (counts.elements > 0 && sameness.all_same).then(|| sameness.is_zero());
    Ok(Some(Scanned::Elements(counts)))
}

/// Returns the data without its surplus.
fn elements_of<'a>(data: &DataBlob<'a>) -> Result<Data<'a>, Error> {
    let all = data.data();
    all.range(0..all.len().saturating_sub(data.surplus()))
}

/// Returns the number of bytes that a scan reads of a blob.
pub(super) fn bytes_to_read(blob: &Blob<'_>) -> u64 {
    match (blob.content(), blob.as_data()) {
        (Content::Executable(_), _) => blob.data().len(),
        (_, Some(data)) if counter(data.data_type()).is_some() => data.data().len().saturating_sub(data.surplus()),
        _ => 0,
    }
}

/// Counts the bytes that were read, and reports the progress, which can stop the check.
pub(super) struct Reading<'p> {
    done: u64,
    total: u64,
    progress: &'p mut dyn FnMut(Progress) -> ControlFlow<()>,
    is_stopped: bool,
}

impl<'p> Reading<'p> {
    pub(super) fn of(total: u64, progress: &'p mut dyn FnMut(Progress) -> ControlFlow<()>) -> Self {
        Reading { done: 0, total, progress, is_stopped: false }
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.is_stopped
    }

    fn advance(&mut self, bytes: u64) {
        self.done = self.done.saturating_add(bytes).min(self.total);
        self.show(0);
    }

    /// Reports progress within the current blob, without counting it yet.
    pub(super) fn show(&mut self, within: u64) {
        if self.is_stopped {
            return;
        }
        let done = self.done.saturating_add(within).min(self.total);
        self.is_stopped = (self.progress)(Progress { done, total: self.total }).is_break();
    }

    /// Reports progress within the current blob to what reads it, which fails after a stop.
    fn show_or_stop(&mut self, within: u64) -> io::Result<()> {
        self.show(within);
        if self.is_stopped { Err(io::Error::other("the check was stopped")) } else { Ok(()) }
    }
}

/// A multiple of the size of every element.
const PIECE: u64 = 256 << 10;

fn for_each_piece(data: &Data<'_>, reading: &mut Reading<'_>, mut see: impl FnMut(&[u8])) -> Result<(), Error> {
    let mut start = 0;
    while start < data.len() && !reading.is_stopped() {
        let end = start.saturating_add(PIECE).min(data.len());
        see(&data.range(start..end)?.read()?);
        reading.advance(end.saturating_sub(start));
        start = end;
    }
    Ok(())
}

/// Reads an executable to its end.
///
/// If the executable is compressed, the parts after Poplar's header are not unpacked too: with two layers of compression, a
/// few bytes could unpack to a very large number.
fn unpack(
    executable: &ExecutableBlob<'_>,
    inspect: Option<InspectArchive>,
    reading: &mut Reading<'_>,
) -> Result<Executable, Error> {
    let (data, size) = (executable.data(), executable.uncompressed_size());
    let mut unpacked = executable.unpack()?;
    let mut first = Vec::with_capacity(FIRST);
    let read = unpacked.by_ref().take(as_u64(FIRST)).read_to_end(&mut first);
    read.map_err(|error| executable.unpack_error(error))?;
    let start = Start::of(&first);
    let mut parts = Parts::Right(None);
    if executable.is_compressed() {
        let show = |given| reading.show_or_stop(share(given, size, data.len()));
        drain(&mut Counted { reader: unpacked, given: as_u64(first.len()), show })
            .map_err(|error| executable.unpack_error(error))?;
        if matches!(start, Start::Poplar { .. }) {
            parts = Parts::Packed;
        }
    } else if let Start::Poplar { header, .. } = &start
        && needed_by(header) <= data.len().into()
    {
        parts = unpack_parts(executable, header, inspect, reading)?;
    }
    reading.advance(data.len());
    Ok(Executable { start, parts })
}

/// Unpacks the parts after Poplar's header, and has the archive inspected.
fn unpack_parts(
    executable: &ExecutableBlob<'_>,
    header: &PoplarHeader,
    inspect: Option<InspectArchive>,
    reading: &mut Reading<'_>,
) -> Result<Parts, Error> {
    let (mut before, mut inspection) = (0u64, None);
    for (name, part, size) in parts(&executable.data(), header)? {
        let unpacked = Unpack::from_reader(part.reader(), size, &Limits::default()).and_then(|unpacked| {
            let show = |given| reading.show_or_stop(before.saturating_add(share(given, size, part.len())));
            let mut unpacked = Counted { reader: unpacked, given: 0, show };
            let found = inspect.filter(|_| name == ARCHIVE).map(|inspect| inspect(&mut unpacked));
            // If unpacking failed during the inspection, it fails again here, and what was found does not count.
            drain(&mut unpacked).map_err(|error| executable.unpack_error(error))?;
            Ok(found)
        });
        match unpacked {
            Ok(found) => {
                inspection = inspection.or(found);
                before = before.saturating_add(part.len());
            }
            Err(error) if matches!(error.kind(), ErrorKind::Damaged | ErrorKind::Unknown) => {
                return Ok(Parts::Damaged(name, error));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(Parts::Right(inspection))
}

/// A reader that shows after each read how many bytes it has given, and fails if it shall stop.
struct Counted<R, F> {
    reader: R,
    given: u64,
    show: F,
}

impl<R: Read, F: FnMut(u64) -> io::Result<()>> Read for Counted<R, F> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buf)?;
        self.given = self.given.saturating_add(as_u64(read));
        (self.show)(self.given)?;
        Ok(read)
    }
}

/// Reads to the end.
fn drain(reader: &mut impl Read) -> io::Result<()> {
    let mut piece = vec![0; 64 << 10];
    while reader.read(&mut piece)? > 0 {}
    Ok(())
}

/// Estimates how many of `packed` bytes were read when they have unpacked to `given` of `size` bytes.
fn share(given: u64, size: u64, packed: u64) -> u64 {
    let size = u128::from(size.max(1));
    let share = u128::from(given).min(size).saturating_mul(packed.into()).checked_div(size);
    share.and_then(|share| u64::try_from(share).ok()).unwrap_or(packed)
}

type Counter = fn(&[u8], &mut Counts);

/// Returns the function that counts the unusual elements of a type. `None` if the type has none.
fn counter(data_type: DataType) -> Option<Counter> {
    data_type.visit(Odd).flatten()
}

/// Selects the function by type.
struct Odd;

impl ElementVisitor for Odd {
    type Output = Option<Counter>;

    fn visit<T: Element>(self) -> Option<Counter> {
        match T::DATA_TYPE.kind()? {
            NumberKind::Bool => Some(count_not_bool::<T>),
            NumberKind::Float => Some(count_not_finite::<T>),
            _ => None,
        }
    }
}

fn count_not_bool<T: Element>(piece: &[u8], counts: &mut Counts) {
    let not_bool = piece.chunks_exact(size_of::<T>()).filter(|bytes| T::from_file(bytes).is_none()).count();
    add(&mut counts.not_bool, not_bool);
}

fn count_not_finite<T: Element>(piece: &[u8], counts: &mut Counts) {
    let (mut infinite, mut nan) = (0, 0);
    for element in piece.chunks_exact(size_of::<T>()).map(|bytes| T::from_file(bytes).unwrap_or_default()) {
        // The counts are at most the bytes of a piece, so they cannot wrap. This form lets the compiler vectorise the loop.
        infinite = usize::from(element.is_infinite()).wrapping_add(infinite);
        nan = usize::from(element.is_nan()).wrapping_add(nan);
    }
    add(&mut counts.infinite, infinite);
    add(&mut counts.nan, nan);
}

fn add(sum: &mut u64, number: usize) {
    *sum = sum.saturating_add(u64::try_from(number).unwrap_or(u64::MAX));
}
