//! Large data, read by the system straight into the memory of an array. NumPy's memory is in large pages and need not be cleared
//! first, which makes it four times as fast as a `bytearray` that the library fills.

use popef::read::{BlobHandle, Data, FileId};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PySlice;

use crate::work::PIECE;

/// For smaller data, opening the file again is not worthwhile.
const LEAST: u64 = 1 << 20;

/// A part of the data of a blob, from `start` on, as a flat array of bytes, which belongs to the caller. `None` if the
/// library must read it: because it is small, the file has no path, the system cannot do it, or a failure occurred that
/// the library explains better.
pub(crate) fn read<'py>(
    py: Python<'py>,
    blob: &BlobHandle,
    start: u64,
    data: &Data<'_>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let os = py.import("os")?;
    let (Some(path), Ok(len)) = (blob.file().path(), usize::try_from(data.len())) else { return Ok(None) };
    if data.len() < LEAST || !os.hasattr("preadv")? {
        return Ok(None);
    }
    // A pipe that has taken the place of the file must not make this wait.
    let flags = os.getattr("O_RDONLY")?.bitor(os.getattr("O_CLOEXEC")?)?.bitor(os.getattr("O_NONBLOCK")?)?;
    let Some(file) = if_possible(py, os.call_method1("open", (path.as_os_str(), flags)))? else { return Ok(None) };
    let file: i32 = file.extract()?;
    let offset = blob.blob().data_offset().saturating_add(start);
    let read = fill(py, blob, file, (offset, len));
    os.call_method1("close", (file,))?;
    Ok(if_possible(py, read)?.flatten())
}

/// `None` after a failure of the system. An `OSError` of a handler of a signal or of an audit hook has a traceback.
fn if_possible<T>(py: Python<'_>, done: PyResult<T>) -> PyResult<Option<T>> {
    match done {
        Err(error) if error.is_instance_of::<PyOSError>(py) && error.traceback(py).is_none() => Ok(None),
        done => done.map(Some),
    }
}

/// Fills an array from an open file, if that is the file of the blob, and it has not changed.
fn fill<'py>(
    py: Python<'py>,
    blob: &BlobHandle,
    file: i32,
    (start, len): (u64, usize),
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let is_same = FileId::of_path(format!("/dev/fd/{file}")).is_ok_and(|id| blob.file().id() == Some(id));
    if !is_same {
        return Ok(None);
    }
    let preadv = py.import("os")?.getattr("preadv")?;
    let array = py.import("numpy")?.call_method1("empty", (len, "u1"))?;
    let mut at = 0;
    while at < len {
        let end = at.saturating_add(PIECE).min(len);
        let [from, to] = [at, end].map(|at| isize::try_from(at).unwrap_or(isize::MAX));
        let piece = array.get_item(PySlice::new(py, from, to, 1))?;
        let offset = start.saturating_add(u64::try_from(at).unwrap_or(u64::MAX));
        match preadv.call1((file, [piece], offset))?.extract()? {
            0usize => return Ok(None),
            read => at = at.saturating_add(read),
        }
        py.check_signals()?;
    }
    Ok(blob.file().check_unchanged().is_ok().then_some(array))
}
