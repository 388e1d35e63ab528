//! Texts of files as Python strings, and back.

use popef::types::Text;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

/// How bytes that are not UTF-8 are kept in a string, as Python does it for the names of files.
const KEPT: &str = "surrogateescape";

/// The text as a string. Bytes that are not UTF-8 become surrogates, which [`extract`] turns back.
pub(crate) fn to_python<'py>(py: Python<'py>, text: &Text<'_>) -> PyResult<Bound<'py, PyString>> {
    match text.to_str() {
        Ok(text) => Ok(PyString::new(py, text)),
        Err(_) => {
            let bytes = PyBytes::new(py, text.as_bytes());
            Ok(bytes.call_method1("decode", ("utf-8", KEPT))?.cast_into()?)
        }
    }
}

/// The text of a `str` or `bytes`.
pub(crate) fn extract(given: &Bound<'_, PyAny>) -> PyResult<Text<'static>> {
    if let Ok(bytes) = given.cast::<PyBytes>() {
        return Ok(Text::from(bytes.as_bytes().to_owned()));
    }
    let Ok(text) = given.cast::<PyString>() else {
        return Err(PyTypeError::new_err(format!("a str is needed, not {}", kind_of(given))));
    };
    if let Ok(text) = text.to_str() {
        return Ok(Text::from(text.to_owned()));
    }
    let bytes = text.call_method1("encode", ("utf-8", KEPT))?.cast_into::<PyBytes>()?;
    Ok(Text::from(bytes.as_bytes().to_owned()))
}

/// The name of the type of an object, for errors.
pub(crate) fn kind_of(given: &Bound<'_, PyAny>) -> String {
    given.get_type().name().map_or_else(|_| "that".to_owned(), |name| name.to_string_lossy().into_owned())
}
