//! Errors of the library as Python exceptions.

use std::error::Error as _;
use std::io;
use std::path::Path;

use popef::error::ErrorKind;
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::exception::{os_error, popef_error};

/// A failure in this module itself: the code of a `PopefError`, and advice.
#[derive(Clone, Copy)]
pub(crate) enum Own {
    BlobWriterInactive,
    WriterClosed,
    WriterBusy,
    WriterNotClosed,
    OtherProcess,
    NoSuchModel,
    NoUpload,
    #[cfg(not(feature = "remote"))]
    NotBuiltIn,
}

impl Own {
    fn code_and_advice(self) -> (&'static str, &'static str) {
        match self {
            Own::BlobWriterInactive => {
                ("blob-writer-inactive", "Write everything to a blob before the next one is created.")
            }
            Own::WriterClosed => ("writer-closed", "Create a new writer."),
            Own::WriterBusy => ("writer-busy", "Let one thread at a time use a writer."),
            Own::WriterNotClosed => {
                ("writer-not-closed", "Call its close(), or its discard() to forget what it wrote.")
            }
            Own::OtherProcess => ("other-process", "Open the file again in this process, or open it by its path."),
            #[cfg(not(feature = "remote"))]
            Own::NotBuiltIn => {
                ("not-built-in", "Read the file with another package, or build the module with this feature.")
            }
            Own::NoUpload => {
                ("no-upload", "Write a file, and upload it: with the tool popef, to which --output takes an address.")
            }
            Own::NoSuchModel => {
                ("no-such-model", "Give the files that belong together, and name the executable if there are several.")
            }
        }
    }

    /// A `PopefError` with this code.
    pub(crate) fn error(self, py: Python<'_>, message: &str) -> PyErr {
        let (code, advice) = self.code_and_advice();
        let fields = || {
            let fields = PyDict::new(py);
            fields.set_item("code", code)?;
            fields.set_item("advice", advice)?;
            Ok(fields)
        };
        popef_error(py, message, fields)
    }
}

/// The exception for an error of the library: `MemoryError`, an `OSError` for a failure of the system, the exception that
/// Python code raised meanwhile, or else a `PopefError`.
pub(crate) fn raise(py: Python<'_>, error: &popef::Error) -> PyErr {
    let system = error.source().and_then(<dyn std::error::Error>::downcast_ref::<io::Error>);
    if let Some(raised) = system.and_then(|system| raised_by_python(py, system)) {
        return raised;
    }
    #[cfg(feature = "remote")]
    if let Some(raised) = crate::remote_error::raised(py, error) {
        return raised;
    }
    match error.kind() {
        ErrorKind::OutOfMemory => PyMemoryError::new_err(error.to_string()),
        ErrorKind::Exists => os_error_of(py, error, libc_number(io::ErrorKind::AlreadyExists)),
        _ => match system.and_then(number_of) {
            Some(number) => os_error_of(py, error, Some(number)),
            None => popef_error(py, &error.to_string(), || fields_of(py, error)),
        },
    }
}

/// The exception for an error of an operation.
pub(crate) fn raise_operation(py: Python<'_>, error: &popef_ops::Error) -> PyErr {
    if let Some(library) = error.library().filter(|library| library.path().is_some() || error.path().is_none()) {
        return raise(py, library);
    }
    let system = error.source().and_then(<dyn std::error::Error>::downcast_ref::<io::Error>);
    if let Some(raised) = system.and_then(|system| raised_by_python(py, system)) {
        return raised;
    }
    let number = if error.kind() == ErrorKind::Exists {
        libc_number(io::ErrorKind::AlreadyExists)
    } else {
        system.and_then(number_of)
    };
    let mut report = error.describe();
    // The one for the tool.
    if error.code() == popef_ops::Code::WrongArguments.as_str() {
        report.advice = "See the help of the function, and docs/PYTHON.md.".into();
    }
    if number.is_some() {
        return os_error(py, number, None, error.path(), report.code, &report.advice);
    }
    popef_error(py, &error.to_string(), || {
        let fields = PyDict::new(py);
        fields.set_item("code", report.code)?;
        fields.set_item("kind", report.kind.as_str())?;
        fields.set_item("advice", &report.advice)?;
        fields.set_item("path", error.path().map(Path::as_os_str))?;
        fields.set_item("blob", report.blob)?;
        fields.set_item("offset", report.offset)?;
        fields.set_item("needed", report.needed)?;
        fields.set_item("found", report.found)?;
        Ok(fields)
    })
}

/// The exception for an `io::Error` of one of the library's readers and writers, which may wrap the library's error.
pub(crate) fn raise_io(py: Python<'_>, error: io::Error) -> PyErr {
    if let Some(raised) = raised_by_python(py, &error) {
        return raised;
    }
    match error.downcast::<popef::Error>() {
        Ok(error) => raise(py, &error),
        Err(error) => error.into(),
    }
}

/// The exception that a file object raised while the library read from it or wrote to it.
fn raised_by_python(py: Python<'_>, error: &io::Error) -> Option<PyErr> {
    error.get_ref()?.downcast_ref::<PyErr>().map(|raised| raised.clone_ref(py))
}

/// The system's number of the error.
fn number_of(error: &io::Error) -> Option<i32> {
    error.raw_os_error().or_else(|| libc_number(error.kind()))
}

/// The numbers of errors that the library makes itself. They are the same on all systems.
fn libc_number(kind: io::ErrorKind) -> Option<i32> {
    match kind {
        io::ErrorKind::NotFound => Some(2),
        io::ErrorKind::PermissionDenied => Some(13),
        io::ErrorKind::AlreadyExists => Some(17),
        io::ErrorKind::IsADirectory => Some(21),
        _ => None,
    }
}

/// The `OSError` for an error of the library.
fn os_error_of(py: Python<'_>, error: &popef::Error, number: Option<i32>) -> PyErr {
    os_error(py, number, None, error.path(), error.code().as_str(), error.code().info().advice)
}

fn fields_of<'py>(py: Python<'py>, error: &popef::Error) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    fields.set_item("code", error.code().as_str())?;
    fields.set_item("kind", error.kind().as_str())?;
    fields.set_item("advice", error.code().info().advice)?;
    fields.set_item("path", error.path().map(Path::as_os_str))?;
    fields.set_item("blob", error.blob())?;
    fields.set_item("offset", error.offset())?;
    fields.set_item("needed", error.needed())?;
    fields.set_item("found", error.found())?;
    Ok(fields)
}
