//! The data of two blobs: which bytes are compared with each other, and as which elements.

use std::ops::Range;

use popef::Error as PopefError;
use popef::read::{Data, DataBlob};

use super::numbers::{Elements, Parts, Tally, Tolerance};
use super::report::{BytesDiff, Element, FirstDiff, ValueDiff};
use crate::error::Error;
use crate::progress::Progress;
use crate::work::{PIECE_LEN, Scratch, bytes_of, len_of, pieces};

/// Two ranges of data that are compared from their starts.
#[derive(Clone, Copy)]
pub(super) struct Lot<'f> {
    a: Data<'f>,
    b: Data<'f>,
    /// The number of bytes that both have.
    common: u64,
    elements: Elements,
    size: u64,
    per_tensor: u64,
    /// The tensors, if the elements have values and places.
    tensors: Option<DataBlob<'f>>,
}

impl<'f> Lot<'f> {
    /// Bytes without a known meaning.
    pub(super) fn bytes(a: Data<'f>, b: Data<'f>) -> Self {
        let common = a.len().min(b.len());
        Lot { a, b, common, elements: Elements::Bytes, size: 1, per_tensor: 0, tensors: None }
    }

    /// The elements of two tensors or feeds. `None` if their type or shape differ. If the data is too short for them, or their
    /// size is unknown, all bytes are compared.
    pub(super) fn tensors(a: DataBlob<'f>, b: DataBlob<'f>) -> Result<Option<Self>, Error> {
        if a.data_type() != b.data_type() || !a.shape().iter().eq(b.shape().iter()) {
            return Ok(None);
        }
        let all = Lot::bytes(a.data(), b.data());
        let (Ok(()), Ok(()), Some(size)) = (a.check_size(), b.check_size(), a.data_type().size()) else {
            return Ok(Some(all));
        };
        let one = a.size_in_bytes()?;
        let len = one.saturating_mul(a.num_tensors().min(b.num_tensors()).into());
        let (of_a, of_b) = (a.data().range(0..len)?, b.data().range(0..len)?);
        Ok(Some(Lot {
            elements: Elements::of(a.data_type()),
            size,
            per_tensor: if a.is_feed() { one.checked_div(size).unwrap_or_default() } else { 0 },
            tensors: Some(a),
            ..Lot::bytes(of_a, of_b)
        }))
    }

    pub(super) fn common(&self) -> u64 {
        self.common
    }

    /// The number of bytes to read for a whole comparison.
    pub(super) fn cost(&self) -> u64 {
        self.common.saturating_mul(2)
    }

    /// A tally to add those of all pieces to.
    pub(super) fn tally(&self) -> Tally {
        Tally::new(self.per_tensor)
    }

    /// Compares a part in pieces. Their bytes are compared first, at the speed of memory; their meaning counts only if they
    /// differ.
    pub(super) fn compare(
        &self,
        range: Range<u64>,
        rule: &Tolerance,
        Scratch([of_a, of_b]): &mut Scratch,
        progress: &dyn Progress,
    ) -> Result<Tally, Error> {
        let mut tally = self.tally();
        for range in pieces(range, PIECE_LEN) {
            let start = range.start.checked_div(self.size).unwrap_or_default();
            let a = bytes_of(&self.a, range.clone(), of_a)?;
            let b = bytes_of(&self.b, range, of_b)?;
            progress.add(len_of(a).saturating_add(len_of(b)))?;
            if a != b {
                self.elements.compare(&Parts { a, b, start }, rule, &mut tally);
            }
        }
        Ok(tally)
    }

    /// Compares everything on this thread.
    pub(super) fn compare_all(
        &self,
        rule: &Tolerance,
        scratch: &mut Scratch,
        progress: &dyn Progress,
    ) -> Result<Tally, Error> {
        self.compare(0..self.common, rule, scratch, progress)
    }

    /// Whether all bytes are the same. Stops at the first piece that is not.
    pub(super) fn is_same(&self, Scratch([of_a, of_b]): &mut Scratch) -> Result<bool, Error> {
        if self.lengths_differ() {
            return Ok(false);
        }
        for range in pieces(0..self.common, PIECE_LEN) {
            if bytes_of(&self.a, range.clone(), of_a)? != bytes_of(&self.b, range, of_b)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether one of them is longer than the other. Then they differ, whatever the common part holds.
    pub(super) fn lengths_differ(&self) -> bool {
        self.a.len() != self.b.len()
    }

    /// How the bytes differ.
    pub(super) fn bytes_diff(&self, tally: &Tally) -> BytesDiff {
        let (a, b) = (self.a.len(), self.b.len());
        let end = (a != b).then_some(self.common);
        BytesDiff { a, b, first: tally.first.or(end), different: Some(tally.different), behind_tensors: false }
    }

    /// How the values differ, if the data has elements.
    pub(super) fn value_diff(&self, tally: &Tally) -> Result<Option<ValueDiff>, Error> {
        let Some(tensors) = self.tensors else { return Ok(None) };
        let first = tally.first.map(|element| self.first(tensors, element)).transpose()?;
        Ok(Some(ValueDiff {
            elements: self.common.checked_div(self.size).unwrap_or_default(),
            different: tally.different,
            different_tensors: tensors.is_feed().then_some(tally.tensors),
            max_abs: tally.max_abs,
            max_rel: tally.max_rel.map(super::report::Amount::Float),
            not_a_number: tally.not_a_number,
            first,
        }))
    }

    fn first(&self, tensors: DataBlob<'f>, element: u64) -> Result<FirstDiff, Error> {
        let in_tensor = element.checked_rem(self.per_tensor).unwrap_or(element);
        let value = |data: &Data<'f>| {
            let start = element.saturating_mul(self.size);
            let bytes = data.range(start..start.saturating_add(self.size))?.read()?;
            element_of(tensors, &bytes)
        };
        Ok(FirstDiff {
            tensor: tensors.is_feed().then(|| element.checked_div(self.per_tensor).unwrap_or_default()),
            index: place(tensors.shape().iter(), in_tensor),
            a: value(&self.a)?,
            b: value(&self.b)?,
        })
    }
}

fn element_of(tensors: DataBlob<'_>, bytes: &[u8]) -> Result<Element, PopefError> {
    let info = popef::TensorInfo::new(tensors.data_type(), []);
    let value = popef::read::Elements::from_bytes(&info, bytes)?.values().ok().and_then(|mut values| values.next());
    match value {
        Some(Ok(value)) => Ok(Element::Value(value)),
        _ => Ok(Element::Byte(bytes.first().copied().unwrap_or_default())),
    }
}

/// The index in each dimension of an element, outermost first.
fn place(shape: impl Iterator<Item = i64>, element: u64) -> Vec<u64> {
    let extents: Vec<u64> = shape.map(|extent| u64::try_from(extent).unwrap_or_default()).collect();
    let mut rest = element;
    let mut index: Vec<u64> = extents
        .iter()
        .rev()
        .map(|&extent| {
            let at = rest.checked_rem(extent).unwrap_or_default();
            rest = rest.checked_div(extent).unwrap_or_default();
            at
        })
        .collect();
    index.reverse();
    index
}
