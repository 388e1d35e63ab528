//! Which arrays the blob of a tensor or a feed takes.

use popef::types::{FeedDataInfo, TensorDataInfo, Text};
use popef::{DataType, TensorInfo};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyMemoryView;

use crate::dtype::{dtype_of, name_of};
use crate::elements::Found;

/// The expected elements of a blob. Any bytes are accepted; arrays must fit.
pub(crate) struct Wanted {
    name: Text<'static>,
    info: TensorInfo,
    /// The number of tensors, for a feed.
    runs: Option<i64>,
}

impl From<&TensorDataInfo> for Wanted {
    fn from(info: &TensorDataInfo) -> Self {
        Wanted { name: info.name.clone(), info: info.tensor_info.clone(), runs: None }
    }
}

impl From<&FeedDataInfo> for Wanted {
    fn from(info: &FeedDataInfo) -> Self {
        Wanted { name: info.name.clone(), info: info.tensor_info.clone(), runs: Some(info.num_tensors.into()) }
    }
}

impl Wanted {
    /// The number of bytes of all elements.
    pub(crate) fn len(&self) -> Option<u64> {
        let runs = self.runs.map_or(Ok(1), u64::try_from).ok()?;
        self.info.size_in_bytes().ok()?.checked_mul(runs)
    }

    /// Fails if the elements of a buffer have another type or shape.
    pub(crate) fn check_view(&self, view: &Bound<'_, PyMemoryView>) -> PyResult<()> {
        let format: String = view.getattr("format")?.extract()?;
        let size: usize = view.getattr("itemsize")?.extract()?;
        match Found::of(&format, size) {
            // Bytes have the shape of the elements if they are as large.
            Found::Raw if u64::try_from(size).ok() == self.info.data_type.size() => {}
            Found::Raw => return Ok(()),
            Found::Elements(found) if name_of(self.info.data_type).is_some_and(|name| name.ends_with(&found)) => {}
            Found::Elements(found) => return Err(self.wrong_type(&numpy_name(&found))),
            Found::Other => return Err(self.wrong_type(&format!("elements of the format {format:?}"))),
        }
        self.check_shape(&view.getattr("shape")?.extract::<Vec<i64>>()?)
    }

    /// Fails if an array without a buffer has another type or shape.
    pub(crate) fn check_array(&self, array: &Bound<'_, PyAny>) -> PyResult<()> {
        let dtype = array.getattr("dtype")?;
        let is_byte = || dtype.getattr("itemsize")?.extract::<usize>().map(|size| size == 1);
        // The format of F8 is not known.
        let fits = match self.info.data_type {
            DataType::F8 => is_byte()?,
            data_type => name_of(data_type).is_some() && dtype.eq(dtype_of(array.py(), data_type)?)?,
        };
        if !fits {
            return Err(self.wrong_type(&dtype.str()?.to_string_lossy()));
        }
        self.check_shape(&array.getattr("shape")?.extract::<Vec<i64>>()?)
    }

    /// An array may be a part of the tensor, and may be flat. One that has as many elements and dimensions as the tensor has its
    /// shape, or else it was transposed by mistake. Dimensions of 1 make no difference.
    fn check_shape(&self, found: &[i64]) -> PyResult<()> {
        let one = &self.info.shape;
        let all: Vec<i64> = self.runs.into_iter().chain(one.iter().copied()).collect();
        let is_transposed = |wanted: &[i64]| {
            let (wanted, found) = (without_ones(wanted), without_ones(found));
            let count = |shape: &[i64]| shape.iter().try_fold(1i64, |count, extent| count.checked_mul(*extent));
            wanted.len() == found.len() && wanted != found && count(&wanted) == count(&found)
        };
        if [one, &all].into_iter().any(|wanted| is_transposed(wanted)) {
            Err(PyValueError::new_err(format!("{} has the shape {all:?}, the array {found:?}", self.named())))
        } else {
            Ok(())
        }
    }

    fn named(&self) -> String {
        let kind = if self.runs.is_some() { "feed" } else { "tensor" };
        format!("the {kind} {:?}", self.name.to_string_lossy())
    }

    fn wrong_type(&self, found: &str) -> PyErr {
        let (named, data_type) = (self.named(), self.info.data_type);
        PyTypeError::new_err(format!(
            "{named} has elements of the type {data_type}, the array has {found}: convert it with astype(), or write its bytes with \
             tobytes() if they are what you mean"
        ))
    }
}

fn without_ones(shape: &[i64]) -> Vec<i64> {
    shape.iter().copied().filter(|extent| *extent != 1).collect()
}

/// The long name of a type, such as `int32` for `i4`.
fn numpy_name(short: &str) -> String {
    let bits = |size: &str| size.parse::<u32>().unwrap_or_default().saturating_mul(8);
    match short.split_at_checked(1) {
        Some(("i", size)) => format!("int{}", bits(size)),
        Some(("u", size)) => format!("uint{}", bits(size)),
        Some(("f", size)) => format!("float{}", bits(size)),
        _ => "bool".to_owned(),
    }
}
