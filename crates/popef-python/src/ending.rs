//! Decides what happens to a file whose writer goes away unclosed.
//!
//! The vendor's writer finishes its file then, and programs rely on that. But Python also drops a writer because an exception ended
//! the function that had it. Then the file is incomplete. Python does not always tell: an exception is over when the garbage collector, a
//! generator or a second try of the same function drops the writer. So a new file is made unless an exception is seen, and a file that
//! exists is never replaced or appended to.

use std::ffi::CString;
use std::iter::successors;
use std::path::{Path, PathBuf, absolute};
use std::process;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use popef::read::FileId;
use pyo3::exceptions::{PyBaseException, PyException, PyResourceWarning, PyRuntimeWarning};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyType};

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

/// A failure of writing, which exceptions tell of.
pub(crate) struct Failure {
    number: u64,
    /// The exception that was being handled when writing failed, or 0. It does not tell of the failure.
    handled: u64,
}

impl Failure {
    pub(crate) fn new(py: Python<'_>) -> Self {
        Failure { number: next_number(), handled: handled(py).map_or(0, |handled| number(&handled)) }
    }

    /// Notes that an exception tells of the failure.
    pub(crate) fn told_by(&self, py: Python<'_>, error: &PyErr) {
        note(error.value(py), FAILURE, self.number);
    }

    /// Whether an exception that is handled tells of the failure, or came later and ends the program: no other one may take its place.
    pub(crate) fn is_told(&self, py: Python<'_>) -> bool {
        handled(py).is_some_and(|handled| {
            let is_end = !handled.is_instance_of::<PyException>() && number(&handled) != self.handled;
            is_end || contexts(&handled).any(|exception| noted(&exception, FAILURE) == Some(self.number))
        })
    }
}

