//! Calls of Python code of the caller, on threads that may meet the end of the interpreter.
//!
//! When the interpreter ends, Python before 3.14 ends each daemon thread that wants the interpreter's lock, by unwinding the stack of the
//! thread. Rust code must not be unwound in this way: the process would crash. So such a thread waits here for the end of the process, as
//! in later versions of Python.

#![expect(unsafe_code, reason = "PyO3 declares that a call never unwinds")]

use std::hint::black_box;
use std::mem;
use std::ptr;
use std::thread;

use pyo3::BoundObject as _;
use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyIterator, PyTuple};

use crate::exception::reworded;

/// Takes the interpreter's lock. If the interpreter has ended, this waits for the end of the process.
pub(crate) fn attach<T>(work: impl FnOnce(Python<'_>) -> T) -> T {
    Python::try_attach(work).unwrap_or_else(|| wait_for_the_end())
}

fn wait_for_the_end() -> ! {
    loop {
        thread::park();
    }
}

/// Is dropped only if Python unwinds the thread.
struct Wait;

impl Drop for Wait {
    fn drop(&mut self) {
        wait_for_the_end();
    }
}

type Declared = unsafe extern "C" fn(*mut PyObject, *mut PyObject, *mut PyObject) -> *mut PyObject;
type Unwinding = unsafe extern "C-unwind" fn(*mut PyObject, *mut PyObject, *mut PyObject) -> *mut PyObject;

/// Calls a callable of the caller.
pub(crate) fn call<'py, A: IntoPyObject<'py, Target = PyTuple>>(
    callable: &Bound<'py, PyAny>,
    args: A,
) -> PyResult<Bound<'py, PyAny>> {
    let args = args.into_pyobject(callable.py()).map_err(Into::into)?.into_bound();
    // SAFETY: the types differ only in that a call may unwind.
    let call = unsafe { mem::transmute::<Declared, Unwinding>(ffi::PyObject_Call) };
    // The compiler must not see that it is the function that was declared not to unwind.
    let call = black_box(call);
    let wait = Wait;
    // SAFETY: this thread has the interpreter's lock, and the objects live.
    let returned = unsafe { call(callable.as_ptr(), args.as_ptr(), ptr::null_mut()) };
    mem::forget(wait);
    // SAFETY: it is a new reference, or null if an exception was raised.
    unsafe { Bound::from_owned_ptr_or_err(callable.py(), returned) }
}

/// Calls a method of an object of the caller. Python code may also run to find the method.
pub(crate) fn method<'py, A: IntoPyObject<'py, Target = PyTuple>>(
    object: &Bound<'py, PyAny>,
    name: &str,
    args: A,
) -> PyResult<Bound<'py, PyAny>> {
    static CALLER: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = object.py();
    let args = args.into_pyobject(py).map_err(Into::into)?.into_bound();
    let name = name.into_pyobject(py)?;
    let named = PyTuple::new(py, [name.as_any()])?.into_sequence().concat(args.as_sequence())?;
    let caller = CALLER.import(py, "operator", "methodcaller")?.call1(named.cast::<PyTuple>()?)?;
    call(&caller, (object,))
}

/// Whether an object of the caller has an attribute, which Python code may say.
pub(crate) fn has(object: &Bound<'_, PyAny>, name: &str) -> PyResult<bool> {
    static HAS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    call(HAS.import(object.py(), "builtins", "hasattr")?, (object, name))?.is_truthy()
}

/// What an iterator of the caller gives next. `None` at its end.
pub(crate) fn next<'py>(iterator: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    static NEXT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let given = call(NEXT.import(iterator.py(), "builtins", "next")?, (iterator, iterator))?;
    Ok(if given.is(iterator) { None } else { Some(given) })
}

/// The items of a list of the caller. `needed` makes the error for what is no list.
pub(crate) fn items<'py>(
    given: &Bound<'py, PyAny>,
    needed: impl FnOnce() -> PyErr,
) -> PyResult<Bound<'py, PyIterator>> {
    given.try_iter().map_err(|error| reworded(given.py(), error, needed))
}
