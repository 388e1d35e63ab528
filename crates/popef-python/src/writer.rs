//! Writers of files.

use std::io;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use popef::error::ErrorCode;
use popef::types::OpaqueInfo;
use popef::write::Rewind;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::blob_writer::BlobWriter;
use crate::error::raise;
use crate::field::Field as _;
use crate::info::{FeedDataInfo, TensorDataInfo};
use crate::metadata::Metadata;
use crate::session::{self, Destination, OpenBlob, Opened, Session};
use crate::stream::{self, Sink};
use crate::wanted::Wanted;
use crate::{callback, path, text};

/// How a `FileWriter` treats an existing file. Only the vendor's name `APPEND` is known.
#[pyclass(module = "popef", name = "Mode", eq, hash, frozen)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Mode {
    /// Replace it.
    #[pyo3(name = "WRITE")]
    Write,
    /// Keep it byte for byte, and add blobs at its end. A missing file is created.
    #[pyo3(name = "APPEND")]
    Append,
}

#[pymethods]
impl Mode {
    /// Others find it as `FileWriter.Mode`.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyAny>,))> {
        let name = match self {
            Mode::Write => "WRITE",
            Mode::Append => "APPEND",
        };
        let writer = py.import("popef")?.getattr("FileWriter")?;
        let getter = py.import("operator")?.call_method1("attrgetter", (format!("Mode.{name}"),))?;
        Ok((getter, (writer,)))
    }
}

/// Writes a new file, at a path or into a binary file object that can seek. What a file object has from its position on is replaced, and
/// the rest of it removed.
///
/// The file appears at its path when the writer is closed. Until then, and after any failure, the old file at the path
/// stays as it is. As a context manager, it closes the file, or discards everything if the block raised an exception.
///
/// When a writer that nobody closed and its blob writers are gone, a new file is finished, as by the vendor's, with a `ResourceWarning`; it
/// is discarded if an exception is seen that ended the work, or if another file has come to the path. A file that exists is never
/// replaced or appended to without `close()`, and a `RuntimeWarning` says so. A second writer for the same path discards the first one.
///
/// >>> import os, popef, tempfile
/// >>> folder = tempfile.TemporaryDirectory()
/// >>> with popef.Writer(os.path.join(folder.name, "model.popef")) as writer:
/// ...     writer.writeMetadata(popef.Metadata(executable="model"))
/// ...     writer.createExecutable("model", True).write(b"its code")
/// >>> os.listdir(folder.name)
/// ['model.popef']
/// >>> folder.cleanup()
#[pyclass(module = "popef", subclass, frozen, weakref)]
pub(crate) struct Writer {
    /// Set by `__init__`, which a class that inherits may call with arguments of its own.
    made: OnceLock<Made>,
}

struct Made {
    session: Arc<Session>,
    /// The file object that is written to, if any.
    stream: Option<Py<PyAny>>,
}

impl Writer {
    fn new() -> Self {
        Writer { made: OnceLock::new() }
    }

    fn make(&self, file: &Bound<'_, PyAny>, appends: bool) -> PyResult<()> {
        if self.made.get().is_some() {
            return Err(PyTypeError::new_err("the writer was made before: __init__() is called once"));
        }
        let py = file.py();
        let writer = if appends { begin(py, &path::absolute(file)?, appends, append)? } else { create(file)? };
        let made = if is_stream(file)? {
            let start = callback::method(file, "seek", (0, 1))?.extract()?;
            let session = Session::of(py, writer, None, Some((file.clone().unbind(), start)), appends)?;
            Made { session, stream: Some(file.clone().unbind()) }
        } else {
            Made { session: Session::of(py, writer, Some(path::absolute(file)?), None, appends)?, stream: None }
        };
        let _ = self.made.set(made);
        Ok(())
    }

    fn made(&self) -> PyResult<&Made> {
        let missing = || PyTypeError::new_err("the writer is not made yet: call super().__init__(file)");
        self.made.get().ok_or_else(missing)
    }

    fn session(&self) -> PyResult<&Arc<Session>> {
        Ok(&self.made()?.session)
    }

