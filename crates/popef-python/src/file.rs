//! Opened files.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use popef::types::BlobType;
use popef::{File as Opened, OpenOptions};
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyList, PyRange, PySlice, PyString, PyTuple};

use crate::blob::{self, Blob};
use crate::elements::view_of;
use crate::error::raise;
use crate::exception::{reworded, unraised};
use crate::local::Seen;
use crate::origin::{Bytes, Inside, Opening, no_blob};
use crate::{callback, html, local, number, path, remote, stream, text};

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
    opening: Arc<Opening>,
    /// The blobs of each type, once they were requested.
    tensors: Blobs,
    feeds: Blobs,
    executables: Blobs,
    opaques: Blobs,
    metadata: Blobs,
}

type Blobs = PyOnceLock<Py<PyTuple>>;

/// Opens a PopEF file. Headers are read at once, and data on request.
///
/// `file` is a path, the content of a file as `bytes` or another buffer, or a binary file object, which is read from
/// its current position. It is also an address, such as `s3://BUCKET/KEY`, if the module was built with the feature
/// `remote`.
///
/// With `map`, arrays share the memory of the file, which is mapped, and getting one takes no time. The file must not
/// change then: arrays would change too, and after the file was shortened, reading them ends the process. Replacing the
/// file by renaming another one over it is harmless. Without `map`, data is read in parts, and a change raises
/// `PopefError`.
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
    opening(file, map, &options).map(File::of)
}

fn opening(file: &Bound<'_, PyAny>, map: bool, options: &OpenOptions) -> PyResult<Arc<Opening>> {
    let py = file.py();
    if let Some(address) = remote::address_of(file) {
        if map {
            return Err(PyValueError::new_err("a file on another machine cannot be mapped: leave map out"));
        }
        let opened = remote::open(py, &address, options)?;
        return Ok(Opening::of(opened, Bytes::Remote(address), None));
    }
    if let Some(bytes) = content(file)? {
        let backed: PyBackedBytes = bytes.extract()?;
        let opened = py.detach(|| options.bytes(backed)).map_err(|error| raise(py, &error))?;
        return Ok(Opening::of(opened, Bytes::Shared(bytes.into_any().unbind()), None));
    }
    match (map, is_readable(file)?) {
        (true, true) => {
            Err(PyTypeError::new_err("a file object cannot be mapped: give the path of the file, or leave map out"))
        }
        (true, false) => local::open_mapped(py, &path::extract(file)?, options),
        (false, true) => stream::open(file, options).map(|opened| Opening::of(opened, Bytes::InParts, None)),
        (false, false) => {
            let opened = local::open(py, &path::extract(file)?, options)?;
            let id = opened.id();
            Ok(Opening::of(opened, Bytes::InParts, id))
        }
    }
}

/// Whether it is a file object to read from. Blobs have a method `read` too, but are not files.
pub(crate) fn is_readable(given: &Bound<'_, PyAny>) -> PyResult<bool> {
    if given.is_instance_of::<Blob>() {
        let message = "a file is needed, not one of its blobs: give the file, and choose the blob with select if the function has it";
        return Err(PyTypeError::new_err(message));
    }
    callback::has(given, "read")
}

/// The content of a file in memory. `None` if something else was given.
fn content<'py>(given: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyBytes>>> {
    if let Ok(bytes) = given.cast::<PyBytes>() {
        return Ok(Some(bytes.clone()));
    }
    // A readable object is a file object, even if it also has a buffer, as maps do.
    if given.is_instance_of::<PyString>() || is_readable(given)? {
        return Ok(None);
    }
    let bytes = view_of(given)?.map(|view| view.call_method0("tobytes")).transpose()?;
    Ok(bytes.map(Bound::cast_into).transpose()?)
}

/// The files of blobs that were unpickled and still live, by what opens them, with what they were.
static UNPICKLED: Mutex<Vec<(Given, Weak<Opening>)>> = Mutex::new(Vec::new());

/// What opens a file.
#[derive(PartialEq)]
enum Given {
    /// As it was then.
    Path(PathBuf, Seen, bool, bool),
    /// The address of bytes in memory, which live as long as the file.
    Bytes(usize, bool),
}

/// A blob that was pickled. Blobs of the same file share it again: a process can open fewer files than a file has blobs.
#[pyfunction]
pub(crate) fn unpickle_blob<'py>(
    file: &Bound<'py, PyAny>,
    map: bool,
    damaged: bool,
    index: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let py = file.py();
    let given = if file.is_instance_of::<PyBytes>() {
        Some(Given::Bytes(file.as_ptr().addr(), damaged))
    } else if remote::address_of(file).is_some() {
        None
    } else {
        let path = path::extract(file)?;
        Seen::of(&path).map(|seen| Given::Path(path, seen, map, damaged))
    };
    let is_meant = |(same, _): &&(Given, Weak<Opening>)| given.as_ref() == Some(same);
    let unpickled = || UNPICKLED.lock().unwrap_or_else(PoisonError::into_inner);
    let living = unpickled().iter().find(is_meant).and_then(|(_, opening)| opening.upgrade());
    if let Some(opening) = living.filter(|opening| opening.get_if_open().is_some()) {
        return blob::object(py, &opening, index);
    }
    let opening = open(file, map, damaged)?.opening;
    let mut unpickled = unpickled();
    unpickled.retain(|(same, opening)| opening.strong_count() > 0 && given.as_ref() != Some(same));
    unpickled.extend(given.map(|given| (given, Arc::downgrade(&opening))));
    drop(unpickled);
    blob::object(py, &opening, index)
}

