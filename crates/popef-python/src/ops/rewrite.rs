//! Operations that make files of files: `compress`, `decompress`, `merge`, `split`, `strip`, `recover`.
#![expect(clippy::too_many_arguments, reason = "they are keyword arguments in Python")]

use std::ffi::OsString;
use std::num::NonZero;

use popef_ops::recover::RecoverOptions;
use popef_ops::{
    CompressOptions, DecompressOptions, Keep, MergeOptions, RecompressedExecutable, SplitBy, SplitOptions, StripOptions,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};

use super::select::Select;
use super::{To, opened, operate, packing, stem, wrong};
use crate::callback;
use crate::file;
use crate::number;
use crate::text::kind_of;

/// The row of an operation that has no rows.
type Nothing = ();

/// Copies a file with its executables compressed, as `popef compress` does. What would not become smaller stays as it is.
///
/// `packing` is `"zlib"` or `"gzip"`, optionally with a level: `"zlib:6"`. With `again`, executables that are already
/// compressed are compressed again. With `only_changes`, no file is written if nothing changes. `threads` is the number
/// of threads. The default is one per processor.
///
/// >>> import io, popef
/// >>> content = io.BytesIO()
/// >>> with popef.Writer(content) as writer:
/// ...     writer.createExecutable("model").write(bytes(10_000))
/// >>> report = popef.compress(content.getvalue(), packing="zlib:9", dry_run=True)
/// >>> report["sizeAfter"] < 1000
/// True
#[pyfunction]
#[pyo3(signature = (
    file, output = None, *, packing = "zlib", again = false, threads = None, only_changes = false, select = None,
    overwrite = None, dry_run = false, progress = None
))]
pub(crate) fn compress<'py>(
    py: Python<'py>,
    file: &Bound<'py, PyAny>,
    output: Option<&Bound<'py, PyAny>>,
    packing: &str,
    again: bool,
    threads: Option<&Bound<'py, PyAny>>,
    only_changes: bool,
    select: Option<&Bound<'py, PyAny>>,
    overwrite: Option<&Bound<'py, PyAny>>,
    dry_run: bool,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let (file, to) = (opened(file)?, To::of(output, overwrite, dry_run)?);
    let select = Select::of(select, std::slice::from_ref(&file))?;
    let packing = self::packing(packing)?;
    let threads = threads.map(|threads| number::argument::<NonZero<usize>>("threads", threads)).transpose()?;
    let threads = threads.map_or(0, NonZero::get);
    operate::<_, RecompressedExecutable>(py, progress, &select, Some("executables"), |watch, each| {
        let select = |blob: &popef::Blob<'_>| select.takes(blob);
        let options = CompressOptions { packing, again, threads, select: &select, only_changes };
        popef_ops::compress(&file, to.target(), &options, watch, each)
    })
}

/// Copies a file with its executables decompressed, as `popef decompress` does.
///
/// >>> import io, popef
/// >>> content = io.BytesIO()
/// >>> with popef.Writer(content) as writer:
/// ...     writer.createExecutable("model", compress=True).write(b"its code")
/// >>> report = popef.decompress(content.getvalue(), dry_run=True)
/// >>> [executable["name"] for executable in report["executables"]]
/// ['model']
#[pyfunction]
#[pyo3(signature = (
    file, output = None, *, only_changes = false, select = None, overwrite = None, dry_run = false, progress = None
))]
pub(crate) fn decompress<'py>(
    py: Python<'py>,
    file: &Bound<'py, PyAny>,
    output: Option<&Bound<'py, PyAny>>,
    only_changes: bool,
    select: Option<&Bound<'py, PyAny>>,
    overwrite: Option<&Bound<'py, PyAny>>,
    dry_run: bool,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let (file, to) = (opened(file)?, To::of(output, overwrite, dry_run)?);
    let select = Select::of(select, std::slice::from_ref(&file))?;
    operate::<_, RecompressedExecutable>(py, progress, &select, Some("executables"), |watch, each| {
        let select = |blob: &popef::Blob<'_>| select.takes(blob);
        let options = DecompressOptions { select: &select, only_changes };
        popef_ops::decompress(&file, to.target(), &options, watch, each)
    })
}

