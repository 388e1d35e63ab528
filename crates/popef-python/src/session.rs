//! The shared state of a writer and the blobs that it opened: the library's writer, and the blob that is being written.

use std::io::{self, Write as _};
use std::mem;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use popef::error::ErrorCode;
use popef::types::Text;
use popef::write::{BlobWriter, PackedWriter, Packing, Refused, Rewind};
use pyo3::prelude::*;

use crate::bytes::Given;
use crate::ending::{self, Against, Origin};
use crate::error::{Own, raise};
use crate::interpreter::{Failure, has_threads};
use crate::stream;

/// Anything that can be written to, and can go back.
pub(crate) type Destination = Box<dyn Rewind + Send>;

/// The library's writer.
pub(crate) type Writer = popef::Writer<Destination>;

/// A blob that is being written. It has the writer until it is finished.
pub(crate) enum OpenBlob {
    Plain(Box<BlobWriter<Writer>>),
    Packed(Box<PackedWriter<Writer>>),
}

/// An open blob, or the error together with the writer.
pub(crate) type Opened = Result<OpenBlob, Box<Refused<Destination>>>;

impl OpenBlob {
    /// Opens a blob with a method of the writer.
    pub(crate) fn plain(
        writer: Writer,
        open: impl FnOnce(&mut Writer) -> Result<BlobWriter<&mut Writer>, popef::Error>,
    ) -> Opened {
        BlobWriter::owning(writer, open).map(Box::new).map(OpenBlob::Plain).map_err(Box::new)
    }

    /// Opens an executable that is compressed.
    pub(crate) fn packed(writer: Writer, name: Text<'static>) -> Opened {
        let opened = PackedWriter::owning(writer, |writer| writer.packed_executable(name, Packing::default()));
        opened.map(Box::new).map(OpenBlob::Packed).map_err(Box::new)
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            OpenBlob::Plain(blob) => blob.write_all(bytes),
            OpenBlob::Packed(blob) => blob.write_all(bytes),
        }
    }

    /// Ends the blob. After a failure, the writer is dropped, and everything is discarded.
    fn finish(self) -> Result<Writer, popef::Error> {
        let finished = match self {
            OpenBlob::Plain(blob) => blob.finish(),
            OpenBlob::Packed(blob) => blob.finish(),
        };
        finished.map(|(writer, _)| writer).map_err(popef::Error::from)
    }

    fn discard(self) -> Writer {
        match self {
            OpenBlob::Plain(blob) => blob.discard(),
            OpenBlob::Packed(blob) => blob.discard(),
        }
    }
}

enum State {
    /// Between two blobs.
    Ready(Box<Writer>),
    /// A blob is being written.
    Open(OpenBlob),
    /// The file is complete.
    Closed,
    /// Everything was discarded, on request or after a failure.
    Discarded,
}

impl State {
    /// Whether there is nothing more to write.
    fn is_over(&self) -> bool {
        matches!(self, State::Closed | State::Discarded)
    }

    /// Takes the writer, after ending the open blob. `None` if the writer is gone.
    fn take(&mut self) -> Result<Option<Writer>, popef::Error> {
        match mem::replace(self, State::Discarded) {
            State::Ready(writer) => Ok(Some(*writer)),
            State::Open(blob) => blob.finish().map(Some),
            State::Closed => {
                *self = State::Closed;
                Ok(None)
            }
            State::Discarded => Ok(None),
        }
    }

    /// Ends the open blob and the file.
    fn close(&mut self) -> Result<(), popef::Error> {
        if let Some(writer) = self.take()? {
            writer.finish()?;
            *self = State::Closed;
        }
        Ok(())
    }
}

/// The shared state of a writer. When the writer and its blobs are gone, the file is finished, as the vendor's writer
/// does, unless an exception occurred before.
pub(crate) struct Session {
    inner: Mutex<Inner>,
    origin: Origin,
    /// The process that made it. One that was forked must not finish the file of its parent.
    process: u32,
    /// The descriptors that keep files locked. A process that was forked has them too.
    locked: Mutex<Vec<i32>>,
    /// Whether the file is a file object that takes pieces of arrays.
    takes_views: bool,
    /// Whether blobs are added to a file.
    appends: bool,
}