impl File {
    fn of(opening: Arc<Opening>) -> Self {
        let [tensors, feeds, executables, opaques, metadata] = [const { Blobs::new() }; 5];
        File { opening, tensors, feeds, executables, opaques, metadata }
    }

    /// The library's file. It stays open as long as the caller has it.
    pub(crate) fn opened(&self) -> PyResult<Opened> {
        Ok(self.inside()?.file.clone())
    }

    /// The path from the root, if it has one.
    pub(crate) fn place(&self) -> Option<&Path> {
        self.opening.place()
    }

    fn inside(&self) -> PyResult<Arc<Inside>> {
        self.opening.get()
    }

    fn object<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyAny>> {
        blob::object(py, &self.opening, index)
    }

    /// The blobs of a type. They are made once, because programs go through them by index.
    fn of_type<'py>(&self, py: Python<'py>, blobs: &Blobs, blob_type: BlobType) -> PyResult<Bound<'py, PyTuple>> {
        let inside = self.inside()?;
        let made = blobs.get_or_try_init(py, || -> PyResult<_> {
            let found = inside.file.blobs().filter(|blob| blob.blob_type() == blob_type);
            let objects = found.map(|blob| self.object(py, blob.index())).collect::<PyResult<Vec<_>>>()?;
            Ok(PyTuple::new(py, objects)?.unbind())
        });
        Ok(made?.bind(py).clone())
    }

    /// The first blob with a name, or `KeyError`.
    fn named<'py>(
        &self,
        name: &Bound<'py, PyAny>,
        find: impl FnOnce(&Opened, &[u8]) -> Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let found = find(&self.inside()?.file, text::extract(name)?.as_bytes());
        self.object(name.py(), found.ok_or_else(|| PyKeyError::new_err(name.clone().unbind()))?)
    }
}

fn tensor(file: &Opened, name: &[u8]) -> Option<usize> {
    file.tensor(name).map(|tensor| tensor.blob().index())
}

fn feed(file: &Opened, name: &[u8]) -> Option<usize> {
    file.feed(name).map(|feed| feed.blob().index())
}

fn executable(file: &Opened, name: &[u8]) -> Option<usize> {
    file.executable(name).map(|executable| executable.blob().index())
}

fn opaque(file: &Opened, name: &[u8]) -> Option<usize> {
    file.opaque(name).map(|opaque| opaque.blob().index())
}

/// The first blob of a name: a tensor, else a feed, an executable, an opaque blob.
fn any(file: &Opened, name: &[u8]) -> Option<usize> {
    tensor(file, name).or_else(|| feed(file, name)).or_else(|| executable(file, name)).or_else(|| opaque(file, name))
}

#[pymethods]
impl File {
    /// The path of the file, or None.
    #[getter]
    fn path(&self) -> Option<&OsStr> {
        self.opening.path().map(Path::as_os_str)
    }

    /// The number of bytes of the file.
    #[getter]
    fn size(&self) -> u64 {
        self.opening.size()
    }

