//! Arrays of NumPy.

use popef::read::{BlobHandle, DataBlob};
use popef::types::Diagnostic;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::dtype::dtype_of;
use crate::error::Own;
use crate::exception::popef_error;

/// The shape of the array of a tensor or feed. For a feed, the number of tensors comes first.
pub(crate) fn shape_of(tensors: &DataBlob<'_>) -> Vec<i64> {
    let runs = tensors.is_feed().then(|| tensors.num_tensors().into());
    runs.into_iter().chain(tensors.shape().to_vec()).collect()
}

/// Elements of a blob as an array of their flat bytes. `None` if there are no elements.
pub(crate) fn of<'py>(
    blob: &BlobHandle,
    tensors: &DataBlob<'_>,
    flat: Option<&Bound<'py, PyAny>>,
    shape: Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = shape.py();
    let dtype = dtype_of(py, tensors.data_type())?;
    let array = match flat {
        Some(flat) => flat.call_method1("view", (dtype,))?.call_method1("reshape", (shape,)),
        None => py.import("numpy")?.call_method1("empty", (shape, dtype)),
    };
    array.map_err(
        |error| if error.is_instance_of::<PyValueError>(py) { no_array(py, blob, tensors, error) } else { error },
    )
}

/// The error for a shape that NumPy does not accept, such as one with more than 64 dimensions.
fn no_array(py: Python<'_>, blob: &BlobHandle, tensors: &DataBlob<'_>, error: PyErr) -> PyErr {
    let (path, index) = (blob.file().path(), blob.blob().index());
    let kind = if tensors.is_feed() { "feed" } else { "tensor" };
    let name = tensors.name().to_string_lossy().into_owned();
    let place = path.map(|path| format!("{}: ", path.display())).unwrap_or_default();
    let words = error.value(py).to_string();
    let message = format!("blob {index}: the {kind} {name:?} cannot be an array of NumPy: {words}");
    let mut described = Diagnostic::new(Own::NoArray, &*message);
    described.blob = Some(index);
    let raised = popef_error(py, &format!("{place}{message}"), &described, path);
    raised.set_cause(py, Some(error));
    raised
}