    /// Begins the data of a tensor or a feed, with its number of bytes if that is known.
    fn open_wanting(
        &self,
        py: Python<'_>,
        wanted: Wanted,
        open: impl FnOnce(session::Writer) -> Opened + Send,
    ) -> PyResult<BlobWriter> {
        let blob = self.open(py, open)?;
        if let (Some(stream), Some(len)) = (&self.made()?.stream, wanted.len()) {
            stream::allocate(stream.bind(py), len)?;
        }
        Ok(blob.wanting(wanted))
    }

    fn open(&self, py: Python<'_>, open: impl FnOnce(session::Writer) -> Opened + Send) -> PyResult<BlobWriter> {
        let session = self.session()?;
        Ok(BlobWriter::of(session, session.open(py, open)?))
    }
}

fn boxed(to: impl Rewind + Send + 'static) -> Destination {
    Box::new(to)
}

fn is_stream(to: &Bound<'_, PyAny>) -> PyResult<bool> {
    callback::has(to, "write")
}

/// The library's writer for a path or a file object.
fn create(to: &Bound<'_, PyAny>) -> PyResult<session::Writer> {
    let py = to.py();
    if is_stream(to)? {
        stream::check_writable(to)?;
        let created = popef::Writer::seekable(Sink::of(to)).map(|writer| writer.map_destination(boxed));
        return created.map_err(|error| raise(py, &error));
    }
    begin(py, &path::absolute(to)?, false, |path| {
        popef::Writer::create(path).map(|writer| writer.map_destination(boxed))
    })
}

/// Begins to write to a path, and replaces a forgotten writer of this process, such as that of a notebook's cell that
/// failed.
fn begin(
    py: Python<'_>,
    path: &Path,
    appends: bool,
    begin: impl Fn(&Path) -> Result<session::Writer, popef::Error> + Sync,
) -> PyResult<session::Writer> {
    let begun = match py.detach(|| begin(path)) {
        Err(error) if error.code() == ErrorCode::FileBusy && session::displace(py, path, appends)? => {
            py.detach(|| begin(path))
        }
        begun => begun,
    };
    begun.map_err(|error| session::kept(py, &error).unwrap_or_else(|| raise(py, &error)))
}

fn append(path: &Path) -> Result<session::Writer, popef::Error> {
    let is_missing = path.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
    if is_missing {
        return popef::Writer::create(path).map(|writer| writer.map_destination(boxed));
    }
    popef::Writer::append(path).map(|writer| writer.map_destination(boxed))
}

#[pymethods]
impl Writer {
    /// Any arguments are taken: a class that inherits passes on others to `__init__`.
    #[new]
    #[pyo3(signature = (*_args, **_options), text_signature = "(file)")]
    fn of_any(_args: &Bound<'_, PyTuple>, _options: Option<&Bound<'_, PyDict>>) -> Self {
        Writer::new()
    }

    fn __init__(&self, file: &Bound<'_, PyAny>) -> PyResult<()> {
        self.make(file, false)
    }

    /// Writes a metadata blob.
    #[pyo3(name = "writeMetadata")]
    fn write_metadata(&self, metadata: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = metadata.py();
        let metadata = <Py<Metadata>>::value_of(metadata)?;
        self.session()?.write_whole(py, |writer| writer.write_metadata(&metadata).map(drop))
    }

    /// Writes a metadata blob. Another name of `writeMetadata`; data goes to the blob writers.
    fn write(&self, metadata: &Bound<'_, PyAny>) -> PyResult<()> {
        self.write_metadata(metadata)
    }

    /// Begins an executable. With `compress`, it is compressed with zlib while it is written.
    #[pyo3(name = "createExecutable", signature = (name, compress = None), text_signature = "($self, name, compress=False)")]
    fn create_executable(&self, name: &Bound<'_, PyAny>, compress: Option<&Bound<'_, PyAny>>) -> PyResult<BlobWriter> {
        let py = name.py();
        let (name, compress) = (text::extract(name)?, compress.map_or(Ok(false), PyAnyMethods::is_truthy)?);
        self.open(py, |writer| {
            if compress {
                OpenBlob::packed(writer, name)
            } else {
                OpenBlob::plain(writer, |writer| writer.executable(name))
            }
        })
    }

    /// Begins the data of a tensor. The caller must write as many bytes as its info says.
    #[pyo3(name = "createTensorData")]
    fn create_tensor_data(&self, info: &Bound<'_, PyAny>) -> PyResult<BlobWriter> {
        let py = info.py();
        let info = <Py<TensorDataInfo>>::value_of(info)?;
        self.open_wanting(py, Wanted::from(&info), |writer| OpenBlob::plain(writer, |writer| writer.tensor(&info)))
    }

