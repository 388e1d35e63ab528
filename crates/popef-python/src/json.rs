//! Plain values of Python as JSON.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde_json::{Map, Number, Value};

use crate::enums::{DataType, TensorType};
use crate::number;
use crate::text::kind_of;

/// So deep may lists and dicts be in each other. The recursion uses the stack.
const MOST_LEVELS: usize = 64;

/// The JSON of dicts, lists, strings, numbers, bools and None, and of this module's enumerations.
pub(crate) fn of(given: &Bound<'_, PyAny>) -> PyResult<Value> {
    of_level(given, 0)
}

fn of_level(given: &Bound<'_, PyAny>, level: usize) -> PyResult<Value> {
    if level > MOST_LEVELS {
        return Err(PyValueError::new_err("lists and dicts are in each other too deeply"));
    }
    let inner = |given: &Bound<'_, PyAny>| of_level(given, level.saturating_add(1));
    if given.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(flag) = given.cast::<PyBool>() {
        return Ok(flag.is_true().into());
    }
    if let Ok(text) = given.cast::<PyString>() {
        return Ok(text.to_str()?.into());
    }
    if let Ok(number) = given.cast::<PyFloat>() {
        let finite = Number::from_f64(number.value()).map(Value::Number);
        return finite.ok_or_else(|| PyValueError::new_err("numbers that are infinite or not a number cannot be set"));
    }
    if let Ok(members) = given.cast::<PyDict>() {
        let member =
            |(key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| Ok((key.extract::<String>()?, inner(&value)?));
        return members.iter().map(member).collect::<PyResult<Map<_, _>>>().map(Value::Object);
    }
    if given.is_instance_of::<PyList>() || given.is_instance_of::<PyTuple>() {
        return given.try_iter()?.map(|item| inner(&item?)).collect::<PyResult<Vec<_>>>().map(Value::Array);
    }
    if let Ok(data_type) = given.cast::<DataType>() {
        return Ok(data_type.get().0.to_string().into());
    }
    if let Ok(tensor_type) = given.cast::<TensorType>() {
        return Ok(tensor_type.get().0.to_string().into());
    }
    if given.is_instance_of::<PyInt>() || given.hasattr("__index__")? {
        return match given.extract::<i64>() {
            Ok(number) => Ok(number.into()),
            Err(_) => number::of::<u64>(given).map(Value::from),
        };
    }
    let found = kind_of(given);
    Err(PyTypeError::new_err(format!("a str, number, bool, list or dict is needed, not {found}")))
}
