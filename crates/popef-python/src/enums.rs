//! The enumerations. They behave like those of pybind11, which the vendor's module has: `int()`, `hash()`, `name`, `value`
//! and `__members__` work, and a value never equals a number.

use popef::types;
use pyo3::basic::CompareOp;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::field::Field;
use crate::number;
use crate::text::kind_of;

macro_rules! enumeration {
    ($(#[doc = $doc:literal])+ $name:ident of $type:ty { $( $variant:ident = $shown:literal, $getter:ident; )+ }) => {
        $(#[doc = $doc])+
        #[pyclass(module = "popef", frozen)]
        #[derive(Clone, Copy, PartialEq, Eq)]
        pub(crate) struct $name(pub(crate) $type);

        impl $name {
            const ALL: &'static [(&'static str, $type)] = &[ $( ($shown, <$type>::$variant) ),+ ];

            fn shown(self) -> &'static str {
                let named = Self::ALL.iter().find(|(_, value)| *value == self.0);
                named.map_or("???", |(shown, _)| *shown)
            }
        }

        #[pymethods]
        impl $name {
            /// Makes a value from its number. Numbers without a name are kept, because a file of a later version may
            /// have them.
            #[new]
            fn new(value: &Bound<'_, PyAny>) -> PyResult<Self> {
                Ok($name(<$type>::from_number(number::argument("value", value)?)))
            }

            $(
                #[classattr]
                #[pyo3(name = $shown)]
                fn $getter() -> Self {
                    $name(<$type>::$variant)
                }
            )+

            /// All values that have a name, by their names.
            #[classattr]
            #[pyo3(name = "__members__")]
            fn members(py: Python<'_>) -> PyResult<Py<PyDict>> {
                let members = PyDict::new(py);
                for (shown, value) in Self::ALL {
                    members.set_item(shown, $name(*value))?;
                }
                Ok(members.unbind())
            }

            /// The name, or `???` for a number without a name.
            #[getter]
            fn name(&self) -> &'static str {
                self.shown()
            }

            /// The number in a file.
            #[getter]
            fn value(&self) -> u16 {
                self.0.number()
            }

            fn __int__(&self) -> u16 {
                self.0.number()
            }

            fn __index__(&self) -> u16 {
                self.0.number()
            }

            fn __hash__(&self) -> u64 {
                self.0.number().into()
            }

            fn __richcmp__(&self, other: &Bound<'_, PyAny>, op: CompareOp) -> PyResult<Py<PyAny>> {
                let py = other.py();
                let same = other.cast::<Self>().is_ok_and(|other| *other.get() == *self);
                Ok(match op {
                    CompareOp::Eq => same.into_pyobject(py)?.to_owned().into_any().unbind(),
                    CompareOp::Ne => (!same).into_pyobject(py)?.to_owned().into_any().unbind(),
                    _ => py.NotImplemented(),
                })
            }

            fn __repr__(&self) -> String {
                format!(concat!("<", stringify!($name), ".{}: {}>"), self.shown(), self.0.number())
            }

            fn __str__(&self) -> String {
                format!(concat!(stringify!($name), ".{}"), self.shown())
            }

            fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyAny>, (u16,)) {
                (py.get_type::<Self>().into_any(), (self.0.number(),))
            }
        }

        impl Field for $name {
            type Value = $type;

            fn of(_py: Python<'_>, value: $type) -> PyResult<Self> {
                Ok($name(value))
            }

            fn get<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                Ok(Bound::new(py, *self)?.into_any())
            }

            fn value_of(given: &Bound<'_, PyAny>) -> PyResult<$type> {
                match given.cast::<Self>() {
                    Ok(value) => Ok(value.get().0),
                    Err(_) => {
                        let words = concat!("a popef.", stringify!($name), " is needed, not ");
                        Err(PyTypeError::new_err(format!("{words}{}", kind_of(given))))
                    }
                }
            }
        }
    };
}

enumeration! {
    /// What a blob holds.
    ///
    /// >>> import popef
    /// >>> popef.BlobType.DATA_TENSOR, int(popef.BlobType.OPAQUE)
    /// (<BlobType.DATA_TENSOR: 2>, 4)
    BlobType of types::BlobType {
        PoplarExecutable = "POPLAR_EXECUTABLE", poplar_executable;
        Metadata = "METADATA", metadata;
        DataTensor = "DATA_TENSOR", data_tensor;
        DataFeed = "DATA_FEED", data_feed;
        Opaque = "OPAQUE", opaque;
    }
}

enumeration! {
    /// The type of a tensor's elements. `F8143` and `F8152` are 8-bit floats with 4 and 5 bits of exponent.
    ///
    /// >>> import popef
    /// >>> popef.DataType.F16.name, popef.DataType(3) == popef.DataType.F32
    /// ('F16', True)
    DataType of types::DataType {
        Bool = "BOOL", bool;
        F8 = "F8", f8;
        F16 = "F16", f16;
        F32 = "F32", f32;
        F64 = "F64", f64;
        S8 = "S8", s8;
        U8 = "U8", u8;
        S16 = "S16", s16;
        U16 = "U16", u16;
        S32 = "S32", s32;
        U32 = "U32", u32;
        S64 = "S64", s64;
        U64 = "U64", u64;
        F8143 = "F8143", f8143;
        F8152 = "F8152", f8152;
    }
}

enumeration! {
    /// The direction of an anchor, seen from the model.
    ///
    /// >>> import popef
    /// >>> list(popef.TensorType.__members__)
    /// ['UNKNOWN', 'INPUT', 'OUTPUT']
    TensorType of types::TensorType {
        Unknown = "UNKNOWN", unknown;
        Input = "INPUT", input;
        Output = "OUTPUT", output;
    }
}
