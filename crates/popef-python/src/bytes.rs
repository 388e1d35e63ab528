//! Bytes that go from files to Python, and back.

use std::io::{self, Read};

use popef::read::{BlobHandle, Data};
use pyo3::exceptions::{PyMemoryError, PyTypeError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyByteArray, PyBytes, PyMemoryView, PySlice, PyString};

use crate::elements::{array_of, view_of};
use crate::error::{raise, raise_io};
use crate::stream;
use crate::text::kind_of;
use crate::wanted::Wanted;
use crate::work::{COPIED, PIECE};

fn length(data: &Data<'_>) -> PyResult<usize> {
    usize::try_from(data.len()).map_err(|_| PyMemoryError::new_err("the data is larger than the address space"))
}

/// Reads all of the data, without the interpreter's lock.
fn fill(py: Python<'_>, data: &Data<'_>, buf: &mut [u8]) -> PyResult<()> {
    let mut at = 0u64;
    for piece in buf.chunks_mut(PIECE) {
        py.detach(|| data.read_at(at, piece)).map_err(|error| raise(py, &error))?;
        at = at.saturating_add(u64::try_from(piece.len()).unwrap_or(u64::MAX));
        py.check_signals()?;
    }
    Ok(())
}

/// The data as `bytes`.
pub(crate) fn to_bytes<'py>(py: Python<'py>, data: &Data<'_>) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, length(data)?, |buf| fill(py, data, buf))
}

/// The data as a `bytearray`, which belongs to the caller.
pub(crate) fn to_bytearray<'py>(py: Python<'py>, data: &Data<'_>) -> PyResult<Bound<'py, PyByteArray>> {
    PyByteArray::new_with(py, length(data)?, |buf| fill(py, data, buf))
}

/// The bytes of an executable, unpacked if they are compressed. `None` if the blob is not an executable.
pub(crate) fn unpacked<'py>(py: Python<'py>, blob: &BlobHandle) -> PyResult<Option<Bound<'py, PyBytes>>> {
    let Some(executable) = blob.blob().as_executable() else { return Ok(None) };
    if !executable.is_compressed() {
        return to_bytes(py, &executable.data()).map(Some);
    }
    let Some(unpack) = blob.unpack() else { return Ok(None) };
    let mut unpack = unpack.map_err(|error| raise(py, &error))?;
    let mut bytes: Vec<u8> = Vec::new();
    loop {
        // The size that the file states is a claim, so memory grows with the unpacked bytes.
        let more = bytes.len().clamp(64 << 10, PIECE);
        let reserved = bytes.try_reserve(more);
        reserved.map_err(|_| PyMemoryError::new_err("there is no memory for the unpacked executable"))?;
        let mut piece = unpack.by_ref().take(u64::try_from(more).unwrap_or(u64::MAX));
        let read = py.detach(|| piece.read_to_end(&mut bytes)).map_err(|error| raise_io(py, error))?;
        if read < more {
            break;
        }
        py.check_signals()?;
    }
    PyBytes::new_with(py, bytes.len(), |to| {
        py.detach(|| to.copy_from_slice(&bytes));
        Ok(())
    })
    .map(Some)
}

/// The caller's data to write, as `bytes` or as a memoryview of single bytes.
pub(crate) enum Given<'py> {
    Bytes(PyBackedBytes),
    View { view: Bound<'py, PyAny>, len: usize },
}

impl<'py> Given<'py> {
    /// The bytes of `bytes`, `str` (as UTF-8), or anything with a buffer. The elements of an array are taken in C order
    /// and little-endian. Fails if they do not fit the blob.
    pub(crate) fn of(given: &Bound<'py, PyAny>, wanted: Option<&Wanted>) -> PyResult<Self> {
        if let Ok(text) = given.cast::<PyString>() {
            let bytes = text.call_method1("encode", ("utf-8",))?;
            return Ok(Given::Bytes(bytes.extract()?));
        }
        if given.is_instance_of::<PyBytes>() {
            return Ok(Given::Bytes(given.extract()?));
        }
        if given.hasattr("mask")? && given.hasattr("filled")? {
            return Err(PyTypeError::new_err("a masked array has values that do not count: fill them with filled()"));
        }
        match view_of(given)? {
            Some(view) => {
                wanted.map_or(Ok(()), |wanted| wanted.check_view(&view))?;
                Given::of_view(view.as_any())
            }
            None => match array_of(given)? {
                Some(array) => Given::of_array(&array, wanted),
                None => {
                    let found = kind_of(given);
                    let message = format!("an object with a buffer, bytes or a str is needed, not {found}");
                    Err(PyTypeError::new_err(message))
                }
            },
        }
    }

