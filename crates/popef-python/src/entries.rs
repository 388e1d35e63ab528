//! The contents that a reader found: executables, tensors, feeds and opaque blobs. Data is read on request.

use popef::read::{BlobHandle, Data, DataBlob};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyString, PyTuple};

use crate::array::{self, shape_of};
use crate::bytes;
use crate::direct;
use crate::error::raise;
use crate::info::{FeedDataInfo, TensorDataInfo};
use crate::text;

/// The text of a blob, such as its name. Empty if the blob is of another type, which does not happen.
fn text_of<'py>(py: Python<'py>, text: Option<popef::types::Text<'_>>) -> PyResult<Bound<'py, PyString>> {
    text::to_python(py, &text.unwrap_or_default())
}

/// The data of a tensor or a feed as an array, which belongs to the caller and can be written to.
fn data<'py>(py: Python<'py>, blob: &BlobHandle) -> PyResult<Bound<'py, PyAny>> {
    let Some(tensors) = blob.blob().as_data() else { return Ok(py.None().into_bound(py)) };
    let data = elements(&tensors).map_err(|error| raise(py, &error))?;
    let shape = PyTuple::new(py, shape_of(&tensors))?;
    if data.is_empty() {
        return array::of(blob, &tensors, None, shape);
    }
    let flat = match direct::read(py, blob, 0, &data)? {
        Some(array) => array,
        None => py.import("numpy")?.call_method1("frombuffer", (bytes::to_bytearray(py, &data)?, "u1"))?,
    };
    array::of(blob, &tensors, Some(&flat), shape)
}

/// The bytes of all elements, without any surplus after them.
pub(crate) fn elements<'a>(tensors: &DataBlob<'a>) -> Result<Data<'a>, popef::Error> {
    tensors.check_size()?;
    // Cannot wrap: the size of all tensors was just checked.
    let len = tensors.size_in_bytes()?.saturating_mul(tensors.num_tensors().into());
    tensors.data().range(0..len)
}

/// An executable.
///
/// >>> import io, popef
/// >>> content = io.BytesIO()
/// >>> with popef.Writer(content) as writer:
/// ...     writer.createExecutable("model", compress=True).write(b"its code")
/// >>> reader = popef.Reader()
/// >>> reader.parseStream(io.BytesIO(content.getvalue()))
/// >>> executable = reader.executables()[0]
/// >>> executable.name, executable.executable(), executable.getAvailableReadSize()
/// ('model', b'its code', 8)
#[pyclass(module = "popef", frozen, weakref)]
pub(crate) struct ExecutableReader(BlobHandle);

#[pymethods]
impl ExecutableReader {
    /// The name by which metadata and opaque blobs refer to the executable.
    #[getter]
    fn name<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        text_of(py, self.0.blob().name())
    }

    /// The bytes of the executable, unpacked if they are compressed.
    fn executable<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(bytes::unpacked(py, &self.0)?.unwrap_or_else(|| PyBytes::new(py, b"")))
    }

    /// Whether the executable is compressed in the file. The vendor's name for this is unknown.
    #[getter]
    #[pyo3(name = "isCompressed")]
    fn is_compressed(&self) -> bool {
        self.0.blob().as_executable().is_some_and(|executable| executable.is_compressed())
    }

    /// The number of bytes that `executable()` returns, as the file states it.
    #[pyo3(name = "getAvailableReadSize")]
    fn available_read_size(&self) -> u64 {
        self.0.blob().as_executable().map_or(0, |executable| executable.uncompressed_size())
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let packed = if self.is_compressed() { ", compressed" } else { "" };
        Ok(format!("<popef.ExecutableReader {}, {} bytes{packed}>", self.name(py)?.repr()?, self.available_read_size()))
    }
}

/// The data of a tensor.
///
/// >>> import io, popef
/// >>> content = io.BytesIO()
/// >>> info = popef.TensorDataInfo("w", popef.TensorInfo([2], popef.DataType.F32))
/// >>> with popef.Writer(content) as writer:
/// ...     writer.createTensorData(info).write(bytes(8))
/// >>> reader = popef.Reader()
/// >>> reader.parseStream(io.BytesIO(content.getvalue()))
/// >>> tensor = reader.tensors()[0]
/// >>> tensor.info.name(), tensor.data().tolist()
/// ('w', [0.0, 0.0])
#[pyclass(module = "popef", frozen, weakref)]
pub(crate) struct TensorReader {
    blob: BlobHandle,
    info: PyOnceLock<Py<TensorDataInfo>>,
}

