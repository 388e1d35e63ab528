//! Long work, which Ctrl-C ends.
//!
//! Python handles signals only in its main thread, between two instructions of Python. So another thread does the work.
//! The calling thread waits for it, and checks for signals meanwhile. This holds whatever the work waits for.

use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use popef_ops::Progress;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::error::raise_operation;
use crate::text::kind_of;

/// The longest time that a signal may wait, and the interval between reports of progress.
const PAUSE: Duration = Duration::from_millis(50);

/// The number of bytes read or written between two checks for signals.
pub(crate) const PIECE: usize = 8 << 20;

/// The number of bytes copied at a time, because others can change them, or for a file object. Larger copies do not
/// stay in the processor's cache, and many smaller ones take the system longer to write.
pub(crate) const COPIED: usize = 512 << 10;

/// The progress of the work, and whether it must stop.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    stopped: AtomicBool,
    done: AtomicU64,
    total: AtomicU64,
}

impl Watch {
    /// Whether the work shall stop.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Relaxed)
    }

    /// Whether the work may continue.
    pub(crate) fn go_on(&self) -> ControlFlow<()> {
        if self.is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Sets the amount done and the total.
    pub(crate) fn set(&self, done: u64, total: u64) {
        self.done.store(done, Relaxed);
        self.total.store(total, Relaxed);
    }

    /// Checks for signals, and reports the progress to the caller.
    fn look(&self, py: Python<'_>, tell: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        py.check_signals()?;
        let Some(tell) = tell else { return Ok(()) };
        let done = self.done.load(Relaxed);
        tell.call1((done, self.total.load(Relaxed).max(done))).map(drop)
    }
}

impl Progress for Watch {
    fn expect(&self, bytes: u64) {
        self.total.fetch_add(bytes, Relaxed);
    }

    fn advance(&self, bytes: u64) -> ControlFlow<()> {
        self.done.fetch_add(bytes, Relaxed);
        self.go_on()
    }
}

/// Does the work without the interpreter's lock. If a signal handler or `tell` raises an exception, the work is asked
/// to stop, and the exception is returned once it has stopped.
///
/// `tell` is a callable for the number of bytes that are done, and of all, or `None`.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    tell: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Arc<Watch>) -> T + Send,
) -> PyResult<T> {
    if let Some(tell) = tell.filter(|tell| !tell.is_callable()) {
        let found = kind_of(tell);
        return Err(PyTypeError::new_err(format!("progress is a callable for two numbers, not {found}")));
    }
    let watch = &Arc::new(Watch::default());
    let (end, mut ended) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let working = thread::Builder::new().spawn_scoped(scope, move || {
            // Dropped when the work ends in any way.
            let _end = end;
            work(watch)
        });
        let working = working.map_err(|error| raise_operation(py, &popef_ops::Error::io("start a thread", error)))?;
        let mut raised = None;
        loop {
            let ended = &mut ended;
            if py.detach(move || ended.recv_timeout(PAUSE)) == Err(RecvTimeoutError::Disconnected) {
                break;
            }
            if raised.is_none()
                && let Err(error) = watch.look(py, tell)
            {
                watch.stopped.store(true, Relaxed);
                raised = Some(error);
            }
        }
        let worked = py.detach(|| working.join()).unwrap_or_else(|panic| resume_unwind(panic));
        match raised {
            Some(error) => Err(error),
            None => watch.look(py, tell).map(|()| worked),
        }
    })
}
