//! Scans of many files, for the function `popef.scan`, which is written in Python.

mod batch;
mod columns;
mod scanned;

use std::io;
use std::num::NonZero;
use std::path::PathBuf;
use std::process;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use popef_check::CheckOptions;
use popef_ops::hash::Algorithms;
use popef_work::{Ahead, Room, Threads, Waited};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyIterator, PyList, PyString, PyTuple};

use self::batch::Array;
use self::columns::{Cell, Column, Needs, Row};
use self::scanned::{Fault, Hashing, Scanned, Wanted};
use crate::error::raise_operation;
use crate::exception::popef_error;
use crate::{callback, check, number, path, text};

/// Maximum number of files that are opened ahead, if they have few blobs.
const FILES_AHEAD: usize = 64;

/// Maximum number of blobs in those files, together. Each takes about 200 bytes of memory.
const BLOBS_AHEAD: usize = 100_000;

/// The pause between two checks for signals.
const MOMENT: Duration = Duration::from_millis(50);

/// The columns of a scan: names and types, whether each is there without being named, and what must be asked for to have it.
#[pyfunction]
#[pyo3(signature = (per_file))]
pub(crate) fn scan_columns(per_file: bool) -> Vec<(&'static str, &'static str, bool, Option<&'static str>)> {
    let needs = |needs| match needs {
        Needs::Check => Some("check"),
        Needs::HashOfFile | Needs::HashOfData | Needs::HashOfContent => Some("hash"),
        Needs::Headers | Needs::FirstBytes => None,
    };
    columns::all(per_file)
        .iter()
        .map(|column| (column.name, column.kind.as_str(), column.needs != Needs::FirstBytes, needs(column.needs)))
        .collect()
}

/// Reads the maximum number of records in a batch.
#[pyfunction]
pub(crate) fn scan_rows(rows: &Bound<'_, PyAny>) -> PyResult<NonZero<usize>> {
    number::argument("rows", rows)
}

/// One run through the files. It gives records, or batches of them.
#[pyclass(module = "popef._popef", frozen)]
pub(crate) struct ScanRun {
    run: Mutex<Run>,
    /// The process that made it: a forked one has none of the threads.
    process: u32,
}

struct Run {
    /// The paths that were not requested yet. `None` after the last one.
    paths: Option<Py<PyIterator>>,
    files: Ahead<Listed, Scanned>,
    current: Option<Current>,
    columns: Vec<(&'static Column, Py<PyAny>)>,
    per_file: bool,
    raises: bool,
}

/// A file to scan, or a folder that cannot be listed.
enum Listed {
    File(PathBuf),
    Unlisted(PathBuf, io::Error),
}

impl Listed {
    /// Takes a path, or the `OSError` for a folder.
    fn of(given: &Bound<'_, PyAny>) -> PyResult<Self> {
        let Ok(error) = given.cast::<PyOSError>() else { return path::extract(given).map(Listed::File) };
        let folder = path::extract(&error.getattr("filename")?)?;
        let error = match error.getattr("errno")?.extract() {
            Ok(number) => io::Error::from_raw_os_error(number),
            Err(_) => io::Error::other(error.str()?.to_string()),
        };
        Ok(Listed::Unlisted(folder, error))
    }
}

/// The file whose records come next.
struct Current {
    scanned: Scanned,
    next: usize,
    per_file: bool,
    raises: bool,
}

#[pymethods]
impl ScanRun {
    #[new]
    #[pyo3(signature = (paths, *, per_file, columns, check, hash, threads, raises))]
    fn new(
        paths: &Bound<'_, PyIterator>,
        per_file: bool,
        columns: Vec<String>,
        check: Option<Check>,
        hash: Option<&str>,
        threads: Option<&Bound<'_, PyAny>>,
        raises: bool,
    ) -> PyResult<Self> {
        let py = paths.py();
        let columns = named(py, columns::all(per_file), columns)?;
        let check = check.map(options_of).transpose()?;
        let wanted = wanted(per_file, &columns, check, hash)?;
        let threads = match threads {
            Some(threads) => Threads::These(number::argument::<NonZero<usize>>("threads", threads)?.get()),
            None => Threads::Free(usize::MAX),
        };
        let files =
            Ahead::new("popef", threads, Room { results: usize::MAX, held: BLOBS_AHEAD }, move |listed, stop| {
                let scanned = match listed {
                    Listed::File(path) => Scanned::new(path, &wanted, stop),
                    Listed::Unlisted(folder, error) => Scanned::unlisted(folder, error),
                };
                let weight = scanned.weight();
                (scanned, weight)
            });
        let paths = Some(paths.clone().unbind());
        let run = Run { paths, files, current: None, columns, per_file, raises };
        Ok(ScanRun { run: Mutex::new(run), process: process::id() })
    }

    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    /// The next record.
    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let mut run = self.lock()?;
        while run.advance(py)? {
            let Run { current: Some(current), columns, .. } = &mut *run else { break };
            let Some(row) = current.next_row() else { continue };
            let row = row.map_err(|fault| exception(py, &fault))?;
            let record = PyDict::new(py);
            for (column, name) in columns {
                record.set_item(&*name, to_python(py, (column.cell)(&row))?)?;
            }
            return Ok(Some(record));
        }
        Ok(None)
    }

