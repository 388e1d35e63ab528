//! What the interpreter says of exceptions: which one is being handled, was shown, or is just over. Exceptions get numbers, because the
//! address of one can be that of a later one.

use std::iter::successors;
use std::process;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use pyo3::exceptions::{PyBaseException, PyException};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyBytes;

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
pub(crate) fn handled(py: Python<'_>) -> Option<Bound<'_, PyAny>> {
    let exception = Interpreter::get(py).ok()?.exc_info.bind(py).call0().and_then(|info| info.get_item(1)).ok();
    exception.filter(|exception| !exception.is_none())
}

/// Whether other threads of Python run.
pub(crate) fn has_threads(py: Python<'_>) -> bool {
    let count = py.import("threading").and_then(|threading| threading.call_method0("active_count")?.extract::<usize>());
    count.is_ok_and(|count| count > 1)
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
    pub(crate) fn get(py: Python<'_>) -> PyResult<&'static Self> {
        static INTERPRETER: PyOnceLock<Interpreter> = PyOnceLock::new();
        INTERPRETER.get_or_try_init(py, || {
            let sys = py.import("sys")?.into_any();
            let [get_frame, exc_info] = ["_getframe", "exc_info"].map(|name| sys.getattr(name).map(Bound::unbind));
            Ok(Interpreter { get_frame: get_frame?, exc_info: exc_info?, codes: Codes::of(py)?, sys: sys.unbind() })
        })
    }

    /// The frame that runs. `None` if no Python code runs.
    pub(crate) fn frame<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        self.get_frame.bind(py).call0().ok()
    }

    pub(crate) fn line(&self, py: Python<'_>) -> Option<String> {
        let frame = self.frame(py)?;
        let file: String = frame.getattr("f_code").ok()?.getattr("co_filename").ok()?.extract().ok()?;
        Some(format!("{file}:{}", frame.getattr("f_lineno").ok()?.str().ok()?))
    }

    /// The number of the last uncaught exception, or 0.
    pub(crate) fn shown(&self, py: Python<'_>) -> u64 {
        self.sys.bind(py).getattr("last_value").map_or(0, |exception| number(&exception))
    }

    /// Whether this is the main thread of a program that Python itself runs. A program that embeds Python calls functions without any
    /// frame around them.
    pub(crate) fn is_main(&self, py: Python<'_>) -> bool {
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
    pub(crate) fn leaves_exception(&self, py: Python<'_>) -> bool {
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
pub(crate) const NUMBER: &str = "_popef_number";

/// The attribute of an exception that has the number of the failure it tells of.
const FAILURE: &str = "_popef_failure";

/// A number that no other process has: exceptions are pickled with their attributes.
fn next_number() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    u64::from(process::id()).rotate_left(32).saturating_add(LAST.fetch_add(1, Relaxed))
}

/// The number of an exception, which it keeps as an attribute. Its address could be that of a later one. A reference to it would keep its
/// frames alive, and the writer among their variables. 0 for None.
pub(crate) fn number(exception: &Bound<'_, PyAny>) -> u64 {
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

pub(crate) fn noted(exception: &Bound<'_, PyAny>, attribute: &str) -> Option<u64> {
    own(exception, attribute)?.extract().ok()
}

/// An attribute of an exception itself. Code of its class is not asked.
fn own<'py>(exception: &Bound<'py, PyAny>, attribute: &str) -> Option<Bound<'py, PyAny>> {
    let class = exception.py().get_type::<PyBaseException>();
    class.call_method1("__getattribute__", (exception, attribute)).ok()
}

/// The exception, the one that was handled when it was raised, and so on. A program can make a circle of them.
pub(crate) fn contexts<'py>(exception: &Bound<'py, PyAny>) -> impl Iterator<Item = Bound<'py, PyAny>> {
    let context = |of: &Bound<'py, PyAny>| own(of, "__context__").filter(|context| !context.is_none());
    successors(Some(exception.clone()), context).take(1000)
}