struct Inner {
    state: State,
    /// The number of the blob that was opened last. Blobs with other numbers are not active.
    last: u64,
    /// Why it ended, if nobody asked for that.
    lost: Option<Lost>,
    /// The file object that is written to, and where the file begins in it.
    stream: Option<(Py<PyAny>, u64)>,
}

/// Why a writer ended, if nobody asked for that.
struct Lost {
    failure: Failure,
    why: String,
}

impl Lost {
    /// This line made another writer for the same path.
    fn to(py: Python<'_>, line: &str) -> Self {
        let why = format!("another writer for the same path, made at {line}, took its place");
        Lost { failure: Failure::new(py), why }
    }

    /// Writing failed with an exception.
    fn failed(py: Python<'_>, error: &PyErr) -> Self {
        let failure = Failure::new(py);
        failure.told_by(py, error);
        let value = error.value(py);
        let reason = value.str().map(|reason| reason.to_string()).unwrap_or_default();
        let shown = || value.repr().map(|shown| shown.to_string()).unwrap_or_default();
        let reason = if reason.is_empty() { shown() } else { reason };
        Lost { failure, why: format!("everything was discarded, because writing failed: {reason}") }
    }

    /// The exception for a call that comes too late.
    fn error(&self, py: Python<'_>) -> PyErr {
        let error = Own::WriterClosed.error(py, &format!("the writer is closed: {}", self.why));
        self.failure.told_by(py, &error);
        error
    }
}

/// All writers of this process, including closed ones. Their methods are not called while this is locked.
static SESSIONS: Mutex<Vec<Weak<Session>>> = Mutex::new(Vec::new());

/// The writers that still live.
fn living() -> Vec<Arc<Session>> {
    SESSIONS.lock().unwrap_or_else(PoisonError::into_inner).iter().filter_map(Weak::upgrade).collect()
}

/// Ends the writers of this process for a path, because a new one takes their place. Returns whether there was any. What they wrote is
/// discarded, but a file that is appended to again keeps what was appended before.
pub(crate) fn displace(py: Python<'_>, path: &Path, appends: bool) -> PyResult<bool> {
    let line = Origin::of(py, None)?.line().to_owned();
    let mut any = false;
    for session in living().iter().filter(|session| session.origin.is_at(path)) {
        any |= session.give_way(py, &line, appends)?;
    }
    Ok(any)
}

/// The exception for a file that could not be written, because a writer of this process keeps its path for itself. `None` if the
/// error is another one.
pub(crate) fn kept(py: Python<'_>, error: &popef::Error) -> Option<PyErr> {
    let path = error.path().filter(|_| error.code() == ErrorCode::FileBusy)?;
    let living = living();
    let at = living.iter().find(|session| session.origin.is_at(path) && session.is_unfinished());
    at.map(|session| not_closed(py, &session.origin.name()))
}

/// Discards what was not finished before the program ended by an exception. Python drops the writers later, and has forgotten the
/// exception then. It drops no variables of a script with a daemon thread that is in one of the script's functions.
pub(crate) fn end(py: Python<'_>) {
    ending::set_ending();
    let living = living();
    for session in living.iter().filter(|session| session.origin.is_left(py)) {
        let _ = session.abandon(py, "the program ended by an exception");
    }
    if has_threads(py) {
        for session in living.iter().filter(|session| session.is_unfinished()) {
            let _ = session.origin.warn_of_threads(py);
        }
    }
}

/// Unlocks the files of the parent's writers in a process that was just forked, or they would stay locked until it ends, also if the
/// parent is killed before. The parent keeps its own locks.
#[pyfunction]
pub(crate) fn leave_writers(py: Python<'_>) -> PyResult<()> {
    let Ok(sessions) = SESSIONS.try_lock() else { return Ok(()) };
    let close = py.import("os")?.getattr("close")?;
    for session in sessions.iter().filter_map(Weak::upgrade) {
        // Another thread of the parent may just have closed them.
        let is_writing = session.inner.try_lock().is_ok_and(|inner| !inner.state.is_over());
        if let (true, Ok(mut locked)) = (is_writing, session.locked.try_lock()) {
            for number in mem::take(&mut *locked) {
                close.call1((number,))?;
            }
        }
    }
    Ok(())
}