    /// Begins the data of a feed: all its tensors, one after the other.
    #[pyo3(name = "createFeedData")]
    fn create_feed_data(&self, info: &Bound<'_, PyAny>) -> PyResult<BlobWriter> {
        let py = info.py();
        let info = <Py<FeedDataInfo>>::value_of(info)?;
        self.open_wanting(py, Wanted::from(&info), |writer| OpenBlob::plain(writer, |writer| writer.feed(&info)))
    }

    /// Begins an opaque blob, usually with the name of a framework, for the executable of the second name.
    #[pyo3(name = "createOpaqueBlob")]
    fn create_opaque_blob(&self, name: &Bound<'_, PyAny>, executable: &Bound<'_, PyAny>) -> PyResult<BlobWriter> {
        let py = name.py();
        let info = OpaqueInfo { name: text::extract(name)?, executable: text::extract(executable)? };
        self.open(py, |writer| OpenBlob::plain(writer, |writer| writer.opaque(&info)))
    }

    /// Ends the active blob and the file, which now appears at its path. Does nothing if the writer is closed. Raises `PopefError` if
    /// everything was discarded before, because writing failed or another writer for the same path took its place.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.session()?.close(py)
    }

    /// Discards everything that was written. The old file at the path stays.
    fn discard(&self, py: Python<'_>) -> PyResult<()> {
        self.session()?.discard(py)
    }

    /// Whether the writer was closed, or everything was discarded.
    #[getter]
    fn closed(&self, py: Python<'_>) -> PyResult<bool> {
        self.session()?.is_closed(py)
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    #[pyo3(signature = (kind = None, value = None, traceback = None))]
    fn __exit__(
        &self,
        py: Python<'_>,
        kind: Option<&Bound<'_, PyAny>>,
        value: Option<&Bound<'_, PyAny>>,
        traceback: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let _ = (value, traceback);
        match kind {
            None => self.session()?.close(py),
            Some(_) => self.session()?.discard(py),
        }
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let state = match slf.get().made.get() {
            Some(made) if made.session.is_closed(slf.py())? => "closed",
            Some(_) => "open",
            None => "not made yet",
        };
        Ok(format!("<popef.{}, {state}>", slf.get_type().name()?))
    }
}

/// A writer that can also append to a file.
///
/// With `FileWriter.Mode.APPEND`, the old blobs stay byte for byte. The new ones are whole when the writer is closed. Until then, readers
/// find the old blobs, and may find an error behind them (`blob-unwritten`). Discarding removes the new blobs. The default is `FileWriter.Mode.WRITE`, which replaces the file; the vendor's default is not known.
///
/// >>> import os, popef, tempfile
/// >>> folder = tempfile.TemporaryDirectory()
/// >>> path = os.path.join(folder.name, "model.popef")
/// >>> for name in "first", "second":
/// ...     with popef.FileWriter(path, popef.FileWriter.Mode.APPEND) as writer:
/// ...         writer.createOpaqueBlob(name, "model").write(b"data")
/// >>> popef.open(path).names()
/// ['first', 'second']
/// >>> folder.cleanup()
#[pyclass(module = "popef", extends = Writer, frozen)]
pub(crate) struct FileWriter;

#[pymethods]
impl FileWriter {
    /// Any arguments are taken: a class that inherits passes on others to `__init__`.
    #[new]
    #[pyo3(signature = (*_args, **_options), text_signature = "(file, mode=None)")]
    fn of_any(_args: &Bound<'_, PyTuple>, _options: Option<&Bound<'_, PyDict>>) -> PyClassInitializer<Self> {
        PyClassInitializer::from(Writer::new()).add_subclass(FileWriter)
    }

    #[pyo3(signature = (file, mode = None))]
    fn __init__(slf: &Bound<'_, Self>, file: &Bound<'_, PyAny>, mode: Option<&Bound<'_, Mode>>) -> PyResult<()> {
        slf.as_super().get().make(file, mode.is_some_and(|mode| *mode.get() == Mode::Append))
    }
}

/// Called by the module when the interpreter begins to end.
#[pyfunction]
pub(crate) fn end_writers(py: Python<'_>) {
    session::end(py);
}
