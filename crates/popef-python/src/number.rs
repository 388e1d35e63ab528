//! Whole numbers, as Python programs give them.

use std::num::NonZero;

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::exception::{is_refusal, reworded};
use crate::text::kind_of;

/// A type of whole numbers.
pub(crate) trait Whole: for<'a, 'py> FromPyObject<'a, 'py, Error = PyErr> {
    /// The range of its numbers, in words.
    fn words() -> String;
}

macro_rules! whole {
    ($($type:ty),+) => { $(
        impl Whole for $type {
            fn words() -> String {
                format!("a whole number from {} to {}", <$type>::MIN, <$type>::MAX)
            }
        }
    )+ };
}

whole!(u16, u32, u64, usize, i64, NonZero<usize>);

/// The number. One that is out of range is a `ValueError`, anything else a `TypeError`.
pub(crate) fn of<T: Whole>(given: &Bound<'_, PyAny>) -> PyResult<T> {
    let py = given.py();
    given.extract::<T>().map_err(|error| {
        let needed = T::words();
        let is_number = !error.is_instance_of::<PyTypeError>(py);
        reworded(py, error, || {
            if !is_number {
                return PyTypeError::new_err(format!("needed {needed}, found {}", kind_of(given)));
            }
            match given.str() {
                Ok(found) => PyValueError::new_err(format!("needed {needed}, found {found}")),
                // A number of thousands of digits has no text.
                Err(error) => reworded(py, error, || PyValueError::new_err(format!("needed {needed}"))),
            }
        })
    })
}

/// The number of an index. As with lists, one that is too large only means a missing index: `most`.
pub(crate) fn index<'py, T: for<'a> FromPyObject<'a, 'py, Error = PyErr>>(
    given: &Bound<'py, PyAny>,
    most: T,
) -> PyResult<T> {
    let py = given.py();
    given.extract::<T>().or_else(|error| {
        let is_too_large = is_refusal(py, &error) && error.is_instance_of::<PyOverflowError>(py);
        if is_too_large { Ok(most) } else { Err(error) }
    })
}

/// The number of an argument.
pub(crate) fn argument<T: Whole>(name: &str, given: &Bound<'_, PyAny>) -> PyResult<T> {
    of(given).map_err(|error| named(given.py(), name, error))
}

/// Puts the name of an argument or a field before the description of a wrong value.
pub(crate) fn named(py: Python<'_>, name: &str, error: PyErr) -> PyErr {
    let class = error.get_type(py);
    if !class.is(py.get_type::<PyValueError>()) && !class.is(py.get_type::<PyTypeError>()) {
        return error;
    }
    let named = PyErr::from_type(class, format!("{name}: {}", error.value(py)));
    reworded(py, error, || named)
}
