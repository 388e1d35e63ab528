//! Tensors as torch pickles them.

use std::fmt;

use crate::pickle::tree::{Ref, View};
use popef::error::Error;
use popef::seam::push;

/// A tensor of torch's in a pickle. Its elements are not read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase"))]
#[non_exhaustive]
pub struct PickledTensor {
    /// Torch's name for the type of its elements, such as `float16`. `None` if it is unknown.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub dtype: Option<&'static str>,
    /// Its shape.
    pub shape: Vec<u64>,
    /// The bytes of the storage that has its elements. Several tensors can share one.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub storage_bytes: Option<u64>,
}

impl fmt::Display for PickledTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<tensor {} {:?}>", self.dtype.unwrap_or("of unknown type"), self.shape)
    }
}

/// The most dimensions of a tensor. Torch allows 64.
const MOST_DIMENSIONS: usize = 64;

/// The functions that make a tensor from a storage, an offset, a shape and more.
const REBUILD: &[&str] =
    &["torch._utils._rebuild_tensor", "torch._utils._rebuild_tensor_v2", "torch._utils._rebuild_tensor_v3"];
/// The functions that make a parameter from a tensor and more.
const REBUILD_PARAMETER: &[&str] = &["torch._utils._rebuild_parameter", "torch._utils._rebuild_parameter_with_state"];

/// Returns the tensor that a value represents. `None` if the value is not a tensor.
pub(super) fn tensor_of(value: Ref<'_>) -> Result<Option<PickledTensor>, Error> {
    let path = value.path().unwrap_or_default();
    if REBUILD_PARAMETER.contains(&path) {
        let tensor = value.arguments().next().filter(|tensor| REBUILD.contains(&tensor.path().unwrap_or_default()));
        return tensor.map_or(Ok(None), |tensor| rebuilt(tensor));
    }
    if REBUILD.contains(&path) { rebuilt(value) } else { Ok(None) }
}

fn rebuilt(value: Ref<'_>) -> Result<Option<PickledTensor>, Error> {
    let mut arguments = value.arguments();
    let (storage, _, Some(shape)) = (arguments.next(), arguments.next(), arguments.next()) else { return Ok(None) };
    let Some(shape) = shape_of(shape)? else { return Ok(None) };
    let (dtype, storage_bytes) = storage.map_or((None, None), storage_of);
    Ok(Some(PickledTensor { dtype, shape, storage_bytes }))
}

fn shape_of(shape: Ref<'_>) -> Result<Option<Vec<u64>>, Error> {
    // `torch.Size` takes a tuple.
    let shape = if shape.path() == Some("torch.Size") { shape.arguments().next().unwrap_or(shape) } else { shape };
    if !matches!(shape.view(), View::Tuple | View::List) {
        return Ok(None);
    }
    let mut dimensions = Vec::new();
    for dimension in shape.items() {
        let View::Int(extent) = dimension.view() else { return Ok(None) };
        let Ok(extent) = u64::try_from(extent) else { return Ok(None) };
        if dimensions.len() == MOST_DIMENSIONS {
            return Ok(None);
        }
        push(&mut dimensions, extent)?;
    }
    Ok(Some(dimensions))
}

/// Returns the type of the elements and the number of bytes of a storage.
///
/// `torch.storage._load_from_bytes` gets what `torch.save` wrote: several pickles. One is a persistent id `('storage',
/// class, key, place, number of elements, ...)`.
fn storage_of(storage: Ref<'_>) -> (Option<&'static str>, Option<u64>) {
    const NOTHING: (Option<&str>, Option<u64>) = (None, None);
    if storage.path() != Some("torch.storage._load_from_bytes") {
        return NOTHING;
    }
    let Some(bytes) = storage.arguments().next() else { return NOTHING };
    let id = bytes.pickles().take(8).find_map(|result| match result.view() {
        View::Named(id) => Some(id),
        _ => None,
    });
    let mut parts = id.into_iter().flat_map(Ref::items);
    let kind = parts.next();
    if !matches!(kind.map(Ref::view), Some(View::Text(text)) if text == "storage") {
        return NOTHING;
    }
    let class = parts.next().and_then(Ref::path).unwrap_or_default();
    let number = match parts.nth(2).map(Ref::view) {
        Some(View::Int(number)) => u64::try_from(number).ok(),
        _ => None,
    };
    let class = class.rsplit('.').next().unwrap_or_default();
    let Some((_, dtype, size)) = STORAGES.iter().find(|(name, ..)| *name == class) else { return NOTHING };
    (*dtype, number.and_then(|number| number.checked_mul(*size)))
}

/// The classes of storages, the types of their elements, and the bytes of one.
const STORAGES: &[(&str, Option<&str>, u64)] = &[
    ("FloatStorage", Some("float32"), 4),
    ("DoubleStorage", Some("float64"), 8),
    ("HalfStorage", Some("float16"), 2),
    ("BFloat16Storage", Some("bfloat16"), 2),
    ("LongStorage", Some("int64"), 8),
    ("IntStorage", Some("int32"), 4),
    ("ShortStorage", Some("int16"), 2),
    ("CharStorage", Some("int8"), 1),
    ("ByteStorage", Some("uint8"), 1),
    ("BoolStorage", Some("bool"), 1),
    ("ComplexFloatStorage", Some("complex64"), 8),
    ("ComplexDoubleStorage", Some("complex128"), 16),
    ("QInt8Storage", Some("qint8"), 1),
    ("QUInt8Storage", Some("quint8"), 1),
    ("QInt32Storage", Some("qint32"), 4),
    ("UntypedStorage", None, 1),
];