#[pymethods]
impl TensorReader {
    /// The name, shape and type.
    #[getter]
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, TensorDataInfo>> {
        let make = || {
            let info = self.blob.blob().as_tensor().map(|tensor| tensor.info());
            Py::new(py, TensorDataInfo::of_value(py, info.unwrap_or_default())?)
        };
        Ok(self.info.get_or_try_init(py, make)?.bind(py).clone())
    }

    /// The elements as a `numpy.ndarray` of the shape and type of the info. It is a copy, which belongs to the caller.
    fn data<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        data(py, &self.blob)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<popef.TensorReader {}>", self.info(py)?.repr()?))
    }
}

/// The data of a feed: several tensors of one shape, for several runs.
///
/// >>> import io, popef
/// >>> content = io.BytesIO()
/// >>> with popef.Writer(content) as writer:
/// ...     info = popef.FeedDataInfo("labels", popef.TensorInfo([2], popef.DataType.U8), 3)
/// ...     writer.createFeedData(info).write(bytes([0, 1, 10, 11, 20, 21]))
/// >>> reader = popef.Reader()
/// >>> reader.parseStream(io.BytesIO(content.getvalue()))
/// >>> reader.feeds()[0].data().tolist()
/// [[0, 1], [10, 11], [20, 21]]
#[pyclass(module = "popef", frozen, weakref)]
pub(crate) struct FeedReader {
    blob: BlobHandle,
    info: PyOnceLock<Py<FeedDataInfo>>,
}

#[pymethods]
impl FeedReader {
    /// The name, shape, type and number of tensors.
    #[getter]
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, FeedDataInfo>> {
        let make = || {
            let info = self.blob.blob().as_feed().map(|feed| feed.info());
            Py::new(py, FeedDataInfo::of_value(py, info.unwrap_or_default())?)
        };
        Ok(self.info.get_or_try_init(py, make)?.bind(py).clone())
    }

    /// The elements of all tensors as one `numpy.ndarray`, whose first dimension is the number of tensors. It is a
    /// copy, which belongs to the caller. The shape of the vendor's array is unknown.
    fn data<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        data(py, &self.blob)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<popef.FeedReader {}>", self.info(py)?.repr()?))
    }
}

/// An opaque blob, which only the framework that wrote it can read.
///
/// >>> import io, popef
/// >>> content = io.BytesIO()
/// >>> with popef.Writer(content) as writer:
/// ...     writer.createOpaqueBlob("notes", "model").write(b"made by hand")
/// >>> reader = popef.Reader()
/// >>> reader.parseStream(io.BytesIO(content.getvalue()))
/// >>> opaque = reader.opaqueBlobs()[0]
/// >>> opaque.name, opaque.executable, opaque.data()
/// ('notes', 'model', b'made by hand')
#[pyclass(module = "popef", frozen, weakref)]
pub(crate) struct OpaqueReader(BlobHandle);

#[pymethods]
impl OpaqueReader {
    /// Usually the name of the framework that wrote it.
    #[getter]
    fn name<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        text_of(py, self.0.blob().name())
    }

    /// The name of the executable that it belongs to.
    #[getter]
    fn executable<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        text_of(py, self.0.blob().as_opaque().map(|opaque| opaque.executable()))
    }

    /// The bytes of the blob.
    fn data<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        bytes::to_bytes(py, &self.0.blob().data())
    }

    /// The number of bytes that `data()` returns.
    #[pyo3(name = "getAvailableReadSize")]
    fn available_read_size(&self) -> u64 {
        self.0.blob().data().len()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let (name, executable) = (self.name(py)?.repr()?, self.executable(py)?.repr()?);
        Ok(format!("<popef.OpaqueReader {name} for {executable}, {} bytes>", self.available_read_size()))
    }
}

/// A class that is made of a blob.
pub(crate) trait Entry: Sized + pyo3::PyClass {
    fn of(blob: BlobHandle) -> Self;
}

impl Entry for ExecutableReader {
    fn of(blob: BlobHandle) -> Self {
        ExecutableReader(blob)
    }
}

impl Entry for TensorReader {
    fn of(blob: BlobHandle) -> Self {
        TensorReader { blob, info: PyOnceLock::new() }
    }
}

impl Entry for FeedReader {
    fn of(blob: BlobHandle) -> Self {
        FeedReader { blob, info: PyOnceLock::new() }
    }
}

impl Entry for OpaqueReader {
    fn of(blob: BlobHandle) -> Self {
        OpaqueReader(blob)
    }
}
