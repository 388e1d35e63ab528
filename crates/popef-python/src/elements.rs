//! How Python objects describe their elements.

use popef::DataType;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyMemoryView;

use crate::dtype::{name_of, numpy_dtype_to_popef_type};
use crate::exception::is_refusal;
use crate::text::kind_of;

/// The elements of an object: an array, or bytes.
pub(crate) struct Elements<'py> {
    /// `None` if they are flat bytes, which may be of any type.
    pub(crate) data_type: Option<DataType>,
    pub(crate) shape: Vec<i64>,
    /// The owner of the elements: the object, or its array.
    pub(crate) object: Bound<'py, PyAny>,
}

impl<'py> Elements<'py> {
    /// Fails if the object has no elements, or PopEF has no type for them.
    pub(crate) fn of(given: &Bound<'py, PyAny>) -> PyResult<Self> {
        let Some(view) = view_of(given)? else {
            let needed = || {
                let found = kind_of(given);
                PyTypeError::new_err(format!("an array, or an object with a buffer, is needed, not {found}"))
            };
            let object = array_of(given)?.ok_or_else(needed)?;
            let data_type = Some(numpy_dtype_to_popef_type(&object.getattr("dtype")?)?.0);
            return Ok(Elements { data_type, shape: object.getattr("shape")?.extract()?, object });
        };
        let format: String = view.getattr("format")?.extract()?;
        let shape: Vec<i64> = view.getattr("shape")?.extract()?;
        let is_named =
            |data_type: &DataType, found: &str| name_of(*data_type).is_some_and(|name| name.ends_with(found));
        let data_type = match Found::of(&format, view.getattr("itemsize")?.extract()?) {
            Found::Raw if shape.len() == 1 => Some(None),
            Found::Raw if matches!(&*format, "B" | "c") => Some(Some(DataType::U8)),
            Found::Elements(found) => DataType::ALL.iter().copied().find(|all| is_named(all, &found)).map(Some),
            Found::Raw | Found::Other => None,
        };
        let unknown = || PyTypeError::new_err(format!("PopEF has no type for elements of the format {format:?}"));
        Ok(Elements { data_type: data_type.ok_or_else(unknown)?, shape, object: given.clone() })
    }
}

/// A view of the buffer of an object. `None` if it has no buffer, or one that NumPy does not export.
pub(crate) fn view_of<'py>(given: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyMemoryView>>> {
    match PyMemoryView::from(given) {
        Ok(view) => Ok(Some(view)),
        Err(error) if is_refusal(given.py(), &error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The array of an object without a buffer. `None` if it does not have one.
pub(crate) fn array_of<'py>(given: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    if given.hasattr("__array_interface__")? || given.hasattr("__array__")? {
        given.py().import("numpy")?.call_method1("asarray", (given,)).map(Some)
    } else {
        Ok(None)
    }
}

/// How a buffer describes its elements.
pub(crate) enum Found {
    /// Bytes that may be of any type.
    Raw,
    /// The end of the name that NumPy has for the type.
    Elements(String),
    Other,
}

impl Found {
    /// `format` is a format of the module `struct`, or of NumPy's additions to it.
    pub(crate) fn of(format: &str, size: usize) -> Self {
        let mut code = format.trim_start_matches(['@', '=', '<', '>', '!']).chars();
        match (code.next(), code.next_back()) {
            (Some('B' | 'c'), None) | (_, Some('x')) | (Some('x'), None) => Found::Raw,
            (Some('?'), None) => Found::Elements("?".to_owned()),
            (Some('b' | 'h' | 'i' | 'l' | 'q' | 'n'), None) => Found::Elements(format!("i{size}")),
            (Some('H' | 'I' | 'L' | 'Q' | 'N'), None) => Found::Elements(format!("u{size}")),
            (Some('e' | 'f' | 'd'), None) => Found::Elements(format!("f{size}")),
            _ => Found::Other,
        }
    }
}
