//! The element types as types of NumPy.

use popef::DataType;
use pyo3::exceptions::{PyImportError, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use crate::enums;

/// The type of NumPy, little-endian. `None` for a number without a name.
pub(crate) fn name_of(data_type: DataType) -> Option<&'static str> {
    Some(match data_type {
        DataType::Bool => "?",
        DataType::F16 => "<f2",
        DataType::F32 => "<f4",
        DataType::F64 => "<f8",
        DataType::S8 => "i1",
        DataType::S16 => "<i2",
        DataType::U16 => "<u2",
        DataType::S32 => "<i4",
        DataType::U32 => "<u4",
        DataType::S64 => "<i8",
        DataType::U64 => "<u8",
        // NumPy has no 8-bit floats.
        DataType::U8 | DataType::F8 | DataType::F8143 | DataType::F8152 => "u1",
        _ => return None,
    })
}

/// The name in the package ml_dtypes of a type that NumPy does not have.
fn ml_dtype_name(data_type: DataType) -> Option<&'static str> {
    match data_type {
        DataType::F8143 => Some("float8_e4m3fnuz"),
        DataType::F8152 => Some("float8_e5m2fnuz"),
        _ => None,
    }
}

/// The package ml_dtypes, if it is installed.
fn ml_dtypes(py: Python<'_>) -> PyResult<Option<Bound<'_, PyAny>>> {
    static PACKAGE: PyOnceLock<Option<Py<PyAny>>> = PyOnceLock::new();
    let package = PACKAGE.get_or_try_init(py, || match py.import("ml_dtypes") {
        Ok(package) => Ok(Some(package.into_any().unbind())),
        Err(error) if error.is_instance_of::<PyImportError>(py) => Ok(None),
        Err(error) => Err(error),
    })?;
    Ok(package.as_ref().map(|package| package.bind(py).clone()))
}

/// The `numpy.dtype` of the elements.
pub(crate) fn dtype_of(py: Python<'_>, data_type: DataType) -> PyResult<Bound<'_, PyAny>> {
    let dtype = py.import("numpy")?.getattr("dtype")?;
    if let Some(name) = ml_dtype_name(data_type)
        && let Some(package) = ml_dtypes(py)?
    {
        return dtype.call1((package.getattr(name)?,));
    }
    let name = name_of(data_type).ok_or_else(|| PyTypeError::new_err(format!("NumPy has no type for {data_type}")))?;
    dtype.call1((name,))
}

/// Returns the `numpy.dtype` for a `DataType`.
///
/// `F8143` and `F8152` are `float8_e4m3fnuz` and `float8_e5m2fnuz` of the package ml_dtypes if that is installed, and
/// `uint8` otherwise. `F8`, whose format is unknown, is always `uint8`. It is unknown what the vendor's module returns
/// for these three. The others are NumPy's own types.
///
/// >>> import popef
/// >>> popef.popefTypeToNumpyDType(popef.DataType.F16)
/// dtype('float16')
#[pyfunction]
#[pyo3(name = "popefTypeToNumpyDType")]
pub(crate) fn popef_type_to_numpy_dtype<'py>(
    py: Python<'py>,
    dt: &Bound<'py, enums::DataType>,
) -> PyResult<Bound<'py, PyAny>> {
    dtype_of(py, dt.get().0)
}

/// Returns the `DataType` for anything that `numpy.dtype` takes, in any byte order.
///
/// The vendor's name for this function is unknown.
///
/// >>> import popef
/// >>> popef.numpyDTypeToPopefType(">i4")
/// <DataType.S32: 9>
#[pyfunction]
#[pyo3(name = "numpyDTypeToPopefType")]
pub(crate) fn numpy_dtype_to_popef_type(dtype: &Bound<'_, PyAny>) -> PyResult<enums::DataType> {
    let py = dtype.py();
    let dtype = py.import("numpy")?.getattr("dtype")?.call1((dtype,))?;
    let little = dtype.call_method1("newbyteorder", ("<",))?;
    for &data_type in DataType::ALL.iter().filter(|&&data_type| data_type != DataType::F8) {
        // U8 comes before the 8-bit floats, which may be the same type here.
        if little.eq(dtype_of(py, data_type)?)? {
            return Ok(enums::DataType(data_type));
        }
    }
    Err(PyTypeError::new_err(format!("PopEF has no type for {dtype}")))
}
