//! The operations of the tool `popef` as functions.

mod arrays;
mod compare;
mod edit;
mod parts;
mod rewrite;
mod rows;
mod select;

pub(crate) use compare::{diff, hash, verify};
pub(crate) use edit::set;
pub(crate) use parts::{extract, pack};
pub(crate) use rewrite::{compress, decompress, merge, recover, split, strip};

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use popef::File as Opened;
use popef::write::Packing;
use popef_ops::{Error, Overwrite, Progress, Target, TargetFolder};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use serde::Serialize;

use crate::error::{raise, raise_operation};
use crate::file::{self, File};
use crate::path;
use crate::session;
use crate::text::kind_of;
use crate::to_python::Values;
use crate::work::{Watch, run};
use rows::Rows;
use select::Select;

/// Opens a `File`, or anything that `popef.open` takes. It must be whole: an operation would silently leave out what
/// follows the damage.
fn opened(given: &Bound<'_, PyAny>) -> PyResult<Opened> {
    let file = match given.cast::<File>() {
        Ok(file) => file.get().opened()?,
        Err(_) => file::open(given, false, false)?.opened()?,
    };
    match file.damage() {
        Some(damage) => Err(raise(given.py(), damage)),
        None => Ok(file),
    }
}

/// Where an operation writes: to a path, or nowhere.
struct To {
    path: Option<PathBuf>,
    overwrite: Overwrite,
    dry_run: bool,
}

impl To {
    /// `overwrite` is a bool, or `"inputs"`. The path is optional only for a dry run.
    fn of(given: Option<&Bound<'_, PyAny>>, overwrite: Option<&Bound<'_, PyAny>>, dry_run: bool) -> PyResult<Self> {
        let path = given.map(path::to_write).transpose()?;
        if path.is_none() && !dry_run {
            return Err(PyTypeError::new_err("a path to write to is needed, except for a dry run"));
        }
        let overwrite = overwrite.map_or(Ok(Overwrite::Never), overwrite_of)?;
        Ok(To { path, overwrite, dry_run })
    }

    fn target(&self) -> Target<'_> {
        match &self.path {
            Some(path) if self.dry_run => Target::Trial(path, self.overwrite),
            Some(path) => Target::Path(path, self.overwrite),
            None => Target::Nowhere,
        }
    }

    fn folder(&self) -> TargetFolder<'_> {
        match &self.path {
            Some(path) if self.dry_run => TargetFolder::Trial(path, self.overwrite),
            Some(path) => TargetFolder::At(path, self.overwrite),
            None => TargetFolder::Nowhere,
        }
    }
}

fn overwrite_of(given: &Bound<'_, PyAny>) -> PyResult<Overwrite> {
    let needed = |found: &str| format!("overwrite is True, False or 'inputs', not {found}");
    match (given.extract::<bool>(), given.cast::<PyString>()) {
        (Ok(true), _) => Ok(Overwrite::Others),
        (Ok(false), _) => Ok(Overwrite::Never),
        (_, Ok(word)) if word == "inputs" => Ok(Overwrite::Inputs),
        (_, Ok(word)) => Err(PyValueError::new_err(needed(word.repr()?.to_str()?))),
        _ => Err(PyTypeError::new_err(needed(&kind_of(given)))),
    }
}

/// The progress of an operation, which stops as soon as a callable of `select` raised an exception: nothing that was chosen without its
/// answer may be put in place.
struct Asked<'a> {
    watch: &'a Watch,
    select: &'a Select,
}

impl Asked<'_> {
    fn unless_raised(&self, flow: impl FnOnce() -> ControlFlow<()>) -> ControlFlow<()> {
        if self.select.has_raised() { ControlFlow::Break(()) } else { flow() }
    }
}

impl Progress for Asked<'_> {
    fn expect(&self, bytes: u64) {
        self.watch.expect(bytes);
    }

    fn advance(&self, bytes: u64) -> ControlFlow<()> {
        self.unless_raised(|| self.watch.advance(bytes))
    }

    fn can_place(&self) -> ControlFlow<()> {
        self.unless_raised(|| self.watch.can_place())
    }
}

/// Runs an operation. Returns its report, with its rows for the blobs under `key`.
fn operate<'py, R: Serialize + Send, W: Serialize + Send>(
    py: Python<'py>,
    progress: Option<&Bound<'py, PyAny>>,
    select: &Select,
    key: Option<&str>,
    work: impl FnOnce(&dyn Progress, &mut dyn FnMut(W) -> Result<(), Error>) -> Result<R, Error> + Send,
) -> PyResult<Bound<'py, PyDict>> {
    let mut rows = Rows::new(py);
    let done = run(py, progress, |watch| {
        let done = work(&Asked { watch, select }, &mut |row| rows.push(row, watch));
        done.and_then(|report| rows.flush().map(|()| report))
    })?;
    // What Python code raised is the cause of the error.
    if let Some(raised) = select.raised().or_else(|| rows.raised()) {
        return Err(raised);
    }
    let report = done.map_err(|error| {
        let kept = error.library().and_then(|error| session::kept(py, error));
        kept.unwrap_or_else(|| raise_operation(py, &error))
    })?;
    let report = Values::new(py).convert(&report)?.cast_into::<PyDict>()?;
    if let Some(key) = key {
        report.set_item(key, rows.list(py))?;
    }
    Ok(report)
}

/// The name of a file without its ending.
fn stem(file: &Opened) -> Option<&std::ffi::OsStr> {
    file.path().and_then(Path::file_stem)
}

/// The format, and perhaps the level, of compressed executables.
fn packing(text: &str) -> PyResult<Packing> {
    text.parse::<Packing>().map_err(|error| PyValueError::new_err(error.to_string()))
}

/// The error of an argument that is not one of the words that are allowed.
fn wrong(argument: &str, given: &str, choices: &str) -> PyErr {
    PyValueError::new_err(format!("{argument} is one of {choices}, not {given:?}"))
}
