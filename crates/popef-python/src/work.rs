//! Long work, which Ctrl-C ends.
//!
//! Python handles signals only in its main thread, between two instructions of Python. So another thread does the work.
//! The calling thread waits for it, and checks for signals meanwhile. This holds whatever the work waits for.

use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use popef_ops::Progress;
use popef_work::{Thread, aside};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::callback;
use crate::error::raise_operation;
use crate::text::kind_of;

/// The longest time that a signal may wait, and the interval between reports of progress.
const PAUSE: Duration = Duration::from_millis(50);

/// The number of bytes read or written between two checks for signals.
pub(crate) const PIECE: usize = 8 << 20;

/// The number of bytes copied at a time, because others can change them, or for a file object. Larger copies do not
/// stay in the processor's cache, and many smaller ones take the system longer to write.
pub(crate) const COPIED: usize = 512 << 10;

/// Where the thread that called answers whether the new files may be put in their places.
type Question = Sender<ControlFlow<()>>;

/// How far the work is, and whether it shall stop.
#[derive(Debug)]
pub(crate) struct Watch {
    stopped: AtomicBool,
    /// The thread that called. `None` when the work has ended.
    caller: Mutex<Option<Sender<Question>>>,
    /// Whether files were put in their places. An exception could not take that back, so the caller is told of no progress then.
    placed: AtomicBool,
    done: AtomicU64,
    total: AtomicU64,
}

impl Watch {
    fn of(caller: Sender<Question>) -> Self {
        Watch {
            stopped: AtomicBool::new(false),
            caller: Mutex::new(Some(caller)),
            placed: AtomicBool::new(false),
            done: AtomicU64::new(0),
            total: AtomicU64::new(0),
        }
    }

    /// Asks the caller, and waits for the answer. Without one, the work stops.
    fn ask(&self) -> ControlFlow<()> {
        let caller = self.caller.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (question, answer) = mpsc::channel();
        let asked = caller.and_then(|caller| caller.send(question).ok());
        asked.and_then(|()| answer.recv().ok()).unwrap_or(ControlFlow::Break(()))
    }

    /// Notes that the work has ended.
    fn end(&self) {
        self.caller.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

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
        callback::call(tell, (done, self.total.load(Relaxed).max(done))).map(drop)
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

    fn can_place(&self) -> ControlFlow<()> {
        let answer = self.ask();
        self.placed.store(answer.is_continue(), Relaxed);
        answer
    }
}

/// Notes that the work has ended, however that may be.
struct End<'w>(&'w Watch);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Does the work without the interpreter's lock. If a handler of a signal or `tell` raises an exception, the work is told to
/// stop, and the exception is returned when it has. `tell` is called before new files are put in their places, but not afterwards.
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
    let (caller, mut questions) = mpsc::channel::<Question>();
    let watch = &Arc::new(Watch::of(caller));
    let work = |_: &_| {
        let _end = End(watch);
        work(watch)
    };
    aside(Thread::Instead, "popef", work, |mut working| {
        working.begun().map_err(|error| raise_operation(py, &popef_ops::Error::io("start a thread", error)))?;
        let mut raised = None;
        loop {
            let questions = &mut questions;
            let question = match py.detach(move || questions.recv_timeout(PAUSE)) {
                Err(RecvTimeoutError::Disconnected) => break,
                question => question.ok(),
            };
            if raised.is_none()
                && let Err(error) = watch.look(py, tell)
            {
                watch.stopped.store(true, Relaxed);
                raised = Some(error);
            }
            // If nobody waits for the answer, the work has ended.
            question.map(|question| question.send(watch.go_on()));
        }
        let worked = py.detach(|| working.join()).unwrap_or_else(|panic| resume_unwind(panic));
        match raised {
            Some(error) => Err(error),
            None if watch.placed.load(Relaxed) => Ok(worked),
            None => watch.look(py, tell).map(|()| worked),
        }
    })
}
