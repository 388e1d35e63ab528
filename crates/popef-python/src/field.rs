//! The fields of the value classes, and the macro that makes the classes.
//!
//! A list, a dict or an object in a field is a Python object, and a getter returns that object itself, so changes to it
//! change the field. A setter copies, as in C++, so that the given object can be used again for the next value.

use std::marker::PhantomData;

use popef::types::{ProgramInfo, Text};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple, PyType};

use crate::{number, text};

/// One field of a value class.
pub(crate) trait Field: Sized {
    /// The library's type of the field.
    type Value;

    /// The field with the library's value.
    fn of(py: Python<'_>, value: Self::Value) -> PyResult<Self>;

    /// The object that a getter returns.
    fn get<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>>;

    /// The library's value of an object. Fails if it has another type.
    fn value_of(given: &Bound<'_, PyAny>) -> PyResult<Self::Value>;

    /// The library's value of the field.
    fn value(&self, py: Python<'_>) -> PyResult<Self::Value> {
        Self::value_of(&self.get(py)?)
    }

    /// A copy of a given object, as a field.
    fn set(given: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::of(given.py(), Self::value_of(given)?)
    }

    /// Shows the garbage collector the objects of the field.
    fn visit(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        let _ = visit;
        Ok(())
    }
}

impl Field for Text<'static> {
    type Value = Text<'static>;

    fn of(_py: Python<'_>, value: Text<'static>) -> PyResult<Self> {
        Ok(value)
    }

    fn get<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(text::to_python(py, self)?.into_any())
    }

    fn value_of(given: &Bound<'_, PyAny>) -> PyResult<Text<'static>> {
        text::extract(given)
    }

    fn value(&self, _py: Python<'_>) -> PyResult<Text<'static>> {
        Ok(self.clone())
    }
}

macro_rules! plain_fields {
    ($($type:ty: $read:path),+) => { $(
        impl Field for $type {
            type Value = $type;

            fn of(_py: Python<'_>, value: $type) -> PyResult<Self> {
                Ok(value)
            }

            fn get<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                Ok(self.into_pyobject(py)?.to_owned().into_any())
            }

            fn value_of(given: &Bound<'_, PyAny>) -> PyResult<$type> {
                $read(given)
            }
        }
    )+ };
}

plain_fields!(bool: flag, u32: number::of, i64: number::of);

fn flag(given: &Bound<'_, PyAny>) -> PyResult<bool> {
    given.extract().map_err(|_| PyTypeError::new_err(format!("needed True or False, found {}", text::kind_of(given))))
}

/// A list of fields.
pub(crate) struct List<T>(Py<PyList>, PhantomData<fn() -> T>);

impl<T: Field> Field for List<T> {
    type Value = Vec<T::Value>;

    fn of(py: Python<'_>, values: Vec<T::Value>) -> PyResult<Self> {
        let list = PyList::empty(py);
        for value in values {
            list.append(T::of(py, value)?.get(py)?)?;
        }
        Ok(List(list.unbind(), PhantomData))
    }

    fn get<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.0.bind(py).clone().into_any())
    }

    fn value_of(given: &Bound<'_, PyAny>) -> PyResult<Vec<T::Value>> {
        // A text is iterable too, but never meant as a list.
        if given.is_instance_of::<PyString>() || given.is_instance_of::<PyBytes>() {
            return Err(PyTypeError::new_err(format!("a list is needed, not {}", text::kind_of(given))));
        }
        given.try_iter()?.map(|item| T::value_of(&item?)).collect()
    }

    fn visit(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.0)
    }
}

/// The names of programs, by their indices.
pub(crate) struct Programs(Py<PyDict>);

impl Field for Programs {
    type Value = Vec<ProgramInfo>;

    fn of(py: Python<'_>, programs: Vec<ProgramInfo>) -> PyResult<Self> {
        let names = PyDict::new(py);
        for program in programs {
            names.set_item(program.index, text::to_python(py, &program.name)?)?;
        }
        Ok(Programs(names.unbind()))
    }

    fn get<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.0.bind(py).clone().into_any())
    }

    fn value_of(given: &Bound<'_, PyAny>) -> PyResult<Vec<ProgramInfo>> {
        let names = PyDict::new(given.py());
        names.update(given.cast()?)?;
        names
            .iter()
            .map(|(index, name)| Ok(ProgramInfo { index: number::of(&index)?, name: text::extract(&name)? }))
            .collect()
    }

    fn visit(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.0)
    }
}

/// A list or a dict of more items than this is only counted by `repr`.
const MOST_SHOWN: usize = 8;