    /// The next records, limited to `rows` and about `bytes`: their number, and the buffers of each column. `None`
    /// after the last one.
    fn batch<'py>(&self, py: Python<'py>, rows: usize, bytes: usize) -> PyResult<Option<(usize, Bound<'py, PyList>)>> {
        let mut run = self.lock()?;
        let mut batch = Batch::new(run.columns.iter().map(|(column, _)| *column), rows, bytes);
        while !batch.is_full() && run.advance(py)? {
            let Some(current) = &mut run.current else { break };
            py.detach(|| batch.fill_from(current)).map_err(|fault| exception(py, &fault))?;
        }
        if batch.count == 0 {
            return Ok(None);
        }
        let buffers = PyList::empty(py);
        for (_, array) in &batch.arrays {
            buffers.append(array.to_python(py)?)?;
        }
        Ok(Some((batch.count, buffers)))
    }
}

/// Records as columns.
struct Batch {
    arrays: Vec<(&'static Column, Array)>,
    count: usize,
    most: usize,
    most_bytes: usize,
}

impl Batch {
    fn new(columns: impl Iterator<Item = &'static Column>, most: usize, most_bytes: usize) -> Self {
        let arrays = columns.map(|column| (column, Array::new(column.kind))).collect();
        Batch { arrays, count: 0, most, most_bytes }
    }

    fn is_full(&self) -> bool {
        self.count >= self.most || self.arrays.iter().any(|(_, array)| array.size() >= self.most_bytes)
    }

    fn fill_from(&mut self, current: &mut Current) -> Result<(), Fault> {
        while !self.is_full() {
            let Some(row) = current.next_row() else { break };
            let row = row?;
            for (column, array) in &mut self.arrays {
                array.push(&(column.cell)(&row));
            }
            self.count = self.count.saturating_add(1);
        }
        Ok(())
    }
}

impl ScanRun {
    /// The state. Never waits, because what is waited for may need the interpreter's lock.
    fn lock(&self) -> PyResult<MutexGuard<'_, Run>> {
        if self.process != process::id() {
            return Err(PyRuntimeError::new_err("the scan was begun in another process; begin a new one"));
        }
        self.run.try_lock().map_err(|_| PyValueError::new_err("another thread is using the scan"))
    }
}

impl Run {
    /// Goes on to the next file, unless the current one has more records. Returns whether there is one.
    fn advance(&mut self, py: Python<'_>) -> PyResult<bool> {
        if self.current.as_ref().is_some_and(Current::has_more) {
            return Ok(true);
        }
        self.current = None;
        self.ask_for_paths(py)?;
        loop {
            let files = &mut self.files;
            match py.detach(|| files.take(MOMENT)) {
                Waited::Made(scanned) => {
                    let Run { per_file, raises, .. } = *self;
                    let current = self.current.insert(Current { scanned, next: 0, per_file, raises });
                    if current.has_more() {
                        return Ok(true);
                    }
                    self.ask_for_paths(py)?;
                }
                Waited::Nothing => return Ok(false),
                Waited::Lost => return Err(PyRuntimeError::new_err("the work on a file has panicked")),
                Waited::NotYet => py.check_signals()?,
            }
        }
    }

    /// Sees to it that there are paths to work on.
    fn ask_for_paths(&mut self, py: Python<'_>) -> PyResult<()> {
        while self.files.waiting() < FILES_AHEAD {
            let Some(paths) = &self.paths else { break };
            match callback::next(paths.bind(py))? {
                Some(given) => self.files.add(Listed::of(&given)?),
                None => self.paths = None,
            }
        }
        Ok(())
    }
}

