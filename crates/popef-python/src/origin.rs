//! Where the bytes of files are, until they are closed.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use popef::File;
use popef::read::{Blob, BlobHandle, FileId};
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::path;

/// Where the bytes of a file are, as Python has it.
pub(crate) enum Bytes {
    /// They are read in parts.
    InParts,
    /// A Python object with all bytes, which arrays can share: `bytes`, or a `mmap.mmap` for reading.
    Shared(Py<PyAny>),
    /// On another machine, at the address that the caller gave.
    Remote(String),
}

/// A file that is open.
pub(crate) struct Inside {
    pub(crate) file: File,
    pub(crate) bytes: Bytes,
}

impl Inside {
    /// An object with all bytes of the file. `None` if they have to be read.
    pub(crate) fn owner<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        self.shared().map(|owner| owner.bind(py).clone())
    }

    pub(crate) fn shared(&self) -> Option<&Py<PyAny>> {
        match &self.bytes {
            Bytes::Shared(owner) => Some(owner),
            Bytes::InParts | Bytes::Remote(_) => None,
        }
    }

    /// The blob of a number.
    pub(crate) fn blob(&self, index: usize) -> PyResult<Blob<'_>> {
        self.file.blob(index).ok_or_else(no_blob)
    }

    /// The blob of a number, with its file.
    pub(crate) fn handle(&self, index: usize) -> PyResult<BlobHandle> {
        self.file.handle(index).ok_or_else(no_blob)
    }

    fn has_bytes_of(&self, other: &Inside) -> bool {
        self.shared().zip(other.shared()).is_some_and(|(one, other)| one.is(other))
    }
}

/// The error for a blob number that is too large.
pub(crate) fn no_blob() -> PyErr {
    PyIndexError::new_err("there is no such blob")
}

/// A file that a `File` and its blobs share, and the facts that stay known after it is closed.
pub(crate) struct Opening {
    inside: RwLock<Option<Arc<Inside>>>,
    id: Option<FileId>,
    /// The address of the bytes in memory, or 0. It is used only for hashes.
    owner: usize,
    size: u64,
    path: Option<PathBuf>,
    /// The path from the root, because the program may change its folder.
    place: Option<PathBuf>,
}

impl Opening {
    /// `id` is the identity of the file on disk, if it is there.
    pub(crate) fn of(file: File, bytes: Bytes, id: Option<FileId>) -> Arc<Self> {
        let (size, path) = (file.size(), file.path().map(Path::to_owned));
        let inside = Inside { file, bytes };
        let owner = inside.shared().map_or(0, |owner| owner.as_ptr().addr());
        let place = path.as_deref().map(path::from_root);
        Arc::new(Opening { inside: RwLock::new(Some(Arc::new(inside))), id, owner, size, path, place })
    }

    /// The file. It stays open as long as the caller has it.
    pub(crate) fn get(&self) -> PyResult<Arc<Inside>> {
        self.get_if_open().ok_or_else(|| PyValueError::new_err("the file is closed"))
    }

    /// The file, or `None` if it is closed.
    pub(crate) fn get_if_open(&self) -> Option<Arc<Inside>> {
        self.inside.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Closes the file. Running reads finish, and arrays keep the memory that they share.
    pub(crate) fn close(&self) {
        let inside = self.inside.write().unwrap_or_else(PoisonError::into_inner).take();
        // Dropping it may run Python code.
        drop(inside);
    }

    pub(crate) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    pub(crate) fn place(&self) -> Option<&Path> {
        self.place.as_deref()
    }

    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// What the file is pickled as: what opens it again, and whether it is mapped and may be damaged.
    pub(crate) fn pickled<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, bool, bool)> {
        let inside = self.get()?;
        let given = match (&inside.bytes, &self.place) {
            (Bytes::Remote(address), _) => address.into_pyobject(py)?.into_any(),
            (_, Some(place)) => place.as_os_str().into_pyobject(py)?.into_any(),
            (Bytes::Shared(bytes), None) => bytes.bind(py).clone(),
            (Bytes::InParts, None) => {
                return Err(PyTypeError::new_err(
                    "a File of a file object cannot be pickled: open it by its path, or as bytes",
                ));
            }
        };
        Ok((given, self.path().is_some() && inside.shared().is_some(), inside.file.damage().is_some()))
    }

    /// Whether it is the same file as another: the same file on disk, the same bytes in memory, or the same opened file.
    pub(crate) fn is_same(self: &Arc<Self>, other: &Arc<Self>) -> bool {
        if Arc::ptr_eq(self, other) {
            return true;
        }
        match (self.id, other.id) {
            (Some(id), Some(other_id)) => id == other_id && self.size == other.size,
            (None, None) => {
                self.get_if_open().zip(other.get_if_open()).is_some_and(|(one, other)| one.has_bytes_of(&other))
            }
            _ => false,
        }
    }

    /// The same number for the same file.
    pub(crate) fn hash(self: &Arc<Self>, index: Option<usize>) -> u64 {
        let mut hasher = DefaultHasher::new();
        match (self.id, self.owner) {
            (Some(id), _) => id.hash(&mut hasher),
            (None, 0) => Arc::as_ptr(self).addr().hash(&mut hasher),
            (None, owner) => owner.hash(&mut hasher),
        }
        index.hash(&mut hasher);
        hasher.finish()
    }
}