/// How a field is shown in the `repr` of its object.
pub(crate) fn show(field: &Bound<'_, PyAny>) -> PyResult<String> {
    let is_long = (field.is_instance_of::<PyList>() || field.is_instance_of::<PyDict>()) && field.len()? > MOST_SHOWN;
    if is_long { Ok(format!("<{} items>", field.len()?)) } else { Ok(field.repr()?.to_string()) }
}

/// How an object is pickled and copied: without a call of `__init__`, of which nobody knows the arguments in a class that inherits. Behind
/// its fields are the attributes that such a class added.
pub(crate) fn pickled<'py>(
    object: &Bound<'py, PyAny>,
    mut fields: Vec<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyTuple>> {
    let py = object.py();
    let new = py.import("copyreg")?.getattr("__newobj__")?;
    fields.extend(attributes(object)?);
    (new, (object.get_type(),), PyTuple::new(py, fields)?).into_pyobject(py)
}

/// The attributes that a class that inherits added: its `__dict__`, or None, and those in its `__slots__`.
fn attributes<'py>(object: &Bound<'py, PyAny>) -> PyResult<[Bound<'py, PyAny>; 2]> {
    let py = object.py();
    let slots = PyDict::new(py);
    let names = py.import("copyreg")?.call_method1("_slotnames", (object.get_type(),))?;
    for name in names.try_iter()? {
        let name = name?.cast_into::<PyString>()?;
        if let Some(value) = object.getattr_opt(&name)? {
            slots.set_item(name, value)?;
        }
    }
    let attributes = object.getattr_opt("__dict__")?.unwrap_or_else(|| py.None().into_bound(py));
    Ok([attributes, slots.into_any()])
}

/// The fields of an object that was pickled, in order. Gives the object its other attributes.
pub(crate) fn unpickled<'py, const N: usize>(
    object: &Bound<'py, PyAny>,
    state: &Bound<'py, PyAny>,
) -> PyResult<[Bound<'py, PyAny>; N]> {
    let mut fields: Vec<_> = state.try_iter()?.collect::<PyResult<_>>()?;
    if let [attributes, slots] = fields.split_off(N.min(fields.len())).as_slice() {
        if !attributes.is_none() {
            object.getattr("__dict__")?.call_method1("update", (attributes,))?;
        }
        for (name, value) in slots.cast::<PyDict>()? {
            // A class may refuse changes.
            object.py().get_type::<PyAny>().call_method1("__setattr__", (object, name, value))?;
        }
    }
    let wrong = |fields: Vec<_>| PyValueError::new_err(format!("{N} fields are needed, not {}", fields.len()));
    fields.try_into().map_err(wrong)
}

/// Adds a field as an attribute in the spelling of Python, such as `num_ipus` for `numIpus`. If the name is one word,
/// it is already the getter, and nothing is added.
pub(crate) fn add_attribute(class: &Bound<'_, PyType>, name: &str, getter: &str, setter: &str) -> PyResult<()> {
    let is_other_spelling = name.contains('_') && name.replace('_', "").eq_ignore_ascii_case(getter);
    if !is_other_spelling {
        return Ok(());
    }
    let property = class.py().import("builtins")?.getattr("property")?;
    class.setattr(name, property.call1((class.getattr(getter)?, class.getattr(setter)?))?)
}

