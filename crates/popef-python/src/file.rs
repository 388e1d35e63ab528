//! Opened files.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use popef::read::FileId;
use popef::types::BlobType;
use popef::{File as Opened, OpenOptions};
use pyo3::exceptions::{PyIndexError, PyKeyError, PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict, PyList, PyMemoryView, PyRange, PySlice, PyString};

use crate::blob::{self, Blob};
use crate::error::raise;
use crate::origin::Bytes;
use crate::{html, local, path, remote, stream, text};

/// An opened file: a sequence of its blobs, which can also be found by name. `popef.open` makes it.
///
/// >>> import io, popef
/// >>> content = io.BytesIO()
/// >>> with popef.Writer(content) as writer:
/// ...     writer.createOpaqueBlob("notes", "model").write(b"made by hand")
/// >>> file = popef.open(content.getvalue())
/// >>> len(file), file[0].name, "notes" in file, file["notes"].read()
/// (1, 'notes', True, b'made by hand')
#[pyclass(module = "popef", frozen, weakref, sequence)]
pub(crate) struct File {
    file: Opened,
    bytes: Arc<Bytes>,
}

/// Opens a PopEF file. Headers are read at once, and data when it is asked for.
///
/// `file` is a path, the content of a file as `bytes` or another buffer, or a binary file object, which is read from its
/// position on. It is also an address, such as `s3://BUCKET/KEY`, if the module was built with the feature `remote`.
///
/// With `map`, arrays share the memory of the file, which is mapped, and getting one takes no time. Nobody may change the file
/// then: arrays would change too, and after the file was shortened, reading them ends the process. Replacing the file by
/// renaming another one over it is harmless. Without `map`, data is read in parts, and a change raises `PopefError`.
///
/// A damaged file raises `PopefError`. With `damaged`, it opens with the blobs before the damage.
///
/// >>> import io, popef
/// >>> content = io.BytesIO()
/// >>> with popef.Writer(content) as writer:
/// ...     writer.createOpaqueBlob("notes", "model").write(b"made by hand")
/// >>> file = popef.open(content.getvalue() + b"more", damaged=True)
/// >>> print(file, file.damage.code)
/// <popef.File, 1 blobs, 112 bytes, damaged> header-cut
#[pyfunction]
#[pyo3(signature = (file, *, map = false, damaged = false))]
pub(crate) fn open(file: &Bound<'_, PyAny>, map: bool, damaged: bool) -> PyResult<File> {
    let mut options = OpenOptions::new();
    options.damaged(damaged).after_pickle(true);
    if let Ok(text) = file.cast::<PyString>()
        && let Ok(address) = text.to_str()
        && remote::is_address(address)
    {
        if map {
            return Err(PyValueError::new_err("a file on another machine cannot be mapped: leave map out"));
        }
        let opened = remote::open(file.py(), address, &options)?;
        return Ok(File { file: opened, bytes: Arc::new(Bytes::Remote(address.to_owned())) });
    }
    if map && !file.is_instance_of::<PyBytes>() {
        let (file, bytes) = open_mapped(file.py(), &path::extract(file)?, &options)?;
        return Ok(File { file, bytes: Arc::new(bytes) });
    }
    if let Some(bytes) = content(file)? {
        let backed: PyBackedBytes = bytes.extract()?;
        let opened = file.py().detach(|| options.bytes(backed)).map_err(|error| raise(file.py(), &error))?;
        return Ok(File { file: opened, bytes: Arc::new(Bytes::Shared(bytes.into_any().unbind())) });
    }
    let opened = if file.hasattr("read")? {
        stream::open(file, &options)?
    } else {
        local::open(file.py(), &path::extract(file)?, &options)?
    };
    Ok(File { file: opened, bytes: Arc::new(Bytes::InParts) })
}

/// The content of a file in memory. `None` if something else was given.
fn content<'py>(given: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyBytes>>> {
    if let Ok(bytes) = given.cast::<PyBytes>() {
        return Ok(Some(bytes.clone()));
    }
    // What can be read is a file object, even if it also has a buffer, as maps have.
    if given.is_instance_of::<PyString>() || given.hasattr("read")? {
        return Ok(None);
    }
    match PyMemoryView::from(given) {
        Ok(view) => Ok(Some(view.call_method0("tobytes")?.cast_into()?)),
        Err(_) => Ok(None),
    }
}

