//! Files on disk, which Ctrl-C stops opening.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use popef::read::{FileId, LocalFile, ReadAt};
use popef::{Error, File, OpenOptions};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::raise;
use crate::origin::{Bytes, Opening};
use crate::path;

/// The longest time that a signal may wait.
const PAUSE: Duration = Duration::from_millis(50);

/// Opens a file. A file of a hundred million blobs takes a while.
pub(crate) fn open(py: Python<'_>, path: &Path, options: &OpenOptions) -> PyResult<File> {
    watched(py, |signals| options.source(Source { file: LocalFile::open(path)?, signals }))
}

/// Opens the file and maps it for the arrays. The mapping is Python's own, so that Rust code does not read bytes that
/// may change. The mapping has its own descriptor, so the one that the headers were read with is closed.
pub(crate) fn open_mapped(py: Python<'_>, path: &Path, options: &OpenOptions) -> PyResult<Arc<Opening>> {
    let seen = Seen::of(path);
    let first = Arc::new(Mutex::new(None));
    let file = watched(py, |signals| {
        let local = LocalFile::open(path)?;
        let (size, first) = (local.size(), Arc::clone(&first));
        *first.lock().unwrap_or_else(PoisonError::into_inner) = Some(local);
        let (path, place) = (path.to_owned(), path::from_root(path));
        options.source(Mapped { path, place, size, seen, first, again: OnceLock::new(), signals })
    })?;
    if file.size() == 0 {
        return Ok(Opening::of(file, Bytes::InParts, None));
    }
    let mapped = map(py, path)?;
    let first = first.lock().unwrap_or_else(PoisonError::into_inner).take();
    let is_same = seen.is_some()
        && Seen::of(path) == seen
        && first.is_some_and(|first| first.is_unchanged().unwrap_or_default())
        && u64::try_from(mapped.len()?).is_ok_and(|len| len == file.size());
    if !is_same {
        return Err(PyOSError::new_err("the file was replaced or changed while it was opened; try again"));
    }
    Ok(Opening::of(file, Bytes::Shared(mapped.unbind()), seen.map(|seen| seen.id)))
}

fn map<'py>(py: Python<'py>, path: &Path) -> PyResult<Bound<'py, PyAny>> {
    let mmap = py.import("mmap")?;
    let opened = py.import("io")?.call_method1("open", (path.as_os_str(), "rb"))?;
    let options = PyDict::new(py);
    options.set_item("access", mmap.getattr("ACCESS_READ")?)?;
    let mapped = mmap.getattr("mmap")?.call((opened.call_method0("fileno")?, 0), Some(&options));
    opened.call_method0("close")?;
    mapped
}

/// Opens a file, and checks for signals meanwhile.
fn watched(py: Python<'_>, open: impl FnOnce(Signals) -> Result<File, Error> + Send) -> PyResult<File> {
    let opening = Arc::new(AtomicBool::new(true));
    let signals = Signals { opening: Arc::clone(&opening), begun: Instant::now(), looked: AtomicU64::new(0) };
    let opened = py.detach(|| open(signals));
    opening.store(false, Relaxed);
    opened.map_err(|error| raise(py, &error))
}

/// Checks for signals while a file is opened, because no other code does.
struct Signals {
    opening: Arc<AtomicBool>,
    begun: Instant,
    /// The time of the last check for signals, in milliseconds.
    looked: AtomicU64,
}

impl Signals {
    fn look(&self) -> io::Result<()> {
        let now = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        let is_early = Duration::from_millis(now.saturating_sub(self.looked.load(Relaxed))) < PAUSE;
        if is_early || !self.opening.load(Relaxed) {
            return Ok(());
        }
        self.looked.store(now, Relaxed);
        let raised = |py: Python<'_>| py.check_signals().map_err(io::Error::other);
        Python::try_attach(raised).unwrap_or(Ok(()))
    }
}

/// A file on disk.
struct Source {
    file: LocalFile,
    signals: Signals,
}

impl ReadAt for Source {
    fn size(&self) -> u64 {
        self.file.size()
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.signals.look()?;
        self.file.read_exact_at(buf, offset)
    }

    fn is_unchanged(&self) -> io::Result<bool> {
        self.file.is_unchanged()
    }

    fn name(&self) -> Option<&Path> {
        self.file.name()
    }

    fn local_file(&self) -> Option<&LocalFile> {
        Some(&self.file)
    }
}

/// The identity of a file, and the properties that reveal a change.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Seen {
    id: FileId,
    len: u64,
    modified: Option<SystemTime>,
}

impl Seen {
    pub(crate) fn of(path: impl AsRef<Path>) -> Option<Self> {
        let (id, metadata) = (FileId::of_path(&path).ok()?, fs::metadata(path).ok()?);
        Some(Seen { id, len: metadata.len(), modified: metadata.modified().ok() })
    }
}

/// A mapped file. Its arrays need no descriptor, so one is opened again only for other reads.
struct Mapped {
    path: PathBuf,
    /// The path from the root, because the program may change its folder.
    place: PathBuf,
    size: u64,
    seen: Option<Seen>,
    /// While the file is opened.
    first: Arc<Mutex<Option<LocalFile>>>,
    again: OnceLock<Option<LocalFile>>,
    signals: Signals,
}

impl Mapped {
    /// Works on the file. `None` if it was changed since it was mapped, or another one is at its path.
    fn with<T>(&self, work: impl FnOnce(&LocalFile) -> io::Result<T>) -> io::Result<Option<T>> {
        if let Some(first) = &*self.first.lock().unwrap_or_else(PoisonError::into_inner) {
            return work(first).map(Some);
        }
        self.local_file().map(work).transpose()
    }

    fn open(&self) -> Option<LocalFile> {
        let file = LocalFile::open(&self.place).ok()?;
        (self.seen.is_some() && Seen::of(&self.place) == self.seen).then_some(file)
    }
}

impl ReadAt for Mapped {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.signals.look()?;
        // The library takes it for a file that has changed.
        self.with(|file| file.read_exact_at(buf, offset))?.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    fn is_unchanged(&self) -> io::Result<bool> {
        Ok(self.with(LocalFile::is_unchanged)?.unwrap_or(false))
    }

    fn name(&self) -> Option<&Path> {
        Some(&self.path)
    }

    fn is_near(&self) -> bool {
        true
    }

    fn local_file(&self) -> Option<&LocalFile> {
        self.again.get_or_init(|| self.open()).as_ref()
    }
}