impl Session {
    /// For a file at a path, or in a file object from a position on.
    pub(crate) fn of(
        py: Python<'_>,
        writer: Writer,
        path: Option<PathBuf>,
        stream: Option<(Py<PyAny>, u64)>,
        appends: bool,
    ) -> PyResult<Arc<Self>> {
        let takes_views = stream.as_ref().map_or(Ok(false), |(stream, _)| stream::takes_views(stream.bind(py)))?;
        let locked = Mutex::new(popef::write::locked(&writer));
        let inner = Inner { state: State::Ready(Box::new(writer)), last: 0, lost: None, stream };
        let origin = Origin::of(py, path)?;
        let session = Arc::new(Session {
            inner: Mutex::new(inner),
            origin,
            process: process::id(),
            locked,
            takes_views,
            appends,
        });
        let mut sessions = SESSIONS.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.retain(|session| session.strong_count() > 0);
        sessions.push(Arc::downgrade(&session));
        Ok(session)
    }

    /// Ends, for another writer that was made at `line` and may append. Returns whether there was anything to end.
    fn give_way(&self, py: Python<'_>, line: &str, appends: bool) -> PyResult<bool> {
        if self.is_of_parent() {
            return Ok(false);
        }
        let Ok(mut inner) = self.inner.try_lock() else {
            let message = format!("another thread is using {}: wait for it, or call its discard()", self.origin.name());
            return Err(Own::WriterBusy.error(py, &message));
        };
        if inner.state.is_over() {
            return Ok(false);
        }
        let what = if appends && self.appends && self.can_finish(py)? {
            inner.close(py)?;
            "its blobs were appended"
        } else {
            inner.discard(py)?;
            "everything was discarded"
        };
        inner.lost = Some(Lost::to(py, line));
        drop(inner);
        self.origin.warn(py, &format!("{what}, because {line} made another writer for the same path"))?;
        Ok(true)
    }

    /// Whether what was appended is kept when the file is appended to again. Fails if nobody knows.
    fn can_finish(&self, py: Python<'_>) -> PyResult<bool> {
        match self.origin.against(py, false) {
            None => Ok(true),
            Some(Against::Known(_)) => Ok(false),
            Some(Against::Exists) => Err(not_closed(py, &self.origin.name())),
        }
    }

    /// Whether a parent of this process made it, and ends it.
    fn is_of_parent(&self) -> bool {
        self.process != process::id()
    }

    /// Whether it keeps its path for itself.
    fn is_unfinished(&self) -> bool {
        !self.is_of_parent() && self.inner.try_lock().map_or(true, |inner| !inner.state.is_over())
    }

    /// Discards everything that a program left behind, and says so.
    fn abandon(&self, py: Python<'_>, why: &str) -> PyResult<()> {
        let mut inner = self.lock(py)?;
        if !inner.state.is_over() {
            inner.discard(py)?;
            self.origin.warn(py, &format!("everything was discarded, because {why}"))?;
        }
        Ok(())
    }

