//! A blob that is being written.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::bytes::Given;
use crate::number;
use crate::session::Session;
use crate::wanted::Wanted;

/// Writes the data of one blob. `Writer.createExecutable` and its siblings make it.
///
/// It is active until the next blob is created, or until it or its writer is closed. Writing to it later raises
/// `PopefError`. As a context manager, it ends its blob, or removes it if the block raised an exception.
#[pyclass(module = "popef", frozen, weakref)]
pub(crate) struct BlobWriter {
    session: Arc<Session>,
    number: u64,
    /// The elements of a tensor or a feed.
    wanted: Option<Wanted>,
}

impl BlobWriter {
    pub(crate) fn of(session: &Arc<Session>, number: u64) -> Self {
        BlobWriter { session: Arc::clone(session), number, wanted: None }
    }

    /// For a blob that has elements.
    pub(crate) fn wanting(self, wanted: Wanted) -> Self {
        BlobWriter { wanted: Some(wanted), ..self }
    }
}

#[pymethods]
impl BlobWriter {
    /// Writes bytes: those of `bytes`, of any object with a buffer such as a NumPy array, or of a `str` as UTF-8. With
    /// `size`, only that many first bytes are written. Arrays may be non-contiguous or big-endian; they are written in
    /// C order and little-endian.
    ///
    /// An array for a tensor or a feed must have its element type, or else `TypeError` is raised and nothing is
    /// written. An array of `uint8` or `numpy.void` counts as bytes, like `bytes`. An array may be flat or a part of
    /// the tensor; but if it has as many elements and dimensions as the tensor and another shape, `ValueError` is
    /// raised. An array of Python objects has no bytes of its own, and raises `TypeError` for every blob.
    ///
    /// >>> import io, popef
    /// >>> with popef.Writer(io.BytesIO()) as writer:
    /// ...     blob = writer.createOpaqueBlob("notes", "model")
    /// ...     blob.write(b"made by hand")
    /// ...     blob.write("made by a program", 4)
    #[pyo3(signature = (data, size = None))]
    fn write(&self, data: &Bound<'_, PyAny>, size: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let given = Given::of(data, self.wanted.as_ref())?;
        let len = match size.map(|size| number::argument("size", size)).transpose()? {
            None => given.len(),
            Some(size) if size <= given.len() => size,
            Some(size) => {
                let message = format!("the size is {size}, but there are {} bytes", given.len());
                return Err(PyValueError::new_err(message));
            }
        };
        self.session.write(data.py(), self.number, &given, len)
    }

    /// Ends the blob. A tensor or a feed must be complete. Does nothing if the blob ended before. Raises `PopefError` if everything was
    /// discarded before, because writing failed or another writer for the same path took its place.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.session.end(py, self.number)
    }

    /// Whether the blob has ended.
    #[getter]
    fn closed(&self, py: Python<'_>) -> PyResult<bool> {
        self.session.is_open(py, self.number).map(|is_open| !is_open)
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    #[pyo3(signature = (kind = None, value = None, traceback = None))]
    fn __exit__(
        &self,
        py: Python<'_>,
        kind: Option<&Bound<'_, PyAny>>,
        value: Option<&Bound<'_, PyAny>>,
        traceback: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let _ = (value, traceback);
        match kind {
            None => self.session.end(py, self.number),
            Some(_) => self.session.remove(py, self.number),
        }
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<popef.BlobWriter, {}>", if self.session.is_open(py, self.number)? { "active" } else { "ended" }))
    }
}
