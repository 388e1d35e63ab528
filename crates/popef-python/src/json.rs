//! Plain values of Python as JSON.

use popef::types::Text;
use popef_ops::Name;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde_json::{Map, Number, Value};

use crate::enums::{DataType, TensorType};
use crate::exception::is_refusal;
use crate::number;
use crate::text::{self, kind_of};

/// Maximum depth of nested lists and dicts. The recursion uses the stack.
const MOST_LEVELS: usize = 64;

/// The JSON of dicts, lists, strings, numbers, bools and None, and of this module's enumerations.
pub(crate) fn of(given: &Bound<'_, PyAny>) -> PyResult<Value> {
    of_level(given, 0)
}

const NOT_HERE: &str = "names that are not UTF-8 can be values of dicts here, but neither keys nor items of lists";

/// The text of a str that is not UTF-8.
pub(crate) fn not_utf8(given: &Bound<'_, PyAny>) -> PyResult<Option<Text<'static>>> {
    let text = given.is_instance_of::<PyString>().then(|| text::extract(given)).transpose()?;
    Ok(text.filter(|text| text.to_str().is_err()))
}

/// Puts a text that is not UTF-8 under its two keys, as the JSON of metadata has it.
fn put_text(object: &mut Map<String, Value>, key: &str, text: Text<'static>) {
    let Ok(mut texts) = serde_json::to_value(Name::from(text)) else { return };
    for part in ["", "Bytes"] {
        if let Some(text) = texts.get_mut(format!("name{part}")) {
            object.insert(format!("{key}{part}"), text.take());
        }
    }
}

fn of_level(given: &Bound<'_, PyAny>, level: usize) -> PyResult<Value> {
    if level > MOST_LEVELS {
        return Err(PyValueError::new_err("lists and dicts are in each other too deeply"));
    }
    let inner = |given: &Bound<'_, PyAny>| of_level(given, level.saturating_add(1));
    if given.is_none() {
        return Ok(Value::Null);
    }
    // Also a bool of NumPy.
    if let Ok(flag) = given.extract::<bool>() {
        return Ok(flag.into());
    }
    if given.is_instance_of::<PyString>() {
        let text = text::extract(given)?;
        let text = text.to_str().map_err(|_| PyValueError::new_err(NOT_HERE))?;
        return Ok(text.into());
    }
    if let Ok(number) = given.cast::<PyFloat>() {
        let finite = Number::from_f64(number.value()).map(Value::Number);
        return finite.ok_or_else(|| PyValueError::new_err("numbers that are infinite or not a number cannot be set"));
    }
    if let Ok(members) = given.cast::<PyDict>() {
        let mut object = Map::new();
        for (key, value) in members {
            let key = text::extract(&key)?;
            let key = key.to_str().map_err(|_| PyValueError::new_err(NOT_HERE))?;
            match not_utf8(&value)? {
                Some(text) => put_text(&mut object, key, text),
                None => _ = object.insert(key.to_owned(), inner(&value)?),
            }
        }
        return Ok(Value::Object(object));
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
            Err(error) if !is_refusal(given.py(), &error) => Err(error),
            Err(_) => number::of::<u64>(given).map(Value::from),
        };
    }
    let found = kind_of(given);
    Err(PyTypeError::new_err(format!("a str, number, bool, list or dict is needed, not {found}")))
}
