use super::problem::ShapeProblem;
use crate::error::Error;
use crate::types::DataType;

/// The shape and element type of a tensor.
///
/// ```
/// use popef::{DataType, TensorInfo};
///
/// let info = TensorInfo::new(DataType::F32, [2, 3]);
/// assert_eq!(info.size_in_bytes()?, 24);
/// # Ok::<(), popef::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TensorInfo {
    /// The extent of each dimension, outermost first. Empty for a scalar.
    pub shape: Vec<i64>,
    /// The type of the elements.
    pub data_type: DataType,
}

impl TensorInfo {
    /// Makes a `TensorInfo` of this element type and shape.
    pub fn new(data_type: DataType, shape: impl Into<Vec<i64>>) -> Self {
        TensorInfo { shape: shape.into(), data_type }
    }

    /// Returns the number of elements of a tensor of this shape.
    ///
    /// A scalar has one element, and a shape with a zero dimension has none. Fails if a dimension is negative, or if
    /// the product does not fit into 64 bits.
    pub fn element_count(&self) -> Result<u64, Error> {
        Ok(element_count(self.shape.iter().copied())?)
    }

    /// Returns the size of the elements in bytes: [`element_count`](Self::element_count) times the size of an element.
    ///
    /// Fails as `element_count` does, or if the data type is unknown.
    pub fn size_in_bytes(&self) -> Result<u64, Error> {
        Ok(size_in_bytes(self.shape.iter().copied(), self.data_type)?)
    }
}

/// Serialises a shape and a type. Human-readable formats also get the size in bytes, null if there is none.
#[cfg(feature = "serde")]
pub(crate) fn serialize<S: serde::Serializer>(
    serializer: S,
    data_type: DataType,
    shape: impl serde::Serialize,
    extents: impl Iterator<Item = i64>,
) -> Result<S::Ok, S::Error> {
    use serde::ser::SerializeStruct as _;

    let human_readable = serializer.is_human_readable();
    let mut object = serializer.serialize_struct("TensorInfo", if human_readable { 3 } else { 2 })?;
    object.serialize_field("dataType", &data_type)?;
    object.serialize_field("shape", &shape)?;
    if human_readable {
        object.serialize_field("sizeInBytes", &size_in_bytes(extents, data_type).ok())?;
    }
    object.end()
}

#[cfg(feature = "serde")]
impl serde::Serialize for TensorInfo {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize(serializer, self.data_type, &self.shape, self.shape.iter().copied())
    }
}

/// Deserialises a shape and a type. `sizeInBytes` may be present but is ignored, because it follows from them.
#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for TensorInfo {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(serde::Deserialize)]
        #[serde(rename = "TensorInfo", rename_all = "camelCase", deny_unknown_fields)]
        struct HumanReadable {
            data_type: DataType,
            shape: Vec<i64>,
            #[serde(default, rename = "sizeInBytes")]
            _size_in_bytes: serde::de::IgnoredAny,
        }

        #[derive(serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Binary {
            data_type: DataType,
            shape: Vec<i64>,
        }

        if deserializer.is_human_readable() {
            let HumanReadable { data_type, shape, .. } = serde::Deserialize::deserialize(deserializer)?;
            return Ok(TensorInfo { shape, data_type });
        }
        let Binary { data_type, shape } = serde::Deserialize::deserialize(deserializer)?;
        Ok(TensorInfo { shape, data_type })
    }
}

/// A scalar of type `Bool`, which are the format's own defaults.
impl Default for TensorInfo {
    fn default() -> Self {
        TensorInfo::new(DataType::Bool, [])
    }
}

pub(crate) fn element_count(shape: impl Iterator<Item = i64>) -> Result<u64, ShapeProblem> {
    let mut product = Some(1u64);
    let mut any_zero = false;
    for (dimension, extent) in shape.enumerate() {
        let extent = u64::try_from(extent).map_err(|_| ShapeProblem::NegativeDimension { dimension, extent })?;
        any_zero |= extent == 0;
        product = product.and_then(|product| product.checked_mul(extent));
    }
    match product {
        _ if any_zero => Ok(0),
        Some(product) => Ok(product),
        None => Err(ShapeProblem::TooLarge),
    }
}

pub(crate) fn size_in_bytes(shape: impl Iterator<Item = i64>, data_type: DataType) -> Result<u64, ShapeProblem> {
    elements_and_bytes(shape, data_type).map(|(_, bytes)| bytes)
}

/// Returns how many elements a tensor has, and how many bytes they take.
pub(crate) fn elements_and_bytes(
    shape: impl Iterator<Item = i64>,
    data_type: DataType,
) -> Result<(u64, u64), ShapeProblem> {
    let size = data_type.size().ok_or_else(|| ShapeProblem::UnknownDataType { number: data_type.number() })?;
    let count = element_count(shape)?;
    Ok((count, count.checked_mul(size).ok_or(ShapeProblem::TooLarge)?))
}
