//! Files on disk, which Ctrl-C stops opening.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use popef::read::{LocalFile, ReadAt};
use popef::{File, OpenOptions};
use pyo3::prelude::*;

use crate::error::raise;

/// How long a signal may wait.
const PAUSE: Duration = Duration::from_millis(50);

/// Opens a file. A file of a hundred million blobs takes a while.
pub(crate) fn open(py: Python<'_>, path: &Path, options: &OpenOptions) -> PyResult<File> {
    let opening = Arc::new(AtomicBool::new(true));
    let opened = py.detach(|| {
        let (file, begun, opening) = (LocalFile::open(path)?, Instant::now(), Arc::clone(&opening));
        options.source(Source { file, opening, begun, looked: AtomicU64::new(0) })
    });
    opening.store(false, Relaxed);
    opened.map_err(|error| raise(py, &error))
}

/// A file on disk. Reading it looks for signals while the file is opened, because nobody else does.
struct Source {
    file: LocalFile,
    opening: Arc<AtomicBool>,
    begun: Instant,
    /// When signals were looked for, in milliseconds.
    looked: AtomicU64,
}

impl Source {
    fn look(&self) -> io::Result<()> {
        let now = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        if Duration::from_millis(now.saturating_sub(self.looked.load(Relaxed))) < PAUSE {
            return Ok(());
        }
        self.looked.store(now, Relaxed);
        let raised = |py: Python<'_>| py.check_signals().map_err(io::Error::other);
        Python::try_attach(raised).unwrap_or(Ok(()))
    }
}

impl ReadAt for Source {
    fn size(&self) -> u64 {
        self.file.size()
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        if self.opening.load(Relaxed) {
            self.look()?;
        }
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