    /// The bytes of an array whose type NumPy does not export, such as those of ml_dtypes.
    fn of_array(array: &Bound<'py, PyAny>, wanted: Option<&Wanted>) -> PyResult<Self> {
        if let Some(view) = view_of(array)? {
            return Given::of(&view, wanted);
        }
        wanted.map_or(Ok(()), |wanted| wanted.check_array(array))?;
        let array = array.py().import("numpy")?.call_method1("ascontiguousarray", (array,))?;
        let bytes = array.call_method1("reshape", (-1,))?.call_method1("view", ("u1",))?;
        Given::of_view(PyMemoryView::from(&bytes)?.as_any())
    }

    fn of_view(view: &Bound<'py, PyAny>) -> PyResult<Self> {
        let len: usize = view.getattr("nbytes")?.extract()?;
        let format: String = view.getattr("format")?.extract()?;
        if holds_addresses(&format) {
            return Err(PyTypeError::new_err(ADDRESSES));
        }
        if format.starts_with(['>', '!']) {
            return Given::of(&little_endian(view)?, None);
        }
        if len == 0 || !view.getattr("c_contiguous")?.is_truthy()? {
            return Ok(Given::Bytes(view.call_method0("tobytes")?.extract()?));
        }
        Ok(Given::View { view: view.call_method1("cast", ("B",))?, len })
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Given::Bytes(bytes) => bytes.len(),
            Given::View { len, .. } => *len,
        }
    }

    /// Calls `put` with the first `len` bytes, in pieces, without the interpreter's lock. Copies bytes that others
    /// could change meanwhile, unless they go unread to a file object.
    pub(crate) fn in_pieces(
        &self,
        py: Python<'py>,
        len: usize,
        unseen: bool,
        mut put: impl FnMut(&[u8]) -> io::Result<()> + Send,
    ) -> PyResult<()> {
        match self {
            Given::Bytes(bytes) => {
                for piece in bytes.get(..len).unwrap_or(bytes).chunks(PIECE) {
                    py.detach(|| put(piece)).map_err(|error| raise_io(py, error))?;
                    py.check_signals()?;
                }
            }
            Given::View { view, .. } => {
                let most = if unseen { PIECE } else { COPIED };
                for start in (0..len).step_by(most) {
                    let end = start.saturating_add(most).min(len);
                    let [from, to] = [start, end].map(|at| isize::try_from(at).unwrap_or(isize::MAX));
                    let piece = view.get_item(PySlice::new(py, from, to, 1))?;
                    if unseen {
                        let written =
                            stream::unseen(piece, end.saturating_sub(start), |zeros| py.detach(|| put(zeros)));
                        written.map_err(|error| raise_io(py, error))?;
                        py.check_signals()?;
                        continue;
                    }
                    let piece = piece.call_method0("tobytes")?.cast_into::<PyBytes>()?;
                    let bytes = PyBackedBytes::from(piece.clone());
                    let written = stream::offering(piece, || py.detach(|| put(&bytes)));
                    written.map_err(|error| raise_io(py, error))?;
                    py.check_signals()?;
                }
            }
        }
        Ok(())
    }
}

const ADDRESSES: &str = "the elements are Python objects or pointers, and their bytes would be addresses of this process: convert them with \
                         astype(), or encode texts to bytes";

/// Whether elements of a format hold Python objects or pointers. Names of fields are between colons.
fn holds_addresses(format: &str) -> bool {
    format.split(':').step_by(2).any(|codes| codes.contains(['O', 'P', '&', 'X', 'z']))
}

fn little_endian<'py>(view: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let array = view.py().import("numpy")?.call_method1("asarray", (view,))?;
    let dtype = array.getattr("dtype")?.call_method1("newbyteorder", ("<",))?;
    array.call_method1("astype", (dtype,))
}
