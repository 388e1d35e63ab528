//! Columns in the memory layout of Arrow. Python code makes arrays of these bytes without copying them, so this module
//! does not need a library for Arrow.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use super::columns::{Cell, Kind};

/// Bits, the first one the lowest of its byte.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    len: usize,
}

impl Bits {
    fn push(&mut self, bit: bool) {
        let at = self.len & 7;
        if at == 0 {
            self.bytes.push(0);
        }
        if let Some(last) = self.bytes.last_mut() {
            *last |= u8::from(bit) << at;
        }
        self.len = self.len.saturating_add(1);
    }
}

/// Bytes of several values one after the other, and where each ends.
struct Runs {
    ends: Vec<u8>,
    count: usize,
}

impl Runs {
    fn new() -> Self {
        Runs { ends: 0i32.to_le_bytes().to_vec(), count: 0 }
    }

    /// Ends a value. Batches are ended long before 2 GiB, so that 31 bits are enough.
    fn end(&mut self, at: usize) {
        let at = i32::try_from(at).unwrap_or(i32::MAX);
        self.ends.extend_from_slice(&at.to_le_bytes());
        self.count = self.count.saturating_add(1);
    }
}

/// The values of one column.
pub(super) struct Array {
    kind: Kind,
    valid: Bits,
    nulls: usize,
    /// Where each value ends: for texts and bytes in `bytes`, for lists in their items.
    runs: Runs,
    /// Where the items of lists of texts end.
    items: Runs,
    /// The number of list items.
    count: usize,
    bytes: Vec<u8>,
    bools: Bits,
}

impl Array {
    pub(super) fn new(kind: Kind) -> Self {
        Array {
            kind,
            valid: Bits::default(),
            nulls: 0,
            runs: Runs::new(),
            items: Runs::new(),
            count: 0,
            bytes: Vec::new(),
            bools: Bits::default(),
        }
    }

    /// Returns roughly how many bytes it takes.
    pub(super) fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Adds a value. One that does not fit the column's kind or limits becomes null.
    pub(super) fn push(&mut self, cell: &Cell<'_>) {
        let is_valid = self.put(cell);
        self.valid.push(is_valid);
        self.nulls = self.nulls.saturating_add(usize::from(!is_valid));
        match self.kind {
            Kind::Int if !is_valid => self.bytes.extend_from_slice(&[0; 8]),
            Kind::Bool if !is_valid => self.bools.push(false),
            Kind::Text | Kind::Bytes => self.runs.end(self.bytes.len()),
            Kind::Ints | Kind::Texts => self.runs.end(self.count),
            Kind::Int | Kind::Bool => {}
        }
    }

    fn put(&mut self, cell: &Cell<'_>) -> bool {
        match (self.kind, cell) {
            (Kind::Int, Cell::Int(value)) => match i64::try_from(*value) {
                Ok(value) => self.bytes.extend_from_slice(&value.to_le_bytes()),
                Err(_) => return false,
            },
            (Kind::Bool, Cell::Bool(value)) => self.bools.push(*value),
            (Kind::Text, Cell::Text(text)) => self.bytes.extend_from_slice(text.to_string_lossy().as_bytes()),
            (Kind::Bytes, Cell::Bytes(text)) => self.bytes.extend_from_slice(text.as_bytes()),
            (Kind::Ints, Cell::Ints(shape)) => {
                self.count = self.count.saturating_add(shape.len());
                shape.iter().for_each(|extent| self.bytes.extend_from_slice(&extent.to_le_bytes()));
            }
            (Kind::Texts, Cell::Texts(texts)) => {
                self.count = self.count.saturating_add(texts.len());
                for text in texts {
                    self.bytes.extend_from_slice(text.as_bytes());
                    self.items.end(self.bytes.len());
                }
            }
            _ => return false,
        }
        true
    }

    /// The number of nulls, the number of items, and the buffers: which values are not null, where they end, where
    /// their items end, and the bytes, as far as the type has them.
    pub(super) fn to_python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let bytes = |bytes: &[u8]| PyBytes::new(py, bytes);
        let valid = (self.nulls > 0).then(|| bytes(&self.valid.bytes));
        let has_runs = !matches!(self.kind, Kind::Int | Kind::Bool);
        let runs = has_runs.then(|| bytes(&self.runs.ends));
        let items = (self.kind == Kind::Texts).then(|| bytes(&self.items.ends));
        let values = if self.kind == Kind::Bool { &self.bools.bytes } else { &self.bytes };
        (self.nulls, self.count, valid, runs, items, bytes(values)).into_pyobject(py)
    }
}