    /// The state. Never waits, because the owner of the lock may need the interpreter's lock, or be this thread.
    fn lock(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, Inner>> {
        if self.is_of_parent() {
            return Err(Own::WriterBusy.error(py, "the writer belongs to the process that created it"));
        }
        self.inner.try_lock().map_err(|_| Own::WriterBusy.error(py, "another thread is using the writer"))
    }

    /// The state, for further work that the program wants to do.
    fn lock_to_write(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, Inner>> {
        let inner = self.lock(py)?;
        self.origin.used(py);
        Ok(inner)
    }

    /// Opens a blob, after ending the one before it. Returns its number.
    pub(crate) fn open(&self, py: Python<'_>, open: impl FnOnce(Writer) -> Opened + Send) -> PyResult<u64> {
        let mut inner = self.lock_to_write(py)?;
        let writer = inner.writer(py)?;
        let opened = py.detach(|| open(writer));
        match opened {
            Ok(blob) => {
                inner.state = State::Open(blob);
                inner.last = inner.last.saturating_add(1);
                Ok(inner.last)
            }
            Err(refused) => {
                let Refused { error, writer } = *refused;
                inner.state = State::Ready(Box::new(writer));
                Err(raise(py, &error))
            }
        }
    }

    /// Lets `write` write a whole blob, after ending the one before it.
    pub(crate) fn write_whole(
        &self,
        py: Python<'_>,
        write: impl FnOnce(&mut Writer) -> Result<(), popef::Error> + Send,
    ) -> PyResult<()> {
        let mut inner = self.lock_to_write(py)?;
        let mut writer = inner.writer(py)?;
        let written = py.detach(|| write(&mut writer));
        inner.state = State::Ready(Box::new(writer));
        written.map_err(|error| raise(py, &error))
    }

    /// Writes the first `len` given bytes to a blob. If that fails, everything is discarded, because it is unknown how
    /// much was written.
    pub(crate) fn write(&self, py: Python<'_>, number: u64, given: &Given<'_>, len: usize) -> PyResult<()> {
        let mut inner = self.lock_to_write(py)?;
        let blob = inner.blob(py, number)?;
        let unseen = self.takes_views && matches!(blob, OpenBlob::Plain(_));
        let written = given.in_pieces(py, len, unseen, |piece| blob.write_all(piece));
        written.map_err(|error| {
            inner.state = State::Discarded;
            inner.fail(py, error)
        })
    }

    /// Ends a blob. Does nothing if it ended before. Fails if everything was discarded and the program does not know.
    pub(crate) fn end(&self, py: Python<'_>, number: u64) -> PyResult<()> {
        let mut inner = self.lock_to_write(py)?;
        inner.check(py)?;
        if inner.last == number && matches!(inner.state, State::Open(_)) {
            let writer = inner.writer(py)?;
            inner.state = State::Ready(Box::new(writer));
        }
        Ok(())
    }

    /// Removes a blob that is being written. Does nothing if it ended before, or if a parent of this process writes it.
    pub(crate) fn remove(&self, py: Python<'_>, number: u64) -> PyResult<()> {
        if self.is_of_parent() {
            return Ok(());
        }
        let mut inner = self.lock(py)?;
        if inner.last != number {
            return Ok(());
        }
        inner.state = match mem::replace(&mut inner.state, State::Discarded) {
            State::Open(blob) => State::Ready(Box::new(py.detach(|| blob.discard()))),
            state => state,
        };
        Ok(())
    }

    /// Whether a blob can be written to.
    pub(crate) fn is_open(&self, py: Python<'_>, number: u64) -> PyResult<bool> {
        let inner = self.lock(py)?;
        Ok(inner.last == number && matches!(inner.state, State::Open(_)))
    }

    /// Whether nothing can be written any more.
    pub(crate) fn is_closed(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.lock(py)?.state.is_over())
    }

    /// Ends the open blob and the file. Does nothing if the file ended before. Fails if everything was discarded and the program, which
    /// does not know, takes the file for written.
    pub(crate) fn close(&self, py: Python<'_>) -> PyResult<()> {
        let mut inner = self.lock(py)?;
        inner.check(py)?;
        inner.close(py)
    }

    /// Discards everything. The old file at the path stays. Does nothing if a parent of this process writes it.
    pub(crate) fn discard(&self, py: Python<'_>) -> PyResult<()> {
        if self.is_of_parent() { Ok(()) } else { self.lock(py)?.discard(py) }
    }

    /// Finishes the file or discards everything, because the program did neither. Warns about the missing `close()`.
    fn settle(&mut self, py: Python<'_>, raised: bool) -> PyResult<()> {
        let Session { inner, origin, .. } = self;
        let inner = inner.get_mut().unwrap_or_else(PoisonError::into_inner);
        if inner.state.is_over() {
            return Ok(());
        }
        if let Some(against) = origin.against(py, raised) {
            inner.discard(py)?;
            return origin.warn_against(py, &against);
        }
        // With the interpreter's lock: while the interpreter ends, a file object could not get it again.
        inner.state.close().map_err(|error| raise(py, &error))?;
        origin.warn(py, "its file was finished")
    }
}

impl Inner {
    /// Fails if everything was discarded and nobody asked for that, unless the exception that is handled says so.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        match (&self.state, &self.lost) {
            (State::Discarded, Some(lost)) if !lost.failure.is_told(py) => Err(lost.error(py)),
            _ => Ok(()),
        }
    }

    /// Ends the open blob and the file.
    fn close(&mut self, py: Python<'_>) -> PyResult<()> {
        let state = &mut self.state;
        py.detach(|| state.close()).map_err(|error| self.fail(py, raise(py, &error)))
    }

    /// Takes the writer, after ending the open blob.
    fn writer(&mut self, py: Python<'_>) -> PyResult<Writer> {
        let state = &mut self.state;
        let writer = py.detach(|| state.take()).map_err(|error| self.fail(py, raise(py, &error)))?;
        writer.ok_or_else(|| over(py, self.lost.as_ref(), Own::WriterClosed, "the writer is closed"))
    }

    /// Notes why everything was discarded.
    fn fail(&mut self, py: Python<'_>, error: PyErr) -> PyErr {
        self.lost = Some(Lost::failed(py, &error));
        error
    }

    /// Discards everything. Does nothing if that was done before, or if the file is complete.
    fn discard(&mut self, py: Python<'_>) -> PyResult<()> {
        let writer = match mem::replace(&mut self.state, State::Discarded) {
            State::Ready(writer) => *writer,
            State::Open(blob) => py.detach(|| blob.discard()),
            state => {
                self.state = state;
                return Ok(());
            }
        };
        py.detach(|| writer.discard()).map_err(|error| raise(py, &error))?;
        // The library keeps whole blobs there, for programs that continue after them.
        match &self.stream {
            Some((stream, start)) => stream::cut(stream.bind(py), *start),
            None => Ok(()),
        }
    }

    fn blob(&mut self, py: Python<'_>, number: u64) -> PyResult<&mut OpenBlob> {
        let Inner { state, last, lost, .. } = self;
        match state {
            State::Open(blob) if *last == number => Ok(blob),
            _ => Err(over(
                py,
                lost.as_ref(),
                Own::BlobWriterInactive,
                "the blob writer is not active: creating another blob, or closing the writer, has ended its blob",
            )),
        }
    }
}