/// Writes the blobs of several files into one, in order, as `popef merge` does.
///
/// Blobs of one file stay together. Blobs of different files with the same type, name and content are written once.
/// Those with the same type and name but different content are an error, unless `keep` is `"first"` or `"last"`. If it
/// is `"all"`, every blob of all files is written, except equal executables, so that the parts of a split by size
/// become the original file again. With `unpacked`, executables are the same if they unpack to the same bytes.
/// `drop_prefix` leaves out the bytes before the first blob of a file.
///
/// >>> import io, popef
/// >>> content = io.BytesIO()
/// >>> with popef.Writer(content) as writer:
/// ...     writer.createOpaqueBlob("notes", "model").write(b"made by hand")
/// >>> report = popef.merge([content.getvalue(), content.getvalue()], dry_run=True)
/// >>> report["blobs"]
/// 1
#[pyfunction]
#[pyo3(signature = (
    files, output = None, *, keep = None, unpacked = false, drop_prefix = false, select = None, overwrite = None,
    dry_run = false, progress = None
))]
pub(crate) fn merge<'py>(
    py: Python<'py>,
    files: &Bound<'py, PyAny>,
    output: Option<&Bound<'py, PyAny>>,
    keep: Option<&str>,
    unpacked: bool,
    drop_prefix: bool,
    select: Option<&Bound<'py, PyAny>>,
    overwrite: Option<&Bound<'py, PyAny>>,
    dry_run: bool,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let keep = match keep {
        None => Keep::Neither,
        Some("first") => Keep::First,
        Some("last") => Keep::Last,
        Some("all") => Keep::All,
        Some(other) => return Err(wrong("keep", other, "first, last and all")),
    };
    let files = several(files)?;
    let (to, select) = (To::of(output, overwrite, dry_run)?, Select::of(select, &files)?);
    operate::<_, Nothing>(py, progress, &select, None, |watch, _| {
        let select = |blob: &popef::Blob<'_>| select.takes(blob);
        let options =
            MergeOptions { keep, unpacked, drop_prefixes: drop_prefix, select: &select, ..MergeOptions::default() };
        popef_ops::merge(&files, to.target(), &options, watch)
    })
}

/// The files of a list.
fn several(given: &Bound<'_, PyAny>) -> PyResult<Vec<popef::File>> {
    // These can be gone through too, but are one file.
    let is_one = given.is_instance_of::<PyString>()
        || given.is_instance_of::<PyBytes>()
        || given.is_instance_of::<file::File>()
        || callback::has(given, "read")?;
    let needed = || PyTypeError::new_err(format!("a list of files is needed, not {}", kind_of(given)));
    if is_one {
        return Err(needed());
    }
    let files = callback::items(given, needed)?.map(|file| opened(&file?)).collect::<PyResult<Vec<_>>>()?;
    if files.is_empty() { Err(PyValueError::new_err("there are no files to merge")) } else { Ok(files) }
}

/// Splits a file into several in a folder, as `popef split` does.
///
/// `by` is `"kind"` (executables with metadata and opaque blobs, tensors, feeds), `"model"` (a part for each executable), or
/// `"size"` (parts of at most `max_size` bytes). The names of the parts begin with `stem`, which is that of the file. `select`
/// chooses which blobs are written.
///
/// >>> import io, popef
/// >>> content = io.BytesIO()
/// >>> info = popef.TensorDataInfo("w", popef.TensorInfo([2], popef.DataType.F32))
/// >>> with popef.Writer(content) as writer:
/// ...     writer.createTensorData(info).write(bytes(8))
/// >>> report = popef.split(content.getvalue(), by="kind", stem="model", dry_run=True)
/// >>> len(report["parts"])
/// 1
#[pyfunction]
#[pyo3(signature = (
    file, folder = None, *, by = "kind", max_size = None, stem = None, select = None, overwrite = None, dry_run = false,
    progress = None
))]
pub(crate) fn split<'py>(
    py: Python<'py>,
    file: &Bound<'py, PyAny>,
    folder: Option<&Bound<'py, PyAny>>,
    by: &str,
    max_size: Option<&Bound<'py, PyAny>>,
    stem: Option<OsString>,
    select: Option<&Bound<'py, PyAny>>,
    overwrite: Option<&Bound<'py, PyAny>>,
    dry_run: bool,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let max_size = max_size.map(|size| number::argument("max_size", size)).transpose()?;
    let by = match (by, max_size) {
        ("kind", None) => SplitBy::Kind,
        ("model", None) => SplitBy::Model,
        ("size", Some(size)) => SplitBy::Size(size),
        ("size", None) | ("kind" | "model", Some(_)) => {
            return Err(PyValueError::new_err("by=\"size\" and max_size belong together"));
        }
        (other, _) => return Err(wrong("by", other, "kind, model and size")),
    };
    let (file, to) = (opened(file)?, To::of(folder, overwrite, dry_run)?);
    let stem = stem.or_else(|| self::stem(&file).map(OsString::from)).unwrap_or_else(|| OsString::from("part"));
    let select = Select::of(select, std::slice::from_ref(&file))?;
    operate::<_, Nothing>(py, progress, &select, None, |watch, _| {
        let options = SplitOptions { by, stem: &stem, select: &|blob| select.takes(blob) };
        popef_ops::split(&file, to.folder(), &options, watch)
    })
}

