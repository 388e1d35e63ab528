//! File objects of Python as sources and destinations.

use std::cell::RefCell;
use std::io::{self, Seek, SeekFrom, Write};
use std::process;
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use popef::File;
use popef::OpenOptions;
use popef::read::ReadAt;
use popef::write::Truncate;
use pyo3::exceptions::{PyException, PyTypeError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::sync::MutexExt as _;
use pyo3::types::{PyByteArray, PyBytes, PySlice};
#[cfg(target_os = "linux")]
use rustix::fs::FallocateFlags;

use crate::callback::{has, method};
use crate::elements::view_of;
use crate::error::{Own, raise};
use crate::exception::raising;
use crate::work::{COPIED, PIECE};

/// A file object that can seek. Data is read on request.
struct Source {
    stream: Py<PyAny>,
    /// The position of the first blob.
    base: u64,
    size: u64,
    /// How it was seen last. `None` if a change cannot be seen. Locked between `seek` and `read`, which run Python code.
    seen: Mutex<Option<Seen>>,
    /// The process that opened it. One that was forked from it has the same position of the same file, and each would read what the
    /// other is about to. `None` if the bytes are in memory, which each process has for itself.
    process: Option<u32>,
}

/// What shows a change: what the system says of the file of a file object, or the size of bytes in memory.
#[derive(FromPyObject)]
struct Seen {
    st_size: u64,
    st_mtime_ns: i128,
    st_ctime_ns: i128,
    st_nlink: u64,
}

impl Seen {
    fn of(stream: &Bound<'_, PyAny>, is_in_memory: bool) -> PyResult<Option<Self>> {
        if is_in_memory {
            let st_size = method(stream, "seek", (0, 2))?.extract()?;
            return Ok(Some(Seen { st_size, st_mtime_ns: 0, st_ctime_ns: 0, st_nlink: 0 }));
        }
        let stat = || stream.py().import("os")?.call_method1("fstat", (method(stream, "fileno", ())?,))?.extract();
        stat().map(Some).or_else(|error: PyErr| without(stream.py(), error))
    }

    /// A change of the number of names also changes `st_ctime_ns`, and is harmless, as for `popef::read::LocalFile`.
    fn is_still(&self, now: &Seen) -> bool {
        let is_same_content = (self.st_size, self.st_mtime_ns) == (now.st_size, now.st_mtime_ns);
        is_same_content && (self.st_ctime_ns == now.st_ctime_ns || self.st_nlink != now.st_nlink)
    }
}

/// Goes on without what an object of the caller does not have, unless its exception ends the program.
fn without<T>(py: Python<'_>, error: PyErr) -> PyResult<Option<T>> {
    if error.is_instance_of::<PyException>(py) { Ok(None) } else { Err(error) }
}

impl Source {
    fn lock(&self, py: Python<'_>) -> MutexGuard<'_, Option<Seen>> {
        self.seen.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }

    fn is_unchanged(&self, py: Python<'_>) -> PyResult<bool> {
        let mut seen = self.lock(py);
        let Some(before) = &*seen else { return Ok(true) };
        let now = Seen::of(self.stream.bind(py), self.process.is_none())?;
        let is_unchanged = now.as_ref().is_some_and(|now| before.is_still(now));
        if is_unchanged {
            *seen = now;
        }
        Ok(is_unchanged)
    }

    fn read(&self, py: Python<'_>, buf: &mut [u8], offset: u64) -> PyResult<bool> {
        py.check_signals()?;
        if self.process.is_some_and(|process| process != process::id()) {
            return Err(Own::OtherProcess.error(py, "the file was opened from a file object in another process"));
        }
        let _turn = self.lock(py);
        let stream = self.stream.bind(py);
        method(stream, "seek", (self.base.saturating_add(offset),))?;
        let mut rest = buf;
        while !rest.is_empty() {
            let bytes = bytes_of(&method(stream, "read", (rest.len(),))?)?;
            let Some((now, later)) = rest.split_at_mut_checked(bytes.len()) else {
                return Err(PyTypeError::new_err("the file object gave more bytes than it was asked for"));
            };
            if bytes.is_empty() {
                return Ok(false);
            }
            now.copy_from_slice(&bytes);
            rest = later;
        }
        Ok(true)
    }
}

impl ReadAt for Source {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        if attached(|py| self.read(py, buf, offset))? { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    fn is_unchanged(&self) -> io::Result<bool> {
        attached(|py| self.is_unchanged(py))
    }
}

/// Calls Python code for the library.
fn attached<T>(call: impl FnOnce(Python<'_>) -> PyResult<T>) -> io::Result<T> {
    let ended = || Err(io::Error::other("the interpreter has ended"));
    Python::try_attach(call).map_or_else(ended, |done| done.map_err(io::Error::other))
}

/// Opens the file in a binary file object, from its position on. One that cannot seek is read to its end.
pub(crate) fn open(stream: &Bound<'_, PyAny>, options: &OpenOptions) -> PyResult<File> {
    let py = stream.py();
    let is_seekable = has(stream, "seekable")? && method(stream, "seekable", ())?.is_truthy()?;
    let opened = if is_seekable {
        let is_in_memory = stream.is_instance(&py.import("io")?.getattr("BytesIO")?)?;
        let base: u64 = method(stream, "tell", ())?.extract()?;
        let seen = Mutex::new(Seen::of(stream, is_in_memory)?);
        let end: u64 = method(stream, "seek", (0, 2))?.extract()?;
        method(stream, "seek", (base,))?;
        bytes_of(&method(stream, "read", (0,))?)?;
        let size = end.saturating_sub(base);
        let process = (!is_in_memory).then(process::id);
        let source = Source { stream: stream.clone().unbind(), base, size, seen, process };
        py.detach(|| options.source(source))
    } else {
        let bytes = bytes_of(&method(stream, "read", ())?)?;
        py.detach(|| options.bytes(bytes))
    };
    opened.map_err(|error| raise(py, &error))
}

/// The result of a file object's read: bytes, or anything else with a buffer.
fn bytes_of(read: &Bound<'_, PyAny>) -> PyResult<PyBackedBytes> {
    if read.is_instance_of::<PyBytes>() || read.is_instance_of::<PyByteArray>() {
        return Ok(read.extract()?);
    }
    match view_of(read)? {
        Some(view) => Ok(view.call_method0("tobytes")?.extract()?),
        None => Err(PyTypeError::new_err("the file object must be opened in binary mode")),
    }
}

thread_local! {
    /// The piece that this thread is writing, as Python has it.
    static OFFERED: RefCell<Option<Py<PyBytes>>> = const { RefCell::new(None) };
    /// A piece of an array that this thread is writing, which only a file object reads.
    static UNSEEN: RefCell<Option<Py<PyAny>>> = const { RefCell::new(None) };
}

/// Lets `write` write a piece. The file object then gets the piece itself instead of a copy.
pub(crate) fn offering<T>(piece: Bound<'_, PyBytes>, write: impl FnOnce() -> T) -> T {
    OFFERED.replace(Some(piece.unbind()));
    let written = write();
    OFFERED.take();
    written
}

/// The piece that is offered, if it has exactly these bytes.
fn offered<'py>(py: Python<'py>, bytes: &[u8]) -> Option<Bound<'py, PyBytes>> {
    OFFERED.with_borrow(|piece| {
        piece.as_ref().map(|piece| piece.bind(py).clone()).filter(|piece| ptr::eq(piece.as_bytes(), bytes))
    })
}

/// The library gets this in place of a piece that it must not read.
static STAND_IN: [u8; PIECE] = [0; PIECE];

/// Lets `write` write a piece of an array into a file object without a copy. Python code can change an array at any
/// time, so the library must not read its bytes. The library gets zeros in their place. When these arrive at the file
/// object, it gets the piece instead. Fails if the zeros arrive in any other form.
pub(crate) fn unseen(
    piece: Bound<'_, PyAny>,
    len: usize,
    write: impl FnOnce(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let Some(stand_in) = STAND_IN.get(..len) else { return Err(io::Error::other("the piece is too long")) };
    UNSEEN.replace(Some(piece.unbind()));
    let written = write(stand_in);
    match UNSEEN.take() {
        Some(_) => written.and_then(|()| Err(io::Error::other("an array did not arrive at the file object"))),
        None => written,
    }
}

/// The piece that the library has not read, if zeros in its place arrive.
fn arrived(bytes: &[u8]) -> Option<Py<PyAny>> {
    ptr::eq(bytes.as_ptr(), STAND_IN.as_ptr()).then(|| UNSEEN.take()).flatten()
}

/// Whether it is one of Python's own file objects, which accepts a piece of an array like bytes, and does not keep it.
pub(crate) fn takes_views(stream: &Bound<'_, PyAny>) -> PyResult<bool> {
    let (io, found) = (stream.py().import("io")?, stream.get_type());
    let own = ["BufferedWriter", "BufferedRandom", "FileIO", "BytesIO"];
    own.iter().try_fold(false, |is_own, name| Ok(is_own || found.is(&io.getattr(*name)?)))
}

/// Fails if a file object is one for text, or for reading only.
pub(crate) fn check_writable(stream: &Bound<'_, PyAny>) -> PyResult<()> {
    // Files of text have one, also behind the wrappers of the module tempfile.
    if has(stream, "encoding")? || stream.is_instance(&stream.py().import("io")?.getattr("TextIOBase")?)? {
        return Err(PyTypeError::new_err("the file object must be opened in binary mode, such as \"wb\""));
    }
    let is_writable = !has(stream, "writable")? || method(stream, "writable", ())?.is_truthy()?;
    // Some that can be written to say nothing of it.
    let write = || stream.call_method1("write", (PyBytes::new(stream.py(), b""),)).map(drop);
    let written = if is_writable { Ok(()) } else { write() };
    written.map_err(|error| {
        if !error.is_instance_of::<PyException>(stream.py()) {
            return error;
        }
        match stream.py().import("io").and_then(|io| io.getattr("UnsupportedOperation")?.call1((NOT_WRITABLE,))) {
            Ok(error) => raising(error),
            Err(error) => error,
        }
    })
}

const NOT_WRITABLE: &str = "the file object must be opened for writing";

/// Removes everything from a position on.
pub(crate) fn cut(stream: &Bound<'_, PyAny>, start: u64) -> PyResult<()> {
    method(stream, "seek", (start, 0))?;
    method(stream, "truncate", (start,)).map(drop)
}

/// Less is not worth the calls.
const WORTH_ALLOCATING: u64 = 16 << 20;

/// Lets the file system allocate space for the next bytes of a file object, as `ndarray.tofile` does, because many
/// small allocations take half as long again. The size of the file stays. An `Exception` does not matter.
pub(crate) fn allocate(stream: &Bound<'_, PyAny>, len: u64) -> PyResult<()> {
    #[cfg(target_os = "linux")]
    {
        let allocate = || -> PyResult<()> {
            let number: i32 = method(stream, "fileno", ())?.extract()?;
            let position: u64 = method(stream, "tell", ())?.extract()?;
            let path = format!("/dev/fd/{number}");
            if std::fs::metadata(&path)?.is_file() {
                let file = std::fs::OpenOptions::new().write(true).open(path)?;
                let allocate = || rustix::fs::fallocate(file, FallocateFlags::KEEP_SIZE, position, len);
                stream.py().detach(allocate).map_err(io::Error::from)?;
            }
            Ok(())
        };
        if len >= WORTH_ALLOCATING {
            return allocate().or_else(|error| without(stream.py(), error).map(|_: Option<()>| ()));
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (stream, len, WORTH_ALLOCATING);
    Ok(())
}

/// A file object to write to. It must be able to seek and to truncate.
pub(crate) struct Sink(Py<PyAny>);

impl Sink {
    pub(crate) fn of(stream: &Bound<'_, PyAny>) -> Self {
        Sink(stream.clone().unbind())
    }

    fn call<T>(&self, call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> io::Result<T> {
        attached(|py| call(self.0.bind(py)))
    }
}

/// Returns how many of `len` bytes a file object took, by the result of its `write`. Python's raw streams return None
/// if they would block, and then took nothing. Other objects return None because they do not report a number.
fn taken(stream: &Bound<'_, PyAny>, returned: &Bound<'_, PyAny>, len: usize) -> PyResult<usize> {
    match returned.extract::<Option<usize>>()? {
        Some(taken) => Ok(taken.min(len)),
        None => {
            let raw = stream.py().import("io")?.getattr("RawIOBase")?;
            Ok(if stream.is_instance(&raw)? { 0 } else { len })
        }
    }
}

/// Writes all of a piece into a file object, which may take less at a time.
fn write_view(stream: &Bound<'_, PyAny>, piece: &Bound<'_, PyAny>, len: usize) -> PyResult<()> {
    let mut rest = piece.clone();
    let mut written = 0usize;
    while written < len {
        let now = taken(stream, &method(stream, "write", (&rest,))?, len.saturating_sub(written))?;
        if now == 0 {
            return Err(io::Error::from(io::ErrorKind::WriteZero).into());
        }
        written = written.saturating_add(now);
        let [from, to] = [written, len].map(|at| isize::try_from(at).unwrap_or(isize::MAX));
        rest = piece.get_item(PySlice::new(piece.py(), from, to, 1))?;
    }
    Ok(())
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(piece) = arrived(bytes) {
            self.call(|stream| write_view(stream, piece.bind(stream.py()), bytes.len()))?;
            return Ok(bytes.len());
        }
        let piece = bytes.get(..COPIED).unwrap_or(bytes);
        self.call(|stream| {
            let py = stream.py();
            let piece_of_python = offered(py, piece).unwrap_or_else(|| PyBytes::new(py, piece));
            let written = method(stream, "write", (piece_of_python,))?;
            taken(stream, &written, piece.len())
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.call(|stream| method(stream, "flush", ()).map(drop))
    }
}

impl Seek for Sink {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.call(|stream| {
            let position = match to {
                SeekFrom::Start(position) => method(stream, "seek", (position, 0)),
                SeekFrom::Current(by) => method(stream, "seek", (by, 1)),
                SeekFrom::End(by) => method(stream, "seek", (by, 2)),
            };
            position?.extract()
        })
    }
}

impl Truncate for Sink {
    fn truncate(&mut self, len: u64) -> io::Result<()> {
        self.call(|stream| method(stream, "truncate", (len,)).map(drop))
    }
}
