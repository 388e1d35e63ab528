//! Listings of files as plain dicts, for the function `popef.describe`.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use popef::types::{Diagnostic, Text};
use popef_open::{Opened, StreamData, in_order, is_stdin};
use popef_show::{FileReport, FileToShow, Options, Provider, Workers};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};

use crate::callback;
use crate::error::raise;
use crate::file::{self, File};
use crate::number;
use crate::path;
use crate::remote;
use crate::to_python::Values;
use crate::work::{Watch, run};

/// Describes files as plain dicts and lists: the same as the JSON of `popef ls --format json`, which
/// docs/dump.schema.json describes.
///
/// A file is a `File`, or anything that `popef.open` takes. The path of a file without one is None. A damaged file has
/// an `error`, and the blobs before the damage. A file that cannot be opened at all raises an exception.
///
/// With `values`, tensors and feeds have that many of their first values, and statistics of all. With `inside`, the
/// result includes what the first bytes of executables say, and everything that frameworks wrote into opaque blobs.
/// With `tiles`, executables are read completely, for the sizes of their tiles. The data of an anchor can be in any of
/// the files, with `each` only in its own.
///
/// >>> import io, popef
/// >>> content = io.BytesIO()
/// >>> with popef.Writer(content) as writer:
/// ...     writer.createOpaqueBlob("notes", "model").write(b"made by hand")
/// >>> blob = popef.describe(content.getvalue())["files"][0]["blobs"][0]
/// >>> blob["type"], blob["info"]["name"], blob["dataSize"]
/// ('opaque', 'notes', 12)
#[pyfunction]
#[pyo3(signature = (*files, values = None, inside = false, tiles = false, each = false))]
pub(crate) fn describe<'py>(
    py: Python<'py>,
    files: &Bound<'py, PyTuple>,
    values: Option<&Bound<'py, PyAny>>,
    inside: bool,
    tiles: bool,
    each: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let inputs = files.iter().map(|file| Input::of(&file)).collect::<PyResult<Vec<_>>>()?;
    let values = values.map(|values| number::argument("values", values)).transpose()?;
    let files = run(py, None, |watch| {
        let mut options = Options::default();
        options.values = values;
        options.inside = inside;
        options.tiles = tiles;
        options.workers = Box::new(AllProcessors(Arc::clone(watch)));
        let opened = inputs.into_iter().map(Input::open).collect::<PyResult<Vec<_>>>()?;
        Listing { files: &opened, options: &options, each, watch }.all()
    })??;
    let document = PyDict::new(py);
    document.set_item("schemaVersion", SCHEMA_VERSION)?;
    document.set_item("files", files)?;
    Ok(document)
}

const SCHEMA_VERSION: u32 = 1;

/// The number of blobs after which the interpreter's lock is released.
const BATCH: usize = 128;

/// The program in an error's advice, if the advice names one.
const PROGRAM: &str = "popef ls";

/// A file as it was given.
enum Input {
    Path(PathBuf),
    Opened(popef::File),
}

impl Input {
    fn of(given: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(file) = given.cast::<File>() {
            return Ok(Input::Opened(file.get().opened()?));
        }
        let is_path = remote::address_of(given).is_none()
            && (given.is_instance_of::<PyString>() || given.hasattr("__fspath__")?);
        if is_path {
            return Ok(Input::Path(path::extract(given)?));
        }
        Ok(Input::Opened(file::open(given, false, true)?.opened()?))
    }

    /// Opens the file. Fails if there is nothing to show.
    fn open(self) -> PyResult<Opened> {
        let opened = match self {
            Input::Opened(file) => Opened::of(file.path().map(PathBuf::from).unwrap_or_default(), Ok(file)),
            // In Python, `-` is a file with this name.
            Input::Path(path) if is_stdin(&path) => popef_open::open(&Path::new(".").join(path), StreamData::Keep),
            Input::Path(path) => popef_open::open(&path, StreamData::Keep),
        };
        match &opened.file {
            Ok(_) => Ok(opened),
            Err(error) => Err(callback::attach(|py| raise(py, error))),
        }
    }
}

/// The files to list, and how.
struct Listing<'a> {
    files: &'a [Opened],
    options: &'a Options,
    /// Whether the data of anchors is only looked for in their own files.
    each: bool,
    watch: &'a Watch,
}

impl Listing<'_> {
    fn all(&self) -> PyResult<Py<PyList>> {
        let mut objects = Vec::with_capacity(self.files.len());
        for (index, opened) in self.files.iter().enumerate() {
            objects.push(self.file(index, opened)?);
        }
        callback::attach(|py| PyList::new(py, objects).map(Bound::unbind))
    }

    /// The object of one file. Data is read without the interpreter's lock.
    fn file(&self, index: usize, opened: &Opened) -> PyResult<Py<PyAny>> {
        let failure = failure(opened);
        let among = if self.each { std::slice::from_ref(opened) } else { self.files };
        let input = FileToShow {
            index,
            path: &opened.path,
            file: opened.file(),
            failure: failure.as_ref(),
            provider: &|name| provider(among, name),
        };
        let report = FileReport::new(input, self.options);
        let object = report.file_object();
        let (object, blobs) = callback::attach(|py| -> PyResult<_> {
            let object = Values::new(py).convert(&object)?;
            if opened.path.as_os_str().is_empty() {
                object.set_item("path", py.None())?;
            }
            let blobs = PyList::empty(py);
            object.set_item("blobs", &blobs)?;
            Ok((object.unbind(), blobs.unbind()))
        })?;
        let mut rest = report.blob_objects();
        while !self.watch.is_stopped() {
            let batch: Vec<_> = rest.by_ref().take(BATCH).take_while(|_| !self.watch.is_stopped()).collect();
            if batch.is_empty() {
                break;
            }
            callback::attach(|py| {
                let values = Values::new(py);
                batch.iter().try_for_each(|blob| blobs.bind(py).append(values.convert(blob)?))
            })?;
        }
        Ok(object)
    }
}

/// The reason why the file could not be read to its end.
fn failure(opened: &Opened) -> Option<Diagnostic> {
    let path = &opened.path;
    match &opened.foreign {
        Some(foreign) => Some(foreign.describe(path, |instead| Some(format!("{PROGRAM} {instead}")))),
        None => opened.error().map(|error| error.describe().in_file(path)),
    }
}

/// Who provides the data of an anchor.
fn provider(files: &[Opened], name: &Text<'_>) -> Provider {
    let name = name.as_bytes();
    let has = |file: &popef::File| file.tensor(name).is_some() || file.feed(name).is_some();
    if files.iter().filter_map(Opened::file).any(has) {
        return Provider::Popef;
    }
    if files.iter().any(|opened| opened.error().is_some()) { Provider::Unknown } else { Provider::User }
}

/// Works out statistics on all processors, until it is stopped.
#[derive(Debug)]
struct AllProcessors(Arc<Watch>);

impl Workers for AllProcessors {
    fn run(&self, count: usize, work: &(dyn Fn(usize) + Sync), done: &mut dyn FnMut(usize) -> ControlFlow<()>) {
        /// Maximum number of parts that wait until the parts before them are done.
        const AHEAD: usize = 32;
        let work = |index| {
            if !self.0.is_stopped() {
                work(index);
            }
            index
        };
        in_order(count, AHEAD, work, |index| {
            self.0.go_on()?;
            done(index)
        });
    }
}