/// The error of a path that a writer of this process keeps for itself.
fn not_closed(py: Python<'_>, name: &str) -> PyErr {
    Own::WriterNotClosed.error(py, &format!("{name} was not closed"))
}

/// The error of a call that comes too late: what was lost before, or else `otherwise`.
fn over(py: Python<'_>, lost: Option<&Lost>, own: Own, otherwise: &str) -> PyErr {
    match lost {
        Some(lost) => lost.error(py),
        None => own.error(py, otherwise),
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if self.is_of_parent() {
            // The file is neither finished nor removed: the parent does that.
            let inner = self.inner.get_mut().unwrap_or_else(PoisonError::into_inner);
            mem::forget(mem::replace(&mut inner.state, State::Discarded));
            return;
        }
        let settled = Python::try_attach(|py| {
            // A raised exception must not disturb the calls of a file object.
            let raised = PyErr::take(py);
            if let Err(error) = self.settle(py, raised.is_some()) {
                error.write_unraisable(py, None);
            }
            if let Some(raised) = raised {
                raised.restore(py);
            }
        });
        if settled.is_none() {
            // The interpreter has ended, so an error cannot be reported. The old file stays then.
            let _ = self.inner.get_mut().unwrap_or_else(PoisonError::into_inner).state.close();
        }
    }
}
