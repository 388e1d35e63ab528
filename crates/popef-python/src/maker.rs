//! The function that made a writer, and whether it is certain that it ended as it should.
//!
//! Python keeps an exception out of sight while it closes a generator, and while `__del__` or a callback of a weak reference runs. A
//! writer that goes then cannot ask whether an exception came. So what nobody closed may replace a file in these cases only, in which
//! no exception can be there: the function that made the writer drops it itself, or has just returned to its caller; or the
//! script that made it has come to its end. Neither a generator nor a coroutine may have used it, because these can end anywhere.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;

use crate::ending::Interpreter;

/// `CO_OPTIMIZED`: the code of a function. A module, a notebook's cell and a class have other code.
const FUNCTION: u32 = 0x1;

/// `CO_GENERATOR`, `CO_COROUTINE`, `CO_ITERABLE_COROUTINE` and `CO_ASYNC_GENERATOR`.
const CAN_END_ANYWHERE: u32 = 0x20 | 0x80 | 0x100 | 0x200;

/// A frame that may be gone. Another one can be at the same address, but hardly one of the same code.
struct Known {
    address: usize,
    code: Py<PyAny>,
    /// The instruction that it was at.
    at: i64,
}

impl Known {
    fn of(frame: &Bound<'_, PyAny>) -> PyResult<Self> {
        let at = frame.getattr("f_lasti")?.extract()?;
        Ok(Known { address: frame.as_ptr().addr(), code: frame.getattr("f_code")?.unbind(), at })
    }

    fn is(&self, frame: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(self.address == frame.as_ptr().addr() && self.code.bind(frame.py()).is(&frame.getattr("f_code")?))
    }

    /// Whether it is this frame, and still at the same call.
    fn is_calling(&self, frame: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(self.is(frame)? && self.at == frame.getattr("f_lasti")?.extract::<i64>()?)
    }
}

/// The frame that made a writer.
pub(crate) struct Maker {
    made: Known,
    caller: Option<Known>,
    /// The address of the global variables, if no function made it.
    module: Option<usize>,
    /// The frame of the script, if that made it. It shows whether the script came to its end. It would keep the variables of the script
    /// alive, and the writer among them, so the end of the program takes it.
    script: Mutex<Option<Py<PyAny>>>,
    /// Whether the script came to its end.
    script_has_ended: AtomicBool,
    /// Whether code used it that can end anywhere.
    can_end_anywhere: AtomicBool,
}

impl Maker {
    /// `None` if no line of Python runs.
    pub(crate) fn of(py: Python<'_>, interpreter: &Interpreter) -> PyResult<Option<Self>> {
        let Some(frame) = interpreter.frame(py) else { return Ok(None) };
        let caller = back(&frame)?;
        let module = if flags(&frame)? & FUNCTION == 0 { Some(globals(&frame)?) } else { None };
        // Another frame without a function would keep its variables, and the writer among them, alive.
        let script = module.is_some() && caller.is_none();
        Ok(Some(Maker {
            made: Known::of(&frame)?,
            caller: caller.as_ref().map(Known::of).transpose()?,
            module,
            can_end_anywhere: can_end_anywhere(Some(frame.clone()))?.into(),
            script: Mutex::new(script.then(|| frame.unbind())),
            script_has_ended: AtomicBool::new(false),
        }))
    }

    /// Notes who uses the writer.
    pub(crate) fn used(&self, py: Python<'_>, interpreter: &Interpreter) {
        if !self.can_end_anywhere.load(Relaxed) {
            self.can_end_anywhere.store(can_end_anywhere(interpreter.frame(py)).unwrap_or(true), Relaxed);
        }
    }

    /// Notes how the script ended, if it made the writer.
    pub(crate) fn program_ends(&self, py: Python<'_>, interpreter: &Interpreter) {
        let script = self.script.lock().unwrap_or_else(PoisonError::into_inner).take();
        let has_ended = script.is_some_and(|frame| interpreter.has_returned(frame.bind(py)));
        self.script_has_ended.store(has_ended, Relaxed);
    }

    /// Whether what made the writer surely ended as it should.
    pub(crate) fn has_ended(&self, py: Python<'_>, interpreter: &Interpreter) -> bool {
        if self.can_end_anywhere.load(Relaxed) {
            return false;
        }
        match interpreter.frame(py) {
            Some(frame) => self.is_left_by(&frame).unwrap_or(false),
            None => self.script_has_ended.load(Relaxed),
        }
    }

    /// Whether the frame that drops the writer is the one that made it, or the one that it returned to.
    fn is_left_by(&self, frame: &Bound<'_, PyAny>) -> PyResult<bool> {
        if let Some(module) = self.module
            && flags(frame)? & FUNCTION == 0
        {
            return Ok(module == globals(frame)?);
        }
        let has_returned = self.caller.as_ref().map_or(Ok(false), |caller| caller.is_calling(frame));
        Ok(self.made.is(frame)? || has_returned?)
    }
}

fn flags(frame: &Bound<'_, PyAny>) -> PyResult<u32> {
    frame.getattr("f_code")?.getattr("co_flags")?.extract()
}

fn globals(frame: &Bound<'_, PyAny>) -> PyResult<usize> {
    Ok(frame.getattr("f_globals")?.as_ptr().addr())
}

/// The frame that called this one.
fn back<'py>(frame: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    frame.getattr("f_back").map(|back| Some(back).filter(|back| !back.is_none()))
}

/// Whether a generator or a coroutine runs. Those that run a whole module, as a notebook does with its cells, do not count.
fn can_end_anywhere(mut frame: Option<Bound<'_, PyAny>>) -> PyResult<bool> {
    while let Some(now) = frame {
        let flags = flags(&now)?;
        if flags & CAN_END_ANYWHERE != 0 {
            return Ok(true);
        }
        frame = if flags & FUNCTION == 0 { None } else { back(&now)? };
    }
    Ok(false)
}