/// Opens the file in parts, and maps it for the arrays. The mapping is Python's own, so that nothing in Rust looks at bytes that
/// may change.
fn open_mapped(py: Python<'_>, path: &Path, options: &OpenOptions) -> PyResult<(Opened, Bytes)> {
    let file = local::open(py, path, options)?;
    if file.size() == 0 {
        return Ok((file, Bytes::InParts));
    }
    let mmap = py.import("mmap")?;
    let opened = py.import("io")?.call_method1("open", (path.as_os_str(), "rb"))?;
    let options = PyDict::new(py);
    options.set_item("access", mmap.getattr("ACCESS_READ")?)?;
    let mapped = mmap.getattr("mmap")?.call((opened.call_method0("fileno")?, 0), Some(&options));
    opened.call_method0("close")?;
    let mapped = mapped?;
    let is_same = FileId::of_path(path).is_ok_and(|id| file.id() == Some(id))
        && file.check_unchanged().is_ok()
        && u64::try_from(mapped.len()?).is_ok_and(|len| len == file.size());
    if !is_same {
        return Err(PyOSError::new_err("the file was replaced or changed while it was opened; try again"));
    }
    Ok((file, Bytes::Shared(mapped.unbind())))
}

impl File {
    /// The file of a blob.
    pub(crate) fn again(file: Opened, bytes: &Arc<Bytes>) -> Self {
        File { file, bytes: Arc::clone(bytes) }
    }

    /// The library's file.
    pub(crate) fn opened(&self) -> Opened {
        self.file.clone()
    }

    fn object<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyAny>> {
        let handle = self.file.handle(index).ok_or_else(|| PyIndexError::new_err("there is no such blob"))?;
        blob::object(py, handle, &self.bytes)
    }

    fn of_type<'py>(&self, py: Python<'py>, blob_type: BlobType) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for blob in self.file.blobs().filter(|blob| blob.blob_type() == blob_type) {
            list.append(self.object(py, blob.index())?)?;
        }
        Ok(list)
    }

    /// The first blob of a name: a tensor, else a feed, an executable, an opaque blob.
    fn find(&self, name: &[u8]) -> Option<usize> {
        let file = &self.file;
        let tensor = file.tensor(name).map(|tensor| tensor.blob().index());
        let feed = || file.feed(name).map(|feed| feed.blob().index());
        let executable = || file.executable(name).map(|executable| executable.blob().index());
        let opaque = || file.opaque(name).map(|opaque| opaque.blob().index());
        tensor.or_else(feed).or_else(executable).or_else(opaque)
    }
}

#[pymethods]
impl File {
    /// The path of the file. None if it has none.
    #[getter]
    fn path(&self) -> Option<&OsStr> {
        self.file.path().map(Path::as_os_str)
    }

    /// The number of bytes of the file.
    #[getter]
    fn size(&self) -> u64 {
        self.file.size()
    }

