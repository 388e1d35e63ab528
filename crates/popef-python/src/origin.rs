//! Where the bytes of files are.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use popef::File as Opened;
use pyo3::prelude::*;

/// Where the bytes of a file are, as Python has it.
pub(crate) enum Bytes {
    /// They are read in parts.
    InParts,
    /// An object with all of them that arrays can share: `bytes`, or a `mmap.mmap` for reading.
    Shared(Py<PyAny>),
    /// On another machine, at the address that the caller gave.
    Remote(String),
}

impl Bytes {
    /// For blobs whose data is read.
    pub(crate) fn none() -> Self {
        Bytes::InParts
    }

    /// Whether a blob or a file with these bytes is of the same file as another: the same file on disk, the same bytes in memory,
    /// or the same opened file.
    pub(crate) fn is_same(self: &Arc<Self>, file: &Opened, other: (&Opened, &Arc<Self>)) -> bool {
        if Arc::ptr_eq(self, other.1) {
            return true;
        }
        match (file.id(), other.0.id()) {
            (Some(id), Some(other_id)) => id == other_id && file.size() == other.0.size(),
            (None, None) => self.shared().zip(other.1.shared()).is_some_and(|(one, other)| one.is(other)),
            _ => false,
        }
    }

    /// The same number for the same file.
    pub(crate) fn hash(self: &Arc<Self>, file: &Opened, index: Option<usize>) -> u64 {
        let mut hasher = DefaultHasher::new();
        match (file.id(), self.shared()) {
            (Some(id), _) => id.hash(&mut hasher),
            (None, Some(owner)) => owner.as_ptr().addr().hash(&mut hasher),
            (None, None) => Arc::as_ptr(self).addr().hash(&mut hasher),
        }
        index.hash(&mut hasher);
        hasher.finish()
    }

    pub(crate) fn owner<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        self.shared().map(|owner| owner.bind(py).clone())
    }

    pub(crate) fn shared(&self) -> Option<&Py<PyAny>> {
        match self {
            Bytes::Shared(owner) => Some(owner),
            Bytes::InParts | Bytes::Remote(_) => None,
        }
    }
}
