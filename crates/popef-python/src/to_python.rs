//! Reports and listings as plain Python values: dicts, lists, strings and numbers. They are what `json.loads` makes of the
//! JSON of the same values.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;

use pyo3::IntoPyObjectExt as _;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use serde::Serialize;
use serde::ser::{self, Serializer};

/// Converts values, and keeps their keys, so that all dicts share the same strings.
pub(crate) struct Values<'py> {
    py: Python<'py>,
    keys: RefCell<HashMap<String, Bound<'py, PyString>>>,
}

impl<'py> Values<'py> {
    pub(crate) fn new(py: Python<'py>) -> Self {
        Values { py, keys: RefCell::default() }
    }

    /// The value as Python has it.
    pub(crate) fn convert(&self, value: &(impl Serialize + ?Sized)) -> PyResult<Bound<'py, PyAny>> {
        value.serialize(self).map_err(|Failed(error)| error)
    }

    fn key(&self, key: &str) -> Bound<'py, PyString> {
        let mut keys = self.keys.borrow_mut();
        if let Some(known) = keys.get(key) {
            return known.clone();
        }
        let made = PyString::new(self.py, key);
        // This project's own keys are few. Keys that are names from a file can be many, and occur once.
        if keys.len() < MOST_KEYS {
            keys.insert(key.to_owned(), made.clone());
        }
        made
    }

    fn plain<T: IntoPyObject<'py>>(&self, value: T) -> Converted<'py> {
        value.into_bound_py_any(self.py).map_err(Failed)
    }

    fn list(&self) -> List<'_, 'py> {
        List { values: self, items: Vec::new(), variant: None }
    }

    fn dict(&self) -> Dict<'_, 'py> {
        Dict { values: self, dict: PyDict::new(self.py), key: None, variant: None }
    }
}

const MOST_KEYS: usize = 1024;

/// The number of elements of a list after which signals are checked.
const MANY: usize = 4096;

/// The exception that the conversion ended with.
pub(crate) struct Failed(PyErr);

type Converted<'py> = Result<Bound<'py, PyAny>, Failed>;

impl From<PyErr> for Failed {
    fn from(error: PyErr) -> Self {
        Failed(error)
    }
}

impl fmt::Debug for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl std::error::Error for Failed {}

impl ser::Error for Failed {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Failed(PyValueError::new_err(message.to_string()))
    }
}

macro_rules! plain {
    ($( $method:ident($type:ty); )+) => { $(
        fn $method(self, value: $type) -> Converted<'py> {
            self.plain(value)
        }
    )+ };
}

impl<'v, 'py> Serializer for &'v Values<'py> {
    type Ok = Bound<'py, PyAny>;
    type Error = Failed;
    type SerializeSeq = List<'v, 'py>;
    type SerializeTuple = List<'v, 'py>;
    type SerializeTupleStruct = List<'v, 'py>;
    type SerializeTupleVariant = List<'v, 'py>;
    type SerializeMap = Dict<'v, 'py>;
    type SerializeStruct = Dict<'v, 'py>;
    type SerializeStructVariant = Dict<'v, 'py>;

    plain! {
        serialize_bool(bool);
        serialize_i8(i8);
        serialize_i16(i16);
        serialize_i32(i32);
        serialize_i64(i64);
        serialize_i128(i128);
        serialize_u8(u8);
        serialize_u16(u16);
        serialize_u32(u32);
        serialize_u64(u64);
        serialize_u128(u128);
        serialize_char(char);
        serialize_str(&str);
    }