    /// What is wrong with a file that was opened with `damaged`, as an exception. None if nothing is.
    #[getter]
    fn damage<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        self.file.damage().map(|damage| raise(py, damage).into_value(py).into_bound(py).into_any())
    }

    /// The names of all blobs that have one, in the order of the file.
    fn names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for name in self.file.blobs().filter_map(|blob| blob.name()) {
            list.append(text::to_python(py, &name)?)?;
        }
        Ok(list)
    }

    /// All tensors.
    #[getter]
    fn tensors<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.of_type(py, BlobType::DataTensor)
    }

    /// All feeds.
    #[getter]
    fn feeds<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.of_type(py, BlobType::DataFeed)
    }

    /// All executables.
    #[getter]
    fn executables<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.of_type(py, BlobType::PoplarExecutable)
    }

    /// All opaque blobs.
    #[getter]
    fn opaques<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.of_type(py, BlobType::Opaque)
    }

    /// All blobs with metadata.
    #[getter]
    fn metadata<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.of_type(py, BlobType::Metadata)
    }

    fn __len__(&self) -> usize {
        self.file.len()
    }

    /// The blob of a number, also from the end with negative ones, or the first one of a name: a tensor, else a feed, an
    /// executable, an opaque blob. A slice gives a list of blobs.
    fn __getitem__<'py>(&self, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = key.py();
        if key.is_instance_of::<PyString>() || key.is_instance_of::<PyBytes>() {
            let found = self.find(text::extract(key)?.as_bytes());
            return self.object(py, found.ok_or_else(|| PyKeyError::new_err(key.clone().unbind()))?);
        }
        if let Ok(slice) = key.cast::<PySlice>() {
            let length = isize::try_from(self.file.len()).unwrap_or(isize::MAX);
            let indices = slice.indices(length)?;
            let range = (indices.start, indices.stop, indices.step);
            let blobs = PyList::empty(py);
            for index in py.get_type::<PyRange>().call1(range)?.try_iter()? {
                blobs.append(self.object(py, index?.extract()?)?)?;
            }
            return Ok(blobs.into_any());
        }
        if !key.hasattr("__index__")? {
            let found = text::kind_of(key);
            return Err(PyTypeError::new_err(format!("a number, a name or a slice is needed, not {found}")));
        }
        // As with lists, a number beyond all indices is only one that is not there.
        let index: isize = key.extract().unwrap_or(isize::MAX);
        let index = if index < 0 { self.file.len().checked_add_signed(index) } else { usize::try_from(index).ok() };
        self.object(py, index.ok_or_else(|| PyIndexError::new_err("there is no such blob"))?)
    }

    fn __iter__(slf: Bound<'_, Self>) -> Blobs {
        Blobs { file: slf.unbind(), next: AtomicUsize::new(0) }
    }

    /// Whether a blob has this name, or is this one.
    fn __contains__(&self, name: &Bound<'_, PyAny>) -> PyResult<bool> {
        if let Ok(blob) = name.cast::<Blob>() {
            return Ok(blob.get().is_of(&self.file, &self.bytes));
        }
        if !name.is_instance_of::<PyString>() && !name.is_instance_of::<PyBytes>() {
            return Ok(false);
        }
        Ok(self.find(text::extract(name)?.as_bytes()).is_some())
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    /// Does nothing: the file is closed when it, its blobs and their arrays are gone.
    #[pyo3(signature = (kind = None, value = None, traceback = None))]
    fn __exit__(
        &self,
        kind: Option<&Bound<'_, PyAny>>,
        value: Option<&Bound<'_, PyAny>>,
        traceback: Option<&Bound<'_, PyAny>>,
    ) {
        let _ = (kind, value, traceback);
    }

    /// Files are equal if they are the same file on disk, the same bytes in memory, or the same opened file. What they hold is
    /// compared by `popef.diff`.
    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<File>().is_ok_and(|other| self.bytes.is_same(&self.file, (&other.get().file, &other.get().bytes)))
    }

    fn __hash__(&self) -> u64 {
        self.bytes.hash(&self.file, None)
    }

    fn __copy__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __deepcopy__<'py>(slf: Bound<'py, Self>, memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        let _ = memo;
        slf
    }

    /// A file is pickled as its path, or as its bytes if it is in memory, and opened again.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyAny>,))> {
        let given = match (&*self.bytes, self.path()) {
            (Bytes::Remote(address), _) => address.into_pyobject(py)?.into_any(),
            // It may be unpickled in another folder.
            (_, Some(path)) => std::path::absolute(path)?.into_pyobject(py)?.into_any(),
            (Bytes::Shared(bytes), None) => bytes.bind(py).clone(),
            (Bytes::InParts, None) => {
                return Err(PyTypeError::new_err(
                    "a File of a file object cannot be pickled: open it by its path, or as bytes",
                ));
            }
        };
        let options = PyDict::new(py);
        options.set_item("map", self.file.path().is_some() && self.bytes.shared().is_some())?;
        options.set_item("damaged", self.file.damage().is_some())?;
        let open = py.import("popef")?.getattr("open")?;
        let open = py.import("functools")?.getattr("partial")?.call((open,), Some(&options))?;
        Ok((open, (given,)))
    }

    /// The first blobs as a table, for notebooks.
    fn _repr_html_(&self) -> String {
        html::table(&self.file)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let path = match self.path() {
            Some(path) => format!(" {}", path.into_pyobject(py)?.repr()?),
            None => String::new(),
        };
        let damaged = if self.file.damage().is_some() { ", damaged" } else { "" };
        Ok(format!("<popef.File{path}, {} blobs, {} bytes{damaged}>", self.file.len(), self.file.size()))
    }
}

/// Gives the blobs of a file, one after the other.
#[pyclass(module = "popef", frozen)]
pub(crate) struct Blobs {
    file: Py<File>,
    next: AtomicUsize,
}

#[pymethods]
impl Blobs {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let file = self.file.get();
        let next = self.next.fetch_add(1, Ordering::Relaxed);
        if next < file.file.len() { file.object(py, next).map(Some) } else { Ok(None) }
    }
}
