//! Errors of the library as Python exceptions.

use std::error::Error as _;
use std::io;

use popef::error::{Advice, ErrorKind};
use popef::seam::codes;
use popef::types::Diagnostic;
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;

use crate::exception::{os_error, popef_error};

codes! {
    /// A failure in this module itself.
    pub enum Own;

    BlobWriterInactive = "blob-writer-inactive", Misuse,
        "A blob was written to after the next one was created, or after its writer was closed.",
        "Write everything to a blob before the next one is created.";
    WriterClosed = "writer-closed", Misuse,
        "A blob was begun or written after its writer was closed, or anything after a failure, which the message names.",
        "Create a new writer.";
    WriterBusy = "writer-busy", Busy,
        "Another thread is using the writer, or another process made it.",
        "Let one thread at a time use a writer.";
    OtherProcess = "other-process", Misuse,
        "A file was opened from a file object before `os.fork`, and is read after it.",
        "Open the file again in this process, or open it by its path.";
    WriterNotClosed = "writer-not-closed", Busy,
        "A writer of this program keeps the path. The message says which line made it.",
        "Call its close(), or its discard() to forget what it wrote.";
    NoUpload = "no-upload", Unsupported,
        "A path to write to is an address. Only the tool uploads.",
        "Write a file, and upload it: with the tool popef, to which --output takes an address.";
    NoArray = "no-array", Unsupported,
        "A tensor or a feed has a shape that NumPy does not take, such as one of more than 64 dimensions.",
        "Read the bytes of the blob instead: popef.open(file)[blob].read().";
    NotBuiltIn = "not-built-in", Unsupported,
        "The module was built without a feature.",
        "Read the file with another package, or build the module with this feature.";
    NoSuchModel = "no-such-model", Request,
        "There is no metadata for a model, or metadata for more than one.",
        "Give the files that belong together, and name the executable if there are several.";
}

impl Own {
    /// A `PopefError` with this code.
    pub(crate) fn error(self, py: Python<'_>, message: &str) -> PyErr {
        popef_error(py, message, &Diagnostic::new(self, message), None)
    }
}

/// Advice that names the arguments of this module.
pub(crate) fn words(advice: Advice) -> Option<&'static str> {
    Some(match advice {
        Advice::AfterPickle => "Copy or export the file again. Do not load the pickle.",
        Advice::AllowFindings => "Make another change, or allow the findings: without strict=True.",
        Advice::AllowOverwriting => "Choose another path, or allow overwriting with overwrite=True.",
        Advice::ChooseKept => "Choose with keep=\"first\" or keep=\"last\", or leave out one of the files.",
        Advice::DropPrefix => "Put that file first, or leave out what comes before PopEF with drop_prefix=True.",
        Advice::KeepBlobsBefore => {
            "Copy or export the file again, or keep the blobs before this one with popef.recover."
        }
        Advice::KeepWholeBlobs => "Export the file again, or keep the blobs that are whole with popef.recover.",
        Advice::ReadStream => "Open it, and give the file object.",
        Advice::ReplaceInput => "Choose another output, or replace the input with overwrite=\"inputs\".",
        Advice::SeeHelp => "See the help of the function, and docs/PYTHON.md.",
        Advice::WriteStream => "Open it for writing, and give the file object.",
        Advice::WriteUnchecked => {
            "Give data of the shape and type that the anchor has, or write it all the same with unchecked=True."
        }
        _ => return None,
    })
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
            None => popef_error(py, &error.to_string(), &error.describe(), error.path()),
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
    match number {
        Some(_) => os_error(py, number, None, error.path(), &error.describe()),
        None => popef_error(py, &error.to_string(), &error.describe(), error.path()),
    }
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
    os_error(py, number, None, error.path(), &error.describe())
}