/// The exception that is being handled.
fn handled(py: Python<'_>) -> Option<Bound<'_, PyAny>> {
    let exception = Interpreter::get(py).ok()?.exc_info.bind(py).call0().and_then(|info| info.get_item(1)).ok();
    exception.filter(|exception| !exception.is_none())
}

/// Whether the interpreter has begun to end.
static ENDING: AtomicBool = AtomicBool::new(false);

/// Whether other threads of Python run.
pub(crate) fn has_threads(py: Python<'_>) -> bool {
    let count = py.import("threading").and_then(|threading| threading.call_method0("active_count")?.extract::<usize>());
    count.is_ok_and(|count| count > 1)
}

/// Notes that the interpreter ends.
pub(crate) fn set_ending() {
    ENDING.store(true, Relaxed);
}

/// What the interpreter says of itself, also while it ends and nothing can be imported any more.
pub(crate) struct Interpreter {
    sys: Py<PyAny>,
    get_frame: Py<PyAny>,
    exc_info: Py<PyAny>,
    codes: Codes,
}

/// Numbers of instructions of the interpreter.
struct Codes {
    pop_except: Option<u8>,
    load_const: Option<u8>,
    deletes: [Option<u8>; 4],
    raises: [Option<u8>; 2],
}

impl Codes {
    fn of(py: Python<'_>) -> PyResult<Self> {
        let numbers = py.import("opcode")?.getattr("opmap")?;
        let number = |name: &str| numbers.get_item(name).and_then(|number| number.extract()).ok();
        let deletes = ["DELETE_FAST", "DELETE_NAME", "DELETE_GLOBAL", "DELETE_DEREF"].map(number);
        let raises = ["RAISE_VARARGS", "RERAISE"].map(number);
        Ok(Codes { pop_except: number("POP_EXCEPT"), load_const: number("LOAD_CONST"), deletes, raises })
    }
}

impl Interpreter {
    fn get(py: Python<'_>) -> PyResult<&'static Self> {
        static INTERPRETER: PyOnceLock<Interpreter> = PyOnceLock::new();
        INTERPRETER.get_or_try_init(py, || {
            let sys = py.import("sys")?.into_any();
            let [get_frame, exc_info] = ["_getframe", "exc_info"].map(|name| sys.getattr(name).map(Bound::unbind));
            Ok(Interpreter { get_frame: get_frame?, exc_info: exc_info?, codes: Codes::of(py)?, sys: sys.unbind() })
        })
    }

    /// The frame that runs. `None` if no Python code runs.
    fn frame<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        self.get_frame.bind(py).call0().ok()
    }

    fn line(&self, py: Python<'_>) -> Option<String> {
        let frame = self.frame(py)?;
        let file: String = frame.getattr("f_code").ok()?.getattr("co_filename").ok()?.extract().ok()?;
        Some(format!("{file}:{}", frame.getattr("f_lineno").ok()?.str().ok()?))
    }

    /// The number of the last uncaught exception, or 0.
    fn shown(&self, py: Python<'_>) -> u64 {
        self.sys.bind(py).getattr("last_value").map_or(0, |exception| number(&exception))
    }

    /// Whether this is the main thread of a program that Python itself runs. A program that embeds Python calls functions without any
    /// frame around them.
    fn is_main(&self, py: Python<'_>) -> bool {
        let asked = || -> PyResult<bool> {
            let threading = py.import("threading")?;
            let main = threading.call_method0("main_thread")?.getattr("ident")?;
            let is_of_python = self.sys.bind(py).getattr("orig_argv")?.len()? > 0;
            Ok(is_of_python && main.eq(threading.call_method0("get_ident")?)?)
        };
        asked().unwrap_or_default()
    }

    /// Whether a frame that runs is raising an exception, or has just left an `except` clause. The exception goes then, with the frames
    /// that it came through and the writers in them. In between, `__del__` and callbacks of weak references have frames of their own.
    fn leaves_exception(&self, py: Python<'_>) -> bool {
        let mut frame = self.frame(py);
        while let Some(now) = frame {
            if self.is_at(&now, |code, at| self.codes.leaves_exception(code, at)) {
                return true;
            }
            frame = now.getattr("f_back").ok().filter(|back| !back.is_none());
        }
        false
    }

    /// Whether a frame is at such an instruction.
    fn is_at(&self, frame: &Bound<'_, PyAny>, is_so: impl FnOnce(&[u8], usize) -> bool) -> bool {
        let looked = || -> PyResult<bool> {
            let code = frame.getattr("f_code")?.getattr("co_code")?.cast_into::<PyBytes>()?;
            Ok(is_so(code.as_bytes(), frame.getattr("f_lasti")?.extract()?))
        };
        looked().unwrap_or_default()
    }
}

impl Codes {
    /// Whether the instruction at this place raises an exception, or frees that of an `except` clause: `POP_EXCEPT`, or, if the clause
    /// has a name for it, the one that sets the name to None before it is deleted.
    fn leaves_exception(&self, code: &[u8], at: usize) -> bool {
        let part = |from: Option<usize>| from.and_then(|from| code.get(from..)).unwrap_or_default();
        match (part(at.checked_sub(4)), part(Some(at))) {
            (_, [now, ..]) if self.pop_except == Some(*now) || self.raises.contains(&Some(*now)) => true,
            ([pop, _, load, _, ..], [_, name, delete, deleted, ..]) => {
                self.pop_except == Some(*pop)
                    && self.load_const == Some(*load)
                    && self.deletes.contains(&Some(*delete))
                    && name == deleted
            }
            _ => false,
        }
    }
}

/// The attribute of an exception that has its number.
const NUMBER: &str = "_popef_number";

/// The attribute of an exception that has the number of the failure it tells of.
const FAILURE: &str = "_popef_failure";

/// A number that no other process has: exceptions are pickled with their attributes.
fn next_number() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    u64::from(process::id()).rotate_left(32).saturating_add(LAST.fetch_add(1, Relaxed))
}

/// The number of an exception, which it keeps as an attribute. Its address could be that of a later one. A reference to it would keep its
/// frames alive, and the writer among their variables. 0 for None.
fn number(exception: &Bound<'_, PyAny>) -> u64 {
    if exception.is_none() {
        return 0;
    }
    noted(exception, NUMBER).unwrap_or_else(|| {
        let number = next_number();
        note(exception, NUMBER, number);
        number
    })
}

/// Keeps a number in an exception, also in one whose class allows no attributes.
fn note(exception: &Bound<'_, PyAny>, attribute: &str, number: u64) {
    let class = exception.py().get_type::<PyBaseException>();
    let _ = class.call_method1("__setattr__", (exception, attribute, number));
}

fn noted(exception: &Bound<'_, PyAny>, attribute: &str) -> Option<u64> {
    own(exception, attribute)?.extract().ok()
}

/// An attribute of an exception itself. Code of its class is not asked.
fn own<'py>(exception: &Bound<'py, PyAny>, attribute: &str) -> Option<Bound<'py, PyAny>> {
    let class = exception.py().get_type::<PyBaseException>();
    class.call_method1("__getattribute__", (exception, attribute)).ok()
}

/// The exception, the one that was handled when it was raised, and so on. A program can make a circle of them.
fn contexts<'py>(exception: &Bound<'py, PyAny>) -> impl Iterator<Item = Bound<'py, PyAny>> {
    let context = |of: &Bound<'py, PyAny>| own(of, "__context__").filter(|context| !context.is_none());
    successors(Some(exception.clone()), context).take(1000)
}
