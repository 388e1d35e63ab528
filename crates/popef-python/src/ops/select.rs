//! Which blobs an operation works on.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use popef::types::Text;
use popef::{Blob, File};
use popef_ops::{Code, Error};
use popef_show::Glob;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};

use crate::enums::BlobType;
use crate::error::raise_operation;
use crate::origin::{Bytes, Opening};
use crate::{blob, callback, text};

/// What chooses blobs.
enum Wanted {
    /// Names without any wildcards, of which there can be many.
    Names(HashSet<String>),
    Pattern(Glob),
    Type(popef::types::BlobType),
    /// A class of blobs, or a callable for a `Blob`.
    Asked(Py<PyAny>),
}

/// The argument `select`: a pattern of names, a type, a class of blobs, a callable for them, or a list of these, any of which chooses a blob.
pub(super) struct Select {
    /// `None` chooses every blob.
    wanted: Option<Vec<Wanted>>,
    files: Vec<(File, Arc<Opening>)>,
    /// The exception that a callable raised.
    raised: Mutex<Option<PyErr>>,
}

impl Select {
    /// Fails if no blob is chosen, which is more likely a mistake than intended.
    pub(super) fn of(given: Option<&Bound<'_, PyAny>>, files: &[File]) -> PyResult<Self> {
        let wanted = given.map(wanted_of).transpose()?;
        let opening = |file: &File| (file.clone(), Opening::of(file.clone(), Bytes::InParts, file.id()));
        let select = Select { wanted, files: files.iter().map(opening).collect(), raised: Mutex::default() };
        match given {
            Some(given) if !select.chooses_any() => {
                let py = given.py();
                let error = || {
                    raise_operation(
                        py,
                        &Error::new(Code::NothingChosen, "no blob is chosen: none is as select, or drop, asks for"),
                    )
                };
                Err(select.raised().unwrap_or_else(error))
            }
            _ => Ok(select),
        }
    }

    /// Chooses everything.
    pub(super) fn everything() -> Self {
        Select { wanted: None, files: Vec::new(), raised: Mutex::default() }
    }

    fn chooses_any(&self) -> bool {
        self.files.iter().any(|(file, _)| file.blobs().any(|blob| self.takes(&blob)))
    }

    /// Whether a blob is chosen.
    pub(super) fn takes(&self, blob: &Blob<'_>) -> bool {
        let Some(wanted) = &self.wanted else { return true };
        wanted.iter().any(|wanted| match wanted {
            Wanted::Names(names) => names.contains(&*name_of(blob).to_string_lossy()),
            Wanted::Pattern(glob) => glob.matches(&name_of(blob).to_string_lossy(), false),
            Wanted::Type(blob_type) => blob.blob_type() == *blob_type,
            Wanted::Asked(callable) => self.ask(callable, blob),
        })
    }

    /// Asks a callable. After it raised an exception, it chooses nothing.
    fn ask(&self, callable: &Py<PyAny>, blob: &Blob<'_>) -> bool {
        let answer = callback::attach(|py| -> PyResult<bool> {
            if self.lock().is_some() {
                return Ok(false);
            }
            let Some(object) = self.object(py, blob)? else { return Ok(false) };
            let callable = callable.bind(py);
            match callable.cast::<PyType>() {
                Ok(class) => object.is_instance(class),
                Err(_) => callback::call(callable, (object,))?.is_truthy(),
            }
        });
        answer.unwrap_or_else(|raised| {
            self.lock().get_or_insert(raised);
            false
        })
    }

    /// The blob as Python has it.
    fn object<'py>(&self, py: Python<'py>, blob: &Blob<'_>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let is_in = |file: &File| file.blob(blob.index()).is_some_and(|found| found.is_same_blob(blob));
        let found = self.files.iter().find(|(file, _)| is_in(file));
        found.map(|(_, opening)| blob::object(py, opening, blob.index())).transpose()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<PyErr>> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a callable raised anything.
    pub(super) fn has_raised(&self) -> bool {
        self.lock().is_some()
    }

    /// What a callable raised.
    pub(super) fn raised(&self) -> Option<PyErr> {
        self.lock().take()
    }
}

fn wanted_of(given: &Bound<'_, PyAny>) -> PyResult<Vec<Wanted>> {
    if let Some(one) = one_of(given)? {
        return Ok(vec![one]);
    }
    let needed = || {
        PyTypeError::new_err(
            "select needs a pattern of names, a BlobType, a class of blobs, a callable, or a list of these",
        )
    };
    let (mut names, mut others) = (HashSet::new(), Vec::new());
    for one in callback::items(given, needed)? {
        match one_of(&one?)?.ok_or_else(needed)? {
            Wanted::Names(more) => names.extend(more),
            other => others.push(other),
        }
    }
    others.push(Wanted::Names(names));
    Ok(others)
}

fn one_of(given: &Bound<'_, PyAny>) -> PyResult<Option<Wanted>> {
    if given.is_instance_of::<PyString>() {
        let pattern = text::extract(given)?.to_string_lossy().into_owned();
        // A backslash may begin an escape.
        if !pattern.contains(['*', '?', '[', '\\']) {
            return Ok(Some(Wanted::Names(HashSet::from([pattern]))));
        }
        return Glob::parse(&pattern).map(Wanted::Pattern).map(Some).map_err(PyValueError::new_err);
    }
    if let Ok(blob_type) = given.cast::<BlobType>() {
        return Ok(Some(Wanted::Type(blob_type.get().0)));
    }
    if let Ok(class) = given.cast::<PyType>()
        && !class.is_subclass_of::<blob::Blob>()?
    {
        let message = format!("select needs a class of blobs, such as popef.Tensor, not {}", class.name()?);
        return Err(PyTypeError::new_err(message));
    }
    Ok(given.is_callable().then(|| Wanted::Asked(given.clone().unbind())))
}

/// The name that chooses a blob. Metadata has the name of its executable.
fn name_of<'b>(blob: &Blob<'b>) -> Text<'b> {
    let of_metadata = || blob.as_metadata().map(|metadata| metadata.executable());
    blob.name().or_else(of_metadata).unwrap_or_default()
}