    /// The damage of a file that was opened with `damaged`, as an exception. None for a whole file.
    #[getter]
    fn damage<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let inside = self.inside()?;
        inside.file.damage().map(|damage| unraised(py, raise(py, damage))).transpose()
    }

    /// Closes the file. Its blobs can then no longer be read. Arrays keep the memory that they share, and running reads
    /// of other threads finish. Does nothing if the file is closed.
    fn close(&self, py: Python<'_>) {
        py.detach(|| self.opening.close());
    }

    /// Whether the file is closed.
    #[getter]
    fn closed(&self) -> bool {
        self.opening.get_if_open().is_none()
    }

    /// The names of all blobs that have one, in the order of the file.
    fn names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for name in self.inside()?.file.blobs().filter_map(|blob| blob.name()) {
            list.append(text::to_python(py, &name)?)?;
        }
        Ok(list)
    }

    /// All tensors.
    #[getter]
    fn tensors<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.of_type(py, &self.tensors, BlobType::DataTensor)
    }

    /// All feeds.
    #[getter]
    fn feeds<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.of_type(py, &self.feeds, BlobType::DataFeed)
    }

    /// All executables.
    #[getter]
    fn executables<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.of_type(py, &self.executables, BlobType::PoplarExecutable)
    }

    /// All opaque blobs.
    #[getter]
    fn opaques<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.of_type(py, &self.opaques, BlobType::Opaque)
    }

    /// All blobs with metadata.
    #[getter]
    fn metadata<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.of_type(py, &self.metadata, BlobType::Metadata)
    }

    /// The first tensor with this name. Raises `KeyError` if no tensor has it.
    fn tensor<'py>(&self, name: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.named(name, tensor)
    }

    /// The first feed with this name. Raises `KeyError` if no feed has it.
    fn feed<'py>(&self, name: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.named(name, feed)
    }

    /// The executable with this name. Raises `KeyError` if no executable has it.
    fn executable<'py>(&self, name: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.named(name, executable)
    }

    /// The first opaque blob with this name. Raises `KeyError` if no opaque blob has it.
    fn opaque<'py>(&self, name: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.named(name, opaque)
    }

    fn __len__(&self) -> PyResult<usize> {
        Ok(self.inside()?.file.len())
    }

    /// The blob with a number, counted from the end if it is negative, or the first one with a name: a tensor, else a
    /// feed, an executable, an opaque blob. A slice gives a list of blobs.
    fn __getitem__<'py>(&self, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = key.py();
        if key.is_instance_of::<PyString>() || key.is_instance_of::<PyBytes>() {
            return self.named(key, any);
        }
        let count = self.inside()?.file.len();
        if let Ok(slice) = key.cast::<PySlice>() {
            let length = isize::try_from(count).unwrap_or(isize::MAX);
            let indices = slice.indices(length)?;
            let range = (indices.start, indices.stop, indices.step);
            let blobs = PyList::empty(py);
            for index in py.get_type::<PyRange>().call1(range)?.try_iter()? {
                blobs.append(self.object(py, index?.extract()?)?)?;
            }
            return Ok(blobs.into_any());
        }
        let needed =
            || PyTypeError::new_err(format!("a number, a name or a slice is needed, not {}", text::kind_of(key)));
        let index = number::index(key, isize::MAX).map_err(|error| reworded(py, error, needed))?;
        let index = if index < 0 { count.checked_add_signed(index) } else { usize::try_from(index).ok() };
        self.object(py, index.ok_or_else(no_blob)?)
    }

    fn __iter__(slf: Bound<'_, Self>) -> PyResult<BlobIterator> {
        slf.get().inside()?;
        Ok(BlobIterator { file: slf.unbind(), next: AtomicUsize::new(0) })
    }

    /// Whether a blob has this name, or is this one.
    fn __contains__(&self, name: &Bound<'_, PyAny>) -> PyResult<bool> {
        if let Ok(blob) = name.cast::<Blob>() {
            return Ok(blob.get().is_of(&self.opening));
        }
        if !name.is_instance_of::<PyString>() && !name.is_instance_of::<PyBytes>() {
            return Ok(false);
        }
        Ok(any(&self.inside()?.file, text::extract(name)?.as_bytes()).is_some())
    }

    fn __enter__(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
        slf.get().inside()?;
        Ok(slf)
    }

    /// Closes the file.
    #[pyo3(signature = (kind = None, value = None, traceback = None))]
    fn __exit__(
        &self,
        py: Python<'_>,
        kind: Option<&Bound<'_, PyAny>>,
        value: Option<&Bound<'_, PyAny>>,
        traceback: Option<&Bound<'_, PyAny>>,
    ) {
        let _ = (kind, value, traceback);
        self.close(py);
    }

    /// Files are equal if they are the same file on disk, the same bytes in memory, or the same opened file.
    /// `popef.diff` compares their contents.
    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<File>().is_ok_and(|other| self.opening.is_same(&other.get().opening))
    }

    fn __hash__(&self) -> u64 {
        self.opening.hash(None)
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
        let (given, map, damaged) = self.opening.pickled(py)?;
        let options = PyDict::new(py);
        options.set_item("map", map)?;
        options.set_item("damaged", damaged)?;
        let open = py.import("popef")?.getattr("open")?;
        let open = py.import("functools")?.getattr("partial")?.call((open,), Some(&options))?;
        Ok((open, (given,)))
    }

    /// The first blobs as a table, for notebooks.
    fn _repr_html_(&self) -> PyResult<String> {
        Ok(html::table(&self.inside()?.file))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let path = match self.path() {
            Some(path) => format!(" {}", path.into_pyobject(py)?.repr()?),
            None => String::new(),
        };
        let Some(inside) = self.opening.get_if_open() else { return Ok(format!("<popef.File{path}, closed>")) };
        let damaged = if inside.file.damage().is_some() { ", damaged" } else { "" };
        Ok(format!("<popef.File{path}, {} blobs, {} bytes{damaged}>", inside.file.len(), self.size()))
    }
}

/// Gives the blobs of a file, one after the other.
#[pyclass(module = "popef", frozen)]
pub(crate) struct BlobIterator {
    file: Py<File>,
    next: AtomicUsize,
}

#[pymethods]
impl BlobIterator {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let (file, next) = (self.file.get(), self.next.fetch_add(1, Ordering::Relaxed));
        if next < file.inside()?.file.len() { file.object(py, next).map(Some) } else { Ok(None) }
    }
}