/// Makes a class of values from the list of its fields: getters and setters, equality, `repr`, pickling and copying.
macro_rules! value_class {
    (
        $(#[doc = $doc:literal])+
        $name:ident ($shown:literal, $signature:literal) of $value:ty {
            $(
                $(#[doc = $field_doc:literal])+
                $field:ident: $type:ty = $getter:ident, $setter:ident ($set_shown:literal);
            )+
        }
        $($more:tt)*
    ) => {
        $(#[doc = $doc])+
        ///
        /// Getters return the list, dict or object itself, so changes to it are kept. Setters copy.
        #[pyclass(module = "popef", name = $shown, subclass, weakref)]
        pub(crate) struct $name {
            $( $field: $type, )+
        }

        impl $name {
            const FIELDS: usize = [$( stringify!($field) ),+].len();

            /// Adds the attributes that have a spelling of their own.
            pub(crate) fn add_attributes(py: Python<'_>) -> PyResult<()> {
                let class = py.get_type::<Self>();
                $( crate::field::add_attribute(&class, stringify!($field), stringify!($getter), $set_shown)?; )+
                Ok(())
            }

            /// The object for a value of the library.
            pub(crate) fn of_value(py: Python<'_>, value: $value) -> PyResult<Self> {
                Ok($name { $( $field: crate::field::Field::of(py, value.$field)?, )+ })
            }

            /// The library's value.
            pub(crate) fn to_value(&self, py: Python<'_>) -> PyResult<$value> {
                let mut value = <$value>::default();
                $( value.$field = crate::field::Field::value(&self.$field, py)?; )+
                Ok(value)
            }
        }

        #[pymethods]
        impl $name {
            /// Any arguments are taken: a class that inherits passes on others to `__init__`.
            #[new]
            #[pyo3(signature = (*_args, **_options), text_signature = $signature)]
            fn new(
                py: Python<'_>,
                _args: &Bound<'_, pyo3::types::PyTuple>,
                _options: Option<&Bound<'_, pyo3::types::PyDict>>,
            ) -> PyResult<Self> {
                Self::of_value(py, Default::default())
            }

            #[pyo3(signature = ($( $getter = None ),+))]
            #[allow(clippy::too_many_arguments, reason = "one argument for each field")]
            fn __init__(slf: &Bound<'_, Self>, $( $getter: Option<Bound<'_, PyAny>> ),+) -> PyResult<()> {
                $( $getter.map_or(Ok(()), |given| Self::$setter(slf, &given))?; )+
                Ok(())
            }

            $(
                $(#[doc = $field_doc])+
                fn $getter<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                    crate::field::Field::get(&self.$field, py)
                }

                #[doc = concat!("Sets `", stringify!($getter), "`.")]
                #[pyo3(name = $set_shown)]
                fn $setter(slf: &Bound<'_, Self>, value: &Bound<'_, PyAny>) -> PyResult<()> {
                    // Made first, because making it may run Python code that uses this object.
                    let new = crate::field::Field::set(value);
                    let new = new.map_err(|error| crate::number::named(value.py(), stringify!($getter), error))?;
                    let _old = std::mem::replace(&mut slf.try_borrow_mut()?.$field, new);
                    Ok(())
                }
            )+

            fn __eq__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                let py = other.py();
                let Ok(other) = other.cast::<Self>() else {
                    return Ok(py.NotImplemented().into_bound(py));
                };
                let same = self.to_value(py)? == other.try_borrow()?.to_value(py)?;
                Ok(same.into_pyobject(py)?.to_owned().into_any())
            }

            fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
                let fields = [ $( (stringify!($getter), crate::field::Field::get(&self.$field, py)?), )+ ];
                let shown = fields.iter().map(|(name, field)| {
                    Ok(format!("{}={}", name.trim_start_matches("r#"), crate::field::show(field)?))
                });
                Ok(format!("{}({})", $shown, shown.collect::<PyResult<Vec<_>>>()?.join(", ")))
            }

            fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, pyo3::types::PyTuple>> {
                let (py, value) = (slf.py(), slf.try_borrow()?);
                crate::field::pickled(slf.as_any(), vec![$( crate::field::Field::get(&value.$field, py)?, )+])
            }

            fn __setstate__(slf: &Bound<'_, Self>, state: &Bound<'_, PyAny>) -> PyResult<()> {
                let [$( $field ),+] = crate::field::unpickled::<{ $name::FIELDS }>(slf.as_any(), state)?;
                $( Self::$setter(slf, &$field)?; )+
                Ok(())
            }

            fn __traverse__(&self, visit: pyo3::gc::PyVisit<'_>) -> Result<(), pyo3::gc::PyTraverseError> {
                $( crate::field::Field::visit(&self.$field, &visit)?; )+
                Ok(())
            }

            $($more)*
        }

        impl crate::field::Field for Py<$name> {
            type Value = $value;

            fn of(py: Python<'_>, value: $value) -> PyResult<Self> {
                Py::new(py, $name::of_value(py, value)?)
            }

            fn get<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                Ok(self.bind(py).clone().into_any())
            }

            fn value_of(given: &Bound<'_, PyAny>) -> PyResult<$value> {
                match given.cast::<$name>() {
                    Ok(given) => given.try_borrow()?.to_value(given.py()),
                    Err(_) => {
                        let words = concat!("a popef.", $shown, " is needed, not ");
                        Err(pyo3::exceptions::PyTypeError::new_err(format!("{words}{}", crate::text::kind_of(given))))
                    }
                }
            }

            fn visit(&self, visit: &pyo3::gc::PyVisit<'_>) -> Result<(), pyo3::gc::PyTraverseError> {
                visit.call(self)
            }
        }
    };
}

pub(crate) use value_class;
