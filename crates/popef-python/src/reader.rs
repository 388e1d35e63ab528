//! The reader of files.

use popef::types::BlobType;
use popef::{File, OpenOptions};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::entries::{Entry, ExecutableReader, FeedReader, OpaqueReader, TensorReader};
use crate::error::raise;
use crate::exception::unraised;
use crate::metadata::Metadata;
use crate::text::kind_of;
use crate::{file, local, path, stream};

/// The variable that, set to `1`, makes readers as quiet as the vendor's, in programs that cannot be changed.
const QUIET: &str = "POPEF_LENIENT";

/// Reads files. The contents of several files are combined.
///
/// A damaged file raises `PopefError`, and a missing one `FileNotFoundError`; then nothing is added from it. The
/// vendor's reader was quieter: it gave an empty list for anything other than a PopEF file. `Reader(quiet=True)`, or
/// `POPEF_LENIENT=1` in the environment, gives the blobs before the damage instead of an exception, and `errors()` says
/// what is wrong.
///
/// Data is read on request, and stays available when the reader is gone.
///
/// >>> import io, popef
/// >>> content = io.BytesIO()
/// >>> with popef.Writer(content) as writer:
/// ...     writer.createOpaqueBlob("notes", "model").write(b"made by hand")
/// >>> reader = popef.Reader()
/// >>> reader.parseStream(io.BytesIO(content.getvalue()))
/// >>> [(blob.name, blob.data()) for blob in reader.opaqueBlobs()]
/// [('notes', b'made by hand')]
#[pyclass(module = "popef", weakref)]
pub(crate) struct Reader {
    quiet: bool,
    files: Vec<File>,
    errors: Py<PyList>,
    metadata: Found,
    executables: Found,
    tensors: Found,
    feeds: Found,
    opaques: Found,
}

/// The list of one type of blobs, which grows on request.
struct Found {
    list: Py<PyList>,
    /// The number of files in the list.
    files: usize,
}

impl Found {
    fn nothing(py: Python<'_>) -> Self {
        Found { list: PyList::empty(py).unbind(), files: 0 }
    }

    /// Adds the blobs of the files that are not in the list yet.
    fn complete<'py>(
        &mut self,
        py: Python<'py>,
        files: &[File],
        mut add: impl FnMut(&File, &Bound<'py, PyList>) -> PyResult<()>,
    ) -> PyResult<Bound<'py, PyList>> {
        let list = self.list.bind(py).clone();
        for file in files.get(self.files..).unwrap_or_default() {
            let before = list.len();
            if let Err(error) = add(file, &list) {
                list.del_slice(before, list.len())?;
                return Err(error);
            }
            self.files = self.files.saturating_add(1);
        }
        Ok(list)
    }

    fn entries<'py, E: Entry + Into<PyClassInitializer<E>>>(
        &mut self,
        py: Python<'py>,
        files: &[File],
        blob_type: BlobType,
    ) -> PyResult<Bound<'py, PyList>> {
        self.complete(py, files, |file, list| {
            for blob in file.blobs().filter(|blob| blob.blob_type() == blob_type) {
                if let Some(handle) = file.handle(blob.index()) {
                    list.append(Bound::new(py, E::of(handle))?)?;
                }
            }
            Ok(())
        })
    }
}

impl Reader {
    /// The files, for models.
    pub(crate) fn files(&self) -> &[File] {
        &self.files
    }

    fn options(&self) -> OpenOptions {
        let mut options = OpenOptions::new();
        // PopTorch's files of SDK 2.5 and older begin with a pickle.
        options.damaged(self.quiet).after_pickle(true);
        options
    }

    fn add(&mut self, py: Python<'_>, file: File) -> PyResult<()> {
        if let Some(damage) = file.damage() {
            self.errors.bind(py).append(unraised(py, raise(py, damage))?)?;
        }
        self.files.push(file);
        Ok(())
    }
}

#[pymethods]
impl Reader {
    #[new]
    #[pyo3(signature = (*, quiet = None))]
    fn new(py: Python<'_>, quiet: Option<bool>) -> Self {
        Reader {
            quiet: quiet.unwrap_or_else(|| std::env::var_os(QUIET).is_some_and(|value| value == "1")),
            files: Vec::new(),
            errors: PyList::empty(py).unbind(),
            metadata: Found::nothing(py),
            executables: Found::nothing(py),
            tensors: Found::nothing(py),
            feeds: Found::nothing(py),
            opaques: Found::nothing(py),
        }
    }

    /// Reads the headers of a file, in addition to those read before. The path is a `str`, `bytes` or `os.PathLike`.
    #[pyo3(name = "parseFile")]
    fn parse_file(slf: &Bound<'_, Self>, path: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = slf.py();
        let path = path::extract(path)?;
        let options = slf.try_borrow()?.options();
        let file = local::open(py, &path, &options)?;
        slf.try_borrow_mut()?.add(py, file)
    }

    /// Reads the headers in a binary file object, from its position on, in addition to those read before. The object is
    /// kept, and its data is read on request, if it can seek.
    #[pyo3(name = "parseStream")]
    fn parse_stream(slf: &Bound<'_, Self>, stream: &Bound<'_, PyAny>) -> PyResult<()> {
        if !file::is_readable(stream)? {
            let found = kind_of(stream);
            return Err(PyTypeError::new_err(format!("a binary file object is needed, not {found}")));
        }
        let options = slf.try_borrow()?.options();
        let file = stream::open(stream, &options)?;
        slf.try_borrow_mut()?.add(slf.py(), file)
    }

    /// All metadata, in the order of the files. The list grows when more files are read.
    fn metadata<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let Reader { metadata, files, quiet, errors, .. } = self;
        metadata.complete(py, files, |file, list| {
            for blob in file.metadata() {
                match py.detach(|| blob.read()) {
                    Ok(value) => list.append(Py::new(py, Metadata::of_value(py, value)?)?)?,
                    Err(error) if *quiet => errors.bind(py).append(unraised(py, raise(py, &error))?)?,
                    Err(error) => return Err(raise(py, &error)),
                }
            }
            Ok(())
        })
    }

    /// All executables, in the order of the files.
    fn executables<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.executables.entries::<ExecutableReader>(py, &self.files, BlobType::PoplarExecutable)
    }

    /// The data of all tensors, in the order of the files.
    fn tensors<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.tensors.entries::<TensorReader>(py, &self.files, BlobType::DataTensor)
    }

    /// The data of all feeds, in the order of the files.
    fn feeds<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.feeds.entries::<FeedReader>(py, &self.files, BlobType::DataFeed)
    }

    /// All opaque blobs, in the order of the files.
    #[pyo3(name = "opaqueBlobs")]
    fn opaque_blobs<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.opaques.entries::<OpaqueReader>(py, &self.files, BlobType::Opaque)
    }

    /// The errors of the files that a quiet reader has read: a list of exceptions. The vendor's reader has no such
    /// method.
    fn errors<'py>(&self, py: Python<'py>) -> Bound<'py, PyList> {
        self.errors.bind(py).clone()
    }

    fn __repr__(&self) -> String {
        let blobs: usize = self.files.iter().map(File::len).sum();
        format!("<popef.Reader of {} files, {blobs} blobs>", self.files.len())
    }

    fn __traverse__(&self, visit: pyo3::gc::PyVisit<'_>) -> Result<(), pyo3::gc::PyTraverseError> {
        visit.call(&self.errors)?;
        for found in [&self.metadata, &self.executables, &self.tensors, &self.feeds, &self.opaques] {
            visit.call(&found.list)?;
        }
        Ok(())
    }
}
