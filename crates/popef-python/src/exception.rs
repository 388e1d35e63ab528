//! The classes of exceptions, and their attributes besides the message.

use std::path::Path;

use popef::types::Diagnostic;
use pyo3::exceptions::{PyBufferError, PyOSError, PyOverflowError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};

/// Whether Python or a package found an argument wrong. Anything else goes to the caller as it is: what code of the caller raised, which has a
/// traceback, and what ends the program.
pub(crate) fn is_refusal(py: Python<'_>, error: &PyErr) -> bool {
    let is_of_argument = error.is_instance_of::<PyTypeError>(py)
        || error.is_instance_of::<PyValueError>(py)
        || error.is_instance_of::<PyOverflowError>(py)
        || error.is_instance_of::<PyBufferError>(py);
    is_of_argument && error.traceback(py).is_none()
}

/// The refusal of an argument in other words.
pub(crate) fn reworded(py: Python<'_>, error: PyErr, words: impl FnOnce() -> PyErr) -> PyErr {
    if is_refusal(py, &error) { words() } else { error }
}

/// Makes an `OSError` with the code and the advice as attributes. The number determines its class. Without a reason,
/// the message is the system's for the number.
pub(crate) fn os_error(
    py: Python<'_>,
    number: Option<i32>,
    reason: Option<String>,
    path: Option<&Path>,
    described: &Diagnostic,
) -> PyErr {
    let make = || -> PyResult<PyErr> {
        let reason = match reason {
            Some(reason) => reason,
            None => py.import("os")?.call_method1("strerror", (number,))?.extract()?,
        };
        let raised = py.get_type::<PyOSError>().call1((number, reason, path.map(Path::as_os_str)))?;
        raised.setattr("code", &*described.code)?;
        raised.setattr("advice", &*described.advice)?;
        Ok(raising(raised))
    };
    make().unwrap_or_else(|failed| failed)
}

/// Raises an exception as a `raise` of Python does, with the exception that is being handled as its context.
pub(crate) fn raising(exception: Bound<'_, PyAny>) -> PyErr {
    PyErr::from_type(exception.get_type(), exception.unbind())
}

/// The exception of an error, which nobody raises now: it has no context.
pub(crate) fn unraised(py: Python<'_>, error: PyErr) -> PyResult<Bound<'_, PyAny>> {
    let exception = error.into_value(py).into_bound(py).into_any();
    exception.setattr("__context__", py.None())?;
    Ok(exception)
}

/// A `PopefError` whose attributes are those of the error.
pub(crate) fn popef_error(py: Python<'_>, message: &str, described: &Diagnostic, path: Option<&Path>) -> PyErr {
    let make = || {
        let fields = PyDict::new(py);
        fields.set_item("code", &*described.code)?;
        fields.set_item("kind", described.kind.as_str())?;
        fields.set_item("advice", &*described.advice)?;
        fields.set_item("path", path.map(Path::as_os_str))?;
        fields.set_item("blob", described.blob)?;
        fields.set_item("offset", described.offset)?;
        fields.set_item("needed", described.needed)?;
        fields.set_item("found", described.found)?;
        PyResult::Ok(raising(class(py)?.call((message,), Some(&fields))?))
    };
    // While the interpreter ends, nothing can be imported any more.
    make().unwrap_or_else(|_| PyRuntimeError::new_err(message.to_owned()))
}

/// The class `PopefError`. It is written in Python, because a class in Rust cannot inherit from `RuntimeError` in modules that
/// work with several versions of Python.
fn class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    CLASS.import(py, "popef._error", "PopefError")
}
