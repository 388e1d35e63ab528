//! Decides what happens to a file whose writer goes away unclosed.
//!
//! The vendor's writer finishes its file then, and programs rely on that. But Python also drops a writer because an exception ended
//! the function that had it. Then the file is incomplete. Python does not always tell: an exception is over when the garbage collector, a
//! generator or a second try of the same function drops the writer. So a new file is made unless an exception is seen, and a file that
//! exists is never replaced or appended to.

use std::ffi::CString;
use std::path::{Path, PathBuf, absolute};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use popef::read::FileId;
use pyo3::exceptions::{PyResourceWarning, PyRuntimeWarning};
use pyo3::prelude::*;
use pyo3::types::PyType;

use crate::interpreter::{Interpreter, NUMBER, contexts, handled, noted, number};

/// Where a file is written, and the file that was there before.
struct Place {
    path: PathBuf,
    /// The same for all spellings of one path.
    resolved: PathBuf,
    /// The file that was there when the writer was made.
    found: Option<FileId>,
}

impl Place {
    fn of(path: PathBuf) -> Self {
        Place { resolved: resolve(&path), found: FileId::of_path(&path).ok(), path }
    }

    /// Whether another program or user removed, replaced or created the file there.
    fn is_changed(&self) -> bool {
        FileId::of_path(&self.path).ok() != self.found
    }

    /// Whether there was anything in the file. Programs make an empty one to see whether they can.
    fn has_content(&self) -> bool {
        self.found.is_some() && self.path.metadata().is_ok_and(|found| found.len() > 0)
    }
}

/// The path without symbolic links. A new file has none itself, but its folder may.
fn resolve(path: &Path) -> PathBuf {
    let path = absolute(path).unwrap_or_else(|_| path.to_owned());
    let of_new = || Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?));
    path.canonicalize().ok().or_else(of_new).unwrap_or(path)
}

/// How a writer began, and what is needed to tell whether an exception ended it.
pub(crate) struct Origin {
    place: Option<Place>,
    /// The line of the program that made the writer. Empty if no line did.
    line: String,
    /// The exception that was being handled when the writer was made, or 0. It did not come from writing.
    handled: u64,
    /// The exception that was shown last when the writer was used last, as the interpreter keeps it.
    shown: AtomicU64,
}

/// Why a file is not finished, and how its writer is told of.
pub(crate) enum Against {
    /// This happened. Somebody was told, or wanted it.
    Known(&'static str),
    /// There is a file, and nobody knows whether the work ended. Who relied on the vendor's writer does not look for warnings about
    /// resources, and would take the old file for the new one.
    Exists,
}

impl Against {
    fn why(&self) -> &'static str {
        match self {
            Against::Known(why) => why,
            Against::Exists => {
                "the file that exists is kept: only a writer that is closed replaces it or appends to it"
            }
        }
    }

    fn category<'py>(&self, py: Python<'py>) -> Bound<'py, PyType> {
        match self {
            Against::Known(_) => py.get_type::<PyResourceWarning>(),
            Against::Exists => py.get_type::<PyRuntimeWarning>(),
        }
    }
}

impl Origin {
    pub(crate) fn of(py: Python<'_>, path: Option<PathBuf>) -> PyResult<Self> {
        let interpreter = Interpreter::get(py)?;
        Ok(Origin {
            place: path.map(Place::of),
            line: interpreter.line(py).unwrap_or_default(),
            handled: handled(py).map_or(0, |handled| number(&handled)),
            shown: interpreter.shown(py).into(),
        })
    }

    /// Notes that the program continues to use the writer, whatever went wrong before.
    pub(crate) fn used(&self, py: Python<'_>) {
        if let Ok(interpreter) = Interpreter::get(py) {
            self.shown.store(interpreter.shown(py), Relaxed);
        }
    }

    /// Whether it writes to this path.
    pub(crate) fn is_at(&self, path: &Path) -> bool {
        let same_file = |place: &Place| place.found.is_some() && FileId::of_path(path).ok() == place.found;
        self.place.as_ref().is_some_and(|place| place.resolved == resolve(path) || same_file(place))
    }

