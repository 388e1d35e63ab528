//! Paths, as Python programs give them.

use std::path::{Path, PathBuf};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyMapping;

use crate::exception::is_refusal;
use crate::text::kind_of;
use crate::{callback, remote};

/// The path of a `str`, `bytes` or `os.PathLike`.
pub(crate) fn extract(given: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
    let os = given.py().import("os")?;
    let path: PathBuf = os.call_method1("fsdecode", (os.call_method1("fspath", (given,))?,))?.extract()?;
    if path.as_os_str().as_encoded_bytes().contains(&0) {
        return Err(PyValueError::new_err("embedded null byte"));
    }
    Ok(path)
}

/// The path of an output.
pub(crate) fn to_write(given: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
    remote::refuse_to_write(given)?;
    extract(given)
}

/// The absolute path of an output, because the program may change its folder before it is written.
pub(crate) fn absolute(given: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
    Ok(from_root(&to_write(given)?))
}

/// The absolute path. An empty path stays empty, so that opening it gives the usual error.
pub(crate) fn from_root(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// One path or several.
pub(crate) fn several(given: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<PathBuf>> {
    let Some(given) = given else { return Ok(Vec::new()) };
    match extract(given) {
        Ok(path) => Ok(vec![path]),
        Err(error) if !is_refusal(given.py(), &error) => Err(error),
        Err(_) => {
            let needed = || PyTypeError::new_err(format!("a path is needed, or several, not {}", kind_of(given)));
            if given.cast::<PyMapping>().is_ok() {
                return Err(needed());
            }
            callback::items(given, needed)?.map(|path| extract(&path?)).collect()
        }
    }
}
