//! The rows that an operation reports for the blobs, as a list of dicts.

use popef::error::ErrorCode;
use popef_ops::Error;
use pyo3::prelude::*;
use pyo3::types::PyList;
use serde::Serialize;

use crate::callback;
use crate::to_python::Values;
use crate::work::Watch;

/// Maximum number of rows that wait to be converted, because taking the interpreter's lock for each would take long.
const BATCH: usize = 128;

pub(super) struct Rows<W> {
    waiting: Vec<W>,
    list: Py<PyList>,
    raised: Option<PyErr>,
}

impl<W: Serialize> Rows<W> {
    pub(super) fn new(py: Python<'_>) -> Self {
        Rows { waiting: Vec::new(), list: PyList::empty(py).unbind(), raised: None }
    }

    /// Takes a row. An error ends the operation.
    pub(super) fn push(&mut self, row: W, watch: &Watch) -> Result<(), Error> {
        self.waiting.push(row);
        if watch.is_stopped() {
            return Err(Error::new(ErrorCode::Stopped, "the work was stopped"));
        }
        if self.waiting.len() < BATCH { Ok(()) } else { self.flush() }
    }

    pub(super) fn flush(&mut self) -> Result<(), Error> {
        let waiting = std::mem::take(&mut self.waiting);
        let converted = callback::attach(|py| {
            let values = Values::new(py);
            waiting.iter().try_for_each(|row| self.list.bind(py).append(values.convert(row)?))
        });
        converted.map_err(|raised| {
            self.raised = Some(raised);
            Error::new(ErrorCode::Stopped, "a report cannot be converted")
        })
    }

    pub(super) fn raised(&mut self) -> Option<PyErr> {
        self.raised.take()
    }

    pub(super) fn list<'py>(self, py: Python<'py>) -> Bound<'py, PyList> {
        self.list.into_bound(py)
    }
}
