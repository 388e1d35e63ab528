//! Paths, as Python programs give them.

use std::path::PathBuf;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The path of a `str`, `bytes` or `os.PathLike`.
pub(crate) fn extract(given: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
    let path: PathBuf = given.py().import("os")?.call_method1("fsdecode", (given,))?.extract()?;
    if path.as_os_str().as_encoded_bytes().contains(&0) {
        return Err(PyValueError::new_err("embedded null byte"));
    }
    Ok(path)
}