    /// Why the file must not be finished. `raised` says whether an exception is on its way. `None` if nothing speaks against it.
    pub(crate) fn against(&self, py: Python<'_>, raised: bool) -> Option<Against> {
        if self.place.as_ref().is_some_and(Place::is_changed) {
            return Some(Against::Known("what was at its path was removed or replaced"));
        }
        let interpreter = Interpreter::get(py).ok()?;
        if raised || self.is_left(py) || self.is_broken_off(py, interpreter) {
            return Some(Against::Known("an exception came before its end"));
        }
        self.place.as_ref().is_some_and(Place::has_content).then_some(Against::Exists)
    }

    /// Whether an exception is seen that ended the work.
    fn is_broken_off(&self, py: Python<'_>, interpreter: &Interpreter) -> bool {
        let is_ended = handled(py).is_some_and(|handled| self.is_ended_by(&handled));
        is_ended || interpreter.leaves_exception(py) || self.is_unfinished(py, interpreter)
    }

    /// Whether an exception that is handled can have ended the work. A writer that was made in an `except` clause had ended its work with
    /// the clause, if the exception came after that: the next turn of a loop drops such a writer in the same clause.
    fn is_ended_by(&self, handled: &Bound<'_, PyAny>) -> bool {
        let is_of_clause = |exception: Bound<'_, PyAny>| noted(&exception, NUMBER) == Some(self.handled);
        number(handled) != self.handled && (self.handled == 0 || contexts(handled).any(is_of_clause))
    }

    /// Whether an exception that nobody caught was shown since the writer was used last: it ended the program, or a notebook's cell.
    pub(crate) fn is_left(&self, py: Python<'_>) -> bool {
        Interpreter::get(py).is_ok_and(|interpreter| interpreter.shown(py) != self.shown.load(Relaxed))
    }

    /// Whether Python code no longer runs because of an exception.
    fn is_unfinished(&self, py: Python<'_>, interpreter: &Interpreter) -> bool {
        let is_running = interpreter.frame(py).is_some();
        !is_running && !ENDING.load(Relaxed) && interpreter.is_main(py)
    }

    /// The name of the writer in messages.
    pub(crate) fn name(&self) -> String {
        let path = self.place.as_ref().map(|place| format!(" for {}", place.path.display()));
        let line = if self.line.is_empty() { String::new() } else { format!(", made at {}", self.line) };
        format!("the writer{}{line}", path.unwrap_or_default())
    }

    /// Where the writer was made.
    pub(crate) fn line(&self) -> &str {
        &self.line
    }

    /// Tells that the file may be missing when the program has ended.
    pub(crate) fn warn_of_threads(&self, py: Python<'_>) -> PyResult<()> {
        let what = "its file may never be finished, because Python may not free it while a daemon thread runs";
        self.warn_as(&py.get_type::<PyRuntimeWarning>(), what)
    }

    /// Warns about a forgotten `close()`.
    pub(crate) fn warn(&self, py: Python<'_>, what: &str) -> PyResult<()> {
        self.warn_as(&py.get_type::<PyResourceWarning>(), what)
    }

    /// Tells that everything was discarded.
    pub(crate) fn warn_against(&self, py: Python<'_>, against: &Against) -> PyResult<()> {
        self.warn_as(&against.category(py), &format!("everything was discarded, because {}", against.why()))
    }

    fn warn_as(&self, category: &Bound<'_, PyType>, what: &str) -> PyResult<()> {
        let message = format!("{} was not closed: {what}. Use it in a with statement, or call close()", self.name());
        let message = CString::new(message.replace('\0', " "))?;
        PyErr::warn(category.py(), category, &message, 1)
    }
}

/// Whether the interpreter has begun to end.
static ENDING: AtomicBool = AtomicBool::new(false);

/// Notes that the interpreter ends.
pub(crate) fn set_ending() {
    ENDING.store(true, Relaxed);
}
