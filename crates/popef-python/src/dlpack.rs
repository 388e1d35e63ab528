//! Arrays for libraries that know DLPack. NumPy makes the exported objects.

use pyo3::exceptions::PyBufferError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

/// The first processor.
pub(crate) const DEVICE: (u32, u32) = (1, 0);

/// The array for a consumer. Only DLPack 1.0 and NumPy 2.1 or newer can mark it as read-only. Consumers may also rely
/// on alignment, which a file does not give. In both cases there is a copy, unless that was forbidden.
pub(crate) fn export<'py>(
    array: &Bound<'py, PyAny>,
    stream: Option<&Bound<'py, PyAny>>,
    max_version: Option<(u32, u32)>,
    dl_device: Option<&Bound<'py, PyAny>>,
    copy: Option<bool>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = array.py();
    let knows_version = numpy_version(py)? >= (2, 1);
    let flags = array.getattr("flags")?;
    let is_writable = flags.getattr("writeable")?.is_truthy()?;
    let can_be_told = is_writable || (knows_version && max_version >= Some((1, 0)));
    let is_fit = can_be_told && flags.getattr("aligned")?.is_truthy()?;
    if !is_fit && copy == Some(false) {
        let why = if can_be_told { "is not aligned" } else { "is read-only, which this version of DLPack cannot tell" };
        return Err(PyBufferError::new_err(format!("the memory {why}: it has to be copied")));
    }
    let array = if is_fit && copy != Some(true) { array.clone() } else { array.call_method0("copy")? };
    let options = PyDict::new(py);
    options.set_item("stream", stream)?;
    if knows_version {
        options.set_item("max_version", max_version)?;
        options.set_item("dl_device", dl_device)?;
    }
    array.call_method("__dlpack__", (), Some(&options))
}

fn numpy_version(py: Python<'_>) -> PyResult<(u32, u32)> {
    let version = py.import("numpy")?.getattr("__version__")?.cast_into::<PyString>()?;
    let mut parts = version.to_str()?.split('.').map(|part| part.parse().unwrap_or_default());
    Ok((parts.next().unwrap_or_default(), parts.next().unwrap_or_default()))
}