    /// The number with the fewest digits that distinguish it from other `f32`s, as JSON has it.
    fn serialize_f32(self, value: f32) -> Converted<'py> {
        self.serialize_f64(value.to_string().parse().unwrap_or(f64::NAN))
    }

    /// JSON has no numbers that are not finite.
    fn serialize_f64(self, value: f64) -> Converted<'py> {
        self.plain(value.is_finite().then_some(value))
    }

    fn serialize_bytes(self, value: &[u8]) -> Converted<'py> {
        self.collect_seq(value)
    }

    fn serialize_none(self) -> Converted<'py> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Converted<'py> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Converted<'py> {
        Ok(self.py.None().into_bound(self.py))
    }

    fn serialize_unit_struct(self, _: &'static str) -> Converted<'py> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Converted<'py> {
        Ok(self.key(variant).into_any())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Converted<'py> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Converted<'py> {
        let value = value.serialize(self)?;
        named(self, Some(variant), value)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<List<'v, 'py>, Failed> {
        Ok(self.list())
    }

    fn serialize_tuple(self, _: usize) -> Result<List<'v, 'py>, Failed> {
        Ok(self.list())
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<List<'v, 'py>, Failed> {
        Ok(self.list())
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<List<'v, 'py>, Failed> {
        Ok(List { variant: Some(variant), ..self.list() })
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Dict<'v, 'py>, Failed> {
        Ok(self.dict())
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Dict<'v, 'py>, Failed> {
        Ok(self.dict())
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Dict<'v, 'py>, Failed> {
        Ok(Dict { variant: Some(variant), ..self.dict() })
    }
}

/// The value. For a variant of an enum, the dict with the value under the variant's name.
fn named<'py>(values: &Values<'py>, variant: Option<&str>, value: Bound<'py, PyAny>) -> Converted<'py> {
    let Some(variant) = variant else { return Ok(value) };
    let dict = PyDict::new(values.py);
    dict.set_item(values.key(variant), value)?;
    Ok(dict.into_any())
}

pub(crate) struct List<'v, 'py> {
    values: &'v Values<'py>,
    items: Vec<Bound<'py, PyAny>>,
    variant: Option<&'static str>,
}

impl<'py> List<'_, 'py> {
    fn push(&mut self, item: &(impl Serialize + ?Sized)) -> Result<(), Failed> {
        self.items.push(item.serialize(self.values)?);
        if self.items.len().is_multiple_of(MANY) {
            self.values.py.check_signals()?;
        }
        Ok(())
    }

    fn done(self) -> Converted<'py> {
        named(self.values, self.variant, PyList::new(self.values.py, self.items)?.into_any())
    }
}

pub(crate) struct Dict<'v, 'py> {
    values: &'v Values<'py>,
    dict: Bound<'py, PyDict>,
    /// The key whose value comes next.
    key: Option<Bound<'py, PyAny>>,
    variant: Option<&'static str>,
}

impl<'py> Dict<'_, 'py> {
    fn put(&mut self, key: &str, value: &(impl Serialize + ?Sized)) -> Result<(), Failed> {
        Ok(self.dict.set_item(self.values.key(key), value.serialize(self.values)?)?)
    }

    fn done(self) -> Converted<'py> {
        named(self.values, self.variant, self.dict.into_any())
    }
}

/// JSON has only texts as keys.
fn text_of<'py>(values: &Values<'py>, key: &(impl Serialize + ?Sized)) -> Converted<'py> {
    let key = key.serialize(values)?;
    match key.cast::<PyString>() {
        Ok(text) => Ok(values.key(text.to_str()?).into_any()),
        Err(_) => Ok(key.str()?.into_any()),
    }
}

impl<'py> ser::SerializeMap for Dict<'_, 'py> {
    type Ok = Bound<'py, PyAny>;
    type Error = Failed;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Failed> {
        self.key = Some(text_of(self.values, key)?);
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failed> {
        let value = value.serialize(self.values)?;
        let key = self.key.take().ok_or_else(|| <Failed as ser::Error>::custom("a value has no key"))?;
        Ok(self.dict.set_item(key, value)?)
    }

    fn end(self) -> Converted<'py> {
        self.done()
    }
}

macro_rules! lists {
    ($( $trait:ident::$method:ident; )+) => { $(
        impl<'py> ser::$trait for List<'_, 'py> {
            type Ok = Bound<'py, PyAny>;
            type Error = Failed;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Failed> {
                self.push(value)
            }

            fn end(self) -> Converted<'py> {
                self.done()
            }
        }
    )+ };
}

lists! {
    SerializeSeq::serialize_element;
    SerializeTuple::serialize_element;
    SerializeTupleStruct::serialize_field;
    SerializeTupleVariant::serialize_field;
}

macro_rules! structures {
    ($( $trait:ident; )+) => { $(
        impl<'py> ser::$trait for Dict<'_, 'py> {
            type Ok = Bound<'py, PyAny>;
            type Error = Failed;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Failed> {
                self.put(key, value)
            }

            fn end(self) -> Converted<'py> {
                self.done()
            }
        }
    )+ };
}

structures! {
    SerializeStruct;
    SerializeStructVariant;
}