impl Current {
    /// The number of records about blobs.
    fn blobs(&self) -> usize {
        self.scanned.file.as_ref().map_or(0, popef::File::len)
    }

    /// Whether there is a record about the file.
    fn has_own(&self) -> bool {
        let has_findings = || self.scanned.checked.as_ref().is_some_and(|checked| !checked.about(None).is_empty());
        self.per_file || self.blobs() == 0 || self.scanned.fault.is_some() || has_findings()
    }

    fn has_more(&self) -> bool {
        self.next < self.blobs() || (self.next == self.blobs() && self.has_own())
    }

    /// The next record, or the error in it if errors are to be raised. The record about the file comes after those about its
    /// blobs.
    fn next_row(&mut self) -> Option<Result<Row<'_>, Fault>> {
        if !self.has_more() {
            return None;
        }
        let index = self.next;
        self.next = index.saturating_add(1);
        let blob = self.scanned.file.as_ref().and_then(|file| file.blob(index));
        let row = Row::new(&self.scanned, blob, self.per_file);
        match row.fault().filter(|_| self.raises) {
            Some(fault) => Some(Err(fault.clone())),
            None => Some(Ok(row)),
        }
    }
}

/// The columns of these names.
fn named(py: Python<'_>, all: &'static [Column], names: Vec<String>) -> PyResult<Vec<(&'static Column, Py<PyAny>)>> {
    let of_name = |name: String| {
        let column = all.iter().find(|column| column.name == name);
        let column = column.ok_or_else(|| PyValueError::new_err(format!("there is no column {name:?}")))?;
        Ok((column, PyString::intern(py, &name).into_any().unbind()))
    };
    names.into_iter().map(of_name).collect()
}

/// A check as Python asks for it: how deep it is, the loaders, and the name and the text of a policy.
type Check = (String, Vec<String>, Option<(String, String)>);

fn options_of((depth, loaders, policy): Check) -> PyResult<CheckOptions> {
    match depth.as_str() {
        "quick" => check::options(false, loaders, policy),
        "deep" => check::options(true, loaders, policy),
        other => Err(PyValueError::new_err(format!("check is quick or deep, not {other:?}"))),
    }
}

/// Returns what these columns need beyond headers.
fn wanted(
    per_file: bool,
    columns: &[(&'static Column, Py<PyAny>)],
    check: Option<CheckOptions>,
    hash: Option<&str>,
) -> PyResult<Wanted> {
    let needs = |needs: Needs| columns.iter().any(|(column, _)| column.needs == needs);
    let algorithms = match hash {
        None => None,
        Some("blake3") => Some(Algorithms::BLAKE3),
        Some("sha256") => Some(Algorithms::SHA256),
        Some(other) => return Err(PyValueError::new_err(format!("hash is blake3 or sha256, not {other:?}"))),
    };
    let options = |algorithms| {
        let [whole, data, content] = [Needs::HashOfFile, Needs::HashOfData, Needs::HashOfContent].map(needs);
        (whole || data || content).then_some(Hashing { algorithms, whole, data, content })
    };
    Ok(Wanted {
        per_file,
        check: check.filter(|_| needs(Needs::Check)),
        hash: algorithms.and_then(options),
        compression: needs(Needs::FirstBytes),
    })
}

fn to_python<'py>(py: Python<'py>, cell: Cell<'_>) -> PyResult<Bound<'py, PyAny>> {
    Ok(match cell {
        Cell::None => py.None().into_bound(py),
        Cell::Int(value) => value.into_pyobject(py)?.into_any(),
        Cell::Bool(value) => value.into_pyobject(py)?.to_owned().into_any(),
        Cell::Text(value) => text::to_python(py, &value)?.into_any(),
        Cell::Bytes(value) => PyBytes::new(py, value.as_bytes()).into_any(),
        Cell::Ints(shape) => PyTuple::new(py, shape.to_vec())?.into_any(),
        Cell::Texts(texts) => PyTuple::new(py, texts)?.into_any(),
    })
}

/// The exception for what kept a file from being read.
fn exception(py: Python<'_>, fault: &Fault) -> PyErr {
    match &fault.error {
        Some(error) => raise_operation(py, error),
        None => {
            let message = format!("{}: {}", fault.path.display(), fault.described.message);
            popef_error(py, &message, &fault.described, Some(&fault.path))
        }
    }
}