/// Copies a file without some blobs, as `popef strip` does. The report says what can no longer be loaded or run.
///
/// `drop` chooses blobs as `select` does in other operations. `drop_prefix` leaves out what comes before the first blob.
///
/// >>> import io, popef
/// >>> content = io.BytesIO()
/// >>> with popef.Writer(content) as writer:
/// ...     writer.createExecutable("model").write(b"its code")
/// ...     writer.createOpaqueBlob("notes", "model").write(b"made by hand")
/// >>> report = popef.strip(content.getvalue(), drop=popef.Opaque, dry_run=True)
/// >>> report["sizeAfter"] < report["sizeBefore"]
/// True
#[pyfunction]
#[pyo3(signature = (
    file, output = None, *, drop = None, drop_prefix = false, only_changes = false, overwrite = None, dry_run = false,
    progress = None
))]
pub(crate) fn strip<'py>(
    py: Python<'py>,
    file: &Bound<'py, PyAny>,
    output: Option<&Bound<'py, PyAny>>,
    drop: Option<&Bound<'py, PyAny>>,
    drop_prefix: bool,
    only_changes: bool,
    overwrite: Option<&Bound<'py, PyAny>>,
    dry_run: bool,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let (file, to) = (opened(file)?, To::of(output, overwrite, dry_run)?);
    let is_any = drop.is_some();
    let select = Select::of(drop, std::slice::from_ref(&file))?;
    operate::<_, Nothing>(py, progress, &select, None, |watch, _| {
        let drop = |blob: &popef::Blob<'_>| is_any && select.takes(blob);
        popef_ops::strip(&file, to.target(), &StripOptions { drop: &drop, drop_prefix, only_changes }, watch)
    })
}

/// Writes the whole blobs of a damaged file, as `popef recover` does: every blob before the damage, and those after a
/// blob whose header still says where the next one begins. The report lists everything that was `lost`.
///
/// >>> import io, popef
/// >>> content = io.BytesIO()
/// >>> with popef.Writer(content) as writer:
/// ...     writer.createOpaqueBlob("notes", "model").write(b"made by hand")
/// >>> report = popef.recover(content.getvalue() + b"more", dry_run=True)
/// >>> report["keptBlobs"], report["damage"]["code"]
/// (1, 'header-cut')
#[pyfunction]
#[pyo3(signature = (file, output = None, *, overwrite = None, dry_run = false, progress = None))]
pub(crate) fn recover<'py>(
    py: Python<'py>,
    file: &Bound<'py, PyAny>,
    output: Option<&Bound<'py, PyAny>>,
    overwrite: Option<&Bound<'py, PyAny>>,
    dry_run: bool,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let file = match file.cast::<file::File>() {
        Ok(file) => file.get().opened()?,
        Err(_) => file::open(file, false, true)?.opened()?,
    };
    let to = To::of(output, overwrite, dry_run)?;
    operate::<_, Nothing>(py, progress, &Select::everything(), None, |watch, _| {
        popef_ops::recover::recover(&file, to.target(), &RecoverOptions::default(), watch)
    })
}
