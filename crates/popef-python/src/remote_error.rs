//! Errors of files on other machines as Python exceptions.

use std::cell::RefCell;
use std::path::Path;

use popef::types::Diagnostic;
use popef_remote::{Code, RemoteError};
use pyo3::prelude::*;

use crate::exception::{os_error, popef_error};

thread_local! {
    /// The exception that a signal handler raised while this thread waited.
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Whether a signal came while this thread waits. The following error raises the handler's exception.
pub(crate) fn is_signalled(py: Python<'_>) -> bool {
    py.check_signals().map_err(|raised| RAISED.replace(Some(raised))).is_err()
}

/// The exception for an error of the library that comes from another machine. `None` if it does not.
pub(crate) fn raised(py: Python<'_>, error: &popef::Error) -> Option<PyErr> {
    RemoteError::of(error).map(|error| raise_remote(py, error))
}

/// The exception for an error that comes from another machine.
pub(crate) fn raise_remote(py: Python<'_>, error: &RemoteError) -> PyErr {
    if error.code() == Code::Stopped
        && let Some(raised) = RAISED.take()
    {
        return raised;
    }
    let number = match error.code() {
        Code::NotFound | Code::NoMatch => Some("ENOENT"),
        Code::Denied | Code::NoCredentials => Some("EACCES"),
        Code::Timeout => Some("ETIMEDOUT"),
        _ => None,
    };
    let (location, described) = (error.location(), Diagnostic::new(error.code(), error.to_string()));
    if let Some(number) = number {
        // The number differs between systems.
        return match py.import("errno").and_then(|errno| errno.getattr(number)?.extract()) {
            Ok(number) => os_error(py, Some(number), Some(error.to_string()), Some(Path::new(location)), &described),
            Err(failed) => failed,
        };
    }
    let message = if location.is_empty() { error.to_string() } else { format!("{location}: {error}") };
    popef_error(py, &message, &described, (!location.is_empty()).then(|| Path::new(location)))
}
