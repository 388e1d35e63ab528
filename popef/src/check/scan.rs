//! What only reading the data of a blob can tell.

use std::io::Read as _;

use super::options::Progress;
use crate::error::Error;
use crate::read::{Blob, Content, Data, DataBlob, Element, ElementVisitor, ExecutableBlob, PoplarHeader};
use crate::types::{DataType, NumberKind};

/// What reading the data of a blob found.
pub(super) enum Scanned {
    /// An executable, unpacked if it is compressed: the header that Poplar puts before it, or what is wrong with it.
    Executable(Result<Option<PoplarHeader>, Error>),
    /// The elements of a tensor or feed.
    Elements(Counts),
    /// Data whose bits have no known meaning.
    Meaningless,
}

/// How many elements there are, and how many are odd.
#[derive(Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) elements: u64,
    pub(super) nan: u64,
    pub(super) infinite: u64,
    pub(super) not_bool: u64,
}

/// Reads the data of a blob, a piece at a time; none if there is nothing to be found in it. An error is one of reading.
pub(super) fn scan(blob: &Blob<'_>, reading: &mut Reading<'_>) -> Result<Option<Scanned>, Error> {
    if let Content::Executable(executable) = blob.content() {
        return Ok(Some(Scanned::Executable(unpack(&executable, reading))));
    }
    let Some(data) = blob.as_data() else { return Ok(None) };
    // That the data is too short, or of no known type, is a finding of its own.
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
    for_each_piece(&elements, reading, |piece| count(piece, &mut counts))?;
    Ok(Some(Scanned::Elements(counts)))
}

/// The data without its surplus.
fn elements_of<'a>(data: &DataBlob<'a>) -> Result<Data<'a>, Error> {
    let all = data.data();
    all.range(0..all.len().saturating_sub(data.surplus()))
}

/// How many bytes a scan reads of a blob.
pub(super) fn bytes_to_read(blob: &Blob<'_>) -> u64 {
    match (blob.content(), blob.as_data()) {
        (Content::Executable(_), _) => blob.data().len(),
        (_, Some(data)) if counter(data.data_type()).is_some() => data.data().len().saturating_sub(data.surplus()),
        _ => 0,
    }
}

/// How far the reading is, and whom to tell.
pub(super) struct Reading<'p> {
    done: u64,
    total: u64,
    progress: &'p mut dyn FnMut(Progress),
}

impl<'p> Reading<'p> {
    pub(super) fn of(total: u64, progress: &'p mut dyn FnMut(Progress)) -> Self {
        Reading { done: 0, total, progress }
    }

    fn advance(&mut self, bytes: u64) {
        self.done = self.done.saturating_add(bytes).min(self.total);
        self.show(0);
    }

    /// So far into the blob that is being read, without counting it yet.
    fn show(&mut self, within: u64) {
        let done = self.done.saturating_add(within).min(self.total);
        (self.progress)(Progress { done, total: self.total });
    }
}

/// A multiple of every element's size.
const PIECE: u64 = 256 << 10;

fn for_each_piece(data: &Data<'_>, reading: &mut Reading<'_>, mut see: impl FnMut(&[u8])) -> Result<(), Error> {
    let mut start = 0;
    while start < data.len() {
        let end = start.saturating_add(PIECE).min(data.len());
        see(&data.range(start..end)?.read()?);
        reading.advance(end.saturating_sub(start));
        start = end;
    }
    Ok(())
}

/// Reads an executable to its end if it is compressed, and gives its Poplar header.
///
/// One that is stored as it is has nothing to go wrong behind the header.
fn unpack(executable: &ExecutableBlob<'_>, reading: &mut Reading<'_>) -> Result<Option<PoplarHeader>, Error> {
    let header = executable.poplar_header()?;
    if executable.is_compressed() {
        let mut unpacked = executable.unpack()?;
        let mut piece = vec![0; 64 << 10];
        let mut given = 0u64;
        let (packed, size) = (executable.data().len(), executable.uncompressed_size().max(1));
        loop {
            let read = unpacked.read(&mut piece).map_err(|e| executable.unpack_error(e))?;
            if read == 0 {
                break;
            }
            given = given.saturating_add(u64::try_from(read).unwrap_or(u64::MAX));
            let share = u128::from(given.min(size)).saturating_mul(packed.into()).checked_div(size.into());
            reading.show(u64::try_from(share.unwrap_or_default()).unwrap_or(u64::MAX));
        }
    }
    reading.advance(executable.data().len());
    Ok(header)
}

type Counter = fn(&[u8], &mut Counts);

/// How to count the elements of a type that are odd; none if none can be.
fn counter(data_type: DataType) -> Option<Counter> {
    data_type.visit(Odd).flatten()
}

/// Finds out how to count odd elements.
struct Odd;

impl ElementVisitor for Odd {
    type Output = Option<Counter>;

    fn visit<T: Element>(self) -> Option<Counter> {
        match T::DATA_TYPE.kind()? {
            NumberKind::Bool => Some(count_not_bool::<T>),
            NumberKind::Float => Some(count_not_finite::<T>),
            NumberKind::Signed | NumberKind::Unsigned => None,
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
        // No more than a piece has bytes, so neither wraps; written like this, the loop runs on vectors.
        infinite = usize::from(element.is_infinite()).wrapping_add(infinite);
        nan = usize::from(element.is_nan()).wrapping_add(nan);
    }
    add(&mut counts.infinite, infinite);
    add(&mut counts.nan, nan);
}

fn add(sum: &mut u64, number: usize) {
    *sum = sum.saturating_add(u64::try_from(number).unwrap_or(u64::MAX));
}
