//! Arrays in memory, for operations.

use std::io;
use std::path::PathBuf;

use popef::read::ReadAt;
use popef::types::{TensorType, Text};
use popef::{DataType, File, TensorInfo};
use popef_ops::formats::Array;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyMapping, PySlice, PyString};

use crate::bytes::Given;
use crate::elements::Elements;
use crate::error::raise_operation;
use crate::exception::reworded;
use crate::work::COPIED;
use crate::{path, text};

/// Arrays in files or in memory.
pub(super) enum GivenArrays {
    Files(Vec<PathBuf>),
    Memory(Vec<Array>),
}

impl GivenArrays {
    /// A path, several paths, or a mapping from names to arrays.
    pub(super) fn of(
        given: Option<&Bound<'_, PyAny>>,
        wanted: impl Fn(&Text<'_>) -> Option<TensorInfo>,
    ) -> PyResult<Self> {
        let Some(array) = given else { return Ok(GivenArrays::Files(Vec::new())) };
        if let Ok(given) = array.cast::<PyMapping>() {
            return arrays(given, wanted).map(GivenArrays::Memory);
        }
        if array.hasattr("__array__")? {
            return Err(PyTypeError::new_err("an array needs a name: {\"name\": array}"));
        }
        path::several(given).map(GivenArrays::Files)
    }
}

/// The arrays of a mapping from names to objects with elements. Bytes without a type get the elements that `wanted`
/// gives.
fn arrays(given: &Bound<'_, PyMapping>, wanted: impl Fn(&Text<'_>) -> Option<TensorInfo>) -> PyResult<Vec<Array>> {
    let pairs = given.items()?;
    pairs.iter().map(|pair| pair.extract().and_then(|(name, array)| self::array(&name, &array, &wanted))).collect()
}

/// An array of an object with elements.
pub(super) fn array<'py>(
    name: &Bound<'py, PyAny>,
    given: &Bound<'py, PyAny>,
    wanted: impl Fn(&Text<'_>) -> Option<TensorInfo>,
) -> PyResult<Array> {
    let py = given.py();
    let name = text::extract(name)?;
    // A text has bytes too, but a caller who gives one means a path.
    if given.is_instance_of::<PyString>() {
        return Err(of_name(py, &name, PyTypeError::new_err("an array is needed, not a str")));
    }
    let elements = Elements::of(given).map_err(|error| of_name(py, &name, error))?;
    let source = Source::of(Given::of(&elements.object, None).map_err(|error| of_name(py, &name, error))?);
    let info = match (elements.data_type, wanted(&name)) {
        (None, Some(wanted)) if wanted.size_in_bytes().ok() == Some(source.size()) => wanted,
        (None, _) => TensorInfo::new(DataType::U8, [i64::try_from(source.size()).unwrap_or(i64::MAX)]),
        (Some(data_type), _) => TensorInfo::new(data_type, elements.shape),
    };
    Array::in_memory(name, info, source).map_err(|error| raise_operation(py, &error))
}

/// The error of the same type, after the name of the array.
fn of_name(py: Python<'_>, name: &Text<'_>, error: PyErr) -> PyErr {
    let message = format!("{:?}: {}", name.to_string_lossy(), error.value(py));
    let is_value = error.is_instance_of::<PyValueError>(py);
    reworded(py, error, || if is_value { PyValueError::new_err(message) } else { PyTypeError::new_err(message) })
}

/// The array that the tensor, feed or input of a name takes.
pub(super) fn wanted_by(file: &File, name: &Text<'_>) -> Option<TensorInfo> {
    let tensor = file.tensor(name).map(|tensor| tensor.info().tensor_info);
    let feed = || {
        let info = file.feed(name)?.info();
        let shape = [vec![i64::from(info.num_tensors)], info.tensor_info.shape].concat();
        Some(TensorInfo::new(info.tensor_info.data_type, shape))
    };
    let input = || {
        let anchors = file.metadata().filter_map(|metadata| metadata.read().ok()).flat_map(|metadata| metadata.anchors);
        let mut inputs = anchors.filter(|anchor| anchor.tensor_type == TensorType::Input);
        inputs.find(|anchor| anchor.name == *name).map(|anchor| anchor.tensor_info)
    };
    tensor.or_else(feed).or_else(input)
}

/// Bytes that Python has.
enum Source {
    Bytes(PyBackedBytes),
    /// A memoryview of single bytes. Python can change them, so they are copied with the interpreter's lock.
    View(Py<PyAny>, usize),
}

impl Source {
    fn of(given: Given<'_>) -> Self {
        match given {
            Given::Bytes(bytes) => Source::Bytes(bytes),
            Given::View { view, len } => Source::View(view.unbind(), len),
        }
    }

    fn fill(&self, py: Python<'_>, buf: &mut [u8], start: usize) -> PyResult<()> {
        let Source::View(view, _) = self else { return Ok(()) };
        let mut start = start;
        for piece in buf.chunks_mut(COPIED) {
            let end = start.saturating_add(piece.len());
            let [from, to] = [start, end].map(|at| isize::try_from(at).unwrap_or(isize::MAX));
            let slice = view.bind(py).get_item(PySlice::new(py, from, to, 1))?;
            let bytes = slice.call_method0("tobytes")?.cast_into::<PyBytes>()?;
            if bytes.as_bytes().len() != piece.len() {
                return Err(PyTypeError::new_err("the array became smaller"));
            }
            piece.copy_from_slice(bytes.as_bytes());
            start = end;
        }
        Ok(())
    }
}

impl ReadAt for Source {
    fn size(&self) -> u64 {
        let len = match self {
            Source::Bytes(bytes) => bytes.len(),
            Source::View(_, len) => *len,
        };
        u64::try_from(len).unwrap_or(u64::MAX)
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        if let Source::Bytes(bytes) = self {
            let end = start.saturating_add(buf.len());
            buf.copy_from_slice(bytes.get(start..end).ok_or(io::ErrorKind::UnexpectedEof)?);
            return Ok(());
        }
        match Python::try_attach(|py| self.fill(py, buf, start)) {
            Some(filled) => filled.map_err(io::Error::other),
            None => Err(io::Error::other("the interpreter has ended")),
        }
    }
}
